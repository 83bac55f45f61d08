//! The rate-limiting queue: failed items come back when a limiter says so (client-go
//! `util/workqueue`). This is the usual queue of a controller.
//!
//! ```
//! use std::time::Duration;
//! use seatrial_core::limited_queue::{LimitedQueue, Outcome};
//! use seatrial_core::limiter::Exponential;
//! use seatrial_core::runtime::System;
//!
//! let ms = Duration::from_millis;
//! let queue = LimitedQueue::new(&System::new(), Exponential::new(ms(1), ms(100)));
//! queue.add("default/web");
//! let mut attempts = 0;
//! queue.work(|key| {
//!     attempts += 1;
//!     assert_eq!(queue.num_requeues(key), attempts - 1);
//!     if attempts < 3 {
//!         return Outcome::Retry;
//!     }
//!     queue.shut_down(); // so that `work` ends
//!     Outcome::Success
//! });
//! assert_eq!(attempts, 3);
//! assert_eq!(queue.num_requeues(&"default/web"), 0); // forgotten
//! ```
//!
//! The limiter is under the queue's lock and uses the queue's clock (`workqueue:RQ-8`). It must not
//! call back into the queue (`workqueue:CV-6`). It limits only retries: [`LimitedQueue::add`] is
//! never delayed (`RQ-7`).

mod operations;
mod state;
#[cfg(test)]
mod tests;

use std::hash::Hash;
use std::time::Duration;

use crate::delaying_queue::{AddAfter, Drain, Retries, ShutDown};
use crate::limiter::{DefaultLimiter, Limiter, default_controller};
use crate::machine::Hosted;
use crate::metrics::Metrics;
use crate::monitor::Monitor;
use crate::queue::{DrainUntil, Fifo, Get, Hashing, Key, Storage, Token, queue_calls};
use crate::runtime::{Runtime, System};

pub use state::Outcome;

for_harness! {
    use operations::{AddRateLimited, Forget, NumRequeues, Op, Ret, Settle};
    use state::Limited;
}

/// The rate-limiting queue. Shared by reference or in an `Arc`.
///
/// `L` is the limiter; the other parameters are those of
/// [`WorkQueue`](crate::queue::WorkQueue).
pub struct LimitedQueue<
    K: Key,
    R: Runtime = System,
    L: Limiter<K> = DefaultLimiter<K>,
    S: Storage<K> = Fifo,
> {
    monitor: Monitor<Limited<K, L, S>, R>,
    hasher: Hashing,
}

impl<K: Key + Hash, R: Runtime> LimitedQueue<K, R> {
    /// Makes an empty queue with the limiter that controllers use by default
    /// (`workqueue:RL-23`).
    pub fn with_default_limiter(runtime: &R) -> Self {
        Self::new(runtime, default_controller())
    }
}

impl<K: Key + Hash, R: Runtime, L: Limiter<K>> LimitedQueue<K, R, L> {
    /// Makes an empty queue with first-in-first-out delivery.
    pub fn new(runtime: &R, limiter: L) -> Self {
        Self::with_storage(runtime, limiter, Fifo::default())
    }
}

impl<K: Key + Hash, R: Runtime, L: Limiter<K>, S: Storage<K>> LimitedQueue<K, R, L, S> {
    /// Makes an empty queue with your own order of delivery (`workqueue:ST-1`).
    pub fn with_storage(runtime: &R, limiter: L, storage: S) -> Self {
        Self::with_host(runtime, Hashing::keyed(runtime), Limited::new(limiter, storage))
    }

    /// As [`with_storage`](Self::with_storage), measured (`workqueue:MX-3`).
    pub fn with_metrics(runtime: &R, limiter: L, storage: S, metrics: &Metrics) -> Self {
        Self::with_host(
            runtime,
            Hashing::keyed(runtime),
            Limited::measured(limiter, storage, metrics),
        )
    }

