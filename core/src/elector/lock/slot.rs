//! The parts that all locks in one object share: the store, the remembered object, events.

use std::fmt;
use std::sync::Arc;

use crate::elector::record::Name;

use super::{AsyncObjectStore, Call, Meta, Object, ObjectName, ObjectStore, StoreError, Version};

/// A kind of object that can be a lock.
pub trait Kind: Clone + Default + Send + 'static {
    /// Its name, for references in events.
    const KIND: &'static str;
    /// Its API version, for references in events.
    const API_VERSION: &'static str;
}

/// Something that happened to a participant, for people to read (`election:LK-16`).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LockEvent {
    /// The kind of the lock object.
    pub kind: &'static str,
    /// Its API version.
    pub api_version: &'static str,
    /// The lock object.
    pub object: ObjectName,
    /// Distinguishes the object from an earlier one; empty if none was ever received.
    pub uid: Name,
    /// The reason, always the same.
    pub reason: &'static str,
    /// The identity and what happened. It is data, not a format string.
    pub message: String,
}

/// Takes events to a place where people read them.
pub trait EventRecorder: Send + Sync {
    /// Records a normal event.
    fn record(&self, event: LockEvent);
}

/// One object of a store, as last received.
#[derive(Clone)]
pub(super) struct Slot<S, C> {
    store: S,
    pub(super) name: ObjectName,
    remembered: Option<Object<C>>,
    recorder: Option<Arc<dyn EventRecorder>>,
}

impl<C: Kind, S> Slot<S, C> {
    pub(super) fn new(store: S, namespace: &str, name: &str) -> Self {
        let name = ObjectName::new(namespace, name);
        Self { store, name, remembered: None, recorder: None }
    }

    pub(super) fn set_recorder(&mut self, recorder: Arc<dyn EventRecorder>) {
        self.recorder = Some(recorder);
    }

    /// Makes a new object, filled by `write`.
    fn fresh(&self, write: impl FnOnce(&mut Object<C>)) -> Object<C> {
        let mut object = Object { meta: Meta::new(self.name.clone()), content: C::default() };
        write(&mut object);
        object
    }

    /// Uses only the configured name if no object is remembered. The reference crashes in this
    /// case.
    pub(super) fn record_event(&self, identity: &Name, text: &str) {
        let Some(recorder) = &self.recorder else { return };
        let uid = self.remembered.as_ref().map(|object| object.meta.uid.clone());
        recorder.record(LockEvent {
            kind: C::KIND,
            api_version: C::API_VERSION,
            object: self.name.clone(),
            uid: uid.unwrap_or_default(),
            reason: "LeaderElection",
            message: format!("{identity} {text}"),
        });
    }
}

/// Changes the remembered object by `write`, if it has that version.
///
/// If the call that follows fails, the remembered object has the new content with its old version.
/// That is harmless, because every update overwrites the content (`election:LK-3`).
fn changed<'a, C>(
    remembered: &'a mut Option<Object<C>>,
    version: &Version,
    write: impl FnOnce(&mut Object<C>),
) -> Result<&'a Object<C>, StoreError> {
    let remembered = remembered.as_mut().filter(|object| object.meta.version == *version);
    let object = remembered.ok_or(StoreError::NotInitialised)?;
    write(object);
    Ok(object)
}

impl<C: Kind, S: ObjectStore<C>> Slot<S, C> {
    pub(super) fn get(&mut self, call: Call<'_>) -> Result<&Object<C>, StoreError> {
        let object = self.store.get(&self.name, call)?;
        Ok(self.remembered.insert(object))
    }

    /// Stores a new object, filled by `write`.
    pub(super) fn create(
        &mut self,
        call: Call<'_>,
        write: impl FnOnce(&mut Object<C>),
    ) -> Result<&Object<C>, StoreError> {
        let created = self.store.create(&self.fresh(write), call)?;
        Ok(self.remembered.insert(created))
    }

    /// Changes the remembered object by `write` and sends it, if it has that version.
    pub(super) fn update(
        &mut self,
        version: &Version,
        call: Call<'_>,
        write: impl FnOnce(&mut Object<C>),
    ) -> Result<&Object<C>, StoreError> {
        let object = changed(&mut self.remembered, version, write)?;
        let updated = self.store.update(object, call)?;
        Ok(self.remembered.insert(updated))
    }
}

/// As the blocking calls, for tasks.
impl<C: Kind + Sync, S: AsyncObjectStore<C>> Slot<S, C> {
    pub(super) async fn get_async(&mut self) -> Result<&Object<C>, StoreError> {
        let object = self.store.get(&self.name).await?;
        Ok(self.remembered.insert(object))
    }

    pub(super) async fn create_async(
        &mut self,
        write: impl FnOnce(&mut Object<C>) + Send,
    ) -> Result<&Object<C>, StoreError> {
        let object = self.fresh(write);
        let created = self.store.create(&object).await?;
        Ok(self.remembered.insert(created))
    }

    pub(super) async fn update_async(
        &mut self,
        version: &Version,
        write: impl FnOnce(&mut Object<C>) + Send,
    ) -> Result<&Object<C>, StoreError> {
        let object = changed(&mut self.remembered, version, write)?;
        let updated = self.store.update(object).await?;
        Ok(self.remembered.insert(updated))
    }
}

impl<S, C> fmt::Debug for Slot<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("name", &self.name).finish_non_exhaustive()
    }
}
