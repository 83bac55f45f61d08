//! The property detects the mistakes.

use seatrial_core::machine::Boxed;

use crate::expiring_store::Mistake::{self, *};
use crate::expiring_store::{PlainTimes, check_on, decode};
use crate::single_step::doubt::notices;
use seatrial::tests::every_mistake_is_noticed;

/// A mistake that shows only with another writer.
const UNSEEN: &[Mistake] = &[DecidesThenRemoves];

fn noticed(mistakes: &'static [Mistake]) -> bool {
    notices(|bytes| check_on(&decode(bytes), |_| Boxed(Box::new(PlainTimes::with(mistakes)))))
}

fn random_calls_notice_every_mistake_that_a_single_caller_can_see() {
    every_mistake_is_noticed(Mistake::ALL, UNSEEN, noticed);
}

fn the_map_without_a_mistake_agrees_with_the_sequential_object() {
    assert!(!noticed(&[]));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    random_calls_notice_every_mistake_that_a_single_caller_can_see,
    the_map_without_a_mistake_agrees_with_the_sequential_object
];
