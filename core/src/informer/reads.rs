//! Reading what is there at least: a version, or what this client wrote itself.

use crate::runtime::{Instant, Runtime};
use crate::store::indexed::Snapshot;
use crate::store::{Described, Handle, IndexedStore, Metadata};

use super::fresh::{NotVisible, Readable};
use super::shared::Informer;

/// # Reading one's own writes
///
/// A client that has just written finds the old state in its store until the watch brings the new
/// one. It can wait: for a version that it knows, or for all that it wrote if it takes a
/// [note](Self::wrote) of that. Every wait has a time at which it ends; [`Instant::ZERO`] asks
/// without waiting.
///
/// ```
/// # use seatrial_core::informer::{Informer, NotVisible};
/// # use seatrial_core::runtime::{Ambient, System};
/// # use seatrial_core::store::{Described, Handle};
/// # use std::time::Duration;
/// # fn create<O: Handle + Described>(_: &str) -> O { unreachable!() }
/// fn replace<O: Handle + Described>(pods: &Informer<O>) -> Result<Vec<O>, NotVisible> {
///     let created: O = create("web-1"); // what the server answered
///     pods.wrote(created.metadata().unwrap())?;
///     let patience = System::new().now() + Duration::from_secs(5);
///     let list = pods.list_written(patience)?; // has web-1, or a later state of it
///     Ok(list.objects().cloned().collect())
/// }
/// ```
impl<O: Handle + Described, R: Runtime> Informer<O, R> {
    /// Returns the object with a key, of a store that has a version at least.
    ///
    /// # Errors
    /// The store does not have it by then, or refused what that object was then.
    pub fn get_at_least(
        &self,
        key: &str,
        version: &str,
        until: Instant,
    ) -> Result<Option<O>, NotVisible> {
        self.runtime.block_on(self.get_at_least_async(key, version, until))
    }

    /// As [`get_at_least`](Self::get_at_least), for tasks: to drop the future is to stop waiting.
    ///
    /// # Errors
    /// As [`get_at_least`](Self::get_at_least).
    pub async fn get_at_least_async(
        &self,
        key: &str,
        version: &str,
        until: Instant,
    ) -> Result<Option<O>, NotVisible> {
        self.visible.one_at_least(&*self.store, key, version, until).await
    }

    /// Returns all objects, of a store that has a version at least.
    ///
    /// # Errors
    /// The store does not have it by then, or refused an object of it.
    pub fn list_at_least(
        &self,
        version: &str,
        until: Instant,
    ) -> Result<Snapshot<String, O>, NotVisible> {
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
    ) -> Result<Snapshot<String, O>, NotVisible> {
        self.visible.all_at_least(&*self.store, version, until).await
    }

    /// Takes note of a write: of the object that the server answered.
    ///
    /// # Errors
    /// Its version is no number, so nobody can wait for it. There is no note.
    pub fn wrote(&self, object: Metadata<'_>) -> Result<(), NotVisible> {
        self.visible.note(&*self.store, object, None)
    }

    /// Takes note of a deletion: of the newest state that is known of the object, which a server
    /// that has deleted it need not answer. An object that stays until its finalizers are done was
    /// [written](Self::wrote), not deleted.
    ///
    /// # Errors
    /// As [`wrote`](Self::wrote).
    pub fn deleted(&self, object: Metadata<'_>) -> Result<(), NotVisible> {
        self.visible.note(&*self.store, object, Some(object.uid))
    }

    /// Returns the object with a key, once what was last written of it is in the store. Behind a list
    /// that went back to an older version it waits until the store is as new as when it last showed
    /// a write.
    ///
    /// # Errors
    /// It is not by then.
    pub fn get_written(&self, key: &str, until: Instant) -> Result<Option<O>, NotVisible> {
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
    ) -> Result<Option<O>, NotVisible> {
        self.visible.one_written(&*self.store, key, until).await
    }

    /// Returns all objects, once all that was written is in the store.
    ///
    /// # Errors
    /// It is not by then.
    pub fn list_written(&self, until: Instant) -> Result<Snapshot<String, O>, NotVisible> {
        self.runtime.block_on(self.list_written_async(until))
    }

    /// As [`list_written`](Self::list_written), for tasks.
    ///
    /// # Errors
    /// As [`list_written`](Self::list_written).
    pub async fn list_written_async(
        &self,
        until: Instant,
    ) -> Result<Snapshot<String, O>, NotVisible> {
        self.visible.all_written(&*self.store, until).await
    }

    /// Sleeps until the first list is in the store; false if it is not by then, or never will be.
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
