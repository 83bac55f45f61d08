//! The machine against the sequential object and against the recorded traces.

use std::time::Duration;

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use seatrial_core::machine::Wakes;
use seatrial_core::priority_queue::{Add, AddOptions, GETTERS, Get, Op as Call, Ret};
use seatrial_core::queue::{Done, ShutDown, Token};

use crate::priority_queue::mutants::without_mistake;
use crate::priority_queue::{check, check_on, conformance, decode, machine};
use crate::regressions::tried;
use crate::single_step::doubt::{Mistaken, notices};
use crate::single_step::hash;
use crate::single_step::sleepers::{Calls, Sleepers, fails};

fn trace(steps: &str) -> String {
    let config = r#"{"rate_limiter":{"kind":"exponential","base_ms":5,"max_ms":8}}"#;
    format!(r#"{{"id":"1","config":{config},"steps":[{steps}]}}"#).replace('\n', " ")
}

fn a_trace_of_every_call_replays() {
    let line = trace(
        r#"{"op":"add_with_opts","args":{"items":["a","b"],"priority":-3,"after_ms":9,
            "rate_limited":true},"out":{"len":0}},
        {"op":"num_requeues","args":{"item":"a"},"out":1},
        {"op":"forget","args":{"item":"a"},"out":null},
        {"op":"add_rate_limited","args":{"item":"a"},"out":{"len":0,"num_requeues":1}},
        {"op":"add_after","args":{"item":"c","ms":-1},"out":{"len":1}},
        {"op":"advance","args":{"ms":5},"out":{"len":3}},
        {"op":"add","args":{"item":"b"},"out":{"len":3}},
        {"op":"get","out":{"item":"c","priority":0,"shutdown":false}},
        {"op":"done","args":{"item":"c"},"out":{"len":2}},
        {"op":"get","out":{"item":"a","priority":0,"shutdown":false}},
        {"op":"len","out":1},
        {"op":"shutdown","out":null},
        {"op":"get","out":{"shutdown":true}}"#,
    );
    let outcome = conformance().replay_lines([line.as_str()]);
    assert_eq!((outcome.failures, outcome.replayed), (vec![], 1));
}

fn a_changed_result_is_noticed() {
    let lines = [
        r#"{"op":"add","args":{"item":"a"},"out":{"len":0}}"#,
        r#"{"op":"add_with_opts","args":{"items":["a"],"after_ms":1},"out":{"len":1}}"#,
        r#"{"op":"add_rate_limited","args":{"item":"a"},"out":{"len":0,"num_requeues":0}}"#,
        r#"{"op":"add_with_opts","args":{"items":["a"],"priority":2147483648},"out":{"len":1}}"#,
        r#"{"op":"add_with_opts","args":{"items":[1]},"out":{"len":1}}"#,
        r#"{"op":"num_requeues","args":{"item":"a"},"out":1}"#,
        r#"{"op":"get","out":{"item":"a","priority":0,"shutdown":false}}"#,
        r#"{"op":"jump","out":null}"#,
    ];
    let lines = lines.map(trace);
    let outcome = conformance().replay_lines(lines.iter().map(String::as_str));
    assert_eq!(outcome.failures.len(), lines.len());
}

proptest! {
    #![proptest_config(tried!("priority_queue", cases: 2048))]

    fn the_machine_agrees_with_the_sequential_object(bytes in vec(any::<u8>(), 0..240)) {
        check(&decode(&bytes));
    }
}

struct Consume;

impl Calls for Consume {
    type Op = Call<u8>;
    type Ret = Ret<u8>;
    type Token = Token;

    fn get() -> Call<u8> {
        Call::Get(Get)
    }

    fn taken(ret: Ret<u8>) -> Option<Token> {
        let Ret::Get(taken) = ret else { panic!("get returned {ret:?}") };
        taken.map(|(token, ..)| token)
    }

    fn done(token: Token) -> Call<u8> {
        Call::Done(Done(token))
    }
}

fn program(seed: u64, edit: fn(&mut Wakes)) {
    let mut queue = Sleepers::<Consume>::new(machine(), edit, seed);
    for _ in 0..60 {
        let key = queue.choose(4) as u8;
        let delay = Duration::from_millis(queue.choose(12) as u64);
        let after = (queue.choose(2) == 0).then_some(delay);
        let options = AddOptions { after, rate_limited: false, priority: queue.choose(3) as i32 };
        match queue.choose(8) {
            0..=3 => {
                queue.produce(Call::Add(Add {
                    key: Some(key),
                    hash: hash(&key),
                    options,
                    called: None,
                }));
            }
            4 | 5 => queue.end_one(),
            _ => queue.pass(delay),
        }
    }
}

fn nobody_sleeps_while_there_is_an_item() {
    assert!(!fails(|seed| program(seed, |_| {})));
}

fn waking_one_consumer_for_an_earlier_deadline_is_noticed() {
    let one = |wakes: &mut Wakes| {
        if wakes.get(GETTERS) == Wakes::ALL {
            wakes.set(GETTERS, 1);
        }
    };
    assert!(fails(|seed| program(seed, one)), "PQ-21");
}

fn waking_nobody_is_noticed() {
    assert!(fails(|seed| program(seed, |wakes| wakes.set(GETTERS, 0))), "P11");
}

fn shutdown_lets_every_consumer_go() {
    let mut queue = Sleepers::<Consume>::new(machine(), |_| {}, 7);
    queue.pass(Duration::ZERO);
    queue.produce(Call::ShutDown(ShutDown));
    queue.pass(Duration::ZERO);
    assert!(queue.nobody_sleeps(), "workqueue:LIV-10");
}

fn convicts(call: fn(&mut Call<u8>)) -> bool {
    let machine = || Mistaken { machine: machine(), call, answer: |answer| answer };
    notices(|bytes| check_on(&decode(bytes), machine()))
}

fn a_limiter_that_is_not_asked_for_delayed_items_is_noticed() {
    let unasked = |call: &mut Call<u8>| {
        if let Call::Add(add) = call {
            add.options.rate_limited &= add.options.after.is_none();
        }
    };
    assert!(convicts(unasked), "PQ-7");
}

fn a_batch_in_reverse_is_noticed() {
    let reversed = |call: &mut Call<u8>| {
        if let Call::AddBatch(batch) = call {
            batch.items.reverse();
        }
    };
    assert!(convicts(reversed), "PQ-4");
}

/// The mutants' machine answers from the plain list that it is compared with, so this shows only that
/// its tokens and its waking are right. The machine that ships is compared with the list above.
fn the_mutants_machine_without_a_mistake_adds_tokens_and_waking_alone() {
    assert!(!notices(|bytes| check_on(&decode(bytes), without_mistake())));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    a_trace_of_every_call_replays,
    a_changed_result_is_noticed,
    the_machine_agrees_with_the_sequential_object,
    nobody_sleeps_while_there_is_an_item,
    waking_one_consumer_for_an_earlier_deadline_is_noticed,
    waking_nobody_is_noticed,
    shutdown_lets_every_consumer_go,
    a_limiter_that_is_not_asked_for_delayed_items_is_noticed,
    a_batch_in_reverse_is_noticed,
    the_mutants_machine_without_a_mistake_adds_tokens_and_waking_alone
];
