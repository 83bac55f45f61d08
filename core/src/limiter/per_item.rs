//! Limiters that count per item: the more often an item failed, the longer it waits.

use std::time::Duration;

use crate::runtime::Instant;
use crate::slab::Item;

use super::Limiter;
use super::failures::Failures;
use super::nanos::{duration, nanos};

/// Doubles the delay with every failure of an item, up to a maximum (`workqueue:RL-2`).
///
/// Remembers an item from its first failure until it is forgotten.
#[derive(Clone, Debug)]
pub struct Exponential<K> {
    base: i64,
    max: i64,
    failures: Failures<K>,
}

impl<K: Eq + Clone> Exponential<K> {
    /// Makes a limiter that returns `base`, twice that, four times that and so on, but never more
    /// than `max`. The maximum also holds if `base` is greater (`workqueue:RL-6`).
    #[must_use]
    pub fn new(base: Duration, max: Duration) -> Self {
        let max = if base.is_zero() { base } else { max }; // nothing doubles to nothing
        Self { base: nanos(base), max: nanos(max), failures: Failures::new() }
    }

    /// Returns how many items it remembers.
    #[must_use]
    pub fn remembered(&self) -> usize {
        self.failures.len()
    }

    /// Returns the delay of a failure after `failures` earlier ones.
    #[inline]
    fn delay_after(&self, failures: u32) -> Duration {
        // `base << failures` stays below 2^63 as long as the sign bit is zero (`RL-8`).
        let fits = failures < self.base.leading_zeros();
        duration(if fits { (self.base << failures).min(self.max) } else { self.max })
    }
}

impl<K: Eq + Clone + Send + 'static> Limiter<K> for Exponential<K> {
    #[inline]
    fn when(&mut self, item: Item<'_, K>, _: Instant) -> Duration {
        let before = self.failures.count(item); // the first failure waits `base` (RL-3)
        self.delay_after(before)
    }

    fn forget(&mut self, item: Item<'_, K>, left: &mut Vec<K>) {
        self.failures.forget(item, left);
    }

    fn num_requeues(&self, item: Item<'_, K>) -> u32 {
        self.failures.get(item)
    }

    fn reads_time(&self) -> bool {
        false
    }
}

/// A few short delays, then long ones (`workqueue:RL-13`).
///
/// Remembers an item from its first failure until it is forgotten.
#[derive(Clone, Debug)]
pub struct FastSlow<K> {
    fast: i64,
    slow: i64,
    max_fast: u32,
    failures: Failures<K>,
}

impl<K: Eq + Clone> FastSlow<K> {
    /// Makes a limiter that returns `fast` for the first `max_fast` failures of an item, and `slow`
    /// for all later ones.
    #[must_use]
    pub fn new(fast: Duration, slow: Duration, max_fast: u32) -> Self {
        Self { fast: nanos(fast), slow: nanos(slow), max_fast, failures: Failures::new() }
    }

    /// Returns how many items it remembers.
    #[must_use]
    pub fn remembered(&self) -> usize {
        self.failures.len()
    }
}

impl<K: Eq + Clone + Send + 'static> Limiter<K> for FastSlow<K> {
    #[inline]
    fn when(&mut self, item: Item<'_, K>, _: Instant) -> Duration {
        let before = self.failures.count(item);
        duration(if before < self.max_fast { self.fast } else { self.slow })
    }

    fn forget(&mut self, item: Item<'_, K>, left: &mut Vec<K>) {
        self.failures.forget(item, left);
    }

    fn num_requeues(&self, item: Item<'_, K>) -> u32 {
        self.failures.get(item)
    }

    fn reads_time(&self) -> bool {
        false
    }
}

#[cfg(test)]
impl<K: Eq + Clone> Exponential<K> {
    pub(super) fn set_failures(&mut self, item: Item<'_, K>, count: u32) {
        self.failures.set(item, count);
    }
}
