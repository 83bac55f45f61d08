//! The priority queue: the calls of the rate-limiting queue, with the highest priority first
//! (controller-runtime `priorityqueue`).
//!
//! An item is in the queue only once. If it is added again, the higher priority and the earlier
//! time count (`workqueue:PQ-10`, `PQ-11`). Equal priorities come out in the order in which they
//! became ready. Priorities do not age: low priorities starve under a steady supply of higher ones
//! (`PQ-28`).
//!
//! ```
//! use seatrial_core::priority_queue::{AddOptions, PriorityQueue};
//! use seatrial_core::runtime::System;
//!
//! let queue = PriorityQueue::new(&System::new());
//! let resync = AddOptions { priority: -100, ..AddOptions::default() };
//! queue.add_all(["default/web", "default/db"], resync);
//! queue.add("default/db"); // a real change: its priority rises to 0
//! assert_eq!(queue.len(), 2);
//! let (first, priority) = queue.get().unwrap();
//! assert_eq!((*first, priority), ("default/db", 0));
//! ```
//!
//! Unlike the rate-limiting queue, this one stops at once: after shutdown nothing is handed out,
//! whatever is left (`workqueue:PQ-31`).

mod measured;
mod meter;
mod observer;
mod operations;
mod options;
mod places;
mod state;
#[cfg(feature = "stream")]
mod stream;
#[cfg(test)]
mod tests;

use std::fmt;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use crate::limited_queue::{Forget, NumRequeues, Outcome};
use crate::limiter::{Exponential, Limiter};
use crate::machine::{Hosted, Many, Remains};
use crate::metrics::{Metrics, Sink};
use crate::monitor::Monitor;
use crate::queue::{Batch, Hashing, Token, Work, ended};
use crate::queue::{Deliver, Done, DoneKey, Key, Len, Refresh, ShutDown, ShuttingDown};
use crate::runtime::{Instant, Runtime, System};

pub use options::AddOptions;

for_harness! {
    use meter::Meter;
    use observer::Observer;
    use operations::{Add, AddBatch, Get, GetBatch, Op, Ret, Retries, Settle};
    use state::{Prioritized, GETTERS};
}

/// Reports to a metrics library, if there is one.
pub type Told = Option<Meter<Arc<dyn Sink>>>;

/// The priority queue. Shared by reference or in an `Arc`.
///
/// `K` is the item, `R` the runtime, `L` the limiter, `O` the observer.
pub struct PriorityQueue<
    K: Key,
    R: Runtime = System,
    L: Limiter<K> = Exponential<K>,
    O: Observer = (),
> {
    monitor: Monitor<Prioritized<K, L, O>, R>,
    hasher: Hashing,
}

impl<K: Key + Hash, R: Runtime> PriorityQueue<K, R> {
    /// Makes an empty queue whose limiter doubles from 5 ms to 1000 s (`workqueue:PQ-36`).
    pub fn new(runtime: &R) -> Self {
        let limiter = Exponential::new(Duration::from_millis(5), Duration::from_secs(1000));
        Self::with_limiter(runtime, limiter)
    }
}

impl<K: Key + Hash, R: Runtime, L: Limiter<K>> PriorityQueue<K, R, L> {
    /// Makes an empty queue with your own limiter.
    pub fn with_limiter(runtime: &R, limiter: L) -> Self {
        Self::with_host(runtime, Hashing::keyed(runtime), Prioritized::new(limiter, ()))
    }
}

impl<K: Key + Hash, R: Runtime, L: Limiter<K>> PriorityQueue<K, R, L, Told> {
    /// Makes an empty queue with your own limiter, measured if there is a name and a provider
    /// (`workqueue:PQ-37`, `MX-1`).
    pub fn with_metrics(runtime: &R, limiter: L, metrics: &Metrics) -> Self {
        let told = metrics.sink().map(Meter::new);
        Self::with_host(runtime, Hashing::keyed(runtime), Prioritized::new(limiter, told))
    }
}

