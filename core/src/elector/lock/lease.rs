//! The lock that keeps the record in a Lease object (`election:LK-11` to `LK-16`).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::elector::record::{Name, Record, Timestamp};

use super::slot::{EventRecorder, Kind, Slot};
use super::{
    AsyncLock, AsyncObjectStore, Call, Lock, Object, ObjectStore, StoreError, Stored, Version,
};

/// The spec of a Lease. Every field is optional; an absent one reads as empty (`election:LK-11`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct LeaseSpec {
    /// `holderIdentity`.
    pub holder: Option<Name>,
    /// `leaseDurationSeconds`.
    pub duration_seconds: Option<i32>,
    /// `acquireTime`, with microseconds.
    pub acquire_time: Option<Timestamp>,
    /// `renewTime`, with microseconds.
    pub renew_time: Option<Timestamp>,
    /// `leaseTransitions`.
    pub transitions: Option<i32>,
    /// `strategy`.
    pub strategy: Option<Name>,
    /// `preferredHolder`.
    pub preferred_holder: Option<Name>,
}

setters! {
    LeaseSpec {
        holder: Option<Name>,
        duration_seconds: Option<i32>,
        acquire_time: Option<Timestamp>,
        renew_time: Option<Timestamp>,
        transitions: Option<i32>,
        strategy: Option<Name>,
        preferred_holder: Option<Name>,
    }
}

impl LeaseSpec {
    /// Reads the record.
    #[must_use]
    pub fn to_record(&self) -> Record {
        Record {
            holder: self.holder.clone().unwrap_or_default(),
            duration_seconds: self.duration_seconds.unwrap_or(0).into(),
            acquire_time: self.acquire_time,
            renew_time: self.renew_time,
            transitions: self.transitions.unwrap_or(0).into(),
            strategy: self.strategy.clone().unwrap_or_default(),
            preferred_holder: self.preferred_holder.clone().unwrap_or_default(),
        }
    }

    /// Writes the record. Numbers that are too large become the largest possible.
    #[must_use]
    pub fn from_record(record: &Record) -> Self {
        let unless_empty = |name: &Name| Some(name.clone()).filter(|name| !name.is_empty());
        Self {
            holder: Some(record.holder.clone()),
            duration_seconds: Some(fit(record.duration_seconds)),
            acquire_time: record.acquire_time,
            renew_time: record.renew_time,
            transitions: Some(fit(record.transitions)),
            strategy: unless_empty(&record.strategy),
            preferred_holder: unless_empty(&record.preferred_holder),
        }
    }

    /// Makes the checks of an API server (`election:LK-14`).
    ///
    /// # Errors
    /// [`StoreError::Invalid`].
    pub fn validate(&self) -> Result<(), StoreError> {
        if self.duration_seconds.is_some_and(|seconds| seconds <= 0) {
            return Err(StoreError::Invalid("leaseDurationSeconds must be positive".into()));
        }
        if self.transitions.is_some_and(|transitions| transitions < 0) {
            return Err(StoreError::Invalid("leaseTransitions must not be negative".into()));
        }
        let preferred = self.preferred_holder.as_ref().is_some_and(|name| !name.is_empty());
        if preferred && self.strategy.as_ref().is_none_or(Name::is_empty) {
            return Err(StoreError::Invalid("preferredHolder needs a strategy".into()));
        }
        Ok(())
    }
}

fn fit(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

impl Kind for LeaseSpec {
    const KIND: &'static str = "Lease";
    const API_VERSION: &'static str = "coordination.k8s.io/v1";
}

/// A lock in a Lease object.
#[derive(Clone, Debug)]
pub struct LeaseLock<S> {
    slot: Slot<S, LeaseSpec>,
    labels: BTreeMap<String, String>,
}

impl<S> LeaseLock<S> {
    /// Makes a lock in the Lease of that name.
    pub fn new(store: S, namespace: &str, name: &str) -> Self {
        Self { slot: Slot::new(store, namespace, name), labels: BTreeMap::new() }
    }

    /// Puts these labels on the Lease with every write (`election:LK-15`).
    #[must_use]
    pub fn with_labels(self, labels: BTreeMap<String, String>) -> Self {
        Self { labels, ..self }
    }

    /// Records events with this recorder (`election:LK-16`).
    #[must_use]
    pub fn with_recorder(mut self, recorder: Arc<dyn EventRecorder>) -> Self {
        self.slot.set_recorder(recorder);
        self
    }
}

fn stored(lease: &Object<LeaseSpec>) -> Stored {
    Stored {
        record: lease.content.to_record(),
        version: lease.meta.version.clone(),
        uid: lease.meta.uid.clone(),
    }
}

/// Writes the record, and adds the configured labels to the object's labels.
fn write(lease: &mut Object<LeaseSpec>, record: &Record, labels: &BTreeMap<String, String>) {
    lease.content = LeaseSpec::from_record(record);
    if !labels.is_empty() {
        let present = lease.meta.labels.get_or_insert_default();
        present.extend(labels.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
}

impl<S: ObjectStore<LeaseSpec>> Lock for LeaseLock<S> {
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError> {
        self.slot.get(call).map(stored)
    }

    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError> {
        self.slot.create(call, |lease| write(lease, record, &self.labels)).map(stored)
    }

    fn update(
        &mut self,
        record: &Record,
        version: &Version,
        call: Call<'_>,
    ) -> Result<Stored, StoreError> {
        self.slot.update(version, call, |lease| write(lease, record, &self.labels)).map(stored)
    }

    fn record_event(&self, identity: &Name, text: &'static str) {
        self.slot.record_event(identity, text);
    }

    fn describe(&self) -> String {
        self.slot.name.to_string()
    }
}

impl<S: AsyncObjectStore<LeaseSpec>> AsyncLock for LeaseLock<S> {
    async fn get(&mut self) -> Result<Stored, StoreError> {
        self.slot.get_async().await.map(stored)
    }

    async fn create(&mut self, record: &Record) -> Result<Stored, StoreError> {
        let Self { slot, labels } = self;
        slot.create_async(|lease| write(lease, record, labels)).await.map(stored)
    }

    async fn update(&mut self, record: &Record, version: &Version) -> Result<Stored, StoreError> {
        let Self { slot, labels } = self;
        slot.update_async(version, |lease| write(lease, record, labels)).await.map(stored)
    }

    fn record_event(&self, identity: &Name, text: &'static str) {
        self.slot.record_event(identity, text);
    }

    fn describe(&self) -> String {
        self.slot.name.to_string()
    }
}
