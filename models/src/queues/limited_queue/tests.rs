//! The machine against the sequential object and against the recorded traces.

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use seatrial_core::limited_queue::{Op as Call, Outcome, Ret};
use seatrial_core::machine::Step;

use crate::limited_queue::conformance::conformance;
use crate::limited_queue::{check, check_on, decode, machine};
use crate::regressions::tried;
use crate::single_step::doubt::{Mistaken, notices};

const CONFIG: &str = r#"{"rate_limiter":{"kind":"exponential","base_ms":5,"max_ms":8}}"#;

fn trace(steps: &str) -> String {
    format!(r#"{{"id":"1","config":{CONFIG},"steps":[{steps}]}}"#)
}

fn a_trace_of_every_call_replays() {
    let line = trace(
        r#"{"op":"add_rate_limited","args":{"item":"a"},"out":{"len":0,"num_requeues":1}},
        {"op":"add_rate_limited","args":{"item":"b"},"out":{"len":0,"num_requeues":1}},
        {"op":"add_after","args":{"item":"b","ms":3},"out":{"len":0}},
        {"op":"advance","args":{"ms":3},"out":{"len":1}},
        {"op":"get","out":{"item":"b","shutdown":false}},
        {"op":"done","args":{"item":"b"},"out":{"len":0}},
        {"op":"forget","args":{"item":"a"},"out":null},
        {"op":"num_requeues","args":{"item":"a"},"out":0},
        {"op":"advance","args":{"ms":2},"out":{"len":1}},
        {"op":"add","args":{"item":"c"},"out":{"len":2}},
        {"op":"len","out":2},
        {"op":"shutdown","out":null},
        {"op":"get","out":{"item":"a","shutdown":false}}"#,
    );
    let outcome = conformance().replay_lines([line.replace('\n', " ").as_str()]);
    assert_eq!((outcome.failures, outcome.replayed), (vec![], 1));
}

fn a_changed_result_is_noticed() {
    let lines = [
        r#"{"op":"add_rate_limited","args":{"item":"a"},"out":{"len":1,"num_requeues":1}}"#,
        r#"{"op":"add_rate_limited","args":{"item":"a"},"out":{"len":0,"num_requeues":2}}"#,
        r#"{"op":"num_requeues","args":{"item":"a"},"out":1}"#,
        r#"{"op":"forget","args":{"item":"a"},"out":0}"#,
        r#"{"op":"jump","out":null}"#,
    ];
    let lines = lines.map(trace);
    let outcome = conformance().replay_lines(lines.iter().map(String::as_str));
    assert_eq!(outcome.failures.len(), lines.len());
    let unreadable = r#"{"id":"1","config":{"rate_limiter":{"kind":"coin"}},"steps":[]}"#;
    assert_eq!(conformance().replay_lines([unreadable]).failures.len(), 1);
}

proptest! {
    #![proptest_config(tried!("limited_queue", cases: 1024))]

    fn the_machine_agrees_with_the_sequential_object(bytes in vec(any::<u8>(), 0..240)) {
        check(&decode(&bytes));
    }
}

type Answer = Step<Ret<u8>>;

fn convicts(call: fn(&mut Call<u8>), answer: fn(Answer) -> Answer) -> bool {
    notices(|bytes| check_on(&decode(bytes), Mistaken { machine: machine(), call, answer }))
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
    a_trace_of_every_call_replays,
    a_changed_result_is_noticed,
    the_machine_agrees_with_the_sequential_object,
    keeping_failures_on_success_is_noticed,
    counting_one_failure_less_is_noticed
];