impl<K: Key + Hash, R: Runtime, L: Limiter<K>, O: Observer> PriorityQueue<K, R, L, O> {
    /// Makes a queue around a given state, with a given hasher.
    ///
    /// # For harnesses
    /// If the state holds items, their hashes must come from this hasher. This is not checked: with
    /// another hasher none of them is found again.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(
        runtime: &R,
        hasher: impl Into<Hashing>,
        host: impl Into<Hosted<Prioritized<K, L, O>>>,
    ) -> Self {
        Self { monitor: Monitor::new(runtime, host), hasher: hasher.into() }
    }

    /// Adds an item with priority 0.
    #[inline]
    pub fn add(&self, key: K) {
        self.add_with(key, AddOptions::default());
    }

    /// Adds an item with priority 0 after `delay`, counted from now.
    #[inline]
    pub fn add_after(&self, key: K, delay: Duration) {
        self.add_with(key, AddOptions { after: Some(delay), ..AddOptions::default() });
    }

    /// Counts a failure of an item and adds it with priority 0 when the limiter says so.
    #[inline]
    pub fn add_rate_limited(&self, key: K) {
        self.add_with(key, AddOptions { rate_limited: true, ..AddOptions::default() });
    }

    /// Adds an item. After shutdown nothing happens, and the limiter is not called
    /// (`workqueue:PQ-2`).
    #[inline]
    pub fn add_with(&self, key: K, options: AddOptions) {
        let called = self.called(options);
        let hash = self.hasher.hash_one(&key);
        self.monitor.call(Add { key: Some(key), hash, options, called });
    }

    /// Adds items in their order, all with these options, in one step (`workqueue:PQ-4`).
    pub fn add_all(&self, keys: impl IntoIterator<Item = K>, options: AddOptions) {
        let called = self.called(options);
        let hashed = |key: K| {
            let hash = self.hasher.hash_one(&key);
            (Some(key), hash)
        };
        let items: Remains<_> = keys.into_iter().map(hashed).collect();
        if !items.is_empty() {
            self.monitor.call(AddBatch { items, options, called });
        }
    }

    /// Delays count from here, not from when the lock is taken (`workqueue:PQ-16`).
    #[inline]
    fn called(&self, options: AddOptions) -> Option<Instant> {
        options.may_delay().then(|| self.monitor.runtime().now())
    }

    /// Forgets the failures of an item. This neither removes it from the queue nor ends its
    /// delivery.
    pub fn forget(&self, key: &K) {
        let hash = self.hasher.hash_one(key);
        self.monitor.call(Forget::new(key.clone(), hash));
    }

    pub(crate) fn runtime(&self) -> &R {
        self.monitor.runtime()
    }

    /// Returns how often an item failed since it was last forgotten. A failure counts when the
    /// call that adds it has returned (`workqueue:PQ-17`).
    pub fn num_requeues(&self, key: &K) -> u32 {
        let hash = self.hasher.hash_one(key);
        self.monitor.call(NumRequeues { key: key.clone(), hash })
    }

    /// Tells the observer at this interval how much is unfinished, and returns at shutdown: the
    /// loop of a thread of its own (`workqueue:MX-10`). See [`Updater`](crate::metrics::Updater).
    pub fn refresh_metrics(&self, every: Duration) {
        self.monitor.call(Refresh { every, next: None });
    }

    /// As [`refresh_metrics`](Self::refresh_metrics), for tasks.
    pub fn refresh_metrics_async(&self, every: Duration) -> impl Future<Output = ()> + Send {
        self.monitor.call_async(Refresh { every, next: None })
    }

    /// Takes the first ready item with its priority, sleeping until there is one; `None` after
    /// shutdown. The item is done when the returned [`Work`] drops, also by a panic.
    #[must_use = "the item is done when it drops"]
    #[inline]
    pub fn get(&self) -> Option<(Work<'_, Self>, i32)> {
        let (token, key, priority) = self.take_with_priority()?;
        Some((Work::new(self, token, key), priority))
    }

    /// As [`get`](Self::get), for callers that keep the token and call [`done`](Self::done) or
    /// [`settle`](Self::settle).
    #[must_use = "the delivery lasts until its token is done"]
    #[inline]
    pub fn take_with_priority(&self) -> Option<(Token, K, i32)> {
        self.monitor.call(Get)
    }

    /// As [`get`](Self::get), for tasks. Dropping the future stops the wait. See
    /// [`take_async`](Self::take_async).
    pub async fn get_async(&self) -> Option<(Work<'_, Self>, i32)> {
        let (token, key, priority) = self.take_async().await?;
        Some((Work::new(self, token, key), priority))
    }

    /// As [`take_with_priority`](Self::take_with_priority), for tasks. A future that is dropped
    /// takes nothing, and a wake-up that was meant for it goes to another consumer. Poll it when it
    /// is woken, or drop it: while the task with the timer is not polled, other tasks do not wake
    /// for items that become due ([why](crate::queue::WorkQueue::take_async)).
    pub fn take_async(&self) -> impl Future<Output = Option<(Token, K, i32)>> + Send {
        self.monitor.call_async(Get)
    }

    /// Takes the first ready items with their priorities, at most `most`, sleeping until there is
    /// one; `None` after shutdown. They are done together when the returned [`Batch`] drops.
    #[must_use = "the items are done when it drops"]
    pub fn get_batch(&self, most: NonZeroUsize) -> Option<(Batch<'_, Self>, Vec<i32>)> {
        self.guard(self.take_batch(most))
    }

    /// As [`get_batch`](Self::get_batch), for callers that keep the tokens and call
    /// [`done_all`](Self::done_all) or [`settle`](Self::settle). Empty after shutdown.
    ///
    /// It takes what repeated calls of [`take_with_priority`](Self::take_with_priority) would take
    /// with no other call between them. It waits for the first item only.
    #[must_use = "the deliveries last until their tokens are done"]
    pub fn take_batch(&self, most: NonZeroUsize) -> Vec<(Token, K, i32)> {
        self.monitor.call(GetBatch { most, call: Get })
    }

    /// As [`take_batch`](Self::take_batch), for tasks. Dropping the future stops the wait.
    pub fn take_batch_async(
        &self,
        most: NonZeroUsize,
    ) -> impl Future<Output = Vec<(Token, K, i32)>> + Send {
        self.monitor.call_async(GetBatch { most, call: Get })
    }

    /// As [`get_batch`](Self::get_batch), for tasks. Dropping the future stops the wait.
    pub async fn get_batch_async(&self, most: NonZeroUsize) -> Option<(Batch<'_, Self>, Vec<i32>)> {
        self.guard(self.take_batch_async(most).await)
    }

    fn guard(&self, taken: Vec<(Token, K, i32)>) -> Option<(Batch<'_, Self>, Vec<i32>)> {
        let split = |(token, key, priority)| ((token, key), priority);
        let (taken, priorities) = taken.into_iter().map(split).unzip();
        Some((Batch::new(self, taken)?, priorities))
    }

    /// Ends deliveries in their order, as repeated calls of [`done`](Self::done) would. Returns how
    /// many of them had not ended before.
    pub fn done_all(&self, tokens: impl IntoIterator<Item = Token>) -> usize {
        ended(self.monitor.call(Many(tokens.into_iter().map(Done).collect())))
    }

    /// Ends a delivery; an item that was added meanwhile can be handed out again. Returns false,
    /// and does nothing, if that delivery has ended before.
    #[inline]
    pub fn done(&self, token: Token) -> bool {
        self.monitor.call(Done(token)).has_ended()
    }

    /// Ends a delivery and takes the next item in one critical section, as [`done`](Self::done)
    /// followed by [`take_with_priority`](Self::take_with_priority) would. A worker that goes from
    /// one item to the next locks once for both.
    #[must_use = "the delivery lasts until its token is done"]
    #[inline]
    pub fn done_then_take(&self, token: Token) -> Option<(Token, K, i32)> {
        self.monitor.call_then(Done(token), Get)
    }

    /// As [`done`](Self::done), for an item named by its value. A late call can end the delivery of
    /// another consumer, so prefer the token.
    pub fn done_key(&self, key: &K) -> bool {
        let hash = self.hasher.hash_one(key);
        self.monitor.call(DoneKey { key: key.clone(), hash }).has_ended()
    }

    /// Does what the outcome asks for and ends the delivery, in one step and without hashing. If
    /// the item comes back, it has this `priority`; normally pass the one that it was handed out
    /// with (`workqueue:PQ-42`).
    ///
    /// Returns false, and does nothing, if the delivery has ended before.
    #[inline]
    pub fn settle(&self, token: Token, outcome: Outcome, priority: i32) -> bool {
        self.monitor.call(Settle::new(token, outcome, priority)).has_ended()
    }

    /// Settles a delivery and takes the next item in one critical section, as
    /// [`settle`](Self::settle) followed by [`take_with_priority`](Self::take_with_priority) would.
    #[must_use = "the delivery lasts until its token is done"]
    #[inline]
    pub fn settle_then_take(
        &self,
        token: Token,
        outcome: Outcome,
        priority: i32,
    ) -> Option<(Token, K, i32)> {
        self.monitor.call_then(Settle::new(token, outcome, priority), Get)
    }

    /// Returns how many items are ready, including those in processing that were added again, but
    /// not those whose time has not come (`workqueue:PQ-29`).
    pub fn len(&self) -> usize {
        self.monitor.call(Len)
    }

    /// Tells whether no item is ready.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how often an item was given a delay of more than zero (`workqueue:PQ-8`).
    pub fn retries(&self) -> u64 {
        self.monitor.call(Retries)
    }

    /// Tells whether the queue is shut down; true for ever after.
    pub fn is_shutting_down(&self) -> bool {
        self.monitor.call(ShuttingDown)
    }

    /// Stops the queue: nothing more is added, becomes ready or is handed out, and every waiting
    /// caller wakes (`workqueue:PQ-31`). There is no drain.
    pub fn shut_down(&self) {
        self.monitor.call(ShutDown);
    }

    /// Processes items until the queue is shut down: the loop of one worker (`workqueue:CL-1`).
    ///
    /// The answer of `process` decides what happens to the item. If it comes back, it keeps the
    /// priority that it was handed out with. Every delivery ends exactly once, even if `process`
    /// panics; then the panic goes on to the caller, and the item is neither retried nor forgotten.
    pub fn work(&self, mut process: impl FnMut(&K, i32) -> Outcome) {
        while let Some((item, priority)) = self.get() {
            let outcome = process(&item, priority);
            if let Some(token) = item.take_over() {
                self.settle(token, outcome, priority);
            }
        }
    }
}

impl<K: Key + Hash, R: Runtime, L: Limiter<K>, O: Observer> Deliver for PriorityQueue<K, R, L, O> {
    type Key = K;

    #[inline]
    fn take(&self) -> Option<(Token, K)> {
        self.take_with_priority().map(|(token, key, _)| (token, key))
    }

    #[inline]
    fn done(&self, token: Token) -> bool {
        Self::done(self, token)
    }

    fn done_all(&self, tokens: Vec<Token>) -> usize {
        Self::done_all(self, tokens)
    }
}

impl<K: Key, R: Runtime, L: Limiter<K>, O: Observer> fmt::Debug for PriorityQueue<K, R, L, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PriorityQueue")
    }
}
