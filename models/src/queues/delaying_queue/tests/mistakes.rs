//! Machines with a mistake: the property must notice each of them.

use std::time::Duration;

use seatrial_core::delaying_queue::{Delaying, Op as Call, Ret};
use seatrial_core::machine::Step;
use seatrial_core::queue::Add;

use crate::delaying_queue::mutants::without_mistake;
use crate::delaying_queue::{check_on, decode};
use crate::single_step::Behind;
use crate::single_step::doubt::{Mistaken, notices};

type Answer = Step<Ret<u8>>;

fn convicts(call: fn(&mut Call<u8>), answer: fn(Answer) -> Answer) -> bool {
    notices(|bytes| {
        check_on(&decode(bytes), Mistaken { machine: Delaying::<u8>::default(), call, answer });
    })
}

fn the_machine_without_a_mistake_is_not_convicted() {
    assert!(!convicts(|_| {}, |answer| answer));
}

fn an_item_that_comes_late_is_noticed() {
    let late = |call: &mut Call<u8>| {
        if let Call::AddAfter(add) = call {
            add.delay += Duration::from_nanos(1);
        }
    };
    assert!(convicts(late, |answer| answer));
}

fn consumers_that_sleep_without_a_deadline_are_noticed() {
    let endless = |answer: Answer| match answer {
        Step::Wait { on, .. } => Step::Wait { on, until: None },
        other => other,
    };
    assert!(convicts(|_| {}, endless));
}

fn a_zero_delay_that_does_not_count_is_noticed() {
    let uncounted = |call: &mut Call<u8>| {
        if let Call::AddAfter(add) = call
            && add.delay.is_zero()
        {
            *call = Call::Add(Add { key: add.key, hash: add.hash });
        }
    };
    let as_if = |answer: Answer| match answer {
        Step::Done(Ret::Add(())) => Step::Done(Ret::AddAfter(())),
        other => other,
    };
    assert!(convicts(uncounted, as_if));
}

fn a_length_that_counts_one_more_is_noticed() {
    let more = |answer: Answer| match answer {
        Step::Done(Ret::Len(len)) => Step::Done(Ret::Len(len + 1)),
        other => other,
    };
    assert!(convicts(|_| {}, more));
}

fn the_construction_of_the_reference_without_a_mistake_is_not_convicted() {
    assert!(!notices(|bytes| check_on(&decode(bytes), Behind(without_mistake()))));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_machine_without_a_mistake_is_not_convicted,
    an_item_that_comes_late_is_noticed,
    consumers_that_sleep_without_a_deadline_are_noticed,
    a_zero_delay_that_does_not_count_is_noticed,
    a_length_that_counts_one_more_is_noticed,
    the_construction_of_the_reference_without_a_mistake_is_not_convicted
];
