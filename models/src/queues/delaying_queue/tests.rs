//! The machine against the sequential object and against the recorded traces.

use std::time::Duration;

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use seatrial_core::delaying_queue::{AddAfter, Delaying, Op as Call, Ret, ShutDown};
use seatrial_core::machine::Wakes;
use seatrial_core::queue::{Add, Done, GETTERS, Get, Token};

use crate::delaying_queue::{check, check_on, conformance, decode};
use crate::regressions::tried;
use crate::single_step::doubt::{Mistaken, notices};
use crate::single_step::hash;
use crate::single_step::sleepers::{Calls, Sleepers, fails};

fn a_trace_of_every_call_replays() {
    let line = r#"{"id":"1","config":{},"steps":[
        {"op":"add_after","args":{"item":"a","ms":5},"out":{"len":0}},
        {"op":"add_after","args":{"item":"b","ms":-5},"out":{"len":1}},
        {"op":"add","args":{"item":"b"},"out":{"len":1}},
        {"op":"advance","args":{"ms":5},"out":{"len":2}},
        {"op":"get","out":{"item":"b","shutdown":false}},
        {"op":"done","args":{"item":"b"},"out":{"len":1}},
        {"op":"len","out":1},
        {"op":"shutdown","out":null},
        {"op":"get","out":{"item":"a","shutdown":false}},
        {"op":"get","out":{"shutdown":true}}]}"#;
    let outcome = conformance().replay_lines([line.replace('\n', " ").as_str()]);
    assert_eq!((outcome.failures, outcome.replayed), (vec![], 1));
}

fn a_changed_result_is_noticed() {
    let lines = [
        r#"{"id":"1","steps":[{"op":"add","args":{"item":"a"},"out":{"len":2}}]}"#,
        r#"{"id":"2","steps":[{"op":"add_after","args":{"item":"a","ms":1},"out":{"len":1}}]}"#,
        r#"{"id":"3","steps":[{"op":"shutdown","out":null},{"op":"get","out":null}]}"#,
        r#"{"id":"4","steps":[{"op":"advance","args":{"ms":1},"out":null}]}"#,
        r#"{"id":"5","steps":[{"op":"get","out":{"item":"a","shutdown":false}}]}"#,
        r#"{"id":"6","steps":[{"op":"jump","out":null}]}"#,
    ];
    assert_eq!(conformance().replay_lines(lines).failures.len(), lines.len());
}

proptest! {
    #![proptest_config(tried!("delaying_queue", cases: 1024))]

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
        taken.map(|(token, _)| token)
    }

    fn done(token: Token) -> Call<u8> {
        Call::Done(Done(token))
    }
}

fn program(seed: u64, edit: fn(&mut Wakes)) {
    let mut queue = Sleepers::<Consume>::new(Delaying::<u8>::default(), edit, seed);
    for _ in 0..60 {
        let key = queue.choose(4) as u8;
        let delay = Duration::from_millis(queue.choose(12) as u64);
        let hash = hash(&key);
        match queue.choose(8) {
            0 => queue.produce(Call::Add(Add { key: Some(key), hash })),
            1..=3 => {
                let call = AddAfter { key: Some(key), hash, delay, called: None };
                queue.produce(Call::AddAfter(call));
            }
            4 | 5 => queue.end_one(),
            _ => queue.pass(delay),
        }
    }
    queue.produce(Call::ShutDown(ShutDown::new()));
    queue.pass(Duration::ZERO);
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
    assert!(fails(|seed| program(seed, one)));
}

fn waking_one_consumer_less_than_there_are_items_is_noticed() {
    let less = |wakes: &mut Wakes| {
        let count = wakes.get(GETTERS);
        if count != Wakes::ALL {
            wakes.set(GETTERS, count.saturating_sub(1));
        }
    };
    assert!(fails(|seed| program(seed, less)));
}

fn an_item_that_comes_late_is_noticed() {
    let late = |call: &mut Call<u8>| {
        if let Call::AddAfter(add) = call {
            add.delay += Duration::from_nanos(1);
        }
    };
    let machine = || Mistaken { machine: Delaying::<u8>::default(), call: late, answer: |it| it };
    assert!(notices(|bytes| check_on(&decode(bytes), machine())));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    a_trace_of_every_call_replays,
    a_changed_result_is_noticed,
    the_machine_agrees_with_the_sequential_object,
    nobody_sleeps_while_there_is_an_item,
    waking_one_consumer_for_an_earlier_deadline_is_noticed,
    waking_one_consumer_less_than_there_are_items_is_noticed,
    an_item_that_comes_late_is_noticed
];
