//! Programs whose executions others have counted, written from their descriptions and counts. The search tells at
//! most 15 threads apart, so the published sizes with more are left out.

use std::sync::Arc;

use seatrial::engine::shuttle::ShuttleRuntime;
use seatrial_core::runtime::Runtime;

use super::noted::{Notes, Shared, shared};

/// A program; its size and where to note its accesses are given.
type Run = fn(&ShuttleRuntime, usize, &Notes);

/// A family of programs.
pub(crate) struct Counted {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) says: &'static str,
    pub(crate) run: Run,
    /// The sizes, each with the published count.
    pub(crate) counts: &'static [(usize, u64)],
}

const DPU: &str = "DPU";
const GENMC: &str = "GenMC";
const MIRI: &str = "Miri";

pub(crate) const COUNTED: &[Counted] = &[
    Counted {
        name: "Pi",
        source: DPU,
        says: "n threads each add to a sum under one lock",
        run: pi,
        counts: &[(5, 120), (6, 720), (7, 5_040), (8, 40_320)],
    },
    Counted {
        name: "Mpat",
        source: DPU,
        says: "n pairs of threads, each pair at a lock of its own; one of each pair then takes a lock of all",
        run: mutexes,
        counts: &[(4, 384), (5, 3_840), (6, 46_080), (7, 645_120)],
    },
    Counted {
        name: "readers",
        source: GENMC,
        says: "one writes, n read",
        run: readers,
        counts: &[(2, 4), (8, 256), (13, 8_192)],
    },
    Counted {
        name: "lastzero",
        source: GENMC,
        says: "n threads each set an element by the one before, one looks for the last zero",
        run: last_zero,
        counts: &[(5, 64), (10, 3_328)],
    },
    Counted {
        name: "indexer",
        source: GENMC,
        says: "n threads each insert four values into a table of 128 places",
        run: indexer,
        counts: &[(12, 8)],
    },
    Counted {
        name: "ainc",
        source: GENMC,
        says: "n threads each add to a number",
        run: |runtime, n, notes| increments(runtime, n, 1, notes),
        counts: &[(2, 2), (3, 6), (4, 24), (5, 120), (6, 720), (7, 5_040)],
    },
    Counted {
        name: "binc",
        source: GENMC,
        says: "n threads each add to two numbers",
        run: |runtime, n, notes| increments(runtime, n, 2, notes),
        counts: &[(2, 4), (3, 36), (4, 576)],
    },
    Counted {
        name: "cinc",
        source: GENMC,
        says: "n threads each add to three numbers",
        run: |runtime, n, notes| increments(runtime, n, 3, notes),
        counts: &[(2, 8), (3, 216), (4, 13_824)],
    },
    Counted {
        name: "cas",
        source: GENMC,
        says: "n threads each try to swap the first value",
        run: swaps,
        counts: &[(2, 2), (3, 3), (4, 4), (5, 5)],
    },
    Counted {
        name: "casrot",
        source: GENMC,
        says: "n threads: thread i swaps i for i + 1",
        run: rotation,
        counts: &[(2, 2), (3, 5), (4, 14), (5, 43), (6, 144), (7, 523), (8, 2_048), (9, 8_597)],
    },
    Counted {
        name: "wcas",
        source: GENMC,
        says: "one writes, n try to swap what it writes",
        run: write_and_swaps,
        counts: &[(2, 5), (3, 13), (4, 33), (5, 81), (6, 193), (7, 449), (8, 1_025)],
    },
    Counted {
        name: "fib_bench",
        source: GENMC,
        says: "two threads add two numbers to each other n times, and a third reads both",
        run: fibonacci,
        counts: &[(5, 218_243)],
    },
    Counted {
        name: "2w2w",
        source: MIRI,
        says: "two threads each write two numbers, in opposite orders",
        run: two_writes,
        counts: &[(2, 3)],
    },
];

