//! Limiters that combine other limiters.

use std::time::Duration;

use crate::runtime::Instant;
use crate::slab::Item;

use super::Limiter;

/// Asks every part and returns the longest delay (`workqueue:RL-20`).
///
/// `MaxOf((a, b))` holds two limiters of different types, `MaxOf(vec)` any number of limiters of
/// one type, which may be `Box<dyn Limiter<K>>`. Without parts it never delays.
#[derive(Clone, PartialEq, Debug)]
pub struct MaxOf<P>(pub P);

impl<K, A: Limiter<K>, B: Limiter<K>> Limiter<K> for MaxOf<(A, B)> {
    fn when(&mut self, item: Item<'_, K>, now: Instant) -> Duration {
        let first = self.0.0.when(item, now);
        first.max(self.0.1.when(item, now))
    }

    fn forget(&mut self, item: Item<'_, K>, left: &mut Vec<K>) {
        self.0.0.forget(item, left);
        self.0.1.forget(item, left);
    }

    fn num_requeues(&self, item: Item<'_, K>) -> u32 {
        self.0.0.num_requeues(item).max(self.0.1.num_requeues(item))
    }

    fn reads_time(&self) -> bool {
        self.0.0.reads_time() || self.0.1.reads_time()
    }
}

impl<K, L: Limiter<K>> Limiter<K> for MaxOf<Vec<L>> {
    fn when(&mut self, item: Item<'_, K>, now: Instant) -> Duration {
        let delays = self.0.iter_mut().map(|part| part.when(item, now));
        delays.fold(Duration::ZERO, Duration::max) // asks every part, in order
    }

    fn forget(&mut self, item: Item<'_, K>, left: &mut Vec<K>) {
        for part in &mut self.0 {
            part.forget(item, left);
        }
    }

    fn num_requeues(&self, item: Item<'_, K>) -> u32 {
        self.0.iter().map(|part| part.num_requeues(item)).max().unwrap_or(0)
    }

    fn reads_time(&self) -> bool {
        self.0.iter().any(Limiter::reads_time)
    }
}

/// Limits the delays of another limiter, whose state advances as if they were not limited
/// (`RL-22`).
#[derive(Clone, PartialEq, Debug)]
pub struct WithMaxWait<L> {
    pub(super) limiter: L,
    max: Duration,
}

impl<L> WithMaxWait<L> {
    /// Makes a limiter that returns the delays of `limiter`, but at most `max`.
    pub fn new(limiter: L, max: Duration) -> Self {
        Self { limiter, max }
    }
}

impl<K, L: Limiter<K>> Limiter<K> for WithMaxWait<L> {
    fn when(&mut self, item: Item<'_, K>, now: Instant) -> Duration {
        self.limiter.when(item, now).min(self.max)
    }

    fn forget(&mut self, item: Item<'_, K>, left: &mut Vec<K>) {
        self.limiter.forget(item, left);
    }

    fn num_requeues(&self, item: Item<'_, K>) -> u32 {
        self.limiter.num_requeues(item)
    }

    fn reads_time(&self) -> bool {
        self.limiter.reads_time()
    }
}
