//! The property detects the mistakes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_core::machine::Boxed;

use crate::engine::quietly;
use crate::fifo::Mistake::{self, *};
use crate::fifo::{MapAndList, check_on, decode};
use crate::random::random_bytes;
use crate::trial::component_tests::every_mistake_is_noticed;

/// Mistakes that need a second thread.
const UNSEEN: &[Mistake] = &[CloseUnderItsOwnLock, UnlockWhileProcessing];

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
    every_mistake_is_noticed(Mistake::ALL, UNSEEN, noticed);
}

#[test]
fn the_reference_without_its_mistake_agrees_with_the_sequential_object() {
    assert!(!noticed(&[]));
}
