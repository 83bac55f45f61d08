//! The property detects the mistakes.

use seatrial_core::machine::Boxed;

use crate::delta_fifo::Mistake::{self, *};
use crate::delta_fifo::{MapAndKeys, check_on, decode};
use crate::events::fixtures::fails_on_some;
use seatrial::tests::every_mistake_is_noticed;

/// Mistakes that need a second thread, and `NoDeduplication`: the list of changes that is handed
/// out compresses itself.
const UNSEEN: &[Mistake] =
    &[LatchWhenTaken, CloseUnderItsOwnLock, UnlockWhileProcessing, NoDeduplication];

fn noticed(mistakes: &'static [Mistake]) -> bool {
    fails_on_some(1000, |bytes| {
        let (setup, ops) = decode(bytes);
        check_on(setup, &ops, |known| {
            Boxed(Box::new(MapAndKeys::with(mistakes, known, setup.emit_replaced)))
        });
    })
}

fn random_calls_notice_every_mistake_that_a_single_caller_can_see() {
    every_mistake_is_noticed(Mistake::ALL, UNSEEN, noticed);
}

fn the_reference_without_a_mistake_agrees_with_the_sequential_object() {
    assert!(!noticed(&[]));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    random_calls_notice_every_mistake_that_a_single_caller_can_see,
    the_reference_without_a_mistake_agrees_with_the_sequential_object
];
