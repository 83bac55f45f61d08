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
//! Several items may be added, taken or done in one critical section. The effect is that of single
//! calls in a row, with no other call in between.
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
//! Left out here: delays, rate limits and priorities, which have their own queues.

mod batch;
mod calls;
mod delayed;
mod hashing;
pub(crate) mod items;
mod operations;
mod state;
mod storage;
#[cfg(feature = "stream")]
mod stream;
mod work;

#[cfg(test)]
mod tests;

use std::hash::Hash;

use crate::machine::Hosted;
use crate::metrics::Metrics;
use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};

pub use crate::slab::Slot;
pub use batch::Batch;
#[cfg(test)]
pub(crate) use batch::pair::Pair;
pub(crate) use calls::queue_calls;
pub use items::Token;
pub use operations::Finished;
pub(crate) use operations::ended;
pub use state::{DrainUntil, Key};
pub use storage::{Fifo, Storage};
#[cfg(feature = "stream")]
pub(crate) use stream::{Repeated, owned};
pub use work::{InProcessing, OwnedWork, Work};

for_harness! {
    use hashing::Hashing;
    use operations::{
        Add, AddAll, Done, DoneAll, DoneKey, Drain, Get, GetBatch, Len, Op, Refresh, Ret, ShutDown,
        ShuttingDown,
    };
    use state::{Queue, DRAINS, GETTERS, UPDATERS};
    use work::Deliver;
}

/// The de-duplicating work queue. Shared by reference or in an `Arc`.
///
/// `K` is the item, `R` the runtime, `S` the order of delivery.
pub struct WorkQueue<K: Key, R: Runtime = System, S: Storage<K> = Fifo> {
    monitor: Monitor<Queue<K, S>, R>,
    hasher: Hashing,
}

impl<K: Key + Hash, R: Runtime> WorkQueue<K, R> {
    /// Makes an empty queue with first-in-first-out delivery.
    ///
    /// The hash table is keyed with the runtime's entropy, because strangers may choose the items.
    pub fn new(runtime: &R) -> Self {
        Self::with_storage(runtime, Fifo::default())
    }
}

impl<K: Key + Hash, R: Runtime, S: Storage<K>> WorkQueue<K, R, S> {
    /// Makes an empty queue with your own order of delivery (`workqueue:ST-1`).
    pub fn with_storage(runtime: &R, storage: S) -> Self {
        Self::with_host(runtime, Hashing::keyed(runtime), Queue::new(storage))
    }

    /// As [`with_storage`](Self::with_storage), with metrics (`workqueue:WQ-1`).
    pub fn with_metrics(runtime: &R, storage: S, metrics: &Metrics) -> Self {
        Self::with_host(runtime, Hashing::keyed(runtime), Queue::measured(storage, metrics))
    }

    /// Makes a queue around a given state, with a given hasher.
    ///
    /// # For harnesses
    /// If the state holds items, their hashes must come from this hasher. This is not checked. With
    /// another hasher, calls do not find these items.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(
        runtime: &R,
        hasher: impl Into<Hashing>,
        host: impl Into<Hosted<Queue<K, S>>>,
    ) -> Self {
        Self { monitor: Monitor::new(runtime, host), hasher: hasher.into() }
    }

    /// Refuses new items and returns at once. Waiting items are still delivered. All callers that
    /// wait for an item or for a drain wake up (`workqueue:WQ-25` to `WQ-28`).
    pub fn shut_down(&self) {
        self.monitor.call(ShutDown);
    }

    /// Processes items until the queue is shut down and empty: the loop of one worker.
    ///
    /// Every item is done exactly once, even if `process` panics; the panic goes on to the caller,
    /// and other workers are not disturbed (`workqueue:CL-1`, `CL-2`).
    pub fn work(&self, mut process: impl FnMut(&K)) {
        while let Some(item) = self.get() {
            process(&item);
        }
    }
}

queue_calls! {
    "WorkQueue", [K, R, S] WorkQueue<K, R, S>,
    [K: Key + Hash, R: Runtime, S: Storage<K>]
}
