//! Costs that must not grow: the worst pause, the time per item by the number of waiters, and the
//! bytes after emptying.
//!
//! A row measures one thing at several sizes, prints the figures, and asserts how they grow. It
//! compares sizes only within one run, never with an absolute time, so it holds on any machine.
//!
//! To add a row: write a file with a function, and add a [`Row`] to [`ROWS`].
//!
//! `cargo bench -p seatrial-core --features harness,informers --bench pauses -- [WORD]...` runs the
//! rows whose name contains one of the words, or all. A row that fails does not stop the others;
//! the exit code is then 1.

mod informers;
mod longest;
mod measure;
mod queues;
mod sleepers;
mod tokens;

use std::panic::catch_unwind;

/// A measurement.
struct Row {
    name: &'static str,
    /// Measures, prints, and panics if a cost grows too much.
    run: fn(),
}

const ROWS: &[Row] = &[
    // First: the largest number of bytes is that of the whole process.
    Row { name: "informers: bytes of a second list", run: informers::bytes_of_a_relist },
    Row { name: "tokens: make and drop children", run: tokens::children },
    Row { name: "tokens: cancel one leaf among waiters", run: tokens::one_leaf },
    Row { name: "sleepers: shut down with tasks asleep", run: sleepers::shut_down },
    Row { name: "sleepers: an item due among tasks", run: sleepers::due_with_tasks },
    Row { name: "sleepers: an item due among threads", run: sleepers::due_with_threads },
    Row { name: "queues: add beside many that are due", run: queues::add_beside_due },
    Row { name: "queues: length while many are due", run: queues::length_of_due },
    Row { name: "queues: shut down beside many delayed", run: queues::shut_down_beside_delayed },
    Row { name: "queues: bytes after emptying", run: queues::bytes_after_emptying },
    Row { name: "longest: a work queue of 10,000,000", run: longest::work_queue },
    Row { name: "longest: a delaying queue of 10,000,000", run: longest::delaying_queue },
    Row { name: "longest: a priority queue of 10,000,000", run: longest::priority_queue },
    Row { name: "longest: a store of 4,000,000", run: longest::store },
    Row { name: "store: bytes after emptying", run: queues::bytes_of_a_store },
    Row { name: "sleepers: bytes after waking", run: sleepers::bytes_after_waking },
    Row { name: "tokens: bytes after dropping children", run: tokens::bytes_after_dropping },
    Row { name: "informers: a fast handler beside a slow one", run: informers::slow_neighbour },
];

fn main() {
    // Cargo adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let asked = |row: &&Row| words.is_empty() || words.iter().any(|word| row.name.contains(word));
    let (mut run, mut failed) = (0, 0);
    for row in ROWS.iter().filter(asked) {
        println!("{}", row.name);
        run += 1;
        failed += usize::from(catch_unwind(row.run).is_err());
    }
    println!("{run} rows, {failed} failed");
    if run == 0 || failed > 0 {
        std::process::exit(1);
    }
}
