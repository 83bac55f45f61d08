//! Every row in its own process.
//!
//! The heap that one row leaves behind would determine where the items of the next row are, and
//! whether its tables grow into new pages. The position of a process in memory and the keys of its
//! hash functions are random, so several processes are measured.

use std::process::{Command, Stdio};

use crate::row::{Row, number, optional};

/// The measurements of a process for its row.
pub(crate) struct Figures {
    pub(crate) ratio: f64,
    /// Its line of the table, except for the last two columns.
    line: String,
    /// The contestant that it is compared with, and how much the runs differ.
    against: String,
    /// The row as the fields of an object.
    fields: String,
}

impl Figures {
    /// Returns its line of the table. The ratio with SipHash comes from other processes.
    pub(crate) fn line(&self, siphash: Option<f64>) -> String {
        format!("{} {:>7}  {}", self.line, optional(siphash, 2), self.against)
    }

    /// Returns it as an object.
    pub(crate) fn json(&self, siphash: Option<f64>) -> String {
        format!("{{{}, \"siphash_ratio\": {}}}", self.fields, number(siphash))
    }
}

/// Reports a row to the process that asked for it.
pub(crate) fn tell(row: &Row) {
    println!("{}\n{}\n{}\n{}", row.ratio(), row.line(), row.contestant(), row.fields());
}

/// Measures a row in `processes` processes, one after the other, with or without SipHash. Returns
/// the one with the median ratio.
pub(crate) fn measured(row: usize, runs: usize, siphash: bool) -> Result<Figures, String> {
    let mut all = (0..runs).map(|_| asked(row, siphash)).collect::<Result<Vec<_>, _>>()?;
    all.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
    let spread = all.first().zip(all.last()).filter(|_| runs > 1);
    let spread = spread.map(|(least, most)| format!(", {:.2}-{:.2}", least.ratio, most.ratio));
    let mut median = all.swap_remove(runs / 2);
    median.against.extend(spread);
    Ok(median)
}

fn asked(row: usize, siphash: bool) -> Result<Figures, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let mut command = Command::new(program);
    command.args(["--row", &row.to_string()]).stderr(Stdio::inherit());
    command.args(siphash.then_some("--siphash"));
    let output = command.output().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines().map(str::to_owned);
    let mut figures = || {
        let ratio = lines.next()?.parse().ok()?;
        let (line, against, fields) = (lines.next()?, lines.next()?, lines.next()?);
        Some(Figures { ratio, line, against, fields })
    };
    figures()
        .filter(|_| output.status.success())
        .ok_or_else(|| format!("{command:?} measured nothing: {}", output.status))
}
