//! The queue of newest objects (client-go `FIFO`), and what all queues of objects share.
//!
//! Between two pops of an object, any number of changes collapse into one: the newest state, at the
//! place of the first change. It is for consumers that process each object once per burst of
//! changes and need not know about deletions (`cache:FF-16`): a deleted object is simply not handed
//! out.
//!
//! ```
//! use seatrial_core::fifo::Fifo;
//! use seatrial_core::runtime::System;
//!
//! // Objects are pairs of a name and a version; the name is the key.
//! let queue = Fifo::new(&System::new(), |object: &(&str, u32)| Ok(object.0.to_owned()));
//! queue.add(("web", 1))?;
//! queue.add(("db", 1))?;
//! queue.update(("web", 2))?;
//!
//! let (popped, ()) = queue.pop(|_| ()).unwrap();
//! assert_eq!(popped.object, ("web", 2));
//! # Ok::<(), seatrial_core::store::KeyError>(())
//! ```
//!
//! Every call of every queue first runs the caller's functions (the key function and the
//! transformer) outside the lock ([`Intake`]). The queue does not change until they have succeeded.
//! [`Queue`] is the contract of all these queues.

mod contract;
mod items;
mod operations;
mod options;
mod pop;
mod state;

#[cfg(test)]
mod tests;

use crate::caught::drop_caught;
use crate::machine::Hosted;
use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};
use crate::store::{Cause, Handle, Hashed, Intake, Key, KeyError, LastState};

use crate::events::{self, event_queue_calls};
pub use crate::events::{AfterPop, Closed, Queue, SlowHook, SlowProcessing};
pub use options::Options;
pub use state::Popped;

for_harness! {
    use events::{Close, HasSynced, IsClosed, Len, POPPERS, SYNC, WaitForSync};
    use operations::{
        AddIfAbsent, Delete, Get, List, Op, Pop, Processed, Put, Replace, Resync, Ret,
    };
    use state::FifoQueue;
}

/// The queue of newest objects. Shared by reference or in an `Arc`.
///
/// `K` is the key, `O` the handle to an object (normally an `Arc`), `R` the runtime.
pub struct Fifo<K: Key, O: Handle, R: Runtime = System> {
    monitor: Monitor<FifoQueue<K, O>, R>,
    intake: Intake<K, O>,
    on_slow: Option<SlowHook>,
}

impl<K: Key, O: Handle, R: Runtime> Fifo<K, O, R> {
    /// Makes an empty queue.
    pub fn new(
        runtime: &R,
        key_of: impl Fn(&O) -> Result<K, Cause> + Send + Sync + 'static,
    ) -> Self {
        Self::with_options(runtime, Intake::new(runtime, key_of), Options::default())
    }

    /// Makes an empty queue with a given key function. A transformer of `intake` is not used.
    pub fn with_options(runtime: &R, intake: Intake<K, O>, options: Options) -> Self {
        let Options { on_slow } = options;
        let state = FifoQueue::new(intake.hasher().clone());
        Self::with_host(runtime, intake, on_slow, state)
    }

    /// Makes a queue around a given state.
    ///
    /// # For harnesses
    /// The state must have been made with the hasher of `intake`. This is not checked: with another
    /// hasher no object is found again. A transformer of `intake` is not used.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(
        runtime: &R,
        intake: Intake<K, O>,
        on_slow: Option<SlowHook>,
        host: impl Into<Hosted<FifoQueue<K, O>>>,
    ) -> Self {
        Self { monitor: Monitor::new(runtime, host), intake, on_slow }
    }

    /// Stores an object at its present place, or at the tail (`cache:FF-2`).
    ///
    /// # Errors
    /// The object has no key, and nothing happened.
    pub fn add(&self, object: O) -> Result<(), KeyError> {
        let key = Some(self.intake.key(&object)?);
        self.monitor.call(Put { key, object: Some(object) });
        Ok(())
    }

    /// As [`add`](Self::add).
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn update(&self, object: O) -> Result<(), KeyError> {
        self.add(object)
    }

    /// Removes an object, so that it is not handed out. Its place stays: if the object is added
    /// again before that place is reached, it is handed out there (`cache:FF-7`).
    ///
    /// # Errors
    /// The object has no key, and nothing happened.
    pub fn delete(&self, object: O) -> Result<(), KeyError> {
        self.delete_last_state(&LastState::Final(object))
    }

    /// As [`delete`](Self::delete), for a deletion that may have been missed.
    ///
    /// # Errors
    /// As [`delete`](Self::delete). A tombstone is never refused.
    pub fn delete_last_state(&self, last: &LastState<K, O>) -> Result<(), KeyError> {
        let key = self.intake.key_of_last_state(last)?;
        drop_caught(self.monitor.call(Delete(key)));
        Ok(())
    }

    /// Replaces the content by a list, in its order. If a key occurs twice, the last object counts
    /// (`cache:FF-9`).
    ///
    /// # Errors
    /// An object has no key, and nothing happened.
    pub fn replace(&self, objects: Vec<O>) -> Result<(), KeyError> {
        self.monitor.call(Replace(self.intake.untransformed(objects)?.into()));
        Ok(())
    }

    /// Does nothing: everything in the queue will be handed out anyway (`cache:FF-11`).
    pub fn resync(&self) {
        self.monitor.call(Resync);
    }

    fn hashed(&self, key: &K) -> Hashed<K> {
        self.intake.hasher().hashed(key.clone())
    }

    /// Stores an object that was popped before, at the tail. If a newer one waits, this one is
    /// silently dropped (`cache:QU-10`, `QU-11`).
    ///
    /// # Errors
    /// The object has no key, and nothing happened.
    pub fn add_if_absent(&self, object: O) -> Result<(), KeyError> {
        let key = Some(self.intake.key(&object)?);
        self.monitor.call(AddIfAbsent { key, object: Some(object) });
        Ok(())
    }

    /// Returns an object that waits.
    pub fn get(&self, key: &K) -> Option<O> {
        self.monitor.call(Get(self.hashed(key)))
    }

    /// Returns the objects that wait, in the order of delivery.
    pub fn list(&self) -> Vec<(K, O)> {
        self.monitor.call(List)
    }
}

event_queue_calls! {
    "Fifo",
    /// Tells whether as many places as the first list had have been processed or skipped; true at
    /// once if another write came before it (`cache:QU-15`).
    ///
    /// Places are counted without regard to their keys: after a second, shorter list this can stay
    /// false on an empty queue (`cache:FF-10`).
    [K, O, R] Fifo<K, O, R>,
    [K: Key, O: Handle, R: Runtime]
}
