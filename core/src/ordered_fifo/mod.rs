//! The queue of events in their order of arrival (client-go `RealFIFO`).
//!
//! A queue that collects changes per object hands them out in an order in which they never
//! happened, so the consumer's store passes through states that the server never had. This queue
//! hands out every event alone, or in a batch of changes of different objects, in the order in
//! which the events came.
//!
//! ```
//! use seatrial_core::delta_fifo::Delta;
//! use seatrial_core::ordered_fifo::{Event, OrderedFifo};
//! use seatrial_core::runtime::System;
//!
//! // Objects are pairs of a name and a version; the name is the key.
//! let queue = OrderedFifo::new(&System::new(), |object: &(&str, u32)| Ok(object.0.to_owned()));
//! queue.add(("web", 1))?;
//! queue.add(("db", 1))?;
//! queue.update(("web", 2))?;
//!
//! let batch = queue.pop_batch(|batch| batch.events.len()).unwrap();
//! assert_eq!(batch.1, 2, "web and db; the second change of web is another batch");
//! let (popped, ()) = queue.pop(|_| ()).unwrap();
//! assert_eq!(popped.event, Event::Delta(Delta::Updated(("web", 2))));
//! # Ok::<(), seatrial_core::store::EnqueueError>(())
//! ```
//!
//! There are two modes, which treat complete lists differently ([`Mode`]). In atomic mode the lock
//! can be released while the consumer processes, so slow handlers do not delay the producer. Only
//! when the queue has grown long, processing holds the lock; this back-pressure limits the queue
//! (`cache:RF-31`).

mod batch;
mod contract;
mod newest;
mod operations;
mod options;
mod pop;
mod state;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::caught::Remains;
use crate::delta_fifo::Verb;
use crate::events::{self, SlowHook, event_queue_calls};
use crate::machine::Hosted;
use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};
use crate::store::{Cause, Handle, Hashed, Key, KeyError, KnownObjects, LastState, NothingKnown};
use crate::store::{EnqueueError, Intake, Keyed};

pub use crate::events::{Bookmark, Event, Snapshot};
pub use batch::Batch;
pub use options::{Mode, Options};
pub use state::Popped;

for_harness! {
    use events::{Close, HasSynced, IsClosed, Len, POPPERS, SYNC, WaitForSync};
    use operations::{
        Delete, List, Mark, Op, Pop, PopBatch, Processed, Put, Replace, ReplaceAll, Resync, Ret,
    };
    use state::OrderedQueue;
}

/// The queue of events. Shared by reference or in an `Arc`.
///
/// `K` is the key, `O` the handle to an object (normally an `Arc`), `N` the consumer's store in
/// plain mode, `R` the runtime.
pub struct OrderedFifo<K: Key, O: Handle, N: KnownObjects<K, O> = NothingKnown, R: Runtime = System>
{
    monitor: Monitor<OrderedQueue<K, O, N>, R>,
    intake: Intake<K, O>,
    atomic: bool,
    on_slow: Option<SlowHook>,
}

