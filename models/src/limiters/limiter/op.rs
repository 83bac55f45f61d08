//! Sequences of calls, and the property that a limiter agrees with its sequential object.

use std::time::Duration;

use seatrial_core::limiter::{
    Bucket, Exponential, FastSlow, Item, Limiter, MaxOf, Rate as OurRate, WithMaxWait,
};
use seatrial_core::runtime::Instant;

use super::spec::{Shape, Spec};
use crate::single_step::{each_call, hash};
use crate::token_bucket::Rate;

/// A call; times are in 1/32 s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the calls of a limiter")]
pub enum Op {
    When(u8),
    Forget(u8),
    NumRequeues(u8),
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
        Shape::Bucket { rate, burst } => {
            let rate = match rate {
                Rate::PerSecond(tokens) => OurRate::per_second((*tokens).into()),
                Rate::Unlimited => OurRate::UNLIMITED,
            };
            Box::new(Bucket::new(rate, (*burst).into()))
        }
        Shape::MaxOf(parts) => match parts.as_slice() {
            [first, second] => Box::new(MaxOf((limiter(first), limiter(second)))),
            parts => Box::new(MaxOf(parts.iter().map(limiter).collect::<Vec<_>>())),
        },
        Shape::WithMaxWait(inner, max) => Box::new(WithMaxWait::new(limiter(inner), nanos(*max))),
    }
}

/// Runs calls on the limiter that ships and on its sequential object.
///
/// # Panics
/// If the two disagree.
pub fn check(shape: &Shape, ops: &[Op]) {
    check_on(shape, ops, limiter(shape));
}

/// As [`check`], on a limiter in place of the one that ships.
///
/// # Panics
/// As [`check`].
pub fn check_on(shape: &Shape, ops: &[Op], mut ours: Box<dyn Limiter<u8>>) {
    let (mut spec, mut now) = (Spec::new(shape), 1_u64 << 40);
    for op in each_call(ops) {
        match *op {
            Op::When(key) => {
                let t = if ours.reads_time() { Instant::from_nanos(now) } else { Instant::NEVER };
                let delay = ours.when(Item::new(&key, hash(&key)), t);
                assert_eq!(delay.as_nanos(), spec.when(key, now));
            }
            Op::Forget(key) => {
                ours.forget(Item::new(&key, hash(&key)), &mut Vec::new());
                spec.forget(key);
            }
            Op::NumRequeues(key) => {
                let count = ours.num_requeues(Item::new(&key, hash(&key)));
                assert_eq!(count, spec.num_requeues(key));
            }
            Op::Advance(ticks) => now += u64::from(ticks) * TICK,
        }
    }
}

/// Reads a shape and calls from bytes: the shape first, then one byte for each call.
pub fn decode(bytes: &[u8]) -> (Shape, Vec<Op>) {
    let mut bytes = bytes.iter().copied();
    let shape = shape(&mut bytes, 2);
    let op = |byte: u8| match (byte % 8, byte / 8) {
        (0..4, key) => Op::When(key % 4),
        (4, key) => Op::Forget(key % 4),
        (5, key) => Op::NumRequeues(key % 4),
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
