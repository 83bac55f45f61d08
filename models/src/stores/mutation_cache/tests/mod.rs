//! The cache against a map.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::mutation_cache::Mistake;
use crate::mutation_cache::op::{check, check_model, decode};
use crate::regressions::tried;
use crate::single_step::doubt::notices;
use seatrial::tests::every_mistake_is_noticed;

proptest! {
    #![proptest_config(tried!("mutation_cache", cases: 512))]

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..250)) {
        check(&decode(&bytes));
    }
}

/// A mistake that makes other callers wait: a lone caller cannot see it.
const UNSEEN: &[Mistake] = &[Mistake::AddWaitsForTheComparison];

fn random_calls_notice_every_mistake_that_a_single_caller_can_see() {
    let noticed = |mistakes| notices(|bytes| check_model(&decode(bytes), mistakes));
    every_mistake_is_noticed(Mistake::ALL, UNSEEN, noticed);
    assert!(!noticed(&[]));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    whatever_bytes_say_the_two_agree,
    random_calls_notice_every_mistake_that_a_single_caller_can_see
];
