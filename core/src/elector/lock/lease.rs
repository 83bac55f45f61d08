//! The lock that keeps the record in a Lease object (`election:LK-11` to `LK-16`).

use std::collections::BTreeMap;

use crate::elector::record::{Name, Record, Timestamp};

use super::{Call, Lock, Meta, Object, ObjectName, ObjectStore, StoreError, Stored, Version};

/// The spec of a Lease. Every field is optional; an absent one reads as empty (`election:LK-11`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
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

    /// Writes the record. Numbers that do not fit become the largest that do.
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

    /// Checks what an API server checks (`election:LK-14`).
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

/// A lock in a Lease object.
#[derive(Clone, Debug)]
pub struct LeaseLock<S> {
    store: S,
    name: ObjectName,
    labels: BTreeMap<String, String>,
    remembered: Option<Object<LeaseSpec>>,
}

impl<S: ObjectStore<LeaseSpec>> LeaseLock<S> {
    /// Makes a lock in the Lease of that name.
    pub fn new(store: S, namespace: &str, name: &str) -> Self {
        Self::with_labels(store, namespace, name, BTreeMap::new())
    }

    /// As [`new`](Self::new); every write puts these labels on the Lease (`election:LK-15`).
    pub fn with_labels(
        store: S,
        namespace: &str,
        name: &str,
        labels: BTreeMap<String, String>,
    ) -> Self {
        Self { store, name: ObjectName::new(namespace, name), labels, remembered: None }
    }

    fn remember(&mut self, object: Object<LeaseSpec>) -> Stored {
        let stored = Stored {
            record: object.content.to_record(),
            version: object.meta.version.clone(),
            uid: object.meta.uid.clone(),
            text: None,
        };
        self.remembered = Some(object);
        stored
    }

    fn put_labels(&self, meta: &mut Meta) {
        if !self.labels.is_empty() {
            let labels = meta.labels.get_or_insert_default();
            labels.extend(self.labels.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
    }
}

impl<S: ObjectStore<LeaseSpec>> Lock for LeaseLock<S> {
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError> {
        let object = self.store.get(&self.name, call)?;
        Ok(self.remember(object))
    }

    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError> {
        let mut meta = Meta::new(self.name.clone());
        self.put_labels(&mut meta);
        let lease = Object { meta, content: LeaseSpec::from_record(record) };
        let created = self.store.create(&lease, call)?;
        Ok(self.remember(created))
    }

    fn update(
        &mut self,
        record: &Record,
        version: &Version,
        call: Call<'_>,
    ) -> Result<Stored, StoreError> {
        let remembered = self.remembered.as_ref().filter(|lease| lease.meta.version == *version);
        let mut lease = remembered.ok_or(StoreError::NotInitialised)?.clone();
        lease.content = LeaseSpec::from_record(record);
        self.put_labels(&mut lease.meta);
        let updated = self.store.update(&lease, call)?;
        Ok(self.remember(updated))
    }

    fn describe(&self) -> String {
        self.name.to_string()
    }
}
