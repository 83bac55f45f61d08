//! Small concurrent programs with a store and its readers, each named by the case it must reach.

mod ends;
mod returns;
mod versions;

use std::time::Duration;

use seatrial_core::informer::fresh;
use seatrial_core::machine::Step;
use seatrial_core::runtime::{Ambient as _, Instant};

use super::book::Book;
use super::shelf::{Op, Wish};
use super::stage::{Stage, States};
use super::{History, OwnWrites};
use crate::engine::Engine;
use crate::trial::{Ledger as _, Scenario, What};

pub(super) fn all() -> Vec<Scenario<OwnWrites>> {
    let mut all = versions::all();
    all.extend(returns::all());
    all.extend(ends::all());
    all
}

/// More notes than a client takes in these scenarios.
const MANY: usize = 64;

/// An object that is written a second time.
const WRITTEN: States = &[(0, &[]), (1, &[("a", "1", 1)]), (2, &[("a", "1", 2)])];
/// An object that is deleted.
const DELETED: States = &[(1, &[("a", "1", 1)]), (2, &[])];
/// An object that is deleted and made again.
const ANEW: States = &[(1, &[("a", "1", 1)]), (2, &[]), (3, &[("a", "2", 3)])];
/// An object with a refused state, and another object.
const REFUSED: States = &[
    (1, &[("a", "1", 1)]),
    (2, &[("a", "1", 2)]),
    (3, &[("a", "1", 2), ("b", "2", 3)]),
    (4, &[("a", "1", 4), ("b", "2", 3)]),
];

fn one(version: u64) -> Wish {
    Wish::OneAtLeast("a".to_owned(), version)
}

fn own() -> Wish {
    Wish::OneWritten("a".to_owned())
}

/// Tells whether some call of the rules meets a condition, which also sees whether the call waits.
fn some(history: &History, wanted: impl Fn(&Book, &fresh::Op, bool) -> bool) -> bool {
    Book::some(history, |book, event| match &event.what {
        What::Step { op: Op::Fresh(call), outcome, .. } => {
            wanted(book, call, matches!(outcome, Step::Wait { .. }))
        }
        _ => false,
    })
}

/// Tells whether the store advances while this many calls sleep.
fn advances_for(history: &History, sleepers: usize) -> bool {
    some(history, |book, call, _| {
        matches!(call, fresh::Op::Advance(_)) && book.asleep.len() == sleepers
    })
}

/// A time in the near future.
fn soon(stage: &Stage) -> Instant {
    stage.world.runtime().now() + Duration::from_millis(10)
}

/// Refuses loom for tasks whose time may be over while other threads work.
fn wakes_tasks_by_the_clock(engine: Engine) -> Option<&'static str> {
    let why = "its clock cannot wake a task that then has to sleep for a lock";
    (engine == Engine::Loom).then_some(why)
}
