//! Two locks as one, for the way from one kind to another (`election:LK-24` to `LK-27`).
//! Retired.
//!
//! All participants go from the old kind to the pair and from there to the new kind; at each
//! moment any two of them share a kind.

use std::sync::Arc;

use crate::elector::record::{Fields, Name, Record};

use super::{Call, Lock, StoreError, Stored, Version};

/// Who holds the lease while the two locks name different holders: nobody that ever renews.
pub const UNKNOWN_HOLDER: &str = "leaderelection.k8s.io/unknown";

/// A primary and a secondary lock.
#[derive(Clone, Debug)]
pub struct PairLock<P, S> {
    primary: P,
    secondary: S,
    identity: Name,
    /// The versions of both, as they were last received.
    versions: (Option<Version>, Option<Version>),
    /// What the elector was told for them.
    told: Option<Version>,
}

impl<P: Lock, S: Lock> PairLock<P, S> {
    /// Makes a pair for the participant of that identity.
    pub fn new(identity: Name, primary: P, secondary: S) -> Self {
        Self { primary, secondary, identity, versions: (None, None), told: None }
    }

    /// Takes note of both versions, and makes one of them.
    fn tell(&mut self, stored: Stored) -> Stored {
        let text =
            |version: &Option<Version>| version.as_ref().map_or(String::new(), ToString::to_string);
        let (primary, secondary) = &self.versions;
        let version = Version::new(&format!("{},{}", text(primary), text(secondary)));
        self.told = Some(version.clone());
        Stored { version, ..stored }
    }
}

/// Returns the raw bytes of a lock as text: a Lease has none of its own (`election:LK-13`).
fn raw(stored: &Stored) -> Arc<str> {
    match &stored.text {
        Some(text) => Arc::clone(text),
        None => stored.record.to_json(Fields::Current).into(),
    }
}

impl<P: Lock, S: Lock> Lock for PairLock<P, S> {
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError> {
        let mut primary = self.primary.get(call)?;
        self.versions.0 = Some(primary.version.clone());
        let secondary = match self.secondary.get(call) {
            Ok(secondary) => secondary,
            Err(StoreError::NotFound) if primary.record.holder != self.identity => {
                // Held by a participant that knows the primary alone.
                self.versions.1 = None;
                primary.text = Some(raw(&primary));
                return Ok(self.tell(primary));
            }
            Err(error) => return Err(error),
        };
        self.versions.1 = Some(secondary.version.clone());
        if primary.record.holder != secondary.record.holder {
            primary.record.holder = Name::new(UNKNOWN_HOLDER);
            primary.text = Some(primary.record.to_json(Fields::Current).into());
        }
        primary.text = Some(format!("{},{}", raw(&primary), raw(&secondary)).into());
        Ok(self.tell(primary))
    }

    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError> {
        let primary = match self.primary.create(record, call) {
            Ok(primary) => Some(primary),
            Err(StoreError::AlreadyExists) => None,
            Err(error) => return Err(error),
        };
        let secondary = self.secondary.create(record, call)?;
        self.versions = (
            primary.as_ref().map(|primary| primary.version.clone()),
            Some(secondary.version.clone()),
        );
        Ok(self.tell(primary.unwrap_or(secondary)))
    }

    fn update(
        &mut self,
        record: &Record,
        version: &Version,
        call: Call<'_>,
    ) -> Result<Stored, StoreError> {
        if self.told.as_ref() != Some(version) {
            return Err(StoreError::NotInitialised);
        }
        let primary_version = self.versions.0.clone().ok_or(StoreError::NotInitialised)?;
        let primary = self.primary.update(record, &primary_version, call)?;
        self.versions.0 = Some(primary.version.clone());
        // A failure from here on leaves the two different: everyone then sees an unknown holder,
        // for a full lease (LK-26).
        let secondary = match self.secondary.get(call) {
            Err(StoreError::NotFound) => self.secondary.create(record, call)?,
            Ok(read) => self.secondary.update(record, &read.version, call)?,
            Err(error) => {
                let known = self.versions.1.clone().ok_or(error)?;
                self.secondary.update(record, &known, call)?
            }
        };
        self.versions.1 = Some(secondary.version);
        Ok(self.tell(primary))
    }

    fn record_event(&self, identity: &Name, text: &'static str) {
        self.primary.record_event(identity, text);
        self.secondary.record_event(identity, text);
    }

    fn describe(&self) -> String {
        self.primary.describe()
    }
}
