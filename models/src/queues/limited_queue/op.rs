//! Sequences of calls, and the property that the machine agrees with the sequential object.

use std::iter;
use std::time::Duration;

use seatrial_core::delaying_queue::{AddAfter, Drain, Retries, ShutDown};
use seatrial_core::limited_queue::{AddRateLimited, Forget, Limited, NumRequeues, Op as Call};
use seatrial_core::limited_queue::{Outcome, Ret, Settle};
use seatrial_core::limiter::Exponential;
use seatrial_core::machine::{Machine, Step};
use seatrial_core::queue::{
    Add, Done, DoneKey, DrainUntil, Fifo, Finished, Get, Len, ShuttingDown,
};

use super::{LimitedQueue, Spec};
use crate::queues::fixtures::listener::metrics;
use crate::queues::fixtures::outcomes::outcomes;
use crate::queues::fixtures::pair::{Pair, given};
use crate::single_step::{each_call, hash};
use crate::trial::Alone;

pub(super) const BASE: Duration = Duration::from_millis(3);
pub(super) const MAX: Duration = Duration::from_millis(40);

/// A call; times are in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the calls of the queue")]
pub enum Op {
    Add(u8),
    AddAfter(u8, u16),
    AddRateLimited(u8),
    Forget(u8),
    NumRequeues(u8),
    Advance(u16),
    Get,
    Done(u8),
    DoneByValue(u8),
    Settle(u8, Outcome),
    Len,
    ShutDown,
    Drain,
}

/// The machine that is compared.
pub type Ours = Limited<u8, Exponential<u8>>;

/// Makes the machine that ships, with the limiter that [`check`] expects.
pub fn machine() -> Ours {
    Limited::measured(Exponential::new(BASE, MAX), Fifo::default(), &metrics())
}

/// Runs calls on the machine that ships and on the sequential object.
///
/// # Panics
/// If the two disagree, or the machine breaks a rule of its own.
pub fn check(ops: &[Op]) {
    check_on(ops, machine());
}

/// As [`check`], on a machine in place of the one that ships.
///
/// # Panics
/// As [`check`].
pub fn check_on(ops: &[Op], machine: impl Machine<Op = Call<u8>, Ret = Ret<u8>>) {
    let (alone, recorded) = Alone::<LimitedQueue>::with(Box::new(machine));
    let mut pair = Pair::<Ours, _>::new(recorded, Spec::new(BASE, MAX));
    for op in each_call(ops) {
        pair.step(*op);
    }
    alone.tells_what_is_so();
}

/// Reads calls from bytes: one byte for the call, one for the item, one for the time.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let op = |bytes: &[u8]| {
        let (key, time) = (bytes[1] % 5, u16::from(bytes[2]) % 20);
        // No time at all is a case of its own, so it comes often.
        let pause = if bytes[1] >= 192 { 0 } else { time };
        let outcomes = outcomes(Duration::from_millis(pause.into()));
        match bytes[0] % 20 {
            0..2 => Op::Add(key),
            2..4 => Op::AddAfter(key, time),
            4..7 => Op::AddRateLimited(key),
            7 => Op::Forget(key),
            8 => Op::NumRequeues(key),
            9..12 => Op::Advance(time),
            12..15 => Op::Get,
            15 => Op::Done(key),
            16 => Op::DoneByValue(key),
            17..19 => Op::Settle(key, outcomes[usize::from(bytes[2] / 20 % 5)]),
            _ => [Op::ShutDown, Op::Drain, Op::Len, Op::Len][usize::from(bytes[2] % 4)],
        }
    };
    bytes.chunks_exact(3).map(op).collect()
}

