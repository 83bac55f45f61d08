//! What all locks of one object share: the store, the remembered object, events.

use std::fmt;
use std::sync::Arc;

use crate::elector::record::Name;

use super::{Call, Meta, Object, ObjectName, ObjectStore, StoreError, Version};

/// A kind of object that can be a lock.
pub trait Kind: Clone + Default + Send + 'static {
    /// Its name, for references in events.
    const KIND: &'static str;
    /// Its API version, for references in events.
    const API_VERSION: &'static str;
}

/// Something that happened to a participant, for people to read (`election:LK-16`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockEvent {
    /// The kind of the lock object.
    pub kind: &'static str,
    /// Its API version.
    pub api_version: &'static str,
    /// Which object.
    pub object: ObjectName,
    /// What tells it from an earlier one; empty if it was never received.
    pub uid: Name,
    /// The reason, always the same.
    pub reason: &'static str,
    /// Who, and what happened. It is data and no format.
    pub message: String,
}

/// Takes events to where people read them.
pub trait EventRecorder: Send + Sync {
    /// Records a normal event.
    fn record(&self, event: LockEvent);
}

/// One object of a store, as it was last received.
#[derive(Clone)]
pub(super) struct Slot<S, C> {
    store: S,
    pub(super) name: ObjectName,
    remembered: Option<Object<C>>,
    recorder: Option<Arc<dyn EventRecorder>>,
}

impl<C: Kind, S: ObjectStore<C>> Slot<S, C> {
    pub(super) fn new(store: S, namespace: &str, name: &str) -> Self {
        let name = ObjectName::new(namespace, name);
        Self { store, name, remembered: None, recorder: None }
    }

    pub(super) fn set_recorder(&mut self, recorder: Arc<dyn EventRecorder>) {
        self.recorder = Some(recorder);
    }

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
        let mut object = Object { meta: Meta::new(self.name.clone()), content: C::default() };
        write(&mut object);
        let created = self.store.create(&object, call)?;
        Ok(self.remembered.insert(created))
    }

    /// Changes the remembered object by `write` and sends it, if it has that version.
    ///
    /// If the call fails, the remembered object has what was to be written, but its old version:
    /// harmless, as every update overwrites it (`election:LK-3`).
    pub(super) fn update(
        &mut self,
        version: &Version,
        call: Call<'_>,
        write: impl FnOnce(&mut Object<C>),
    ) -> Result<&Object<C>, StoreError> {
        let remembered = self.remembered.as_mut().filter(|object| object.meta.version == *version);
        let object = remembered.ok_or(StoreError::NotInitialised)?;
        write(object);
        let updated = self.store.update(object, call)?;
        Ok(self.remembered.insert(updated))
    }

    /// Without a remembered object the configured name must do: the reference crashes here.
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

impl<S, C> fmt::Debug for Slot<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("name", &self.name).finish_non_exhaustive()
    }
}