    /// Makes a queue around a given state, with a given hasher.
    ///
    /// # For harnesses
    /// If the state holds items, their hashes must come from this hasher. This is not checked: with
    /// another hasher none of them is found again.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(
        runtime: &R,
        hasher: impl Into<Hashing>,
        host: impl Into<Hosted<Limited<K, L, S>>>,
    ) -> Self {
        Self { monitor: Monitor::new(runtime, host), hasher: hasher.into() }
    }

    /// Adds an item after `delay`, as
    /// [`DelayingQueue::add_after`](crate::delaying_queue::DelayingQueue::add_after) does.
    #[inline]
    pub fn add_after(&self, key: K, delay: Duration) {
        let called = Some(self.monitor.runtime().now());
        let hash = self.hasher.hash_one(&key);
        self.monitor.call(AddAfter { key: Some(key), hash, delay, called });
    }

    /// Counts a failure of an item and adds it when the limiter says so (`workqueue:RQ-1`).
    ///
    /// The failure counts even if the item already waits for an earlier time (`RQ-6`), and even
    /// after shutdown.
    #[inline]
    pub fn add_rate_limited(&self, key: K) {
        let called = Some(self.monitor.runtime().now());
        let hash = self.hasher.hash_one(&key);
        self.monitor.call(AddRateLimited { key: Some(key), hash, called });
    }

    /// Forgets the failures of an item. This neither removes it from the queue nor ends its
    /// delivery (`workqueue:RQ-3`).
    pub fn forget(&self, key: &K) {
        let hash = self.hasher.hash_one(key);
        self.monitor.call(Forget::new(key.clone(), hash));
    }

    pub(crate) fn runtime(&self) -> &R {
        self.monitor.runtime()
    }

    /// Returns how often an item failed since it was last forgotten.
    pub fn num_requeues(&self, key: &K) -> u32 {
        let hash = self.hasher.hash_one(key);
        self.monitor.call(NumRequeues { key: key.clone(), hash })
    }

    /// Does what the outcome asks for and ends the delivery, in one step and without hashing.
    /// Returns false, and does nothing, if the delivery has ended before.
    #[inline]
    pub fn settle(&self, token: Token, outcome: Outcome) -> bool {
        self.monitor.call(Settle::new(token, outcome)).has_ended()
    }

    /// Settles a delivery and takes the next item in one critical section, as
    /// [`settle`](Self::settle) followed by [`take`](Self::take) would.
    #[must_use = "the delivery lasts until its token is done"]
    #[inline]
    pub fn settle_then_take(&self, token: Token, outcome: Outcome) -> Option<(Token, K)> {
        self.monitor.call_then(Settle::new(token, outcome), Get)
    }

    /// Returns how often an item was given a delay, including delays of zero (`workqueue:DQ-4`).
    pub fn retries(&self) -> u64 {
        self.monitor.call(Retries)
    }

    /// Refuses new items, drops those whose time has not come, and returns at once. Items that are
    /// ready are still handed out; every waiting caller wakes.
    pub fn shut_down(&self) {
        self.monitor.call(ShutDown::new());
    }

    /// Processes items until the queue is shut down and empty: the loop of one worker
    /// (`workqueue:CL-1`).
    ///
    /// The answer of `process` decides what happens to the item. Every delivery ends exactly once,
    /// even if `process` panics; then the panic goes on to the caller, and the item is neither
    /// retried nor forgotten.
    pub fn work(&self, mut process: impl FnMut(&K) -> Outcome) {
        while let Some(item) = self.get() {
            let outcome = process(&item);
            if let Some(token) = item.take_over() {
                self.settle(token, outcome);
            }
        }
    }
}

queue_calls! {
    "LimitedQueue", [K, R, L, S] LimitedQueue<K, R, L, S>,
    [K: Key + Hash, R: Runtime, L: Limiter<K>, S: Storage<K>]
}
