//! The de-duplicating work queue (client-go `util/workqueue`).
//!
//! It promises, in the reference's words: *fair* (items come out in the order they went in),
//! *stingy* (an item added any number of times before it is processed is processed once, and
//! never by two consumers at a time), *multiple* producers and consumers, who may re-add an item
//! while it is processed, and *shutdown* notifications.
//!
//! ```
//! use seatrial_core::queue::WorkQueue;
//! use seatrial_core::runtime::System;
//!
//! let queue = WorkQueue::new(&System::new());
//! queue.add("default/web");
//! queue.add("default/web"); // already waiting: nothing happens
//! queue.add("default/db");
//! queue.shut_down();
//!
//! let mut seen = vec![];
//! queue.work(|key| seen.push(*key)); // until the queue is shut down and empty
//! assert_eq!(seen, ["default/web", "default/db"]);
//! ```
//!
//! A consumer may be a task: [`get_async`](WorkQueue::get_async) is awaited on any executor.
//!
//! ```
//! # use seatrial_core::{queue::WorkQueue, runtime::{Runtime, System}};
//! # let system = System::new();
//! let queue = WorkQueue::new(&system);
//! queue.add("default/web");
//! queue.shut_down();
//! system.block_on(async {
//!     while let Some(item) = queue.get_async().await {
//!         assert_eq!(*item, "default/web");
//!     }
//! });
//! ```
//!
//! Several items may come and go in one critical section: what the same calls would do one after
//! the other, with nobody else between them.
//!
//! ```
//! # use std::num::NonZeroUsize;
//! # use seatrial_core::{queue::WorkQueue, runtime::System};
//! let queue = WorkQueue::new(&System::new());
//! queue.add_all(["default/web", "default/db", "default/web"]);
//! let batch = queue.get_batch(NonZeroUsize::new(10).unwrap()).unwrap(); // what is there
//! assert_eq!(*batch, ["default/web", "default/db"]);
//! batch.done(); // all of them, together
//! ```
//!
//! Left out here: delays, rate limits and priorities, which are queues of their own.

mod batch;
mod delayed;
pub(crate) mod items;
mod operations;
mod state;
mod storage;
#[cfg(feature = "stream")]
mod stream;
mod work;

#[cfg(test)]
mod tests;

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::time::Duration;

use foldhash::fast::SeedableRandomState;

use crate::machine::Host;
use crate::metrics::{Measured, Metrics};
use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};
use crate::slab::hasher;

pub use crate::slab::Slot;
pub use batch::Batch;
pub(crate) use batch::batch_calls;
#[cfg(test)]
pub(crate) use batch::pair::Pair;
pub use items::Token;
pub use operations::Finished;
pub(crate) use operations::ended;
pub use state::{DrainUntil, Key};
pub use storage::{Fifo, Storage};
#[cfg(feature = "stream")]
pub(crate) use stream::{Repeated, owned};
pub use work::{InProcessing, OwnedWork, Work};

for_harness! {
    use operations::{
        Add, AddAll, Done, DoneAll, DoneKey, Drain, Get, GetBatch, Len, Op, Refresh, Ret, ShutDown,
        ShuttingDown,
    };
    use state::{Queue, DRAINS, GETTERS, UPDATERS};
    use work::Deliver;
}

/// The de-duplicating work queue. Shared by reference or in an `Arc`.
///
/// `K` is the item, `R` the runtime, `S` the order of delivery, `B` the hasher, `H` what the lock
/// holds: the rules themselves, unless a harness puts a recorded or mutated machine there.
pub struct WorkQueue<
    K: Key,
    R: Runtime = System,
    S: Storage<K> = Fifo,
    B = SeedableRandomState,
    H: Host<Queue<K, S>> = Queue<K, S>,
> {
    monitor: Monitor<Queue<K, S>, R, H>,
    hasher: B,
}

impl<K: Key + Hash, R: Runtime> WorkQueue<K, R> {
    /// Makes an empty queue with first-in-first-out delivery.
    ///
    /// The hash table is keyed from the runtime's entropy: items are named by strangers.
    pub fn new(runtime: &R) -> Self {
        Self::with_storage(runtime, Fifo::default())
    }
}

impl<K: Key + Hash, R: Runtime, S: Storage<K>> WorkQueue<K, R, S> {
    /// Makes an empty queue with an order of delivery of your own (`workqueue:ST-1`).
    pub fn with_storage(runtime: &R, storage: S) -> Self {
        Self::with_host(runtime, hasher(runtime), Queue::new(storage))
    }

    /// As [`with_storage`](Self::with_storage), measured (`workqueue:WQ-1`).
    pub fn with_metrics(runtime: &R, storage: S, metrics: &Metrics) -> Self {
        Self::with_host(runtime, hasher(runtime), Queue::measured(storage, metrics))
    }
}

