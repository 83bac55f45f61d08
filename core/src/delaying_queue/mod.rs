//! The delaying queue: a work queue that also adds items later (client-go `util/workqueue`).
//!
//! An item that is added with a delay is handed out when its time has come. If it is given several
//! delays, the earliest counts; adding it at once does not cancel the later delivery
//! (`workqueue:DQ-9`, `DQ-11`). Shutdown drops the items that are not yet due.
//!
//! ```
//! use std::time::Duration;
//! use seatrial_core::delaying_queue::DelayingQueue;
//! use seatrial_core::runtime::System;
//!
//! let queue = DelayingQueue::new(&System::new());
//! queue.add_after("default/web", Duration::from_millis(20));
//! queue.add_after("default/db", Duration::from_millis(10));
//! assert_eq!(queue.len(), 0); // their time has not come
//! assert_eq!(*queue.get().unwrap(), "default/db"); // sleeps until it has
//! assert_eq!(*queue.get().unwrap(), "default/web");
//! ```
//!
//! The reference runs a thread that waits for the times, with a buffer in front of it, a heartbeat
//! and a protocol for shutdown. Here the times are in a heap under the queue's lock, and consumers
//! sleep until the earliest of them. So [`DelayingQueue::add_after`] never blocks
//! (`workqueue:DQ-6`) and there is nothing to stop (`DQ-16` to `DQ-18`, `DQ-20` to `DQ-25`).
//!
//! If very many items are due together, each call adds only a part of them, so that the lock is
//! never held for long. An item that is added at once meanwhile may come before due items that are
//! still to be added.

mod later;
mod operations;
mod state;
#[cfg(test)]
mod tests;

use std::hash::Hash;
use std::time::Duration;

use crate::machine::Hosted;
use crate::metrics::Metrics;
use crate::monitor::Monitor;
use crate::queue::{DrainUntil, Fifo, Hashing, Key, Storage, Token, queue_calls};
use crate::runtime::{Runtime, System};

for_harness! {
    use operations::{AddAfter, Drain, Op, Ret, Retries, ShutDown};
    use state::Delaying;
}

/// The delaying queue. Shared by reference or in an `Arc`.
///
/// The parameters are those of [`WorkQueue`](crate::queue::WorkQueue).
pub struct DelayingQueue<K: Key, R: Runtime = System, S: Storage<K> = Fifo> {
    monitor: Monitor<Delaying<K, S>, R>,
    hasher: Hashing,
}

impl<K: Key + Hash, R: Runtime> DelayingQueue<K, R> {
    /// Makes an empty queue with first-in-first-out delivery.
    pub fn new(runtime: &R) -> Self {
        Self::with_storage(runtime, Fifo::default())
    }
}

impl<K: Key + Hash, R: Runtime, S: Storage<K>> DelayingQueue<K, R, S> {
    /// Makes an empty queue with your own order of delivery (`workqueue:ST-1`).
    pub fn with_storage(runtime: &R, storage: S) -> Self {
        Self::with_host(runtime, Hashing::keyed(runtime), Delaying::new(storage))
    }

    /// As [`with_storage`](Self::with_storage), measured (`workqueue:MX-3`).
    pub fn with_metrics(runtime: &R, storage: S, metrics: &Metrics) -> Self {
        Self::with_host(runtime, Hashing::keyed(runtime), Delaying::measured(storage, metrics))
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
        host: impl Into<Hosted<Delaying<K, S>>>,
    ) -> Self {
        Self { monitor: Monitor::new(runtime, host), hasher: hasher.into() }
    }

    /// Adds an item after `delay`, counted from now; at once if it is zero. Never blocks.
    ///
    /// An item that already waits for an earlier time keeps it (`workqueue:DQ-9`). A delay beyond
    /// the end of representable time waits until shutdown (`workqueue:CV-4`).
    #[inline]
    pub fn add_after(&self, key: K, delay: Duration) {
        // The delay counts from here, not from when the lock is taken (`workqueue:DQ-5`).
        let called = Some(self.monitor.runtime().now());
        let hash = self.hasher.hash_one(&key);
        self.monitor.call(AddAfter { key: Some(key), hash, delay, called });
    }

    /// Returns how often an item was given a delay, including delays of zero (`workqueue:DQ-4`).
    pub fn retries(&self) -> u64 {
        self.monitor.call(Retries)
    }

    /// Refuses new items, drops those whose time has not come, and does not wait. Items that are
    /// ready are still handed out; every waiting caller wakes. If very many items wait for their
    /// time, they are dropped in parts, and other calls may come in between.
    pub fn shut_down(&self) {
        self.monitor.call(ShutDown::new());
    }

    /// Processes items until the queue is shut down and empty: the loop of one worker.
    pub fn work(&self, mut process: impl FnMut(&K)) {
        while let Some(item) = self.get() {
            process(&item);
        }
    }
}

queue_calls! {
    "DelayingQueue", [K, R, S] DelayingQueue<K, R, S>,
    [K: Key + Hash, R: Runtime, S: Storage<K>]
}
