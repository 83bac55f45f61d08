//! Sequences of calls, and the property that the table agrees with the sequential object.

use std::time::Duration;

use seatrial_core::limiter::{BackoffTable, Item};
use seatrial_core::runtime::Instant;

use super::Spec;
use crate::single_step::{each_call, hash};

/// A call. An event is this many units before or after now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the calls of the table")]
pub enum Op {
    Next(u8, i8),
    Get(u8),
    Since(u8, i8),
    SinceUpdate(u8, i8),
    Advance(u8),
    Reset(u8),
    CollectGarbage,
}

/// The set-up of a table, in units: the delays, and the number of nanoseconds in a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// The first delay.
    pub initial: u8,
    /// The longest delay.
    pub max: u8,
    /// A unit is two to the power of this many nanoseconds.
    pub unit: u8,
}

impl Setup {
    fn unit(self) -> u64 {
        1 << (self.unit % 57)
    }
}

/// Runs calls on the table that ships and on the sequential object.
///
/// # Panics
/// If the two disagree.
pub fn check(setup: Setup, ops: &[Op]) {
    let delay = |n: u8| Duration::from_nanos(setup.unit().saturating_mul(n.into()));
    let wide = |n: u8| i128::from(setup.unit()) * i128::from(n);
    let mut pair = Pair {
        ours: BackoffTable::new(delay(setup.initial), delay(setup.max)),
        spec: Spec::new(wide(setup.initial), wide(setup.max)),
        unit: setup.unit().into(),
        now: 1 << 62,
    };
    for op in each_call(ops) {
        pair.step(*op);
    }
}

/// Reads a setup and calls from bytes: three for the setup, then three for each call.
pub fn decode(bytes: &[u8]) -> (Setup, Vec<Op>) {
    let op = |bytes: &[u8]| {
        let (key, n) = (bytes[1] % 3, bytes[2]);
        match bytes[0] % 12 {
            0..5 => Op::Next(key, n.cast_signed() / 8),
            5 => Op::Get(key),
            6 => Op::Since(key, n.cast_signed() / 4),
            7 => Op::SinceUpdate(key, n.cast_signed() / 4),
            8..10 => Op::Advance(n / 8),
            10 => Op::Reset(key),
            _ => Op::CollectGarbage,
        }
    };
    let (setup, ops) = bytes.split_at_checked(3).unwrap_or((&[1, 10, 0], &[]));
    let setup = Setup { initial: setup[0] % 16, max: setup[1] % 128, unit: setup[2] };
    (setup, ops.chunks_exact(3).map(op).collect())
}

/// The table and the sequential object, which get the same calls.
struct Pair {
    ours: BackoffTable<u8>,
    spec: Spec,
    unit: i128,
    now: i128,
}

impl Pair {
    /// Returns the time of an event, limited to the times that a clock can show.
    fn event(&self, units: i8) -> i128 {
        (self.now + i128::from(units) * self.unit).clamp(0, u64::MAX.into())
    }

    fn step(&mut self, op: Op) {
        let (now, spec_now) = (instant(self.now), self.now);
        match op {
            Op::Next(key, units) => {
                let event = self.event(units);
                self.spec.next(key, event, spec_now);
                let none = || unreachable!("without jitter nothing is drawn");
                let delay = self.ours.next(item(&key), instant(event), now, none);
                assert_eq!(wide(delay), self.spec.get(key));
            }
            Op::Get(key) => assert_eq!(wide(self.ours.get(item(&key))), self.spec.get(key)),
            Op::Since(key, units) => {
                let event = self.event(units);
                let ours = self.ours.is_in_backoff_since(item(&key), instant(event), now);
                assert_eq!(ours, self.spec.since(key, event, spec_now));
            }
            Op::SinceUpdate(key, units) => {
                let event = self.event(units);
                let ours = self.ours.is_in_backoff_since_update(item(&key), instant(event));
                assert_eq!(ours, self.spec.since_update(key, event));
            }
            Op::Advance(units) => {
                self.now = (self.now + i128::from(units) * self.unit).min(u64::MAX.into());
            }
            Op::Reset(key) => {
                assert_eq!(self.ours.reset(item(&key)).is_some(), self.spec.reset(key));
            }
            Op::CollectGarbage => {
                let ours = self.ours.collect_garbage(now).len();
                assert_eq!(ours, self.spec.collect_garbage(spec_now));
            }
        }
    }
}

fn item(key: &u8) -> Item<'_, u8> {
    Item::new(key, hash(key))
}

fn instant(nanos: i128) -> Instant {
    Instant::from_nanos(u64::try_from(nanos).expect("times are clamped"))
}

fn wide(delay: Duration) -> i128 {
    i128::try_from(delay.as_nanos()).expect("a delay fits")
}