impl<K, R, S, B, H> WorkQueue<K, R, S, B, H>
where
    K: Key + Hash,
    R: Runtime,
    S: Storage<K>,
    B: BuildHasher,
    H: Host<Queue<K, S>>,
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

    /// Adds an item.
    ///
    /// An item that waits already stays where it is; one that is processed is delivered once more
    /// afterwards; after shutdown nothing happens (`workqueue:WQ-4`).
    #[inline]
    pub fn add(&self, key: K) {
        let hash = self.hasher.hash_one(&key);
        self.monitor.call(Add { key: Some(key), hash });
    }

    /// Takes the next item, sleeping until there is one; `None` once the queue is shut down and
    /// empty (`workqueue:WQ-9` to `WQ-12`).
    ///
    /// The item is done when the returned [`Work`] drops, also by a panic.
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

    /// Ends a delivery; an item that was added meanwhile waits again (`workqueue:WQ-16`).
    ///
    /// Returns false, and does nothing, if that delivery has ended before.
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

    /// As [`done`](Self::done), for an item named by its value.
    ///
    /// Returns false, and does nothing, if the item is not in processing (`workqueue:WQ-21`).
    /// Called late, it can end the delivery of another consumer: prefer the token.
    pub fn done_key(&self, key: &K) -> bool {
        let hash = self.hasher.hash_one(key);
        matches!(self.monitor.call(DoneKey { key: key.clone(), hash }), Finished::Ended(_))
    }

    /// Returns how many items wait; those in processing do not count.
    pub fn len(&self) -> usize {
        self.monitor.call(Len)
    }

    /// Tells whether no item waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells whether shutdown has begun; true for ever after (`workqueue:WQ-24`).
    pub fn is_shutting_down(&self) -> bool {
        self.monitor.call(ShuttingDown)
    }

    /// Refuses new items and returns at once. Waiting items are still delivered; everybody who
    /// waits for an item or for a drain wakes (`workqueue:WQ-25` to `WQ-28`).
    pub fn shut_down(&self) {
        self.monitor.call(ShutDown);
    }

    /// Refuses new items and waits until nothing is in processing, or until
    /// [`shut_down`](Self::shut_down) is called. Waiting items may be left (`workqueue:WQ-32`).
    pub fn shut_down_with_drain(&self) {
        self.monitor.call(Drain { until: DrainUntil::NothingInFlight, began: None });
    }

    /// Refuses new items and waits until every accepted item is processed, or until
    /// [`shut_down`](Self::shut_down) is called (`workqueue:WQ-33`).
    ///
    /// It needs consumers that ask again after every done: an item that was added while it was
    /// processed comes back then, and consumers that found the queue empty have left
    /// (`workqueue:WQ-13`).
    pub fn shut_down_when_done(&self) {
        self.monitor.call(Drain { until: DrainUntil::AllWorkDone, began: None });
    }

    /// As [`shut_down_with_drain`](Self::shut_down_with_drain), for tasks. The queue is shut down
    /// at the first poll; to drop the future is to stop waiting.
    pub fn drain_async(&self) -> impl Future<Output = ()> + Send {
        self.monitor.call_async(Drain { until: DrainUntil::NothingInFlight, began: None })
    }

    /// As [`shut_down_when_done`](Self::shut_down_when_done), for tasks.
    pub fn drain_when_done_async(&self) -> impl Future<Output = ()> + Send {
        self.monitor.call_async(Drain { until: DrainUntil::AllWorkDone, began: None })
    }

    /// Processes items until the queue is shut down and empty: the loop of one worker.
    ///
    /// Every item is done exactly once, also if `process` panics; the panic goes on to the caller
    /// and other workers are not disturbed (`workqueue:CL-1`, `CL-2`).
    pub fn work(&self, mut process: impl FnMut(&K)) {
        while let Some(item) = self.get() {
            process(&item);
        }
    }
}

batch_calls! {
    [K, R, S, B, H] WorkQueue<K, R, S, B, H>,
    [K: Key + Hash, R: Runtime, S: Storage<K>, B: BuildHasher, H: Host<Queue<K, S>>]
}

impl<K, R, S, B, H> Deliver for WorkQueue<K, R, S, B, H>
where
    K: Key + Hash,
    R: Runtime,
    S: Storage<K>,
    B: BuildHasher,
    H: Host<Queue<K, S>>,
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

impl<K, R, S, B, H> Measured for WorkQueue<K, R, S, B, H>
where
    K: Key + Hash,
    R: Runtime,
    S: Storage<K>,
    B: BuildHasher + Send + Sync + 'static,
    H: Host<Queue<K, S>>,
{
    fn refresh_metrics(&self, every: Duration) {
        Self::refresh_metrics(self, every);
    }
}

impl<K: Key, R: Runtime, S: Storage<K>, B, H: Host<Queue<K, S>>> fmt::Debug
    for WorkQueue<K, R, S, B, H>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkQueue")
    }
}
