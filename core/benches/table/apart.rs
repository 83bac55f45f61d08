//! Every row in a process of its own.
//!
//! What one row leaves in the heap would decide where the items of the next lie and whether its tables
//! grow into new pages. Where a process lies in memory and what its hash functions are keyed with is
//! luck; several processes have it differently.

use std::process::{Command, Stdio};

use crate::row::Row;

/// What a process found out about its row.
pub(crate) struct Figures {
    ratio: f64,
    /// Its line of the table.
    pub(crate) line: String,
    /// The same as an object.
    pub(crate) json: String,
}

/// Tells the process that asked for it about a row.
pub(crate) fn tell(row: &Row) {
    println!("{}\n{}\n{}", row.ratio(), row.line(), row.json());
}

/// Measures a row in so many processes, one after the other. Returns the one of them whose ratio is
/// the median.
pub(crate) fn measured(number: usize, runs: usize) -> Result<Figures, String> {
    let mut all = (0..runs).map(|_| asked(number)).collect::<Result<Vec<_>, _>>()?;
    all.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
    let spread = all.first().zip(all.last()).filter(|_| runs > 1);
    let spread = spread.map(|(least, most)| format!(", {:.2}-{:.2}", least.ratio, most.ratio));
    let mut median = all.swap_remove(runs / 2);
    median.line.extend(spread);
    Ok(median)
}

fn asked(number: usize) -> Result<Figures, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let mut command = Command::new(program);
    command.args(["--row", &number.to_string()]).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    let mut figures = || {
        let ratio = lines.next()?.parse().ok()?;
        Some(Figures { ratio, line: lines.next()?.to_owned(), json: lines.next()?.to_owned() })
    };
    figures()
        .filter(|_| output.status.success())
        .ok_or_else(|| format!("{command:?} measured nothing: {}", output.status))
}
