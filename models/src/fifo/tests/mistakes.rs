//! The property is worth what it notices.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_core::machine::Boxed;

use crate::engine::quietly;
use crate::fifo::Mistake::{self, *};
use crate::fifo::{MapAndList, check_on, decode};

/// Mistakes that sequential calls can show. The others are about waking.
const SHOWN: &[&[Mistake]] = &[
    &[LatchWhenPopReturns],
    &[StalePlacesDoNotCount],
    &[CountListedObjects],
    &[CountEveryList],
    &[UpdateMoves],
    &[KeepFirst],
    &[DeleteRemovesPlace],
    &[OnePlaceEach],
    &[ReplaceKeepsOld],
    &[LastInFirstOut],
    &[CloseDiscards],
    &[RequeueOverwrites],
];

/// Random bytes that are the same in every run.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..120).map(|_| next()).collect()
}

fn noticed(mistakes: &'static [Mistake]) -> bool {
    quietly(|| {
        (1..400).any(|seed| {
            let ops = decode(&bytes(seed));
            let run = || check_on(&ops, |_| Boxed(Box::new(MapAndList::with(mistakes))));
            catch_unwind(AssertUnwindSafe(run)).is_err()
        })
    })
}

#[test]
fn random_calls_notice_every_mistake_that_a_single_thread_can_show() {
    for mistakes in SHOWN {
        assert!(noticed(mistakes), "{mistakes:?} stays unnoticed");
    }
}

#[test]
fn the_reference_without_its_mistake_agrees_with_the_sequential_object() {
    assert!(!noticed(&[]));
}
