//! The rate-limiting queue as a sequential object: a delaying queue, and a count for each item.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;

use crate::delaying_queue;

/// A delaying queue, and how often each item failed. The delay doubles with every failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec<K: Ord + Clone> {
    /// The queue inside.
    pub delaying: delaying_queue::Spec<K>,
    /// Failures since the item was last forgotten.
    pub failures: BTreeMap<K, u32>,
    base: Duration,
    max: Duration,
}

impl<K: Ord + Clone> Spec<K> {
    /// Makes an empty, running queue whose delays double from `base` to `max`.
    pub fn new(base: Duration, max: Duration) -> Self {
        let delaying = delaying_queue::Spec::new();
        Self { delaying, failures: BTreeMap::new(), base, max }
    }

    /// Counts a failure and adds the item later (`workqueue:RQ-1`).
    pub fn add_rate_limited(&mut self, key: &K) {
        let failures = self.failures.entry(key.clone()).or_default();
        let mut delay = self.base;
        for _ in 0..*failures {
            delay = delay.saturating_mul(2).min(self.max);
        }
        *failures += 1;
        self.delaying.add_after(key, delay.min(self.max));
    }

    /// Ends a delivery with an outcome; tells whether there was one (`workqueue:CL-1`, `CL-9`).
    pub fn settle(&mut self, key: &K, outcome: Outcome) -> bool {
        if !self.delaying.queue.processing.contains(key) {
            return false;
        }
        match outcome {
            Outcome::Retry => self.add_rate_limited(key),
            Outcome::RetryAfter(delay) => {
                *self.failures.entry(key.clone()).or_default() += 1;
                self.delaying.add_after(key, delay);
            }
            Outcome::Success | Outcome::GiveUp => drop(self.failures.remove(key)),
            Outcome::RequeueAfter(delay) => {
                self.failures.remove(key);
                self.delaying.add_after(key, delay);
            }
        }
        self.delaying.queue.done(key)
    }
}
