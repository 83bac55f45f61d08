//! The limiters in whole numbers: the specification.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step};

use super::machine::{Call, Said};
use crate::token_bucket::{self, Rate};

/// The longest delay in nanoseconds.
pub(super) const FOREVER: u128 = i64::MAX as u128;

/// The kind of a limiter, without its state. Times are in nanoseconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Doubles from `base` to `max`.
    Exponential {
        /// The first delay.
        base: u64,
        /// The longest delay.
        max: u64,
    },
    /// Some short delays, then long ones.
    FastSlow {
        /// The short delay.
        fast: u64,
        /// The long delay.
        slow: u64,
        /// The number of short delays.
        max_fast: u8,
    },
    /// One token bucket for all items.
    Bucket {
        /// Tokens per second.
        rate: Rate,
        /// The number of tokens that fit.
        burst: u8,
    },
    /// The longest of the answers.
    MaxOf(Vec<Shape>),
    /// Cuts the answer.
    WithMaxWait(Box<Shape>, u64),
}

/// A limiter and its state.
#[derive(Clone, Debug)]
pub enum Plain {
    /// A limiter that counts failures for each item.
    PerItem(Shape, BTreeMap<u8, u32>),
    /// A bucket.
    Bucket(token_bucket::Plain),
    /// Several limiters.
    MaxOf(Vec<Plain>),
    /// A limiter whose answer is cut.
    WithMaxWait(Box<Plain>, u64),
}

impl Plain {
    /// Makes a limiter without any failures.
    pub fn new(shape: &Shape) -> Self {
        match shape {
            Shape::Exponential { .. } | Shape::FastSlow { .. } => {
                Self::PerItem(shape.clone(), BTreeMap::new())
            }
            Shape::Bucket { rate, burst } => Self::Bucket(token_bucket::Plain::new(*rate, *burst)),
            Shape::MaxOf(parts) => Self::MaxOf(parts.iter().map(Self::new).collect()),
            Shape::WithMaxWait(inner, max) => Self::WithMaxWait(Box::new(Self::new(inner)), *max),
        }
    }

    /// Counts a failure and returns the delay (`workqueue:RL-2`, `RL-13`, `RL-15`, `RL-20`).
    pub fn when(&mut self, key: u8, now: u64) -> u128 {
        match self {
            Self::PerItem(shape, counts) => {
                let count = counts.entry(key).or_default();
                *count += 1;
                shape.delay_of(*count)
            }
            Self::Bucket(bucket) => bucket.next(now),
            Self::MaxOf(parts) => {
                let delays: Vec<_> = parts.iter_mut().map(|part| part.when(key, now)).collect();
                delays.into_iter().max().unwrap_or(0)
            }
            Self::WithMaxWait(inner, max) => inner.when(key, now).min(u128::from(*max)),
        }
    }

    /// Forgets the failures of an item.
    pub fn forget(&mut self, key: u8) {
        match self {
            Self::PerItem(_, counts) => drop(counts.remove(&key)),
            Self::Bucket(_) => {}
            Self::MaxOf(parts) => parts.iter_mut().for_each(|part| part.forget(key)),
            Self::WithMaxWait(inner, _) => inner.forget(key),
        }
    }

    /// Returns how often an item failed since it was last forgotten.
    pub fn num_requeues(&self, key: u8) -> u32 {
        match self {
            Self::PerItem(_, counts) => counts.get(&key).copied().unwrap_or(0),
            Self::Bucket(_) => 0,
            Self::MaxOf(parts) => {
                parts.iter().map(|part| part.num_requeues(key)).max().unwrap_or(0)
            }
            Self::WithMaxWait(inner, _) => inner.num_requeues(key),
        }
    }
}

impl Shape {
    /// Returns the delay at the `k`-th failure, counted from one.
    fn delay_of(&self, k: u32) -> u128 {
        match *self {
            Self::Exponential { base, max } => {
                let (mut delay, max) = (u128::from(base), u128::from(max).min(FOREVER));
                for _ in 1..k {
                    delay = (delay * 2).min(FOREVER + 1); // beyond that it does not fit
                }
                delay.min(max)
            }
            Self::FastSlow { fast, slow, max_fast } => {
                u128::from(if k <= u32::from(max_fast) { fast } else { slow }).min(FOREVER)
            }
            _ => 0,
        }
    }
}

impl Machine for Plain {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, cx: &mut Cx<'_>) -> Step<Said> {
        Step::Done(match *call {
            Call::When(key) => {
                let delay = u64::try_from(self.when(key, cx.now().as_nanos()));
                Said::Delay(Duration::from_nanos(delay.expect("it is at most for ever")))
            }
            Call::Forget(key) => {
                self.forget(key);
                Said::Forgotten
            }
            Call::NumRequeues(key) => Said::Count(self.num_requeues(key)),
        })
    }
}
