//! The property detects the mistakes.

use seatrial_core::machine::Boxed;

use crate::events::fixtures::fails_on_some;
use crate::fifo::Mistake::{self, *};
use crate::fifo::{MapAndList, check_on, decode};
use seatrial::tests::every_mistake_is_noticed;

/// Mistakes that need a second thread.
const UNSEEN: &[Mistake] = &[CloseUnderItsOwnLock, UnlockWhileProcessing];

fn noticed(mistakes: &'static [Mistake]) -> bool {
    fails_on_some(400, |bytes| {
        check_on(&decode(bytes), |_| Boxed(Box::new(MapAndList::with(mistakes))));
    })
}

fn random_calls_notice_every_mistake_that_a_single_caller_can_see() {
    every_mistake_is_noticed(Mistake::ALL, UNSEEN, noticed);
}

fn the_reference_without_its_mistake_agrees_with_the_sequential_object() {
    assert!(!noticed(&[]));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    random_calls_notice_every_mistake_that_a_single_caller_can_see,
    the_reference_without_its_mistake_agrees_with_the_sequential_object
];
