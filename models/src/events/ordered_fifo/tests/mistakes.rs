//! The property detects the mistakes.

use seatrial_core::machine::Boxed;

use crate::events::fixtures::fails_on_some;
use crate::ordered_fifo::Mistake::{self, *};
use crate::ordered_fifo::{EventList, check_on, decode};
use seatrial::tests::every_mistake_is_noticed;

/// Mistakes that need a second thread.
const UNSEEN: &[Mistake] = &[
    UnlockPlain,
    UnlockLongQueue,
    KeepLocked,
    UnlockWholeLists,
    SecondConsumer,
    LockedWakesNobody,
];

fn noticed(mistakes: &'static [Mistake]) -> bool {
    fails_on_some(1000, |bytes| {
        let (setup, ops) = decode(bytes);
        check_on(setup, &ops, |machine| {
            let known = machine.known().cloned();
            Boxed(Box::new(EventList::with(mistakes, setup, known)))
        });
    })
}

fn random_calls_notice_every_mistake_that_a_single_thread_can_show() {
    every_mistake_is_noticed(Mistake::ALL, UNSEEN, noticed);
}

fn the_list_without_a_mistake_agrees_with_the_sequential_object() {
    assert!(!noticed(&[]));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    random_calls_notice_every_mistake_that_a_single_thread_can_show,
    the_list_without_a_mistake_agrees_with_the_sequential_object
];
