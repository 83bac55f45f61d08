//! A token bucket as a limiter: it paces retries, whatever their items.

use std::time::Duration;

use crate::runtime::Instant;
use crate::slab::Item;

use super::nanos::FOREVER;
use super::{Limiter, Rate, TokenBucket};

/// One token bucket for all items (`workqueue:RL-15`).
///
/// It paces the scheduling of retries, not the number of items processed at a time (`RL-19`).
/// Reservations are never given back: asking faster than the rate makes delays grow without limit,
/// even for a single item (`RL-16`).
#[derive(Clone, PartialEq, Debug)]
pub struct Bucket(TokenBucket);

impl Bucket {
    /// Makes a limiter around a full bucket.
    #[must_use]
    pub fn new(rate: Rate, burst: u64) -> Self {
        Self(TokenBucket::new(rate, burst))
    }
}

impl<K> Limiter<K> for Bucket {
    fn when(&mut self, _: Item<'_, K>, now: Instant) -> Duration {
        self.0.reserve(now, 1, FOREVER).delay_from(now)
    }

    fn forget(&mut self, _: Item<'_, K>, _: &mut Vec<K>) {}

    fn num_requeues(&self, _: Item<'_, K>) -> u32 {
        0
    }
}
