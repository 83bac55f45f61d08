//! A store whose objects expire (client-go `tools/cache/expiration_cache.go`).
//!
//! Expiry is lazy: an expired object is removed when it is next read, and its key is listed until
//! then (`cache:EX-3`). Reading and removing is one critical section, as is every write, so an
//! object that was just added is not removed because of the one before it (`cache:EX-4`).
//!
//! ```
//! use seatrial_core::runtime::System;
//! use seatrial_core::store::{ExpiringStore, TimeToLive};
//! use std::time::Duration;
//!
//! let expiry = TimeToLive(Some(Duration::from_secs(60)));
//! // Objects are pairs of a name, which is the key, and a version.
//! let store = ExpiringStore::new(&System::new(), |object: &(&str, u32)| Ok(object.0), expiry);
//! store.add(("web", 1))?;
//! assert_eq!(store.get(&"web"), Some(("web", 1)), "for a minute");
//! # Ok::<(), seatrial_core::store::KeyError>(())
//! ```

mod operations;
mod state;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use crate::caught::{drop_caught, drop_each};
use crate::machine::Hosted;
use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};

use super::{Cause, Handle, Intake, Key, KeyError, LastState};

pub use state::{Expiry, TimeToLive};

for_harness! {
    use operations::{Delete, Get, List, ListKeys, Op, Put, Replace, Ret};
    use state::ExpiringObjects;
}

/// A store whose objects expire. Shared by reference or in an `Arc`.
///
/// `K` is the key, `O` the handle to an object, `R` the runtime.
pub struct ExpiringStore<K: Key, O: Handle, R: Runtime = System> {
    monitor: Monitor<ExpiringObjects<K, O>, R>,
    intake: Intake<K, O>,
}

impl<K: Key, O: Handle, R: Runtime> ExpiringStore<K, O, R> {
    /// Makes an empty store.
    pub fn new(
        runtime: &R,
        key_of: impl Fn(&O) -> Result<K, Cause> + Send + Sync + 'static,
        expiry: impl Expiry<O>,
    ) -> Self {
        let intake = Intake::new(runtime, key_of);
        Self::with_host(runtime, intake, ExpiringObjects::new(Arc::new(expiry)))
    }

    /// Makes a store around a given state.
    ///
    /// # For harnesses
    /// If the state holds objects, they must have been stored with keys of `intake`. This is not
    /// checked: others are not found again. A transformer of `intake` is not used.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(
        runtime: &R,
        intake: Intake<K, O>,
        host: impl Into<Hosted<ExpiringObjects<K, O>>>,
    ) -> Self {
        Self { monitor: Monitor::new(runtime, host), intake }
    }

    /// Stores an object; its time begins now.
    ///
    /// # Errors
    /// The object has no key. Nothing has changed.
    pub fn add(&self, object: O) -> Result<(), KeyError> {
        let key = Some(self.intake.key(&object)?);
        self.monitor.call(Put { key, object: Some(object) });
        Ok(())
    }

    /// As [`add`](Self::add): an update also starts the object's time anew.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn update(&self, object: O) -> Result<(), KeyError> {
        self.add(object)
    }

    /// Removes an object by its key, if it is there.
    ///
    /// # Errors
    /// The object has no key.
    pub fn delete(&self, object: O) -> Result<(), KeyError> {
        self.delete_last_state(&LastState::Final(object))
    }

    /// As [`delete`](Self::delete), for a deletion that may have been missed.
    ///
    /// # Errors
    /// The object has no key. A tombstone never fails.
    pub fn delete_last_state(&self, last: &LastState<K, O>) -> Result<(), KeyError> {
        let key = self.intake.key_of_last_state(last)?;
        drop_caught(self.monitor.call(Delete(key)));
        Ok(())
    }

    /// Replaces the content by a list, whose time begins now. If a key occurs twice, the last
    /// object counts.
    ///
    /// # Errors
    /// An object has no key. Nothing has changed.
    pub fn replace(&self, objects: Vec<O>) -> Result<(), KeyError> {
        drop_each(self.monitor.call(Replace(self.intake.untransformed(objects)?)));
        Ok(())
    }

    /// Returns an object, or removes it if it has expired.
    pub fn get(&self, key: &K) -> Option<O> {
        self.monitor.call(Get(self.intake.hasher().hashed(key.clone()))).ok()?
    }

    /// Returns the objects that have not expired, in no particular order, and removes the others.
    pub fn list(&self) -> Vec<O> {
        self.monitor.call(List).0
    }

    /// Returns all keys, in no particular order, including those of expired objects that were not
    /// removed yet.
    pub fn list_keys(&self) -> Vec<K> {
        self.monitor.call(ListKeys)
    }
}

impl<K: Key, O: Handle, R: Runtime> fmt::Debug for ExpiringStore<K, O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExpiringStore")
    }
}
