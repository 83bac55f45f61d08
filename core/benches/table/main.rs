//! One table: ours beside the plain implementation of the same thing, in the same run.
//!
//! *Plain* is the reference's own algorithm over the same lock, the same hasher and the same keys.
//! *By hand* is our algorithm with a lock and a condition variable written around it by hand: what
//! the monitor costs. Rounds alternate between the contestants and medians are printed, so a ratio
//! holds on a noisy machine. Bytes are those beside key and object. The goal is three times the speed
//! that the reference has where it was measured; how far this machine is from that one, the cost of
//! a lock tells (13-17 ns there).
//!
//! `--json PATH` writes the rows as well; a word limits them to those whose part or name holds it.

mod asynchronous;
mod delaying;
mod delta_fifo;
mod elector;
mod limiter;
mod measure;
mod objects;
mod ordered_fifo;
mod plain;
mod priority;
mod queue;
mod store;

use std::alloc::System;
use std::fmt::Write as _;

use cap::Cap;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// One line of the table.
pub(crate) struct Row {
    part: &'static str,
    row: &'static str,
    ours_ns: f64,
    /// The time to be reached on the machine where the reference was measured.
    goal_ns: Option<f64>,
    /// What ours is compared with, and its time.
    against: &'static str,
    plain_ns: f64,
    bytes_per_item: Option<f64>,
    /// The ratio that must be reached.
    gate: Option<f64>,
    /// The bytes that must not be exceeded.
    most_bytes: Option<f64>,
}

impl Row {
    /// Makes a row of our time and that of the plain implementation.
    pub(crate) fn new(
        part: &'static str,
        row: &'static str,
        (ours_ns, plain_ns): (f64, f64),
    ) -> Self {
        Self {
            part,
            row,
            ours_ns,
            goal_ns: None,
            against: "plain",
            plain_ns,
            bytes_per_item: None,
            gate: None,
            most_bytes: None,
        }
    }

    pub(crate) fn goal(self, goal_ns: f64) -> Self {
        Self { goal_ns: Some(goal_ns), ..self }
    }

    pub(crate) fn against(self, against: &'static str) -> Self {
        Self { against, ..self }
    }

    pub(crate) fn gate(self, gate: f64) -> Self {
        Self { gate: Some(gate), ..self }
    }

    pub(crate) fn bytes(self, bytes_per_item: f64) -> Self {
        Self { bytes_per_item: Some(bytes_per_item), ..self }
    }

    pub(crate) fn most_bytes(self, most_bytes: f64) -> Self {
        Self { most_bytes: Some(most_bytes), ..self }
    }

    fn ratio(&self) -> f64 {
        self.plain_ns / self.ours_ns
    }
}

/// A row that has not been measured: its part, its name, and how to measure it.
pub(crate) type Measure = (&'static str, &'static str, fn(&'static str, &'static str) -> Row);

fn main() {
    let (path, wanted) = arguments();
    println!("one uncontended lock pair: {:.1} ns\n", measure::lock_pair());
    println!(
        "{:<13} {:<34} {:>9} {:>6} {:>9} {:>6} {:>6} {:>7} {:>5}  against",
        "part", "row", "ours ns", "goal", "other ns", "ratio", "gate", "bytes", "most"
    );
    let all = [
        queue::ROWS,
        delaying::ROWS,
        limiter::ROWS,
        priority::ROWS,
        asynchronous::ROWS,
        delta_fifo::ROWS,
        ordered_fifo::ROWS,
        store::ROWS,
        elector::ROWS,
    ];
    let mut rows = Vec::new();
    for (part, name, measure) in all.into_iter().flatten() {
        let is_wanted = |word: &String| part.contains(word) || name.contains(word);
        if wanted.is_empty() || wanted.iter().any(is_wanted) {
            let row = measure(part, name);
            print(&row);
            rows.push(row);
        }
    }
    if let Some(path) = path
        && let Err(error) = std::fs::write(&path, to_json(&rows))
    {
        fail(&format!("cannot write {path}: {error}"));
    }
}

/// Returns where to write the rows, and the words that limit them.
fn arguments() -> (Option<String>, Vec<String>) {
    let (mut path, mut wanted) = (None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => match arguments.next() {
                Some(given) => path = Some(given),
                None => fail("--json needs a path"),
            },
            "--bench" => {} // cargo says so
            unknown if unknown.starts_with('-') => fail(&format!("unknown option {unknown}")),
            _ => wanted.push(argument),
        }
    }
    (path, wanted)
}

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(2)
}

fn print(row: &Row) {
    let optional = |value: Option<f64>, digits: usize| {
        value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    };
    println!(
        "{:<13} {:<34} {:>9.1} {:>6} {:>9.1} {:>6.2} {:>6} {:>7} {:>5}  {}",
        row.part,
        row.row,
        row.ours_ns,
        optional(row.goal_ns, 0),
        row.plain_ns,
        row.ratio(),
        optional(row.gate, 2),
        optional(row.bytes_per_item, 1),
        optional(row.most_bytes, 0),
        row.against,
    );
}

fn to_json(rows: &[Row]) -> String {
    let mut text = String::from("[");
    for (at, row) in rows.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let number = |value: Option<f64>| value.map_or("null".to_owned(), |it| format!("{it:.2}"));
        let _infallible = write!(
            text,
            "{comma}\n  {{\"part\": \"{}\", \"row\": \"{}\", \"against\": \"{}\", \"ours_ns\": \
             {:.2}, \"goal_ns\": {}, \"plain_ns\": {:.2}, \"ratio\": {:.3}, \"gate\": {}, \"bytes_per_item\": {}, \
             \"most_bytes\": {}}}",
            row.part,
            row.row,
            row.against,
            row.ours_ns,
            number(row.goal_ns),
            row.plain_ns,
            row.ratio(),
            number(row.gate),
            number(row.bytes_per_item),
            number(row.most_bytes),
        );
    }
    text.push_str("\n]\n");
    text
}
