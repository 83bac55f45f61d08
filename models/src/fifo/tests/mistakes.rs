//! The property is worth what it notices.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_core::machine::Boxed;

use crate::engine::quietly;
use crate::fifo::Mistake::{self, *};
use crate::fifo::{MapAndList, check_on, decode};
use crate::objects::random_bytes;

/// Mistakes that a single caller can see. Not among them: those that need a second thread
/// (`CloseUnderItsOwnLock`, `UnlockWhileProcessing`), and one that would let the only thread sleep
/// or not sleep (`EmptyIsClosed`).
const SHOWN: &[Mistake] = &[
    LatchWhenPopReturns,
    ListInMapOrder,
    CountListedObjects,
    RequeueAlways,
    RequeueOverwrites,
    ResyncQueuesAgain,
    UpdateMoves,
    UpdateLosesPlace,
    KeepFirst,
    DeleteRemovesPlace,
    DeleteDoesNothing,
    OnePlaceEach,
    ReplaceKeepsOld,
    LastInFirstOut,
    RequeueInFront,
    RequeueForgets,
    CountWhenTaken,
    StalePlacesDoNotCount,
    CountEveryList,
    NeverCount,
    PutIsNoWrite,
    DeleteIsNoWrite,
    PutBackIsNoWrite,
    CloseDiscards,
    CloseGatesWriters,
    ListByKey,
    LenCountsPlaces,
];

fn noticed(mistakes: &'static [Mistake]) -> bool {
    quietly(|| {
        (1..400).any(|seed| {
            let ops = decode(&random_bytes(seed, 120));
            let run = || check_on(&ops, |_| Boxed(Box::new(MapAndList::with(mistakes))));
            catch_unwind(AssertUnwindSafe(run)).is_err()
        })
    })
}

#[test]
fn random_calls_notice_every_mistake_that_a_single_caller_can_see() {
    for mistake in SHOWN.chunks(1) {
        assert!(noticed(mistake), "{mistake:?} stays unnoticed");
    }
}

#[test]
fn the_reference_without_its_mistake_agrees_with_the_sequential_object() {
    assert!(!noticed(&[]));
}
