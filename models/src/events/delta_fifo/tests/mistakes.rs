//! The property detects the mistakes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_core::machine::Boxed;

use crate::delta_fifo::Mistake::{self, *};
use crate::delta_fifo::{MapAndKeys, check_on, decode};
use crate::engine::quietly;
use crate::random::random_bytes;
use crate::trial::component_tests::every_mistake_is_noticed;

/// Mistakes that need a second thread, and `NoDeduplication`: the list of changes that is handed
/// out compresses itself.
const UNSEEN: &[Mistake] =
    &[LatchWhenTaken, CloseUnderItsOwnLock, UnlockWhileProcessing, NoDeduplication];

fn noticed(mistakes: &'static [Mistake]) -> bool {
    quietly(|| {
        (1..1000).any(|seed| {
            let (setup, ops) = decode(&random_bytes(seed, 120));
            let run = || {
                check_on(setup, &ops, |known| {
                    let emit_replaced = setup.emit_replaced;
                    Boxed(Box::new(MapAndKeys::with(mistakes, known, emit_replaced)))
                });
            };
            catch_unwind(AssertUnwindSafe(run)).is_err()
        })
    })
}

#[test]
fn random_calls_notice_every_mistake_that_a_single_caller_can_see() {
    every_mistake_is_noticed(Mistake::ALL, UNSEEN, noticed);
}

#[test]
fn the_reference_without_a_mistake_agrees_with_the_sequential_object() {
    assert!(!noticed(&[]));
}
