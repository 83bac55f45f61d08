//! Sequences of calls, and the property that the machine agrees with the sequential object.

use std::iter;
use std::time::Duration;

use seatrial_core::limited_queue::{Forget, NumRequeues, Outcome};
use seatrial_core::limiter::Exponential;
use seatrial_core::machine::Machine;
use seatrial_core::priority_queue::{
    Add, AddBatch, AddOptions, Get, Meter, Op as Call, Prioritized,
};
use seatrial_core::priority_queue::{Ret, Retries, Settle, Told};
use seatrial_core::queue::{Done, DoneKey, Finished, Len, ShutDown, ShuttingDown};

use super::PriorityQueue;
use super::spec::{BASE, MAX, Spec};
use crate::queues::fixtures::listener::metrics;
use crate::queues::fixtures::outcomes;
use crate::queues::fixtures::pair::{Pair, given};
use crate::single_step::{each_call, hash};
use crate::trial::Alone;

/// A call; times are in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the calls of the queue")]
pub enum Op {
    Add(u8, AddOptions),
    /// Adds three items; the first one may occur twice.
    AddThree([u8; 3], AddOptions),
    Forget(u8),
    NumRequeues(u8),
    Advance(u16),
    /// Thirty-two items wait, and eight of them are brought forward, wherever they are among the others.
    Forward(u8),
    Get,
    Done(u8),
    DoneByValue(u8),
    Settle(u8, Outcome, i32),
    Len,
    ShutDown,
}

/// The machine that is compared.
pub type Ours = Prioritized<u8, Exponential<u8>, Told>;

/// Makes the machine that ships, with the limiter that [`check`] expects.
pub fn machine() -> Ours {
    let told = metrics().sink().map(Meter::new);
    Prioritized::new(Exponential::new(BASE, MAX), told)
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
    let (alone, recorded) = Alone::<PriorityQueue>::with(Box::new(machine));
    let mut pair = Pair::<Ours, _>::new(recorded, Spec::default());
    for op in each_call(ops) {
        pair.step(*op);
    }
    alone.tells_what_is_so();
}

/// Reads calls from bytes: one byte for the call, one for the item, one for time and priority.
///
/// Some inputs have few items, which are often added again; others have many that wait for long.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let has_many = bytes.first().is_some_and(|byte| byte.is_multiple_of(4));
    let (items, longer) = if has_many { (50, 8) } else { (5, 1) };
    let op = |bytes: &[u8]| {
        let (key, time, rank) = (bytes[1] % items, bytes[2] % 16, bytes[2] / 16 % 3);
        let millis = Duration::from_millis(u64::from(time) * longer);
        let options = AddOptions {
            after: (bytes[1] & 64 != 0).then_some(millis),
            rate_limited: bytes[1] & 128 != 0,
            priority: i32::from(rank) - 1,
        };
        let outcomes = outcomes(millis);
        match bytes[0] % 20 {
            0..6 => Op::Add(key, options),
            6 => Op::AddThree([key, bytes[0] / 20 % items, time % items], options),
            7 => Op::Forget(key),
            8 => Op::NumRequeues(key),
            9..12 => Op::Advance(time.into()),
            12..15 => Op::Get,
            15 => Op::Done(key),
            16 => Op::DoneByValue(key),
            17..19 => Op::Settle(key, outcomes[usize::from(bytes[1] / 52)], options.priority),
            _ => match bytes[2] {
                0..32 => Op::ShutDown,
                192.. => Op::Forward(bytes[1]),
                _ => Op::Len,
            },
        }
    };
    bytes.chunks_exact(3).map(op).collect()
}

impl Pair<Ours, Spec> {
    fn step(&mut self, op: Op) {
        match op {
            Op::Add(key, options) => {
                let called = key.is_multiple_of(2).then(|| self.ours.now()); // both ways to tell the time
                self.call(Add { key: Some(key), hash: hash(&key), options, called });
                self.spec.add(&[key], options, self.spec.now);
            }
            Op::AddThree(keys, options) => {
                let items = keys.iter().map(|key| (Some(*key), hash(key))).collect();
                self.call(AddBatch { items, options, called: None });
                self.spec.add(&keys, options, self.spec.now);
            }
            Op::Forget(key) => {
                self.call(Forget::new(key, hash(&key)));
                self.spec.failures.remove(&key);
            }
            Op::NumRequeues(key) => {
                let expected = self.spec.failures.get(&key).copied().unwrap_or(0);
                assert_eq!(self.call(NumRequeues { key, hash: hash(&key) }), expected);
            }
            Op::Advance(by) => {
                let by = Duration::from_millis(by.into());
                self.ours.advance(by);
                self.spec.advance_to(self.spec.now + by);
            }
            Op::Forward(seed) => self.forward(seed),
            Op::Get => self.get(),
            Op::Done(key) => {
                if let Some(token) = self.deliveries.get(&key) {
                    let finished = self.call(Done(*token));
                    assert_eq!(self.spec.done(&key), finished != Finished::NotInProcessing);
                }
            }
            Op::DoneByValue(key) => {
                let finished = self.call(DoneKey { key, hash: hash(&key) });
                assert_eq!(self.spec.done(&key), finished != Finished::NotInProcessing);
            }
            Op::Settle(key, outcome, priority) => {
                if let Some(token) = self.deliveries.get(&key) {
                    let finished = self.call(Settle::new(*token, outcome, priority));
                    let ended = self.spec.settle(&key, outcome, priority);
                    assert_eq!(ended, finished != Finished::NotInProcessing);
                }
            }
            Op::Len => {
                self.refresh();
                assert_eq!(self.call(Len), self.spec.len());
            }
            Op::ShutDown => {
                self.call(ShutDown);
                self.spec.shut_down = true;
            }
        }
        assert_eq!(self.call(Retries), self.spec.retries, "retries");
        assert_eq!(self.call(ShuttingDown), self.spec.shut_down);
    }

    fn forward(&mut self, seed: u8) {
        let options = |after| AddOptions { after, rate_limited: false, priority: 0 };
        for item in 0..32_u64 {
            let seed = u64::from(seed);
            let delay = Duration::from_millis((seed + 1) * (item + 11) * (item + 3) % 251 % 31 + 1);
            self.step(Op::Add(100 + item as u8, options(Some(delay))));
        }
        for item in 0..8 {
            self.step(Op::Add(100 + seed.wrapping_add(5 * item) % 32, options(None)));
        }
        for by in [8, 8, 16] {
            self.step(Op::Advance(by));
            (0..16).for_each(|_| self.get());
        }
    }

    fn get(&mut self) {
        let (step, expected) = self.take(Get, Spec::get);
        // Only the item and its priority are compared.
        let apart = |(token, key, priority)| (token, (key, priority));
        let step = step.map(|taken| taken.into_iter().map(apart).collect());
        let (over, earliest) = (self.spec.shut_down, self.spec.earliest());
        let tokens = given(step, &expected, over, earliest);
        self.deliveries.extend(iter::zip(expected.into_iter().map(|(key, _)| key), tokens));
    }
}
