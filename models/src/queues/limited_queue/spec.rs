//! The rate-limiting queue as a sequential object: the plain delaying queue, and a count for each item.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;

use super::delay_after;
use crate::delaying_queue;

/// A delaying queue, and how often each item failed. The delay doubles with every failure.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// The queue inside.
    pub(super) delaying: delaying_queue::Plain,
    /// Failures since the item was last forgotten.
    pub(super) failures: BTreeMap<u8, u32>,
}

impl Spec {
    fn add_after(&mut self, key: u8, delay: Duration) {
        self.delaying.add_after(key, self.delaying.now, delay);
    }

    /// Counts a failure and adds the item later (`workqueue:RQ-1`).
    pub(super) fn add_rate_limited(&mut self, key: u8) {
        let failures = self.failures.entry(key).or_default();
        let delay = delay_after(*failures);
        *failures += 1;
        self.add_after(key, delay);
    }

    /// Ends a delivery with an outcome; tells whether there was one (`workqueue:CL-1`, `CL-9`).
    pub(super) fn settle(&mut self, key: u8, outcome: Outcome) -> bool {
        if !self.delaying.queue.is_in_processing(&key) {
            return false;
        }
        match outcome {
            Outcome::Retry => self.add_rate_limited(key),
            Outcome::RetryAfter(delay) => {
                *self.failures.entry(key).or_default() += 1;
                self.add_after(key, delay);
            }
            Outcome::Success | Outcome::GiveUp => drop(self.failures.remove(&key)),
            Outcome::RequeueAfter(delay) => {
                self.failures.remove(&key);
                self.add_after(key, delay);
            }
        }
        self.delaying.queue.done_key(&key)
    }
}
