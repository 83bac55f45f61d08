//! Sequences of calls, and the property that the machine agrees with the sequential object.

use std::time::Duration;

use seatrial_core::limited_queue::{AddRateLimited, Forget, Limited, NumRequeues, Op as Call};
use seatrial_core::limited_queue::{Outcome, Ret, Settle};
use seatrial_core::limiter::Exponential;
use seatrial_core::machine::Machine;
use seatrial_core::queue::{Fifo, Finished};

use super::{LimitedQueue, Spec};
use crate::delaying_queue::{self, HasDelays, Op as Inner};
use crate::queues::fixtures::listener::metrics;
use crate::queues::fixtures::outcomes;
use crate::queues::fixtures::pair::Pair;
use crate::single_step::{each_call, hash};
use crate::trial::Alone;

pub(super) const BASE: Duration = Duration::from_millis(3);
pub(super) const MAX: Duration = Duration::from_millis(40);

/// A call; times are in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the calls of the queue")]
pub enum Op {
    /// One that every queue with delays has.
    Delaying(delaying_queue::Op),
    AddRateLimited(u8),
    Forget(u8),
    NumRequeues(u8),
    Settle(u8, Outcome),
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
    let mut pair = Pair::<Ours, _>::new(recorded, Spec::default());
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
        Op::Delaying(match bytes[0] % 20 {
            0..2 => Inner::Add(key),
            2..4 => Inner::AddAfter(key, time),
            4..7 => return Op::AddRateLimited(key),
            7 => return Op::Forget(key),
            8 => return Op::NumRequeues(key),
            9..12 => Inner::Advance(time),
            12..15 => Inner::Get,
            15 => Inner::Done(key),
            16 => Inner::DoneByValue(key),
            17..19 => return Op::Settle(key, outcomes[usize::from(bytes[2] / 20 % 5)]),
            _ => [Inner::ShutDown, Inner::Drain, Inner::Len, Inner::Len][usize::from(bytes[2] % 4)],
        })
    };
    bytes.chunks_exact(3).map(op).collect()
}

impl HasDelays for Spec {
    fn delaying(&mut self) -> &mut delaying_queue::Plain {
        &mut self.delaying
    }
}

impl Pair<Ours, Spec> {
    fn step(&mut self, op: Op) {
        match op {
            Op::Delaying(op) => self.step_delaying(op),
            Op::AddRateLimited(key) => {
                let called = key.is_multiple_of(2).then(|| self.ours.now()); // both ways to tell the time
                self.call(AddRateLimited { key: Some(key), hash: hash(&key), called });
                self.spec.add_rate_limited(key);
            }
            Op::Forget(key) => {
                self.call(Forget::new(key, hash(&key)));
                self.spec.failures.remove(&key);
            }
            Op::NumRequeues(key) => {
                let expected = self.spec.failures.get(&key).copied().unwrap_or(0);
                assert_eq!(self.call(NumRequeues { key, hash: hash(&key) }), expected);
            }
            Op::Settle(key, outcome) => {
                if let Some(token) = self.deliveries.get(&key) {
                    let finished = self.call(Settle::new(*token, outcome));
                    let ended = self.spec.settle(key, outcome);
                    assert_eq!(ended, finished != Finished::NotInProcessing);
                }
            }
        }
        self.compare();
    }
}
