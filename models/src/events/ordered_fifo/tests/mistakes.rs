//! Random calls notice the mistakes.

use crate::events::fixtures::{every_mistake_is_made, every_mutant_is_noticed, is_noticed};
use crate::ordered_fifo::OrderedFifo;
use crate::ordered_fifo::mutants::{is_of_the_lock, of_rules};

/// The mistakes of no mutant: no scenario has a consumer whose objects lack a key.
const OTHERS: &[&str] = &["resync_hides_refused"];

fn random_calls_notice_every_mistake_that_a_single_thread_can_show() {
    let of_rules = of_rules();
    let unseen: Vec<_> =
        of_rules.iter().filter(|it| is_of_the_lock(it)).map(|it| it.name).collect();
    every_mutant_is_noticed::<OrderedFifo>(&of_rules, &unseen);
    assert!(is_noticed::<OrderedFifo>(OTHERS));
}

fn every_mistake_that_the_plain_queue_knows_is_made() {
    let sources = &[include_str!("../plain/mod.rs"), include_str!("../plain/taking.rs")];
    every_mistake_is_made(sources, &of_rules(), OTHERS);
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    random_calls_notice_every_mistake_that_a_single_thread_can_show,
    every_mistake_that_the_plain_queue_knows_is_made
];
