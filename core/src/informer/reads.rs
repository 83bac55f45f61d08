//! Reading what is there at least: a version, or what this client wrote itself.

use crate::runtime::{Instant, Runtime};
use crate::store::indexed::Snapshot;
use crate::store::{Described, Handle, Metadata, join};

use super::fresh::{AtLeast, Look, NotVisible, Part, Turn, View, WaitForSync, Written};
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
        let (key, version) = (key.to_owned(), number(version)?);
        let part = Some(Part { key: Some(key.clone()), version });
        let wanted = AtLeast { version, part, until };
        Ok(self.read(wanted, &[], || self.store.get(&key)).await?.0)
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
        let version = number(version)?;
        let part = Some(Part { key: None, version });
        let wanted = AtLeast { version, part, until };
        Ok(self.read(wanted, &[], || self.store.list()).await?.0)
    }

    /// Takes note of a write: of the object that the server answered.
    ///
    /// # Errors
    /// Its version is no number, so nobody can wait for it. There is no note.
    pub fn wrote(&self, object: Metadata<'_>) -> Result<(), NotVisible> {
        self.note(object, None)
    }

    /// Takes note of a deletion: of the newest state that is known of the object, which a server
    /// that has deleted it need not answer. An object that stays until its finalizers are done was
    /// [written](Self::wrote), not deleted.
    ///
    /// # Errors
    /// As [`wrote`](Self::wrote).
    pub fn deleted(&self, object: Metadata<'_>) -> Result<(), NotVisible> {
        self.note(object, Some(object.uid))
    }

    fn note(&self, object: Metadata<'_>, deleted: Option<&str>) -> Result<(), NotVisible> {
        let version = number(object.resource_version)?;
        let key = join(object.namespace, object.name);
        let known = {
            let mut ledger = self.runtime.lock(&self.ledger);
            ledger.note(key, version, deleted);
            ledger.look()
        };
        if !known.is_empty() {
            self.forget_visible(known);
        }
        Ok(())
    }

    fn forget_visible(&self, mut known: Vec<(String, Written)>) {
        known.retain(|(key, written)| {
            let version = written.version;
            let part = Some(Part { key: Some(key.clone()), version });
            let is_there = AtLeast { version, part, until: Instant::ZERO };
            let deleted = written.deleted.as_deref();
            self.fresh.call(is_there).is_ok() && deleted.is_none_or(|uid| !self.has(key, uid))
        });
        let at = self.fresh.call(Look).version;
        let mut ledger = self.runtime.lock(&self.ledger);
        known.iter().for_each(|(key, written)| ledger.forget(key, written, at));
        ledger.looked();
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
        let (written, seen) = {
            let ledger = self.runtime.lock(&self.ledger);
            (ledger.get(key), ledger.seen())
        };
        let key = key.to_owned();
        let part = written
            .as_ref()
            .map(|written| Part { key: Some(key.clone()), version: written.version });
        let version = part.as_ref().map_or(seen, |part| part.version.max(seen));
        let deleted = written.as_ref().and_then(|written| written.deleted.clone());
        let gone = deleted.map(|uid| (key.clone(), uid));
        let wanted = AtLeast { version, part, until };
        let (object, at) = self.read(wanted, gone.as_slice(), || self.store.get(&key)).await?;
        if let Some(written) = written {
            self.runtime.lock(&self.ledger).forget(&key, &written, at);
        }
        Ok(object)
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
        let ((written, deleted), seen) = {
            let ledger = self.runtime.lock(&self.ledger);
            (ledger.all(), ledger.seen())
        };
        let part = (written > 0).then_some(Part { key: None, version: written });
        let wanted = AtLeast { version: written.max(seen), part, until };
        Ok(self.read(wanted, &deleted, || self.store.list()).await?.0)
    }

    /// Sleeps until the first list is in the store; false if it is not by then, or never will be.
    pub fn wait_for_sync(&self, until: Instant) -> bool {
        self.fresh.call(WaitForSync { until })
    }

    /// As [`wait_for_sync`](Self::wait_for_sync), for tasks.
    pub async fn wait_for_sync_async(&self, until: Instant) -> bool {
        self.fresh.call_async(WaitForSync { until }).await
    }

    /// Reads a store that has what is wanted and has not these objects, and says how far it was. A
    /// list that goes back to an older version meanwhile makes it begin anew.
    async fn read<T>(
        &self,
        wanted: AtLeast,
        gone: &[(String, String)],
        read: impl Fn() -> T,
    ) -> Result<(T, u64), NotVisible> {
        loop {
            let View { returns, .. } = self.fresh.call_async(wanted.clone()).await?;
            for (key, uid) in gone {
                self.is_gone(key, uid, wanted.until).await?;
            }
            let value = read();
            let now = self.fresh.call(Look);
            if now.returns == returns {
                return Ok((value, now.version));
            }
        }
    }

    /// Waits until the store does not have an object.
    async fn is_gone(&self, key: &str, uid: &str, until: Instant) -> Result<(), NotVisible> {
        loop {
            let View { turns: after, .. } = self.fresh.call(Look);
            if !self.has(key, uid) {
                return Ok(());
            }
            match self.fresh.call_async(Turn { after, until }).await {
                Ok(_) => {}
                Err(NotVisible::Behind { .. }) => {
                    return Err(NotVisible::StillThere { uid: uid.to_owned() });
                }
                Err(stopped) => return Err(stopped),
            }
        }
    }

    fn has(&self, key: &str, uid: &str) -> bool {
        let object = self.store.get(&key.to_owned());
        object.is_some_and(|object| object.metadata().is_some_and(|it| it.uid == uid))
    }
}

pub(super) fn number(version: &str) -> Result<u64, NotVisible> {
    version.parse().map_err(|_| NotVisible::NotANumber(version.to_owned()))
}