impl Pair<Ours, Spec<u8>> {
    fn step(&mut self, op: Op) {
        match op {
            Op::Add(key) => {
                self.call(Call::Add(Add { key: Some(key), hash: hash(&key) }));
                self.spec.delaying.queue.add(&key);
            }
            Op::AddAfter(key, delay) => {
                let delay = Duration::from_millis(delay.into());
                let call = AddAfter { key: Some(key), hash: hash(&key), delay, called: None };
                self.call(Call::AddAfter(call));
                self.spec.delaying.add_after(&key, delay);
            }
            Op::AddRateLimited(key) => {
                let called = key.is_multiple_of(2).then(|| self.ours.now()); // both ways to tell the time
                let call = AddRateLimited { key: Some(key), hash: hash(&key), called };
                self.call(Call::AddRateLimited(call));
                self.spec.add_rate_limited(&key);
            }
            Op::Forget(key) => {
                self.call(Call::Forget(Forget::new(key, hash(&key))));
                self.spec.failures.remove(&key);
            }
            Op::NumRequeues(key) => {
                let ret = self.call(Call::NumRequeues(NumRequeues { key, hash: hash(&key) }));
                let expected = self.spec.failures.get(&key).copied().unwrap_or(0);
                assert!(matches!(ret, Ret::NumRequeues(n) if n == expected), "{ret:?}");
            }
            Op::Advance(by) => {
                let by = Duration::from_millis(by.into());
                self.ours.advance(by);
                self.spec.delaying.advance(by);
            }
            Op::Get => self.get(),
            Op::Done(_) | Op::DoneByValue(_) | Op::Settle(..) => self.done(op),
            Op::Len => {
                self.refresh();
                let ret = self.call(Call::Len(Len));
                let waiting = self.spec.delaying.queue.waiting.len();
                assert!(matches!(ret, Ret::Len(n) if n == waiting), "{ret:?}");
            }
            Op::ShutDown => {
                self.call(Call::ShutDown(ShutDown::new()));
                self.spec.delaying.shut_down();
            }
            Op::Drain => {
                self.spec.delaying.shut_down();
                let step = self.ours.step(Call::Drain(Drain::new(DrainUntil::NothingInFlight)));
                let over = self.spec.delaying.queue.processing.is_empty();
                assert_eq!(matches!(step, Step::Done(_)), over, "{step:?}");
            }
        }
        let retries = self.call(Call::Retries(Retries));
        assert!(matches!(retries, Ret::Retries(n) if n == self.spec.delaying.retries));
        let says = self.call(Call::ShuttingDown(ShuttingDown));
        assert!(
            matches!(says, Ret::ShuttingDown(says) if says == self.spec.delaying.queue.shutting_down)
        );
    }

    fn get(&mut self) {
        let (step, expected) = self.take(Get, |spec| spec.delaying.queue.get());
        let (over, earliest) =
            (self.spec.delaying.queue.shutting_down, self.spec.delaying.earliest());
        let tokens = given(step, &expected, over, earliest);
        self.deliveries.extend(iter::zip(expected, tokens));
    }

    fn done(&mut self, op: Op) {
        let (key, outcome) = match op {
            Op::Settle(key, outcome) => (key, Some(outcome)),
            Op::Done(key) | Op::DoneByValue(key) => (key, None),
            other => unreachable!("{other:?} ends no delivery"),
        };
        let token = self.deliveries.get(&key).copied();
        let call = match (op, outcome, token) {
            (Op::DoneByValue(_), ..) => Call::DoneKey(DoneKey { key, hash: hash(&key) }),
            (_, Some(outcome), Some(token)) => Call::Settle(Settle::new(token, outcome)),
            (_, None, Some(token)) => Call::Done(Done(token)),
            (_, _, None) => return,
        };
        let ret = self.call(call);
        let (Ret::Done(finished) | Ret::DoneKey(finished) | Ret::Settle(finished)) = &ret else {
            panic!("done returned {ret:?}")
        };
        let expected = match outcome {
            Some(outcome) => self.spec.settle(&key, outcome),
            None => self.spec.delaying.queue.done(&key),
        };
        assert_eq!(*finished != Finished::NotInProcessing, expected);
    }
}
