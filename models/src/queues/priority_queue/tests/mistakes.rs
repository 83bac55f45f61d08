//! Machines with a mistake: the property must notice each of them.

use seatrial_core::machine::Step;
use seatrial_core::priority_queue::{Op as Call, Ret};

use crate::priority_queue::mutants::without_mistake;
use crate::priority_queue::{check_on, decode, machine};
use crate::single_step::doubt::{Mistaken, notices};

type Answer = Step<Ret<u8>>;

fn convicts(call: fn(&mut Call<u8>), answer: fn(Answer) -> Answer) -> bool {
    notices(|bytes| check_on(&decode(bytes), Mistaken { machine: machine(), call, answer }))
}

fn the_machine_without_a_mistake_is_not_convicted() {
    assert!(!convicts(|_| {}, |answer| answer));
}

fn priorities_that_do_not_count_are_noticed() {
    let flat = |call: &mut Call<u8>| {
        if let Call::Add(add) = call {
            add.options.priority = 0;
        }
    };
    assert!(convicts(flat, |answer| answer), "PQ-22");
}

fn a_limiter_that_is_not_asked_for_delayed_items_is_noticed() {
    let unasked = |call: &mut Call<u8>| {
        if let Call::Add(add) = call {
            add.options.rate_limited &= add.options.after.is_none();
        }
    };
    assert!(convicts(unasked, |answer| answer), "PQ-7");
}

fn coming_back_with_another_priority_is_noticed() {
    let lifted = |call: &mut Call<u8>| {
        if let Call::Settle(settle) = call {
            settle.priority += 1;
        }
    };
    assert!(convicts(lifted, |answer| answer), "PQ-42");
}

fn a_batch_in_reverse_is_noticed() {
    let reversed = |call: &mut Call<u8>| {
        if let Call::AddBatch(batch) = call {
            batch.items.reverse();
        }
    };
    assert!(convicts(reversed, |answer| answer), "PQ-4");
}

fn consumers_that_sleep_without_a_deadline_are_noticed() {
    let endless = |answer: Answer| match answer {
        Step::Wait { on, .. } => Step::Wait { on, until: None },
        other => other,
    };
    assert!(convicts(|_| {}, endless), "PQ-21");
}

fn the_plain_list_without_a_mistake_is_not_convicted() {
    assert!(!notices(|bytes| check_on(&decode(bytes), without_mistake())));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_machine_without_a_mistake_is_not_convicted,
    priorities_that_do_not_count_are_noticed,
    a_limiter_that_is_not_asked_for_delayed_items_is_noticed,
    coming_back_with_another_priority_is_noticed,
    a_batch_in_reverse_is_noticed,
    consumers_that_sleep_without_a_deadline_are_noticed,
    the_plain_list_without_a_mistake_is_not_convicted
];
