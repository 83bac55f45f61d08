//! Sequences of calls, and the property that the table agrees with the plain one.

use std::time::Duration;

use seatrial_core::runtime::{Ambient as _, Instant};

use super::Plain;
use super::machine::{Call, Ships};
use crate::shared::agree;
use crate::single_step::{HandClock, each_call};

/// A call. An event is this many units before or after now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Next(u8, i8),
    Get(u8),
    Since(u8, i8),
    SinceUpdate(u8, i8),
    Advance(u8),
    Reset(u8),
    CollectGarbage,
}

/// The set-up of a table, in units: the delays, and the number of nanoseconds in a unit.
#[derive(Debug)]
struct Setup {
    initial: u8,
    max: u8,
    unit: u64,
}

/// Runs the calls that bytes stand for on the table that ships and on the plain one, without jitter.
///
/// # Panics
/// If the two disagree.
pub fn check(bytes: &[u8]) {
    let (Setup { initial, max, unit }, ops) = decode(bytes);
    let units = |n: u8| Duration::from_nanos(unit.saturating_mul(n.into()));
    let wide = |n: u8| i128::from(unit) * i128::from(n);
    let mut ours = Ships::new(units(initial), units(max), 0.0);
    let mut plain = Plain::new(wide(initial), wide(max), 0.0);
    let clock = HandClock::default();
    clock.advance(Duration::from_nanos(1 << 62));
    for op in each_call(ops) {
        let now = i128::from(clock.now().as_nanos());
        let event = |units: i8| {
            let event = (now + i128::from(units) * i128::from(unit)).clamp(0, u64::MAX.into());
            Instant::from_nanos(u64::try_from(event).expect("it is limited"))
        };
        let call = match op {
            Op::Advance(n) => {
                clock.advance(units(n));
                continue;
            }
            Op::Next(key, units) => Call::Next(key, event(units)),
            Op::Get(key) => Call::Get(key),
            Op::Since(key, units) => Call::Since(key, event(units)),
            Op::SinceUpdate(key, units) => Call::SinceUpdate(key, event(units)),
            Op::Reset(key) => Call::Reset(key),
            Op::CollectGarbage => Call::CollectGarbage,
        };
        agree(&mut ours, &mut plain, call, &clock);
        if let Op::Next(key, _) = op {
            agree(&mut ours, &mut plain, Call::Get(key), &clock);
        }
    }
}

/// Reads a setup and calls from bytes: three for the setup, then three for each call.
fn decode(bytes: &[u8]) -> (Setup, Vec<Op>) {
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
    let setup = Setup { initial: setup[0] % 16, max: setup[1] % 128, unit: 1 << (setup[2] % 57) };
    (setup, ops.chunks_exact(3).map(op).collect())
}
