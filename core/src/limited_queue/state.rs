//! The rules of the rate-limiting queue: a delaying queue and a limiter under one lock.

use std::fmt;
use std::time::Duration;

use crate::delaying_queue::Delaying;
use crate::limiter::{Item, Limiter};
use crate::machine::Cx;
use crate::metrics::Metrics;
use crate::queue::{Fifo, Key, Storage, Token};
use crate::runtime::Instant;

/// The outcome of an item that was processed (`workqueue:CL-1`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// It succeeded: its failures are forgotten.
    Success,
    /// It failed and is tried again when the limiter says so. Its failures are remembered, because
    /// forgetting them would reset the back-off (`workqueue:CL-3`).
    Retry,
    /// It failed and is tried again after this time, whatever the limiter says. The limiter counts
    /// the failure.
    RetryAfter(Duration),
    /// It failed for good: its failures are forgotten, and it is not tried again.
    GiveUp,
    /// It succeeded and will be processed again after this time (`workqueue:CL-9`).
    RequeueAfter(Duration),
}

/// The state of a rate-limiting queue, without its lock.
#[derive(Clone)]
pub struct Limited<K: Key, L: Limiter<K>, S: Storage<K> = Fifo> {
    pub(super) delaying: Delaying<K, S>,
    pub(super) limiter: L,
}

impl<K: Key, L: Limiter<K>, S: Storage<K>> Limited<K, L, S> {
    /// Makes an empty, running queue.
    pub fn new(limiter: L, storage: S) -> Self {
        Self { delaying: Delaying::new(storage), limiter }
    }

    /// Makes an empty, running queue that is measured.
    pub fn measured(limiter: L, storage: S, metrics: &Metrics) -> Self {
        Self { delaying: Delaying::measured(storage, metrics), limiter }
    }

    /// Counts a failure and adds the item when the limiter says so. The limiter is called first,
    /// even after shutdown, when nothing is added (`workqueue:RQ-1`).
    pub(super) fn add_rate_limited(
        &mut self,
        key: &mut Option<K>,
        hash: u64,
        now: Instant,
        cx: &mut Cx<'_>,
    ) {
        if let Some(known) = key {
            let delay = self.limiter.when(Item::new(known, hash), now);
            self.delaying.add_after(key, hash, now, delay, cx);
        }
    }

    /// Does what an outcome asks for, except for ending the delivery. Does nothing if the delivery
    /// has ended. Keys that the limiter no longer needs go to `left`.
    pub(super) fn settle(
        &mut self,
        token: Token,
        outcome: Outcome,
        left: &mut Vec<K>,
        cx: &mut Cx<'_>,
    ) {
        let Some((slot, item)) = self.delaying.queue().item_in_processing(token) else { return };
        let (now, delay) = match outcome {
            Outcome::Success | Outcome::GiveUp => return self.limiter.forget(item, left),
            Outcome::Retry => {
                let now = cx.now();
                (now, self.limiter.when(item, now))
            }
            Outcome::RetryAfter(delay) => {
                let now = cx.now();
                self.limiter.when(item, now);
                (now, delay)
            }
            Outcome::RequeueAfter(delay) => {
                self.limiter.forget(item, left);
                (cx.now(), delay)
            }
        };
        self.delaying.add_slot_after(slot, now, delay, cx);
    }

    /// Does what an outcome asks for without the limiter, after the limiter panicked.
    pub(super) fn requeue(&mut self, token: Token, outcome: Outcome, cx: &mut Cx<'_>) {
        let delay = match outcome {
            Outcome::Success | Outcome::GiveUp => return,
            Outcome::Retry => Duration::ZERO,
            Outcome::RetryAfter(delay) | Outcome::RequeueAfter(delay) => delay,
        };
        if let Some((slot, _)) = self.delaying.queue().item_in_processing(token) {
            self.delaying.add_slot_after(slot, cx.now(), delay, cx);
        }
    }

    /// Returns the inner delaying queue.
    pub fn delaying(&self) -> &Delaying<K, S> {
        &self.delaying
    }

    /// Returns the limiter.
    pub fn limiter(&self) -> &L {
        &self.limiter
    }

    pub(super) fn check(&self) {
        self.delaying.check();
    }
}

impl<K: Key, L: Limiter<K>, S: Storage<K>> fmt::Debug for Limited<K, L, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limited").field("delaying", &self.delaying).finish_non_exhaustive()
    }
}
