//! The promises of the queue of newest objects, as checks of a history.

use seatrial_core::fifo::Op;
use seatrial_core::machine::Step;

use super::Fifo;
use crate::events::fixtures::promises;
use crate::events::fixtures::{Call, Led};
use crate::trial::{EventOf, Invariant, What};

pub(super) fn all() -> Vec<Invariant<Fifo>> {
    let lost = Invariant::at_every_event(
        "nothing_is_lost",
        "no consumer goes to sleep while an object waits",
        &["cache:FF-1", "cache:QU-2", "cache:QU-9", "cache:FF-15"],
        nothing_is_lost,
    );
    let alone = &["cache:QU-12", "cache:INV-12"];
    let early = &["cache:QU-14", "cache:QU-15", "cache:QU-18", "cache:FF-10", "cache:INV-8"];
    let late = &["cache:QU-17", "cache:QU-19", "cache:FF-12", "cache:FF-13", "cache:INV-9"];
    promises::of(vec![lost], [alone, early, late], RULES)
}

/// What the comparison with the plain queue checks; others check some of it, too.
const RULES: &[&str] = &[
    "cache:FF-2",
    "cache:FF-3",
    "cache:FF-4",
    "cache:FF-6",
    "cache:FF-7",
    "cache:FF-8",
    "cache:FF-9",
    "cache:FF-11",
    "cache:FF-13",
    "cache:FF-14",
    "cache:FF-16",
    "cache:QU-1",
    "cache:QU-2",
    "cache:QU-3",
    "cache:QU-4",
    "cache:QU-8",
    "cache:QU-10",
    "cache:QU-11",
    "cache:QU-20",
    "cache:INV-7",
];

fn nothing_is_lost(before: &Led<Fifo>, event: &EventOf<Fifo>) -> Result<(), String> {
    let sleeps = matches!(
        event.what,
        What::Step { op: Call::Queue(Op::Pop(_)), outcome: Step::Wait { .. }, .. }
    );
    match before.right().and_then(|plain| plain.items.keys().next()) {
        Some(key) if sleeps => Err(format!("a consumer finds nothing, and object {key} waits")),
        _ => Ok(()),
    }
}
