//! The queue of changes: one entry per object, with the changes of that object in order (client-go
//! `DeltaFIFO`).
//!
//! A producer, normally a reflector, reports changes: added, updated, deleted, or a whole list. A
//! consumer pops all changes of one object since its last pop, and applies them to its own store,
//! the *known objects*, while the queue's lock is held. So whenever the lock is free, the known
//! objects plus the pending changes are the state that the producer saw (`cache:INV-3`), and a
//! relist can detect missed deletions.
//!
//! ```
//! use seatrial_core::delta_fifo::{Delta, DeltaFifo};
//! use seatrial_core::runtime::System;
//!
//! // Objects are pairs of a name and a version; the name is the key.
//! let queue = DeltaFifo::new(&System::new(), |object: &(&str, u32)| Ok(object.0.to_owned()));
//! queue.add(("web", 1))?;
//! queue.add(("db", 1))?;
//! queue.update(("web", 2))?;
//! queue.close();
//!
//! let (popped, ()) = queue.pop(|entry| assert_eq!(entry.key, "web")).unwrap();
//! assert_eq!(*popped.deltas, [Delta::Added(("web", 1)), Delta::Updated(("web", 2))]);
//! # Ok::<(), seatrial_core::store::EnqueueError>(())
//! ```
//!
//! Guarantees: the changes of one object come in the order in which they were queued
//! (`cache:DF-27`), nothing is merged except two deletions in a row, and `has_synced` turns true
//! only when the whole first list has been processed. Left out: order between objects, and a limit
//! on the changes of an object that is never popped (`cache:DF-31`).

mod contract;
mod delta;
mod operations;
mod pending;
mod pop;
mod state;

#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::events::{self, SlowHook, event_queue_calls};
use crate::machine::Hosted;
use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};
use crate::store::{Cause, Handle, Hashed, Key, KeyError, KnownObjects, LastState, NothingKnown};
use crate::store::{EnqueueError, Intake, Listed};

pub use crate::events::{Delta, DeltaKind};
pub use delta::Deltas;
pub use state::Popped;

for_harness! {
    use events::{Close, HasSynced, IsClosed, Len, POPPERS, SYNC, WaitForSync};
    use operations::{
        AddIfAbsent, Delete, Get, List, Op, Pop, Processed, Put, Replace, Resync, Ret, Verb,
    };
    use state::{DeltaQueue, Left};
}

/// The options of a [`DeltaFifo`].
pub struct Options<N> {
    /// The consumer's store. Without one, deletions of objects that are not pending are dropped
    /// and a resync does nothing.
    pub known: Option<N>,
    /// Whether a list shows its objects as [`Delta::Replaced`]; otherwise as [`Delta::Sync`],
    /// which a consumer cannot tell from a resync (`cache:DF-33`).
    pub emit_replaced: bool,
    /// The function that is told of slow processing.
    pub on_slow: Option<SlowHook>,
}

impl Default for Options<NothingKnown> {
    fn default() -> Self {
        Self { known: None, emit_replaced: false, on_slow: None }
    }
}

impl<N> Options<N> {
    /// Makes the options that informers use: a store, and lists distinguished from resyncs.
    pub fn with_known(known: N) -> Self {
        Self { known: Some(known), emit_replaced: true, on_slow: None }
    }
}

impl<N> fmt::Debug for Options<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("known", &self.known.is_some())
            .field("emit_replaced", &self.emit_replaced)
            .field("on_slow", &self.on_slow.is_some())
            .finish()
    }
}

/// The queue of changes. Shared by reference or in an `Arc`.
///
/// `K` is the key, `O` the handle to an object (normally an `Arc`), `N` the consumer's store, `R`
/// the runtime.
pub struct DeltaFifo<K: Key, O: Handle, N: KnownObjects<K, O> = NothingKnown, R: Runtime = System> {
    monitor: Monitor<DeltaQueue<K, O, N>, R>,
    intake: Intake<K, O>,
    on_slow: Option<SlowHook>,
}

