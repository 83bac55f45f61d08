//! Sequences of calls, and the property that a limiter agrees with the plain one.

use std::time::Duration;

use seatrial_core::limiter::{Bucket, Exponential, FastSlow, Limiter, MaxOf, WithMaxWait};

use super::machine::{Alone, Call};
use super::plain::{Plain, Shape};
use crate::limiters::token_bucket::{Rate, our_rate};
use crate::shared::agree;
use crate::single_step::{HandClock, each_call};

/// A call; times are in 1/32 s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Ask(Call),
    Advance(u8),
}

const TICK: u64 = 1_000_000_000 / 32;

/// Makes the limiter of a shape.
pub fn limiter(shape: &Shape) -> Box<dyn Limiter<u8>> {
    let nanos = Duration::from_nanos;
    match shape {
        Shape::Exponential { base, max } => Box::new(Exponential::new(nanos(*base), nanos(*max))),
        Shape::FastSlow { fast, slow, max_fast } => {
            Box::new(FastSlow::new(nanos(*fast), nanos(*slow), (*max_fast).into()))
        }
        Shape::Bucket { rate, burst } => Box::new(Bucket::new(our_rate(*rate), (*burst).into())),
        Shape::MaxOf(parts) => match parts.as_slice() {
            [first, second] => Box::new(MaxOf((limiter(first), limiter(second)))),
            parts => Box::new(MaxOf(parts.iter().map(limiter).collect::<Vec<_>>())),
        },
        Shape::WithMaxWait(inner, max) => Box::new(WithMaxWait::new(limiter(inner), nanos(*max))),
    }
}

/// Runs the calls that bytes stand for on the limiter that ships and on the plain one.
///
/// # Panics
/// If the two disagree.
pub fn check(bytes: &[u8]) {
    check_on(bytes, |ours| ours);
}

/// As [`check`], on another limiter in place of the one that ships.
///
/// # Panics
/// As [`check`].
pub(super) fn check_on(
    bytes: &[u8],
    other: impl FnOnce(Box<dyn Limiter<u8>>) -> Box<dyn Limiter<u8>>,
) {
    let (shape, ops) = decode(bytes);
    let (mut ours, mut plain) = (Alone(other(limiter(&shape))), Plain::new(&shape));
    let clock = HandClock::default();
    clock.advance(Duration::from_nanos(1 << 40));
    for op in each_call(ops) {
        match op {
            Op::Ask(call) => _ = agree(&mut ours, &mut plain, call, &clock),
            Op::Advance(ticks) => clock.advance(Duration::from_nanos(u64::from(ticks) * TICK)),
        }
    }
}

/// Reads a shape and calls from bytes: the shape first, then one byte for each call.
fn decode(bytes: &[u8]) -> (Shape, Vec<Op>) {
    let mut bytes = bytes.iter().copied();
    let shape = shape(&mut bytes, 2);
    let op = |byte: u8| match (byte % 8, byte / 8) {
        (0..4, key) => Op::Ask(Call::When(key % 4)),
        (4, key) => Op::Ask(Call::Forget(key % 4)),
        (5, key) => Op::Ask(Call::NumRequeues(key % 4)),
        (_, ticks) => Op::Advance(ticks),
    };
    (shape, bytes.map(op).collect())
}

fn shape(bytes: &mut impl Iterator<Item = u8>, depth: u8) -> Shape {
    let mut next = || bytes.next().unwrap_or(0);
    let kind = next();
    // Numbers of every size: a shift by up to 63 bits.
    let mut nanos = || u64::from(next()) << (next() % 64);
    match kind % 6 {
        0 => Shape::Exponential { base: nanos(), max: nanos() },
        1 => Shape::Exponential { base: nanos(), max: u64::MAX },
        2 => Shape::FastSlow { fast: nanos(), slow: nanos(), max_fast: next() % 5 },
        4 if depth > 0 => {
            let parts = kind / 6 % 4;
            Shape::MaxOf((0..parts).map(|_| shape(bytes, depth - 1)).collect())
        }
        5 if depth > 0 => {
            let max = nanos();
            Shape::WithMaxWait(Box::new(shape(bytes, depth - 1)), max)
        }
        _ => {
            let rates =
                [Rate::PerSecond(0), Rate::PerSecond(1), Rate::PerSecond(2), Rate::Unlimited];
            Shape::Bucket { rate: rates[usize::from(next() % 4)], burst: next() % 6 }
        }
    }
}
