//! A priority queue of objects that are found by key (client-go `tools/cache/heap.go`).
//!
//! `pop` sleeps until there is an object, and takes the least one by the caller's order. Objects in
//! the heap can be replaced, removed and read by key.
//!
//! ```
//! use seatrial_core::runtime::System;
//! use seatrial_core::store::KeyedHeap;
//!
//! // Objects are pairs of a name, which is the key, and a rank.
//! let by_rank = |one: &(&str, u32), other: &(&str, u32)| one.1 < other.1;
//! let heap = KeyedHeap::new(&System::new(), |object: &(&str, u32)| Ok(object.0), by_rank);
//! heap.add(("web", 5))?;
//! heap.add(("db", 3))?;
//! heap.add(("web", 1))?; // replaces
//! assert_eq!(heap.pop()?, ("web", 1));
//! assert_eq!(heap.len(), 1);
//! # Ok::<(), seatrial_core::store::HeapError>(())
//! ```
//!
//! The order is called before anything changes, so if it panics the heap does not change. In
//! [`bulk_add`](KeyedHeap::bulk_add) the objects before that one were added.

mod operations;
mod state;

#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::machine::Hosted;
use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};
use crate::store::{Intake, Keyed};

use super::{Cause, Handle, Hashed, Key, KeyError};

pub use state::Less;

for_harness! {
    use operations::{
        AddIfAbsent, BulkAdd, Close, Delete, Get, IsClosed, Len, List, Op, Pop, Put, Ret,
    };
    use state::{HeapQueue, POPPERS};
}

/// A priority queue of objects. Shared by reference or in an `Arc`.
///
/// `K` is the key, `O` the handle to an object, `R` the runtime.
pub struct KeyedHeap<K: Key, O: Handle, R: Runtime = System> {
    monitor: Monitor<HeapQueue<K, O>, R>,
    intake: Intake<K, O>,
}

impl<K: Key, O: Handle, R: Runtime> KeyedHeap<K, O, R> {
    /// Makes an empty heap. `less` must be a strict order; equal objects come in any order.
    pub fn new(
        runtime: &R,
        key_of: impl Fn(&O) -> Result<K, Cause> + Send + Sync + 'static,
        less: impl Fn(&O, &O) -> bool + Send + Sync + 'static,
    ) -> Self {
        let intake = Intake::new(runtime, key_of);
        let state = HeapQueue::new(Arc::new(less));
        Self::with_host(runtime, intake, state)
    }

    /// Makes a heap around a given state.
    ///
    /// # For harnesses
    /// If the state holds objects, they must have been stored with keys of `intake`. This is not
    /// checked: others are not found again. A transformer of `intake` is not used.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(
        runtime: &R,
        intake: Intake<K, O>,
        host: impl Into<Hosted<HeapQueue<K, O>>>,
    ) -> Self {
        Self { monitor: Monitor::new(runtime, host), intake }
    }

    /// Adds an object; it replaces the one with the same key.
    ///
    /// # Errors
    /// The object has no key, or the heap is closed.
    pub fn add(&self, object: O) -> Result<(), HeapError> {
        let key = Some(self.intake.key(&object)?);
        self.monitor.call(Put { key, object: Some(object) })
    }

    /// As [`add`](Self::add).
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn update(&self, object: O) -> Result<(), HeapError> {
        self.add(object)
    }

    /// Adds an object unless there is one with the same key.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_if_absent(&self, object: O) -> Result<(), HeapError> {
        let key = Some(self.intake.key(&object)?);
        self.monitor.call(AddIfAbsent { key, object: Some(object) })
    }

    /// Adds objects in one critical section (`cache:HP-3`).
    ///
    /// # Errors
    /// The heap is closed, or an object has no key; the objects before it were added.
    pub fn bulk_add(&self, objects: Vec<O>) -> Result<(), HeapError> {
        let mut keyed = Vec::with_capacity(objects.len());
        let mut refused = None;
        for object in objects {
            match self.intake.key(&object) {
                Ok(key) => keyed.push(Keyed { key, object }),
                Err(error) => {
                    refused = Some(error);
                    break;
                }
            }
        }
        self.monitor.call(BulkAdd { objects: keyed.into(), refused })
    }

    /// Takes an object out by its key.
    ///
    /// # Errors
    /// The object has no key, or no object has its key.
    pub fn delete(&self, object: &O) -> Result<O, HeapError> {
        let key = self.intake.key(object)?;
        let taken = self.monitor.call(Delete(key));
        taken.map(|(_, object)| object).ok_or(HeapError::NotFound)
    }

    /// Takes the least object, sleeping until there is one.
    ///
    /// # Errors
    /// The heap is closed and empty.
    pub fn pop(&self) -> Result<O, HeapError> {
        self.monitor.call(Pop).map(|(_, object)| object).ok_or(HeapError::Closed)
    }

    /// As [`pop`](Self::pop), for tasks. A future that is dropped takes nothing, and a wake-up that
    /// was meant for it goes to another consumer.
    ///
    /// # Errors
    /// The heap is closed and empty.
    pub async fn pop_async(&self) -> Result<O, HeapError> {
        self.monitor.call_async(Pop).await.map(|(_, object)| object).ok_or(HeapError::Closed)
    }

    /// Returns the object with a key.
    pub fn get(&self, key: &K) -> Option<O> {
        self.monitor.call(Get(self.hashed(key)))
    }

    fn hashed(&self, key: &K) -> Hashed<K> {
        self.intake.hasher().hashed(key.clone())
    }

    /// Returns keys and objects, in no particular order.
    pub fn list(&self) -> Vec<(K, O)> {
        self.monitor.call(List)
    }

    /// Returns how many objects there are.
    pub fn len(&self) -> usize {
        self.monitor.call(Len)
    }

    /// Tells whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Refuses new objects, and ends every `pop` once the heap is empty (`cache:HP-2`).
    pub fn close(&self) {
        self.monitor.call(Close);
    }

    /// Tells whether the heap is closed.
    pub fn is_closed(&self) -> bool {
        self.monitor.call(IsClosed)
    }
}

impl<K: Key, O: Handle, R: Runtime> fmt::Debug for KeyedHeap<K, O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyedHeap")
    }
}

/// Why a call on a heap failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HeapError {
    /// The object has no key.
    Key(KeyError),
    /// The heap is closed.
    Closed,
    /// No object has that key.
    NotFound,
}

impl fmt::Display for HeapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(error) => error.fmt(f),
            Self::Closed => f.write_str("heap is closed"),
            Self::NotFound => f.write_str("object not found"),
        }
    }
}

impl Error for HeapError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Key(error) => error.source(),
            Self::Closed | Self::NotFound => None,
        }
    }
}

impl From<KeyError> for HeapError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}