impl<K: Key, O: Handle, R: Runtime> DeltaFifo<K, O, NothingKnown, R> {
    /// Makes an empty queue without known objects.
    pub fn new(
        runtime: &R,
        key_of: impl Fn(&O) -> Result<K, Cause> + Send + Sync + 'static,
    ) -> Self {
        Self::with_options(runtime, Intake::new(runtime, key_of), Options::default())
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>, R: Runtime> DeltaFifo<K, O, N, R> {
    /// Makes an empty queue.
    pub fn with_options(runtime: &R, intake: Intake<K, O>, options: Options<N>) -> Self {
        let Options { known, emit_replaced, on_slow } = options;
        let state = DeltaQueue::new(intake.hasher().clone(), known, emit_replaced);
        Self::with_host(runtime, intake, on_slow, state)
    }

    /// Makes a queue around a given state.
    ///
    /// # For harnesses
    /// The state must have been made with the hasher of `intake`. This is not checked: with another
    /// hasher no object is found again.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(
        runtime: &R,
        intake: Intake<K, O>,
        on_slow: Option<SlowHook>,
        host: impl Into<Hosted<DeltaQueue<K, O, N>>>,
    ) -> Self {
        Self { monitor: Monitor::new(runtime, host), intake, on_slow }
    }

    /// Queues [`Delta::Added`].
    ///
    /// # Errors
    /// The object has no key or the transformer refused it. Nothing is queued, but the queue counts
    /// as populated (`cache:QU-19`).
    #[inline]
    pub fn add(&self, object: O) -> Result<(), EnqueueError> {
        self.put(Verb::Add, object)
    }

    /// Queues [`Delta::Updated`].
    ///
    /// # Errors
    /// As [`add`](Self::add).
    #[inline]
    pub fn update(&self, object: O) -> Result<(), EnqueueError> {
        self.put(Verb::Update, object)
    }

    fn put(&self, verb: Verb, object: O) -> Result<(), EnqueueError> {
        let (key, object) = match self.intake.key(&object) {
            Ok(key) => (Some(key), self.intake.transform(object)),
            Err(refused) => (None, Err(refused.into())),
        };
        self.monitor.call(Put { verb, key, object: Some(object) })
    }

    /// Queues [`Delta::Deleted`] with the last state as the server sent it.
    ///
    /// If the object is neither pending nor known, nothing is queued (`cache:DF-9`). The entry
    /// stays; the consumer removes the object when it sees the deletion (`cache:DF-11`).
    ///
    /// # Errors
    /// The object has no key, and nothing happened, or the transformer refused it.
    pub fn delete(&self, object: O) -> Result<(), EnqueueError> {
        self.delete_last_state(LastState::Final(object))
    }

    /// As [`delete`](Self::delete), for a deletion that may have been missed.
    ///
    /// # Errors
    /// As [`delete`](Self::delete). A tombstone is never refused.
    pub fn delete_last_state(&self, last: LastState<K, O>) -> Result<(), EnqueueError> {
        let key = self.intake.key_of_last_state(&last)?;
        let last = self.intake.transform_last_state(last);
        self.monitor.call(Delete { key: Some(key), last: Some(last) })
    }

    /// Queues a complete list: every object in it as [`Delta::Replaced`] (or [`Delta::Sync`]), then
    /// a tombstone for every object that is pending or known but not in the list (`cache:DF-12`).
    ///
    /// # Errors
    /// An object has no key or the transformer refused it. The objects before it are queued, but
    /// nothing after it and no tombstones, and the first list is still to come (`cache:DF-20`).
    pub fn replace(&self, objects: Vec<O>) -> Result<(), EnqueueError> {
        let Listed { objects, refused } = self.intake.list(objects);
        self.monitor.call(Replace::new(objects, refused))
    }

    /// Queues [`Delta::Sync`] for every known object that has nothing pending (`cache:DF-21`).
    pub fn resync(&self) {
        self.monitor.call(Resync::new());
    }

    fn hashed(&self, key: &K) -> Hashed<K> {
        self.intake.hasher().hashed(key.clone())
    }

    /// Queues changes that were popped before, at the tail. If newer changes are pending, these are
    /// silently dropped (`cache:QU-10`, `QU-11`).
    ///
    /// # Errors
    /// The list is empty, or its newest object has no key.
    pub fn add_if_absent(&self, deltas: Deltas<K, O>) -> Result<(), KeyError> {
        let key = self.key_of(&deltas)?;
        self.monitor.call(AddIfAbsent { key: Some(key), deltas });
        Ok(())
    }

    /// Returns the key of the newest object of a list of changes (`cache:KY-10`).
    fn key_of(&self, deltas: &Deltas<K, O>) -> Result<Hashed<K>, KeyError> {
        match deltas.newest() {
            None => Err(KeyError::new(deltas, Arc::new(NoDeltas))),
            Some(newest) => self.intake.key_of_delta(newest),
        }
    }

    /// Returns a copy of the pending changes of an object (`cache:DF-28`).
    pub fn get(&self, key: &K) -> Option<Deltas<K, O>> {
        self.monitor.call(Get(self.hashed(key)))
    }

    /// Returns a copy of all pending changes, in the order of delivery.
    pub fn list(&self) -> Vec<(K, Deltas<K, O>)> {
        self.monitor.call(List)
    }
}

event_queue_calls! {
    "DeltaFifo",
    /// Tells whether the whole first list has been processed; true at once if another write came
    /// before it (`cache:QU-15`).
    [K, O, N, R] DeltaFifo<K, O, N, R>,
    [K: Key, O: Handle, N: KnownObjects<K, O>, R: Runtime]
}

/// A list of changes without a change has no key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NoDeltas;

impl fmt::Display for NoDeltas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0 length Deltas object; can't get key")
    }
}

impl Error for NoDeltas {}
