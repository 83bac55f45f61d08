//! Programs with a known bug, written from the descriptions of those of SCTBench, beside the published numbers of
//! schedules that other samplers need until it shows.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use seatrial::engine::shuttle::ShuttleRuntime;
use seatrial::toy::Program;
use seatrial_core::runtime::{Atomic, Runtime};

pub(crate) struct Buggy {
    pub(crate) name: &'static str,
    pub(crate) run: Run,
    /// Published means: random, PCT-3, PCT-10, POS, URW, SURW; `-` where it was never found.
    pub(crate) published: [&'static str; 6],
}

pub(crate) enum Run {
    /// One of the harness's own small programs.
    Toy(&'static str),
    Own(fn(&ShuttleRuntime)),
}

impl Run {
    pub(crate) fn run(&self, runtime: &ShuttleRuntime) {
        match self {
            Self::Toy(name) => {
                name.parse::<Program>().unwrap_or_else(|why| panic!("{why}")).run(runtime);
            }
            Self::Own(run) => run(runtime),
        }
    }
}

const fn row(name: &'static str, run: Run, published: [&'static str; 6]) -> Buggy {
    Buggy { name, run, published }
}

pub(crate) const BUGGY: &[Buggy] = &[
    row("reorder_3", Run::Toy("reorder_3"), ["-", "185", "148", "86", "24", "7"]),
    row(
        "reorder_3, starts are steps",
        Run::Toy("reorder_started_3"),
        ["-", "185", "148", "86", "24", "7"],
    ),
    row("reorder_5", Run::Toy("reorder_5"), ["-", "647", "1094", "2169", "27", "10"]),
    row(
        "reorder_5, starts are steps",
        Run::Toy("reorder_started_5"),
        ["-", "647", "1094", "2169", "27", "10"],
    ),
    row("reorder_10", Run::Toy("reorder_10"), ["-", "3225", "4462", "-", "74", "17"]),
    row(
        "reorder_10, starts are steps",
        Run::Toy("reorder_started_10"),
        ["-", "3225", "4462", "-", "74", "17"],
    ),
    row("reorder_100", Run::Toy("reorder_100"), ["-", "-", "-", "-", "3785", "194"]),
    row("twostage", Run::Toy("twostage_2"), ["464", "13", "9", "15", "9", "8"]),
    row("twostage_100", Run::Toy("twostage_100"), ["-", "7466", "5726", "6674", "2992", "454"]),
    row("bluetooth_driver", Run::Toy("bluetooth"), ["215", "112", "83", "36", "1494", "70"]),
    row("stringbuffer-jdk1.4", Run::Toy("stringbuffer"), ["2243", "281", "26", "23", "834", "8"]),
    row(
        "wronglock",
        Run::Own(|runtime| wrong_lock(runtime, 7)),
        ["36", "51", "20", "10", "4", "7"],
    ),
    row(
        "wronglock_3",
        Run::Own(|runtime| wrong_lock(runtime, 3)),
        ["36", "58", "14", "11", "?", "9"],
    ),
    row("lazy01", Run::Own(lazy), ["21", "5", "5", "5", "4", "2"]),
    row("deadlock01", Run::Toy("opposite_locks"), ["3", "13", "7", "4", "3", "2"]),
    row("token_ring", Run::Own(token_ring), ["13", "8", "8", "9", "9", "8"]),
];

/// Runs these threads to their end.
fn threads(runtime: &ShuttleRuntime, bodies: Vec<Box<dyn FnOnce() + Send>>) {
    let started: Vec<_> = bodies.into_iter().map(|it| runtime.spawn("thread", it)).collect();
    for thread in started {
        runtime.join(thread).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}

/// One thread guards a number by one lock, the others guard it by another one.
fn wrong_lock(runtime: &ShuttleRuntime, others: usize) {
    let (data, locks) =
        (Arc::new(runtime.atomic(0)), [(); 2].map(|()| Arc::new(runtime.mutex(()))));
    let thread = |which: usize| {
        let (seam, data, lock) = (*runtime, Arc::clone(&data), Arc::clone(&locks[which]));
        let body: Box<dyn FnOnce() + Send> = Box::new(move || {
            let _guard = seam.lock(&lock);
            let before = data.load(SeqCst);
            data.store(before + 1, SeqCst);
            assert!(which == 1 || data.load(SeqCst) == before + 1, "another thread was here");
        });
        body
    };
    threads(runtime, std::iter::once(0).chain(vec![1; others]).map(thread).collect());
}

/// Two threads add to a number, a third one expects that neither has.
fn lazy(runtime: &ShuttleRuntime) {
    let data = Arc::new(runtime.mutex(0));
    let thread = |more: u64| {
        let (seam, data) = (*runtime, Arc::clone(&data));
        let body: Box<dyn FnOnce() + Send> = Box::new(move || {
            let mut data = seam.lock(&data);
            *data += more;
            assert!(more != 0 || *data < 3, "both have come");
        });
        body
    };
    threads(runtime, [1, 2, 0].map(thread).into());
}

/// Three threads hand a value on in a ring, once each; a fourth one expects, once all have, that it went round.
fn token_ring(runtime: &ShuttleRuntime) {
    let ring = Arc::new(runtime.mutex(([1, 2, 1], [false; 3])));
    let thread = |which: usize| {
        let (seam, ring) = (*runtime, Arc::clone(&ring));
        let body: Box<dyn FnOnce() + Send> = Box::new(move || {
            let mut ring = seam.lock(&ring);
            let (values, are_done) = &mut *ring;
            match which {
                0 => values[0] = (values[2] + 1) % 4,
                1 | 2 => values[which] = values[which - 1],
                _ if *are_done == [true; 3] => {
                    assert!(values[0] == values[1] && values[1] == values[2], "{values:?}");
                }
                _ => {}
            }
            if let Some(is_done) = are_done.get_mut(which) {
                *is_done = true;
            }
        });
        body
    };
    threads(runtime, (0..4).map(thread).collect());
}
