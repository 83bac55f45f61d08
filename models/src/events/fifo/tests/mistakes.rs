//! Random calls notice the mistakes.

use crate::events::fixtures::{every_mistake_is_made, every_mutant_is_noticed};
use crate::fifo::Fifo;
use crate::fifo::mutants::of_rules;

/// Mistakes that need a second thread.
const UNSEEN: &[&str] = &["closed_flag_has_its_own_lock", "unlocked_while_processing"];

fn random_calls_notice_every_mistake_that_a_single_caller_can_see() {
    every_mutant_is_noticed::<Fifo>(&of_rules(), UNSEEN);
}

fn every_mistake_that_the_plain_queue_knows_is_made() {
    every_mistake_is_made(&[include_str!("../plain.rs")], &of_rules(), &[]);
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    random_calls_notice_every_mistake_that_a_single_caller_can_see,
    every_mistake_that_the_plain_queue_knows_is_made
];
