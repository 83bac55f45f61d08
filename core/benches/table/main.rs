//! One table: ours beside the plain implementation of the same thing, in the same run.
//!
//! *Plain* is the reference's own algorithm over the same lock, the same hasher and the same keys.
//! *By hand* is our algorithm with a lock and a condition variable written around it by hand: what
//! the monitor costs. Rounds alternate between the contestants and medians are printed, so a ratio
//! holds on a noisy machine. `--json PATH` writes the rows as well.

mod elector;
mod measure;
mod plain;
mod queue;

use std::fmt::Write as _;

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// One line of the table.
pub(crate) struct Row {
    pub(crate) part: &'static str,
    pub(crate) row: &'static str,
    pub(crate) ours_ns: f64,
    /// What ours is compared with, and its time.
    pub(crate) against: &'static str,
    pub(crate) plain_ns: f64,
    pub(crate) bytes_per_item: Option<f64>,
    /// The ratio that must be reached.
    pub(crate) gate: Option<f64>,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.plain_ns / self.ours_ns
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let json = arguments.iter().position(|argument| argument == "--json");
    let path = json.map(|at| match arguments.get(at + 1) {
        Some(path) => path.clone(),
        None => {
            eprintln!("--json needs a path");
            std::process::exit(2);
        }
    });
    println!("one uncontended lock pair: {:.1} ns\n", measure::lock_pair());
    let head = ["part", "row", "ours ns", "other ns", "ratio", "gate", "bytes", "against"];
    println!(
        "{:<10} {:<34} {:>9} {:>9} {:>6} {:>6} {:>7}  {}",
        head[0], head[1], head[2], head[3], head[4], head[5], head[6], head[7]
    );
    let mut rows = Vec::new();
    let parts = queue::ROWS.iter().map(|measure| vec![measure()]);
    for row in parts.chain(std::iter::once_with(elector::rows)).flatten() {
        print(&row);
        rows.push(row);
    }
    if let Some(path) = path
        && let Err(error) = std::fs::write(&path, to_json(&rows))
    {
        eprintln!("cannot write {path}: {error}");
        std::process::exit(2);
    }
}

fn print(row: &Row) {
    let optional = |value: Option<f64>, digits: usize| {
        value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    };
    println!(
        "{:<10} {:<34} {:>9.1} {:>9.1} {:>6.2} {:>6} {:>7}  {}",
        row.part,
        row.row,
        row.ours_ns,
        row.plain_ns,
        row.ratio(),
        optional(row.gate, 2),
        optional(row.bytes_per_item, 1),
        row.against,
    );
}

fn to_json(rows: &[Row]) -> String {
    let mut text = String::from("[");
    for (at, row) in rows.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let bytes = row.bytes_per_item.map_or("null".to_owned(), |bytes| format!("{bytes:.1}"));
        let _infallible = write!(
            text,
            "{comma}\n  {{\"part\": \"{}\", \"row\": \"{}\", \"against\": \"{}\", \"ours_ns\": \
             {:.2}, \"plain_ns\": {:.2}, \"ratio\": {:.3}, \"bytes_per_item\": {bytes}}}",
            row.part,
            row.row,
            row.against,
            row.ours_ns,
            row.plain_ns,
            row.ratio(),
        );
    }
    text.push_str("\n]\n");
    text
}
