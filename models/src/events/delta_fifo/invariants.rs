//! The promises of the queue of changes, as checks of a history.

use super::view::nothing_is_lost;
use super::{Change, DeltaFifo, Led, Over};
use crate::events::fixtures::over;
use crate::events::fixtures::promises::{self, at_every_call};
use crate::trial::Invariant;

pub(super) fn all() -> Vec<Invariant<DeltaFifo>> {
    let own = vec![
        at_every_call(
            "deletions_are_deduplicated",
            "a pending deletion of an object never follows another deletion directly",
            &["cache:DF-2", "cache:DF-6", "cache:INV-6"],
            deletions_are_deduplicated,
        ),
        promises::transformed_once(&["cache:DF-22", "cache:DF-23", "cache:INV-26"]),
        Invariant::after_every_event(
            "nothing_is_lost",
            "whenever the lock is free, the consumer's objects and the pending changes add up to \
             what the writers saw",
            &[
                "cache:INV-3",
                "cache:INV-4",
                "cache:DF-12",
                "cache:DF-16",
                "cache:DF-29",
                "cache:QU-4",
            ],
            |after: &Led, event| {
                over::<DeltaFifo>(event).map_or(Ok(()), |_| nothing_is_lost(after))
            },
        ),
    ];
    let alone = &["cache:QU-12", "cache:INV-12", "cache:DF-29"];
    let early = &["cache:QU-14", "cache:QU-15", "cache:QU-18", "cache:DF-18", "cache:INV-8"];
    let late = &["cache:QU-17", "cache:QU-19", "cache:DF-10", "cache:DF-19", "cache:INV-9"];
    promises::of(own, [alone, early, late], RULES)
}

/// What the comparison with the plain queue checks; others check some of it, too.
const RULES: &[&str] = &[
    "cache:DF-1",
    "cache:DF-5",
    "cache:DF-6",
    "cache:DF-7",
    "cache:DF-8",
    "cache:DF-9",
    "cache:DF-10",
    "cache:DF-11",
    "cache:DF-12",
    "cache:DF-13",
    "cache:DF-14",
    "cache:DF-15",
    "cache:DF-19",
    "cache:DF-20",
    "cache:DF-21",
    "cache:DF-24",
    "cache:DF-25",
    "cache:DF-26",
    "cache:DF-27",
    "cache:DF-28",
    "cache:DF-32",
    "cache:DF-33",
    "cache:QU-1",
    "cache:QU-2",
    "cache:QU-3",
    "cache:QU-8",
    "cache:QU-9",
    "cache:QU-10",
    "cache:QU-11",
    "cache:QU-20",
    "cache:INV-5",
    "cache:INV-7",
];

fn deletions_are_deduplicated(_: &Led, over: &Over<'_>) -> Result<(), String> {
    let twice = |deltas: &[Change]| {
        deltas.windows(2).any(|pair| pair[0].is_deleted() && pair[1].is_deleted())
    };
    match over.state.waiting.iter().find(|(_, deltas)| twice(deltas)) {
        Some((key, deltas)) => Err(format!("two deletions of object {key} in {deltas:?}")),
        None => Ok(()),
    }
}
