//! Machines with a mistake: the property must notice each of them.

use seatrial_core::limited_queue::{Op as Call, Outcome, Ret};
use seatrial_core::machine::Step;

use crate::limited_queue::{check_on, decode, machine};
use crate::single_step::doubt::{Mistaken, notices};

type Answer = Step<Ret<u8>>;

fn convicts(call: fn(&mut Call<u8>), answer: fn(Answer) -> Answer) -> bool {
    notices(|bytes| check_on(&decode(bytes), Mistaken { machine: machine(), call, answer }))
}

fn the_machine_without_a_mistake_is_not_convicted() {
    assert!(!convicts(|_| {}, |answer| answer));
}

fn forgetting_on_a_retry_is_noticed() {
    let forgets = |call: &mut Call<u8>| {
        if let Call::Settle(settle) = call
            && settle.outcome == Outcome::Retry
        {
            settle.outcome = Outcome::RequeueAfter(std::time::Duration::from_millis(3));
        }
    };
    assert!(convicts(forgets, |answer| answer), "CL-3");
}

fn keeping_failures_on_success_is_noticed() {
    let keeps = |call: &mut Call<u8>| {
        if let Call::Settle(settle) = call
            && settle.outcome == Outcome::Success
        {
            *call = Call::Done(seatrial_core::queue::Done(settle.token));
        }
    };
    let as_if = |answer: Answer| match answer {
        Step::Done(Ret::Done(finished)) => Step::Done(Ret::Settle(finished)),
        other => other,
    };
    assert!(convicts(keeps, as_if), "CL-1");
}

fn counting_one_failure_less_is_noticed() {
    let less = |answer: Answer| match answer {
        Step::Done(Ret::NumRequeues(n)) => Step::Done(Ret::NumRequeues(n.saturating_sub(1))),
        other => other,
    };
    assert!(convicts(|_| {}, less), "workqueue:RL-4");
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_machine_without_a_mistake_is_not_convicted,
    forgetting_on_a_retry_is_noticed,
    keeping_failures_on_success_is_noticed,
    counting_one_failure_less_is_noticed
];