impl<K: Key, O: Handle, R: Runtime> OrderedFifo<K, O, NothingKnown, R> {
    /// Makes an empty queue with the default options, those of the reference's informers.
    pub fn new(
        runtime: &R,
        key_of: impl Fn(&O) -> Result<K, Cause> + Send + Sync + 'static,
    ) -> Self {
        Self::with_options(runtime, Intake::new(runtime, key_of), Options::default())
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>, R: Runtime> OrderedFifo<K, O, N, R> {
    /// Makes an empty queue.
    pub fn with_options(runtime: &R, intake: Intake<K, O>, options: Options<N>) -> Self {
        let Options { mode, batch_size, on_slow } = options;
        let atomic = mode.is_atomic();
        let state = OrderedQueue::new(intake.clone(), mode, batch_size.get());
        Self::with_host(runtime, intake, atomic, on_slow, state)
    }

    /// Makes a queue around a given state.
    ///
    /// # For harnesses
    /// The state must have been made with this `intake`, and its mode must agree with `atomic`.
    /// This is not checked: otherwise lists would be queued in the form of the other mode.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(
        runtime: &R,
        intake: Intake<K, O>,
        atomic: bool,
        on_slow: Option<SlowHook>,
        host: impl Into<Hosted<OrderedQueue<K, O, N>>>,
    ) -> Self {
        Self { monitor: Monitor::new(runtime, host), intake, atomic, on_slow }
    }

    /// Queues [`Delta::Added`](crate::delta_fifo::Delta::Added).
    ///
    /// # Errors
    /// The object has no key or the transformer refused it. Nothing is queued, but the queue counts
    /// as populated (`cache:RF-6`).
    #[inline]
    pub fn add(&self, object: O) -> Result<(), EnqueueError> {
        self.put(Verb::Add, object)
    }

    /// Queues [`Delta::Updated`](crate::delta_fifo::Delta::Updated).
    ///
    /// # Errors
    /// As [`add`](Self::add).
    #[inline]
    pub fn update(&self, object: O) -> Result<(), EnqueueError> {
        self.put(Verb::Update, object)
    }

    fn put(&self, verb: Verb, object: O) -> Result<(), EnqueueError> {
        self.monitor.call(Put { verb, object: Some(self.taken_in(object)) })
    }

    /// Checks that an object has a key, and transforms it.
    fn taken_in(&self, object: O) -> Result<O, EnqueueError> {
        self.intake.name(&object)?;
        self.intake.transform(object)
    }

    /// Queues [`Delta::Deleted`](crate::delta_fifo::Delta::Deleted) with the state that the server
    /// sent, whether the object is known or not (`cache:RF-5`).
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn delete(&self, object: O) -> Result<(), EnqueueError> {
        self.delete_last_state(LastState::Final(object))
    }

    /// As [`delete`](Self::delete), for a deletion that may have been missed.
    ///
    /// # Errors
    /// As [`add`](Self::add). A tombstone is never refused.
    pub fn delete_last_state(&self, last: LastState<K, O>) -> Result<(), EnqueueError> {
        let last = match last {
            LastState::Final(object) => self.taken_in(object).map(LastState::Final),
            tombstone @ LastState::Tombstone(_) => Ok(tombstone),
        };
        self.monitor.call(Delete { last: Some(last) })
    }

    /// Queues a complete list that was read at a version.
    ///
    /// In atomic mode it is one event. In plain mode, it is tombstones for objects that are queued
    /// or known but not in the list, followed by one event per object (`cache:RF-7`); the version
    /// is not used.
    ///
    /// # Errors
    /// In plain mode, an object has no key: nothing is queued. Or the transformer refused an
    /// object: in plain mode the tombstones and the objects before it are queued, in atomic mode
    /// nothing. The first list is then still to come.
    pub fn replace(&self, objects: Vec<O>, resource_version: &str) -> Result<(), EnqueueError> {
        if self.atomic {
            let objects: Result<_, _> =
                objects.into_iter().map(|object| self.intake.transform(object)).collect();
            let resource_version = resource_version.to_owned();
            let snapshot = Snapshot { resource_version, objects: objects? };
            self.monitor.call(ReplaceAll(Arc::new(snapshot)));
            return Ok(());
        }
        let keys: Result<Vec<Hashed<K>>, KeyError> =
            objects.iter().map(|object| self.intake.key(object)).collect();
        self.monitor.call(self.listed(keys?, objects))
    }

    /// Transforms the objects of a list, up to the first that is refused.
    fn listed(&self, keys: Vec<Hashed<K>>, objects: Vec<O>) -> Replace<K, O> {
        let (mut accepted, mut keys) = (Vec::with_capacity(objects.len()), keys.into_iter());
        for object in objects {
            match self.intake.transform(object) {
                Ok(object) => accepted.extend(keys.next().map(|key| Keyed { key, object })),
                Err(error) => {
                    let behind = keys.collect();
                    return Replace { objects: accepted, behind, refused: Some(error) };
                }
            }
        }
        Replace { objects: accepted, behind: Remains::new(), refused: None }
    }

    /// Shows the consumer's objects again: by one event in atomic mode; in plain mode, by one event
    /// per known object that has no queued event (`cache:RF-12`, `RF-13`).
    ///
    /// # Errors
    /// A known object has no key. The objects before it are queued.
    pub fn resync(&self) -> Result<(), EnqueueError> {
        self.monitor.call(Resync)
    }

    /// Queues a bookmark, if the queue has bookmark events (`cache:RF-14`).
    pub fn bookmark(&self, resource_version: &str) {
        let resource_version = resource_version.to_owned();
        self.monitor.call(Mark(Arc::new(Bookmark { resource_version })));
    }

    /// Returns a copy of the events that wait, oldest first.
    pub fn list(&self) -> Vec<Event<K, O>> {
        self.monitor.call(List)
    }
}

event_queue_calls! {
    "OrderedFifo",
    /// Tells whether the whole first list has been processed; true at once if another write came
    /// before it (`cache:QU-15`).
    [K, O, N, R] OrderedFifo<K, O, N, R>,
    [K: Key, O: Handle, N: KnownObjects<K, O>, R: Runtime]
}
