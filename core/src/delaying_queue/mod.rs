//! The delaying queue: a work queue that also adds items later (client-go `util/workqueue`).
//!
//! An item added with a delay is handed out when its time has come. Given several delays, it
//! keeps the earliest; adding it at once does not cancel the later delivery
//! (`workqueue:DQ-9`, `DQ-11`). Shutdown ends all waiting and drops the items that are not yet due.
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
//! The reference runs a thread that waits for the times, with a buffer in front of it, a
//! heartbeat and an order of shutting down. Here the times lie in a heap under the queue's lock
//! and consumers sleep until the earliest of them, so [`DelayingQueue::add_after`] never blocks
//! (`workqueue:DQ-6`) and there is nothing to stop (`DQ-16` to `DQ-18`, `DQ-20` to `DQ-25`).
//!
//! If very many items are due together, each call adds a part of them, so that nobody keeps the lock
//! for long. An item that is added at once meanwhile may come before those that are still to be added.

mod later;
mod operations;
mod state;
#[cfg(test)]
mod tests;

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::time::Duration;

use foldhash::fast::SeedableRandomState;

use crate::machine::Host;
use crate::metrics::{Measured, Metrics};
use crate::monitor::Monitor;
use crate::queue::{Add, Deliver, Done, DoneKey, DrainUntil, Fifo, Finished, Get, Key, Len};
use crate::queue::{ShuttingDown, Storage, Token, Work, batch_calls};
use crate::runtime::{Runtime, System};
use crate::slab::hasher;

for_harness! {
    use operations::{AddAfter, Drain, Op, Ret, Retries, ShutDown};
    use state::Delaying;
}

/// The delaying queue. Shared by reference or in an `Arc`.
///
/// The parameters are those of [`WorkQueue`](crate::queue::WorkQueue).
pub struct DelayingQueue<
    K: Key,
    R: Runtime = System,
    S: Storage<K> = Fifo,
    B = SeedableRandomState,
    H: Host<Delaying<K, S>> = Delaying<K, S>,
> {
    monitor: Monitor<Delaying<K, S>, R, H>,
    hasher: B,
}

impl<K: Key + Hash, R: Runtime> DelayingQueue<K, R> {
    /// Makes an empty queue with first-in-first-out delivery.
    pub fn new(runtime: &R) -> Self {
        Self::with_storage(runtime, Fifo::default())
    }
}

impl<K: Key + Hash, R: Runtime, S: Storage<K>> DelayingQueue<K, R, S> {
    /// Makes an empty queue with an order of delivery of your own (`workqueue:ST-1`).
    pub fn with_storage(runtime: &R, storage: S) -> Self {
        Self::with_host(runtime, hasher(runtime), Delaying::new(storage))
    }

    /// As [`with_storage`](Self::with_storage), measured (`workqueue:MX-3`).
    pub fn with_metrics(runtime: &R, storage: S, metrics: &Metrics) -> Self {
        Self::with_host(runtime, hasher(runtime), Delaying::measured(storage, metrics))
    }
}

