//! The machine against the sequential object and against the recorded traces.

use std::time::Duration;

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use seatrial_core::machine::{Step, Wakes};
use seatrial_core::priority_queue::{Add, AddOptions, GETTERS, Get, Op as Call, Ret};
use seatrial_core::queue::{Done, ShutDown, Token};

use crate::conformance::every_trace_replays;
use crate::priority_queue::mutants::without_mistake;
use crate::priority_queue::{Op, check, check_on, conformance, decode, machine};
use crate::queues::fixtures::outcomes::any_outcome;
use crate::regressions::tried;
use crate::single_step::doubt::{Mistaken, notices};
use crate::single_step::hash;
use crate::single_step::sleepers::{Calls, Sleepers, fails};

fn every_recorded_trace_replays() {
    every_trace_replays(&conformance());
}

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

fn options() -> impl Strategy<Value = AddOptions> {
    let after = proptest::option::of((0..16_u64).prop_map(Duration::from_millis));
    let rate_limited = prop_oneof![3 => Just(false), 1 => Just(true)];
    (after, rate_limited, -1..2_i32).prop_map(|(after, rate_limited, priority)| AddOptions {
        after,
        rate_limited,
        priority,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let key = || 0..5_u8;
    prop_oneof![
        10 => (key(), options()).prop_map(|(key, options)| Op::Add(key, options)),
        2 => ([key(), key(), key()], options()).prop_map(|(keys, o)| Op::AddThree(keys, o)),
        1 => key().prop_map(Op::Forget),
        2 => key().prop_map(Op::NumRequeues),
        6 => (0..16_u16).prop_map(Op::Advance),
        8 => Just(Op::Get),
        3 => key().prop_map(Op::Done),
        2 => key().prop_map(Op::DoneByValue),
        4 => (key(), any_outcome(16), -1..2_i32).prop_map(|(key, o, rank)| Op::Settle(key, o, rank)),
        2 => Just(Op::Len),
    ]
}

/// Mostly calls without a shutdown, and sometimes with a shutdown somewhere.
fn ops() -> impl Strategy<Value = Vec<Op>> {
    (vec(op(), 0..80), proptest::option::weighted(0.2, 0..80_usize)).prop_map(|(mut ops, at)| {
        if let Some(at) = at {
            ops.insert(at.min(ops.len()), Op::ShutDown);
        }
        ops
    })
}

proptest! {
    #![proptest_config(tried!("priority_queue", cases: 1024))]

    fn the_machine_agrees_with_the_sequential_object(ops in ops()) {
        check(&ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..240)) {
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

/// The mutants' machine answers from the plain list that it is compared with, so this shows only that
/// its tokens and its waking are right. The machine that ships is compared with the list above.
fn the_mutants_machine_without_a_mistake_adds_tokens_and_waking_alone() {
    assert!(!notices(|bytes| check_on(&decode(bytes), without_mistake())));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    every_recorded_trace_replays,
    a_trace_of_every_call_replays,
    a_changed_result_is_noticed,
    the_machine_agrees_with_the_sequential_object,
    whatever_bytes_say_the_two_agree,
    nobody_sleeps_while_there_is_an_item,
    waking_one_consumer_for_an_earlier_deadline_is_noticed,
    waking_nobody_is_noticed,
    shutdown_lets_every_consumer_go,
    the_machine_without_a_mistake_is_not_convicted,
    priorities_that_do_not_count_are_noticed,
    a_limiter_that_is_not_asked_for_delayed_items_is_noticed,
    coming_back_with_another_priority_is_noticed,
    a_batch_in_reverse_is_noticed,
    consumers_that_sleep_without_a_deadline_are_noticed,
    the_mutants_machine_without_a_mistake_adds_tokens_and_waking_alone
];
