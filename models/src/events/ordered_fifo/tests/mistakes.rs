//! Random calls notice the mistakes.

use crate::events::fixtures::{every_mutant_is_noticed, is_noticed};
use crate::ordered_fifo::OrderedFifo;
use crate::ordered_fifo::mutants::{is_of_the_lock, of_rules};

fn random_calls_notice_every_mistake_that_a_single_thread_can_show() {
    let of_rules = of_rules();
    let unseen: Vec<_> =
        of_rules.iter().filter(|it| is_of_the_lock(it)).map(|it| it.name).collect();
    every_mutant_is_noticed::<OrderedFifo>(&of_rules, &unseen);
    // No scenario has a consumer whose objects lack a key.
    assert!(is_noticed::<OrderedFifo>(&["resync_hides_refused"]));
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![random_calls_notice_every_mistake_that_a_single_thread_can_show];
