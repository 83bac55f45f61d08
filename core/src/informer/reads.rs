//! Reads that wait for a version, or for the client's own writes.

use crate::runtime::{Instant, Runtime};
use crate::store::indexed::Snapshot;
use crate::store::{Described, Handle, IndexedStore, Metadata};

use super::fresh::{NotVisibleError, Readable};
use super::shared::Informer;

/// # Reading one's own writes
///
/// A client that has just written finds the old state in its store until the watch brings the new
/// one. It can wait for a version that it knows, or, if it [notes](Self::wrote) its writes, for all
/// of them. Every wait has an end; [`Instant::ZERO`] asks without waiting.
///
/// ```
/// # use seatrial_core::informer::{Informer, NotVisibleError};
/// # use seatrial_core::runtime::{Ambient, System};
/// # use seatrial_core::store::{Described, Handle};
/// # use std::time::Duration;
/// # fn create<O: Handle + Described>(_: &str) -> O { unreachable!() }
/// fn replace<O: Handle + Described>(pods: &Informer<O>) -> Result<Vec<O>, NotVisibleError> {
///     let created: O = create("web-1"); // what the server answered
///     pods.wrote(created.metadata().unwrap())?;
///     let patience = System::new().now() + Duration::from_secs(5);
///     let list = pods.list_written(patience)?; // has web-1, or a later state of it
///     Ok(list.objects().cloned().collect())
/// }
/// ```
impl<O: Handle + Described, R: Runtime> Informer<O, R> {
    /// Returns the object with a key once the store has at least a version.
    ///
    /// # Errors
    /// The store does not have the version in time, or refused the state of the object at that
    /// version.
    pub fn get_at_least(
        &self,
        key: &str,
        version: &str,
        until: Instant,
    ) -> Result<Option<O>, NotVisibleError> {
        self.runtime.block_on(self.get_at_least_async(key, version, until))
    }

    /// As [`get_at_least`](Self::get_at_least), for tasks. Dropping the future stops the wait.
    ///
    /// # Errors
    /// As [`get_at_least`](Self::get_at_least).
    pub async fn get_at_least_async(
        &self,
        key: &str,
        version: &str,
        until: Instant,
    ) -> Result<Option<O>, NotVisibleError> {
        self.visible.one_at_least(&*self.store, key, version, until).await
    }

    /// Returns all objects once the store has at least a version.
    ///
    /// # Errors
    /// The store does not have the version in time, or refused an object of it.
    pub fn list_at_least(
        &self,
        version: &str,
        until: Instant,
    ) -> Result<Snapshot<String, O>, NotVisibleError> {
        self.runtime.block_on(self.list_at_least_async(version, until))
    }

    /// As [`list_at_least`](Self::list_at_least), for tasks.
    ///
    /// # Errors
    /// As [`list_at_least`](Self::list_at_least).
    pub async fn list_at_least_async(
        &self,
        version: &str,
        until: Instant,
    ) -> Result<Snapshot<String, O>, NotVisibleError> {
        self.visible.all_at_least(&*self.store, version, until).await
    }

    /// Notes a write. Pass the object that the server answered.
    ///
    /// # Errors
    /// Its version is not a number, so it cannot be waited for. Nothing is noted.
    pub fn wrote(&self, object: Metadata<'_>) -> Result<(), NotVisibleError> {
        self.visible.note(&*self.store, object, None)
    }

    /// Notes a deletion. Pass the newest known state of the object; the server need not return one.
    /// An object that stays until its finalizers are done was [written](Self::wrote), not deleted.
    ///
    /// # Errors
    /// As [`wrote`](Self::wrote).
    pub fn deleted(&self, object: Metadata<'_>) -> Result<(), NotVisibleError> {
        self.visible.note(&*self.store, object, Some(object.uid))
    }

    /// Forgets the noted writes that the store lacks, if a list has gone back to an older version
    /// since this was last called. Tells whether one has. A server whose storage was restored from
    /// a copy never shows those writes, so a wait for them would never end. Call this when such a
    /// wait has failed: a server that only lags has caught up by then.
    pub fn forget_lost_writes(&self) -> bool {
        self.visible.forget_lost()
    }

    /// Returns the object with a key once the store has the last write to it. If a list went back
    /// to an older version, it waits until the store is as new as when it last showed a write, or
    /// until [`forget_lost_writes`](Self::forget_lost_writes) is called.
    ///
    /// # Errors
    /// The store does not have it in time.
    pub fn get_written(&self, key: &str, until: Instant) -> Result<Option<O>, NotVisibleError> {
        self.runtime.block_on(self.get_written_async(key, until))
    }

    /// As [`get_written`](Self::get_written), for tasks.
    ///
    /// # Errors
    /// As [`get_written`](Self::get_written).
    pub async fn get_written_async(
        &self,
        key: &str,
        until: Instant,
    ) -> Result<Option<O>, NotVisibleError> {
        self.visible.one_written(&*self.store, key, until).await
    }

    /// Returns all objects once the store has all writes.
    ///
    /// # Errors
    /// The store does not have them in time.
    pub fn list_written(&self, until: Instant) -> Result<Snapshot<String, O>, NotVisibleError> {
        self.runtime.block_on(self.list_written_async(until))
    }

    /// As [`list_written`](Self::list_written), for tasks.
    ///
    /// # Errors
    /// As [`list_written`](Self::list_written).
    pub async fn list_written_async(
        &self,
        until: Instant,
    ) -> Result<Snapshot<String, O>, NotVisibleError> {
        self.visible.all_written(&*self.store, until).await
    }

    /// Sleeps until the first list is in the store; false if it is not there in time, or never will
    /// be.
    pub fn wait_for_sync(&self, until: Instant) -> bool {
        self.runtime.block_on(self.visible.wait_for_sync(until))
    }

    /// As [`wait_for_sync`](Self::wait_for_sync), for tasks.
    pub async fn wait_for_sync_async(&self, until: Instant) -> bool {
        self.visible.wait_for_sync(until).await
    }
}

impl<O: Handle + Described, R: Runtime> Readable for IndexedStore<String, O, R> {
    type Object = O;
    type All = Snapshot<String, O>;

    fn one(&self, key: &str) -> Option<O> {
        self.get(&key.to_owned())
    }

    fn all(&self) -> Snapshot<String, O> {
        self.list()
    }

    fn has(&self, key: &str, uid: &str) -> bool {
        let object = self.get(&key.to_owned());
        object.is_some_and(|object| object.metadata().is_some_and(|it| it.uid == uid))
    }
}
