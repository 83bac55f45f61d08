//! One table: ours beside the plain implementation of the same thing, in the same run.
//!
//! *Plain* is the reference's own algorithm over the same lock, the same hasher and the same keys.
//! *By hand* is our algorithm with a lock and a condition variable written around it by hand: what
//! the monitor costs. Rounds alternate between the contestants and medians are printed, so a ratio
//! holds on a noisy machine. Bytes are those beside key and object. The goal is three times the speed
//! that the reference has where it was measured; how far this machine is from that one, the cost of
//! a lock tells (13-17 ns there).
//!
//! Every row is measured in a process of its own. `--runs N` measures it in so many and prints the one
//! whose ratio is the median, and how far they lie apart. `--json PATH` writes the rows as well; a word
//! limits them to those whose part or name holds it.

mod apart;
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
mod row;
mod store;

use std::alloc::System;

use cap::Cap;

use row::{Row, heading};

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// A row that has not been measured: its part, its name, and how to measure it.
pub(crate) type Measure = (&'static str, &'static str, fn(&'static str, &'static str) -> Row);

const ROWS: [&[Measure]; 9] = [
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

/// What is asked for.
struct Asked {
    /// Where to write the rows.
    json: Option<String>,
    /// In how many processes each is measured.
    runs: usize,
    /// The words that limit them.
    words: Vec<String>,
    /// The one that this process is to measure.
    row: Option<usize>,
}

fn main() {
    let asked = arguments();
    let mut all = ROWS.into_iter().flatten();
    if let Some(number) = asked.row {
        let Some((part, name, measure)) = all.nth(number) else {
            fail(&format!("there is no row {number}"))
        };
        return apart::tell(&measure(part, name));
    }
    println!("one uncontended lock pair: {:.1} ns\n\n{}", measure::lock_pair(), heading());
    let mut rows = Vec::new();
    for (number, (part, name, _)) in all.enumerate() {
        let is_wanted = |word: &String| part.contains(word) || name.contains(word);
        if asked.words.is_empty() || asked.words.iter().any(is_wanted) {
            let figures = apart::measured(number, asked.runs).unwrap_or_else(|why| fail(&why));
            println!("{}", figures.line);
            rows.push(figures.json);
        }
    }
    if rows.is_empty() {
        fail(&format!(
            "no row has any of these words in its part or name: {}",
            asked.words.join(", ")
        ));
    }
    if let Some(path) = asked.json
        && let Err(error) = std::fs::write(&path, format!("[\n  {}\n]\n", rows.join(",\n  ")))
    {
        fail(&format!("cannot write {path}: {error}"));
    }
}

fn arguments() -> Asked {
    let mut asked = Asked { json: None, runs: 1, words: Vec::new(), row: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse().ok());
        match argument.as_str() {
            "--json" => match arguments.next() {
                Some(path) => asked.json = Some(path),
                None => fail("--json needs a path"),
            },
            "--runs" => match number() {
                Some(runs) if runs > 0 => asked.runs = runs,
                _ => fail("--runs needs a number, of one or more"),
            },
            "--row" => match number() {
                Some(row) => asked.row = Some(row),
                None => fail("--row needs the number of a row"),
            },
            "--bench" => {} // cargo says so
            unknown if unknown.starts_with('-') => fail(&format!("unknown option {unknown}")),
            _ => asked.words.push(argument),
        }
    }
    asked
}

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(2)
}
