//! Two locks used as one, for the migration from one kind to another (`election:LK-24` to `LK-27`).
//!
//! All participants migrate from the old kind to the pair, and from there to the new kind. At each
//! moment any two participants share a kind.

use crate::elector::record::{Name, Record};

use crate::elector::lock::{AsyncLock, Call, Lock, StoreError, Stored, Version};

/// The holder while the two locks name different holders. Nobody with this name ever renews.
pub const UNKNOWN_HOLDER: &str = "leaderelection.k8s.io/unknown";

/// A primary and a secondary lock.
#[derive(Clone, Debug)]
pub struct PairLock<P, S> {
    primary: P,
    secondary: S,
    identity: Name,
    /// The versions of both, as last received.
    versions: (Option<Version>, Option<Version>),
    /// The version that the elector was given for both.
    told: Option<Version>,
}

impl<P, S> PairLock<P, S> {
    /// Makes a pair for a participant with that identity.
    pub fn new(identity: Name, primary: P, secondary: S) -> Self {
        Self { primary, secondary, identity, versions: (None, None), told: None }
    }

    /// Combines both versions into one; it is empty if an existing lock has no version
    /// (`election:LK-4`).
    fn tell(&mut self, stored: Stored) -> Stored {
        let text =
            |version: &Option<Version>| version.as_ref().map_or(String::new(), ToString::to_string);
        let (primary, secondary) = &self.versions;
        let version = if [primary, secondary].into_iter().flatten().any(Version::is_empty) {
            Version::new("")
        } else {
            Version::new(&format!("{},{}", text(primary), text(secondary)))
        };
        self.told = Some(version.clone());
        Stored { version, ..stored }
    }

    /// Combines the answers of both locks to a read (`election:LK-25`).
    fn read(
        &mut self,
        mut primary: Stored,
        secondary: Result<Stored, StoreError>,
    ) -> Result<Stored, StoreError> {
        self.versions.0 = Some(primary.version.clone());
        let secondary = match secondary {
            Ok(secondary) => secondary,
            Err(StoreError::NotFound) if primary.record.holder != self.identity => {
                // The holder is a participant that uses only the primary.
                self.versions.1 = None;
                return Ok(self.tell(primary));
            }
            Err(error) => return Err(error),
        };
        self.versions.1 = Some(secondary.version.clone());
        if primary.record.holder != secondary.record.holder {
            primary.record.holder = Name::new(UNKNOWN_HOLDER);
        }
        Ok(self.tell(primary))
    }

    /// Notes the created objects; the primary may have existed before (`election:LK-26`).
    fn created(&mut self, primary: Option<Stored>, secondary: Stored) -> Stored {
        self.versions = (
            primary.as_ref().map(|primary| primary.version.clone()),
            Some(secondary.version.clone()),
        );
        self.tell(primary.unwrap_or(secondary))
    }

    /// Returns the version of the primary that belongs to a combined version.
    fn primary_version(&self, told: &Version) -> Result<Version, StoreError> {
        let known = self.versions.0.clone().filter(|_| self.told.as_ref() == Some(told));
        known.ok_or(StoreError::NotInitialised)
    }

    /// Returns the version of the secondary to update, after it was read; `None` if it must be
    /// created.
    fn secondary_version(
        &self,
        read: Result<Stored, StoreError>,
    ) -> Result<Option<Version>, StoreError> {
        match read {
            Ok(read) => Ok(Some(read.version)),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => self.versions.1.clone().map(Some).ok_or(error),
        }
    }
}

/// Returns the primary that was created; `None` if it existed already, which is not an error.
fn unless_it_exists(created: Result<Stored, StoreError>) -> Result<Option<Stored>, StoreError> {
    match created {
        Ok(primary) => Ok(Some(primary)),
        Err(StoreError::AlreadyExists) => Ok(None),
        Err(error) => Err(error),
    }
}

impl<P: Lock, S: Lock> Lock for PairLock<P, S> {
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError> {
        let primary = self.primary.get(call)?;
        let secondary = self.secondary.get(call);
        self.read(primary, secondary)
    }

    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError> {
        let primary = unless_it_exists(self.primary.create(record, call))?;
        let secondary = self.secondary.create(record, call)?;
        Ok(self.created(primary, secondary))
    }

    fn update(
        &mut self,
        record: &Record,
        version: &Version,
        call: Call<'_>,
    ) -> Result<Stored, StoreError> {
        let known = self.primary_version(version)?;
        let primary = self.primary.update(record, &known, call)?;
        self.versions.0 = Some(primary.version.clone());
        // If a call fails from here on, the two locks differ, and everyone sees an unknown holder
        // for a full lease (LK-26).
        let read = self.secondary.get(call);
        let secondary = match self.secondary_version(read)? {
            None => self.secondary.create(record, call)?,
            Some(known) => self.secondary.update(record, &known, call)?,
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

/// As the blocking lock, for tasks.
impl<P: AsyncLock, S: AsyncLock> AsyncLock for PairLock<P, S> {
    async fn get(&mut self) -> Result<Stored, StoreError> {
        let primary = self.primary.get().await?;
        let secondary = self.secondary.get().await;
        self.read(primary, secondary)
    }

    async fn create(&mut self, record: &Record) -> Result<Stored, StoreError> {
        let primary = unless_it_exists(self.primary.create(record).await)?;
        let secondary = self.secondary.create(record).await?;
        Ok(self.created(primary, secondary))
    }

    async fn update(&mut self, record: &Record, version: &Version) -> Result<Stored, StoreError> {
        let known = self.primary_version(version)?;
        let primary = self.primary.update(record, &known).await?;
        self.versions.0 = Some(primary.version.clone());
        let read = self.secondary.get().await;
        let secondary = match self.secondary_version(read)? {
            None => self.secondary.create(record).await?,
            Some(known) => self.secondary.update(record, &known).await?,
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
