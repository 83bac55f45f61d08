//! Locks and stores whose calls are awaited.

use std::future::Future;
use std::sync::Arc;

use crate::elector::record::{Name, Record};

use super::{Object, ObjectName, StoreError, Stored, Version};

/// As [`ObjectStore`](super::ObjectStore), for a client whose calls are futures.
///
/// A call has no deadline; to give it up, its future is dropped. A write that is dropped may have
/// been applied, now or later (`election:ENV-4`), and the elector takes that into account.
pub trait AsyncObjectStore<C>: Send + Sync + 'static {
    /// Reads an object. Fails with [`StoreError`].
    fn get(&self, name: &ObjectName) -> impl Future<Output = Result<Object<C>, StoreError>> + Send;

    /// Stores a new object and returns it with its version. Fails with [`StoreError`].
    fn create(
        &self,
        object: &Object<C>,
    ) -> impl Future<Output = Result<Object<C>, StoreError>> + Send;

    /// Replaces the object if it still has the version that `object` carries, and returns it with
    /// its new version. Fails with [`StoreError`].
    fn update(
        &self,
        object: &Object<C>,
    ) -> impl Future<Output = Result<Object<C>, StoreError>> + Send;
}

impl<C, S: AsyncObjectStore<C>> AsyncObjectStore<C> for Arc<S> {
    fn get(&self, name: &ObjectName) -> impl Future<Output = Result<Object<C>, StoreError>> + Send {
        (**self).get(name)
    }

    fn create(
        &self,
        object: &Object<C>,
    ) -> impl Future<Output = Result<Object<C>, StoreError>> + Send {
        (**self).create(object)
    }

    fn update(
        &self,
        object: &Object<C>,
    ) -> impl Future<Output = Result<Object<C>, StoreError>> + Send {
        (**self).update(object)
    }
}

/// As [`Lock`](super::Lock), for tasks: a lock object of one kind for
/// [`Elector::run_async`](crate::elector::Elector::run_async).
///
/// The elector drops a call when its deadline or its token ends. An implementation only has to
/// limit how long its client waits for an answer (`election:LK-28`).
pub trait AsyncLock: Send + 'static {
    /// Reads the record. Fails with [`StoreError`].
    fn get(&mut self) -> impl Future<Output = Result<Stored, StoreError>> + Send;

    /// Creates the lock object. Fails with [`StoreError`].
    fn create(
        &mut self,
        record: &Record,
    ) -> impl Future<Output = Result<Stored, StoreError>> + Send;

    /// Replaces the record in the remembered object and sends it, if that object still has
    /// `version`. Fails with [`StoreError`].
    fn update(
        &mut self,
        record: &Record,
        version: &Version,
    ) -> impl Future<Output = Result<Stored, StoreError>> + Send;

    /// Records, for people to read, what happened to a participant (`election:LK-16`).
    fn record_event(&self, identity: &Name, text: &'static str) {
        let _ = (identity, text);
    }

    /// Returns "namespace/name".
    fn describe(&self) -> String;
}