/// Runs threads, numbered from zero, to their end.
fn threads(runtime: &ShuttleRuntime, count: usize, body: impl Fn(usize) + Clone + Send + 'static) {
    let spawn = |thread| {
        let body = body.clone();
        runtime.spawn("thread", move || body(thread))
    };
    let started: Vec<_> = (0..count).map(spawn).collect();
    for thread in started {
        runtime.join(thread).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}

/// As [`threads`], with numbers that they share.
fn sharing(
    runtime: &ShuttleRuntime,
    notes: &Notes,
    (count, values): (usize, &[u64]),
    body: impl Fn(usize, &[Shared]) + Clone + Send + 'static,
) {
    let numbers = shared(runtime, notes, values);
    threads(runtime, count, move |thread| body(thread, &numbers));
}

fn pi(runtime: &ShuttleRuntime, n: usize, _: &Notes) {
    let (seam, sum) = (*runtime, Arc::new(runtime.mutex(0.0_f64)));
    threads(runtime, n, move |thread| {
        let part = 4.0 / (2 * thread + 1) as f64;
        *seam.lock(&sum) += if thread % 2 == 0 { part } else { -part };
    });
}

fn mutexes(runtime: &ShuttleRuntime, n: usize, _: &Notes) {
    let (seam, all) = (*runtime, Arc::new(runtime.mutex(0)));
    let own: Arc<[_]> = (0..n).map(|_| runtime.mutex(0)).collect();
    threads(runtime, 2 * n, move |thread| {
        *seam.lock(&own[thread / 2]) += 1;
        if thread % 2 == 0 {
            *seam.lock(&all) += 1;
        }
    });
}

fn readers(runtime: &ShuttleRuntime, n: usize, notes: &Notes) {
    sharing(runtime, notes, (n + 1, &[0]), |thread, numbers| match thread {
        0 => numbers[0].store(thread, 1),
        _ => drop(numbers[0].load(thread)),
    });
}

fn last_zero(runtime: &ShuttleRuntime, n: usize, notes: &Notes) {
    sharing(runtime, notes, (n + 1, &vec![0; n + 1]), move |thread, numbers| match thread {
        0 => drop((0..=n).rev().find(|&at| numbers[at].load(thread) == 0)),
        _ => {
            let before = numbers[thread - 1].load(thread);
            numbers[thread].store(thread, before + 1);
        }
    });
}

fn indexer(runtime: &ShuttleRuntime, n: usize, notes: &Notes) {
    const PLACES: usize = 128;
    sharing(runtime, notes, (n, &[0; PLACES]), |thread, numbers| {
        for value in (1..=4).map(|count| count * 11 + thread) {
            let mut at = value * 7 % PLACES;
            while !numbers[at].swap(thread, 0, value as u64) {
                at = (at + 1) % PLACES;
            }
        }
    });
}

fn increments(runtime: &ShuttleRuntime, n: usize, numbers: usize, notes: &Notes) {
    sharing(runtime, notes, (n, &vec![0; numbers]), |thread, numbers| {
        numbers.iter().for_each(|it| it.add(thread, 1));
    });
}

fn swaps(runtime: &ShuttleRuntime, n: usize, notes: &Notes) {
    sharing(runtime, notes, (n, &[0]), |thread, numbers| {
        numbers[0].swap(thread, 0, thread as u64 + 1);
    });
}

fn rotation(runtime: &ShuttleRuntime, n: usize, notes: &Notes) {
    sharing(runtime, notes, (n, &[0]), |thread, numbers| {
        numbers[0].swap(thread, thread as u64, thread as u64 + 1);
    });
}

fn write_and_swaps(runtime: &ShuttleRuntime, n: usize, notes: &Notes) {
    sharing(runtime, notes, (n + 1, &[0]), |thread, numbers| match thread {
        0 => numbers[0].store(thread, 1),
        _ => drop(numbers[0].swap(thread, 1, 2)),
    });
}

fn fibonacci(runtime: &ShuttleRuntime, n: usize, notes: &Notes) {
    sharing(runtime, notes, (3, &[1, 1]), move |thread, numbers| match thread {
        2 => drop((numbers[0].load(thread), numbers[1].load(thread))),
        _ => (0..n).for_each(|_| {
            let sum = numbers[thread].load(thread) + numbers[1 - thread].load(thread);
            numbers[thread].store(thread, sum);
        }),
    });
}

fn two_writes(runtime: &ShuttleRuntime, n: usize, notes: &Notes) {
    sharing(runtime, notes, (n, &[0, 0]), |thread, numbers| {
        numbers[thread].store(thread, 1);
        numbers[1 - thread].store(thread, 2);
    });
}
