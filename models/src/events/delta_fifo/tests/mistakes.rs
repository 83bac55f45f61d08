//! Random calls notice the mistakes.

use crate::delta_fifo::DeltaFifo;
use crate::delta_fifo::mutants::of_rules;
use crate::events::fixtures::{every_mistake_is_made, every_mutant_is_noticed};

/// Mistakes that need a second thread, and `no_deduplication`: the list of changes that is handed
/// out compresses itself.
const UNSEEN: &[&str] = &[
    "latch_set_when_taken",
    "closed_flag_has_its_own_lock",
    "unlocked_while_processing",
    "no_deduplication",
];

fn random_calls_notice_every_mistake_that_a_single_caller_can_see() {
    every_mutant_is_noticed::<DeltaFifo>(&of_rules(), UNSEEN);
}

fn every_mistake_that_the_plain_queue_knows_is_made() {
    let sources = &[include_str!("../plain/mod.rs"), include_str!("../plain/writes.rs")];
    every_mistake_is_made(sources, &of_rules(), &[]);
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    random_calls_notice_every_mistake_that_a_single_caller_can_see,
    every_mistake_that_the_plain_queue_knows_is_made
];
