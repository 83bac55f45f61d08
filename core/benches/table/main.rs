//! One table: ours compared with a plain implementation of the same thing, in the same run.
//!
//! *Plain* is the reference's own algorithm with the same lock, the same hasher and the same keys.
//! The keys and objects that a contestant stores are made before the clock starts, because copying
//! them is not the contestant's work. *By hand* is our algorithm with a lock and a condition
//! variable written around it by hand; it shows the cost of the monitor. Rounds alternate between
//! the contestants and medians are printed, so a ratio holds on a noisy machine. Bytes do not
//! include key and object. The goal is three times the speed of the reference where it was
//! measured; the cost of a lock (13-17 ns there) shows how far this machine differs from that one.
//!
//! Every row is measured in its own process. [`HELP`] lists the arguments. The row of requests
//! needs the feature `request`.

#[cfg(feature = "request")]
mod address;
mod apart;
mod asynchronous;
mod delaying;
mod delta_fifo;
mod elector;
mod informer;
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

pub(crate) use row::Measure;
use row::heading;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

const ROWS: &[&[Measure]] = &[
    queue::ROWS,
    delaying::ROWS,
    limiter::ROWS,
    priority::ROWS,
    asynchronous::ROWS,
    delta_fifo::ROWS,
    ordered_fifo::ROWS,
    store::ROWS,
    informer::ROWS,
    elector::ROWS,
    #[cfg(feature = "request")]
    address::ROWS,
];

const HELP: &str = "\
Measures ours beside plain implementations, row by row.

Usage: cargo bench -p seatrial-core --features harness,parts --bench table -- [OPTIONS] [WORD]...

  WORD         Measure only the rows whose part or name holds one of the words
  --runs N     Measure every row in N processes; print the one whose ratio is the median, and how far
               they lie apart
  --siphash    Measure every row in which plain hashes once more, plain with SipHash: a second column
  --json PATH  Write the rows to a file as well
  --help       Print this";

/// The arguments.
struct Asked {
    /// The file to write the rows to.
    json: Option<String>,
    /// In how many processes each row is measured.
    runs: usize,
    /// Words that select rows.
    words: Vec<String>,
    /// Whether plain is measured with SipHash as well.
    siphash: bool,
    /// The row that this process must measure.
    row: Option<usize>,
}

fn main() {
    let asked = arguments();
    let mut all = ROWS.iter().copied().flatten();
    if let Some(number) = asked.row {
        let Some(measure) = all.nth(number) else { fail(&format!("there is no row {number}")) };
        let Some(row) = measure.measured(asked.siphash) else {
            fail(&format!("nothing is hashed in row {number}"))
        };
        return apart::tell(&row);
    }
    println!("one uncontended lock pair: {:.1} ns\n\n{}", measure::lock_pair(), heading());
    let mut rows = Vec::new();
    for (number, row) in all.enumerate() {
        if asked.words.is_empty() || asked.words.iter().any(|word| row.is_about(word)) {
            let measured = |siphash| {
                apart::measured(number, asked.runs, siphash).unwrap_or_else(|why| fail(&why))
            };
            let figures = measured(false);
            let siphash = (asked.siphash && row.is_hashed()).then(|| measured(true).ratio);
            println!("{}", figures.line(siphash));
            rows.push(figures.json(siphash));
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
    let mut asked = Asked { json: None, runs: 1, words: Vec::new(), siphash: false, row: None };
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
            "--siphash" => asked.siphash = true,
            "--row" => match number() {
                Some(row) => asked.row = Some(row),
                None => fail("--row needs the number of a row"),
            },
            "--bench" => {} // cargo says so
            "--help" => {
                println!("{HELP}");
                std::process::exit(0)
            }
            unknown if unknown.starts_with('-') => {
                fail(&format!("unknown option {unknown}\n\n{HELP}"))
            }
            _ => asked.words.push(argument),
        }
    }
    asked
}

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(2)
}
