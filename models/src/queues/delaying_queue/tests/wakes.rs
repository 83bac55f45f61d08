//! Consumers in every order: none sleeps while there is an item.

use std::time::Duration;

use seatrial_core::delaying_queue::{AddAfter, Delaying, Op, Ret, ShutDown};
use seatrial_core::machine::Wakes;
use seatrial_core::queue::{Add, Done, GETTERS, Get, Token};

use crate::single_step::hash;
use crate::single_step::sleepers::{Calls, Sleepers, fails};

struct Consume;

impl Calls for Consume {
    type Op = Op<u8>;
    type Ret = Ret<u8>;
    type Token = Token;

    fn get() -> Op<u8> {
        Op::Get(Get)
    }

    fn taken(ret: Ret<u8>) -> Option<Token> {
        let Ret::Get(taken) = ret else { panic!("get returned {ret:?}") };
        taken.map(|(token, _)| token)
    }

    fn done(token: Token) -> Op<u8> {
        Op::Done(Done(token))
    }
}

fn program(seed: u64, edit: fn(&mut Wakes)) {
    let mut queue = Sleepers::<Consume>::new(Delaying::<u8>::default(), edit, seed);
    for _ in 0..60 {
        let key = queue.choose(4) as u8;
        let delay = Duration::from_millis(queue.choose(12) as u64);
        let hash = hash(&key);
        match queue.choose(8) {
            0 => queue.produce(Op::Add(Add { key: Some(key), hash })),
            1..=3 => {
                let call = AddAfter { key: Some(key), hash, delay, called: None };
                queue.produce(Op::AddAfter(call));
            }
            4 | 5 => queue.end_one(),
            _ => queue.pass(delay),
        }
    }
    queue.produce(Op::ShutDown(ShutDown::new()));
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

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    nobody_sleeps_while_there_is_an_item,
    waking_one_consumer_for_an_earlier_deadline_is_noticed,
    waking_one_consumer_less_than_there_are_items_is_noticed
];
