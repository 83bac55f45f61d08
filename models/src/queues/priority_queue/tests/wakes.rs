//! Consumers in every order: none sleeps while there is an item.

use std::time::Duration;

use seatrial_core::machine::Wakes;
use seatrial_core::priority_queue::{Add, AddOptions, GETTERS, Get, Op, Ret};
use seatrial_core::queue::{Done, ShutDown, Token};

use crate::priority_queue::machine;
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
        taken.map(|(token, ..)| token)
    }

    fn done(token: Token) -> Op<u8> {
        Op::Done(Done(token))
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
                queue.produce(Op::Add(Add {
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
    queue.produce(Op::ShutDown(ShutDown));
    queue.pass(Duration::ZERO);
    assert!(queue.nobody_sleeps(), "workqueue:LIV-10");
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    nobody_sleeps_while_there_is_an_item,
    waking_one_consumer_for_an_earlier_deadline_is_noticed,
    waking_nobody_is_noticed,
    shutdown_lets_every_consumer_go
];