impl<K, R, S, B, H> DelayingQueue<K, R, S, B, H>
where
    K: Key + Hash,
    R: Runtime,
    S: Storage<K>,
    B: BuildHasher,
    H: Host<Delaying<K, S>>,
{
    /// Makes a queue around a given state, with a given hasher.
    ///
    /// # For harnesses
    /// A state with items in it must have been filled with hashes of this hasher, which nobody
    /// checks: another one finds none of them again.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(runtime: &R, hasher: B, host: H) -> Self {
        Self { monitor: Monitor::new(runtime, host), hasher }
    }

    /// Adds an item at once, as [`WorkQueue::add`](crate::queue::WorkQueue::add) does. A delay
    /// that it was given before goes on (`workqueue:DQ-11`).
    #[inline]
    pub fn add(&self, key: K) {
        let hash = self.hasher.hash_one(&key);
        self.monitor.call(Add { key: Some(key), hash });
    }

    /// Adds an item when `delay` has passed from now; at once if it is zero. Never blocks.
    ///
    /// An item that waits for an earlier time already keeps it (`workqueue:DQ-9`). One that does
    /// not fit into time waits until shutdown (`workqueue:CV-4`).
    #[inline]
    pub fn add_after(&self, key: K, delay: Duration) {
        // The delay counts from here, not from when the lock is free (`workqueue:DQ-5`).
        let called = Some(self.monitor.runtime().now());
        let hash = self.hasher.hash_one(&key);
        self.monitor.call(AddAfter { key: Some(key), hash, delay, called });
    }

    /// Takes the next item, sleeping until there is one; `None` once the queue is shut down and
    /// empty. The item is done when the returned [`Work`] drops, also by a panic.
    #[must_use = "the item is done when it drops"]
    #[inline]
    pub fn get(&self) -> Option<Work<'_, Self>> {
        let (token, key) = self.take()?;
        Some(Work::new(self, token, key))
    }

    /// As [`get`](Self::get), for callers that keep the token and call [`done`](Self::done).
    #[must_use = "the delivery lasts until its token is done"]
    #[inline]
    pub fn take(&self) -> Option<(Token, K)> {
        self.monitor.call(Get)
    }

    /// As [`get`](Self::get), for tasks: to drop the future is to stop waiting.
    pub async fn get_async(&self) -> Option<Work<'_, Self>> {
        let (token, key) = self.take_async().await?;
        Some(Work::new(self, token, key))
    }

    /// As [`take`](Self::take), for tasks. A future that is dropped takes nothing, and a wake-up
    /// that was meant for it goes to another consumer.
    pub fn take_async(&self) -> impl Future<Output = Option<(Token, K)>> + Send {
        self.monitor.call_async(Get)
    }

    /// Ends a delivery; an item that was added meanwhile waits again. Returns false, and does
    /// nothing, if that delivery has ended before.
    #[inline]
    pub fn done(&self, token: Token) -> bool {
        matches!(self.monitor.call(Done(token)), Finished::Ended(_))
    }

    /// Ends a delivery and takes the next item, as [`done`](Self::done) and then
    /// [`take`](Self::take) would, with nobody between them: a worker that ends one item and goes
    /// on to the next locks once for both.
    #[must_use = "the delivery lasts until its token is done"]
    #[inline]
    pub fn done_then_take(&self, token: Token) -> Option<(Token, K)> {
        self.monitor.call_then(Done(token), Get)
    }

    /// As [`done`](Self::done), for an item named by its value. Called late, it can end the
    /// delivery of another consumer: prefer the token.
    pub fn done_key(&self, key: &K) -> bool {
        let hash = self.hasher.hash_one(key);
        matches!(self.monitor.call(DoneKey { key: key.clone(), hash }), Finished::Ended(_))
    }

    /// Returns how many items could be handed out now. Those whose time has not come and those in
    /// processing do not count (`workqueue:DQ-12`).
    pub fn len(&self) -> usize {
        self.monitor.call(Len)
    }

    /// Tells whether no item could be handed out now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how often an item was given a delay, of zero too (`workqueue:DQ-4`).
    pub fn retries(&self) -> u64 {
        self.monitor.call(Retries)
    }

    /// Tells whether shutdown has begun; true for ever after.
    pub fn is_shutting_down(&self) -> bool {
        self.monitor.call(ShuttingDown)
    }

    /// Refuses new items, drops those whose time has not come, and waits for nobody. Items that
    /// wait to be handed out still are; every waiting caller wakes. If very many wait for their time,
    /// they are dropped a part at a time, and others may call in between.
    pub fn shut_down(&self) {
        self.monitor.call(ShutDown::new());
    }

    /// As [`shut_down`](Self::shut_down), then waits until nothing is in processing or until
    /// `shut_down` is called (`workqueue:DQ-21`).
    pub fn shut_down_with_drain(&self) {
        self.monitor.call(Drain::new(DrainUntil::NothingInFlight));
    }

    /// As [`shut_down`](Self::shut_down), then waits until every accepted item is processed or
    /// until `shut_down` is called. Needs a running consumer (`workqueue:WQ-33`).
    pub fn shut_down_when_done(&self) {
        self.monitor.call(Drain::new(DrainUntil::AllWorkDone));
    }

    /// As [`shut_down_with_drain`](Self::shut_down_with_drain), for tasks. The queue is shut down
    /// at the first poll; to drop the future is to stop waiting.
    pub fn drain_async(&self) -> impl Future<Output = ()> + Send {
        self.monitor.call_async(Drain::new(DrainUntil::NothingInFlight))
    }

    /// As [`shut_down_when_done`](Self::shut_down_when_done), for tasks.
    pub fn drain_when_done_async(&self) -> impl Future<Output = ()> + Send {
        self.monitor.call_async(Drain::new(DrainUntil::AllWorkDone))
    }

    /// Processes items until the queue is shut down and empty: the loop of one worker.
    pub fn work(&self, mut process: impl FnMut(&K)) {
        while let Some(item) = self.get() {
            process(&item);
        }
    }
}

batch_calls! {
    [K, R, S, B, H] DelayingQueue<K, R, S, B, H>,
    [K: Key + Hash, R: Runtime, S: Storage<K>, B: BuildHasher, H: Host<Delaying<K, S>>]
}

impl<K, R, S, B, H> Deliver for DelayingQueue<K, R, S, B, H>
where
    K: Key + Hash,
    R: Runtime,
    S: Storage<K>,
    B: BuildHasher,
    H: Host<Delaying<K, S>>,
{
    type Key = K;

    #[inline]
    fn take(&self) -> Option<(Token, K)> {
        Self::take(self)
    }

    #[inline]
    fn done(&self, token: Token) -> bool {
        Self::done(self, token)
    }

    fn done_all(&self, tokens: Vec<Token>) -> usize {
        Self::done_all(self, tokens)
    }
}

impl<K, R, S, B, H> Measured for DelayingQueue<K, R, S, B, H>
where
    K: Key + Hash,
    R: Runtime,
    S: Storage<K>,
    B: BuildHasher + Send + Sync + 'static,
    H: Host<Delaying<K, S>>,
{
    fn refresh_metrics(&self, every: Duration) {
        Self::refresh_metrics(self, every);
    }
}

impl<K: Key, R: Runtime, S: Storage<K>, B, H: Host<Delaying<K, S>>> fmt::Debug
    for DelayingQueue<K, R, S, B, H>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DelayingQueue")
    }
}
