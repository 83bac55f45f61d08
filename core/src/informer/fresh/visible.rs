//! Reading a store once it has the wanted version, and telling how far it is.

use std::sync::Arc;

use crate::events::Event;
use crate::informer::apply::ApplyError;
use crate::informer::partly::parted;
use crate::informer::versions::{newest, of_list};
use crate::machine::Hosted;
use crate::monitor::Monitor;
use crate::runtime::{Instant, Runtime};
use crate::store::{Described, Metadata, join};

use super::ledger::{Ledger, Written};
use super::operations::{Advance, AtLeast, Look, Over, Prepare, Refuse, Stored, Synced};
use super::operations::{Turn, WaitForSync};
use super::state::{Fresh, NotVisibleError, Part, View};

/// A store that can be read.
pub trait Readable {
    /// The type of an object.
    type Object;
    /// The type of all objects at one moment.
    type All;

    /// Returns the object with a key.
    fn one(&self, key: &str) -> Option<Self::Object>;
    /// Returns all objects.
    fn all(&self) -> Self::All;
    /// Tells whether the object with a key has this uid.
    fn has(&self, key: &str, uid: &str) -> bool;
}

/// How far a store is, the writes of this client, and the callers that wait.
pub struct Visible<R: Runtime> {
    fresh: Arc<Monitor<Fresh, R>>,
    /// The writes of this client that it may not see yet.
    pub(in crate::informer) ledger: R::Mutex<Ledger>,
}

/// Calls of the informer.
impl<R: Runtime> Visible<R> {
    /// Makes it for a store that is still empty. When there are `few` notes or more, it looks for
    /// some to forget.
    pub fn new(runtime: &R, host: impl Into<Hosted<Fresh>>, few: usize) -> Self {
        let fresh = Arc::new(Monitor::new(runtime, host));
        Self { fresh, ledger: runtime.mutex(Ledger::new(few)) }
    }

    /// Returns a function that notes that a state was refused, by key and version.
    pub fn refuser(&self) -> impl Fn(String, u64) + Send + Sync + 'static + use<R> {
        let fresh = Arc::clone(&self.fresh);
        move |key, version| fresh.call(Refuse(vec![(key, version)]))
    }

    /// Says that events are about to change the store; true if one of them is a list. Wakes nobody,
    /// so it may be called under the lock of the store.
    pub fn prepare<O>(&self, events: &[Event<String, O>]) -> bool {
        let version = of_list(events);
        self.fresh.call(Prepare(version));
        version.is_some()
    }

    /// Notes how far the store is after these events, and the states that it refused.
    pub fn advance<O: Described>(&self, events: &[Event<String, O>], error: Option<&ApplyError>) {
        let is_list = matches!(events, [Event::ReplacedAll(_)]);
        let nothing_is_stored = is_list && matches!(error, Some(ApplyError::Store(_)));
        if error.is_some() || self.fresh.call(Look).has_rejected {
            let (stored, refused) = parted(events, error);
            match of_list(events) {
                Some(version) if !nothing_is_stored => self.fresh.call(Stored::List(version)),
                _ => self.fresh.call(Stored::Objects(stored)),
            }
            self.fresh.call(Refuse(refused));
        }
        self.fresh.call(Advance(if nothing_is_stored { None } else { newest(events) }));
    }

    /// Tells whether the store lacks a state of the object with this key, because it was refused.
    pub fn lacks_a_state_of(&self, key: &str) -> bool {
        let part = Some(Part { key: Some(key.to_owned()), version: u64::MAX });
        let all = AtLeast { version: 0, part, until: Instant::ZERO };
        self.fresh.call(Look).has_rejected && self.fresh.call(all).is_err()
    }

    /// Says that objects are gone from the store, and the versions at which they were deleted.
    pub fn gone(&self, objects: Vec<(String, u64)>) {
        if !objects.is_empty() {
            self.fresh.call(Stored::Objects(objects));
        }
    }

    /// Says that the store has all changes up to a version.
    pub fn advance_to(&self, version: u64) {
        self.fresh.call(Advance(Some(version)));
    }

    /// Says that the first list is in the store.
    pub fn synced(&self) {
        self.fresh.call(Synced);
    }

    /// Says that the store does not change any more.
    pub fn over(&self) {
        self.fresh.call(Over);
    }
}

/// Calls of clients.
impl<R: Runtime> Visible<R> {
    fn runtime(&self) -> &R {
        self.fresh.runtime()
    }

    /// Notes a write. `deleted` is the uid of the object if the write deleted it.
    pub fn note(
        &self,
        store: &impl Readable,
        object: Metadata<'_>,
        deleted: Option<&str>,
    ) -> Result<(), NotVisibleError> {
        let version = number(object.resource_version)?;
        let key = join(object.namespace, object.name);
        let now = self.fresh.call(Look);
        let known = {
            let mut ledger = self.runtime().lock(&self.ledger);
            ledger.note(key, version, deleted, &now);
            ledger.look()
        };
        if !known.is_empty() {
            self.forget_visible(store, known);
        }
        Ok(())
    }

    /// Forgets notes of writes that the store shows. If a list goes back meanwhile, the store may
    /// not show them any more, so none is forgotten.
    fn forget_visible(&self, store: &impl Readable, mut known: Vec<(String, Written)>) {
        let before = self.fresh.call(Look).rollbacks;
        known.retain(|(key, written)| {
            let version = written.version;
            let part = Some(Part { key: Some(key.clone()), version });
            let is_there = AtLeast { version, part, until: Instant::ZERO };
            let deleted = written.deleted.as_ref();
            self.fresh.call(is_there).is_ok() && deleted.is_none_or(|it| !store.has(key, &it.uid))
        });
        let now = self.fresh.call(Look);
        let mut ledger = self.runtime().lock(&self.ledger);
        if now.rollbacks == before {
            known.iter().for_each(|(key, written)| ledger.forget(key, written, &now));
        }
        ledger.looked();
    }

    /// Forgets the writes that the store lacks, if a list has gone back to an older version since
    /// this was last asked. Tells whether one has.
    pub fn forget_lost(&self) -> bool {
        let now = self.fresh.call(Look);
        self.runtime().lock(&self.ledger).forget_lost(&now)
    }

    /// Reads an object once the store has a version.
    pub async fn one_at_least<S: Readable>(
        &self,
        store: &S,
        key: &str,
        version: &str,
        until: Instant,
    ) -> Result<Option<S::Object>, NotVisibleError> {
        let version = number(version)?;
        let part = Some(Part { key: Some(key.to_owned()), version });
        let wanted = AtLeast { version, part, until };
        Ok(self.read(store, wanted, &[], || store.one(key)).await?.0)
    }

    /// Reads all objects once the store has a version.
    pub async fn all_at_least<S: Readable>(
        &self,
        store: &S,
        version: &str,
        until: Instant,
    ) -> Result<S::All, NotVisibleError> {
        let version = number(version)?;
        let part = Some(Part { key: None, version });
        let wanted = AtLeast { version, part, until };
        Ok(self.read(store, wanted, &[], || store.all()).await?.0)
    }

    /// Reads an object once the store has the last write to it.
    pub async fn one_written<S: Readable>(
        &self,
        store: &S,
        key: &str,
        until: Instant,
    ) -> Result<Option<S::Object>, NotVisibleError> {
        let (written, seen) = {
            let ledger = self.runtime().lock(&self.ledger);
            (ledger.get(key), ledger.seen())
        };
        let part = written
            .as_ref()
            .map(|written| Part { key: Some(key.to_owned()), version: written.version });
        let version = part.as_ref().map_or(seen, |part| part.version.max(seen));
        let deleted = written.as_ref().and_then(|written| written.deleted.as_ref());
        let gone = deleted.map(|it| (key.to_owned(), it.uid.clone()));
        let wanted = AtLeast { version, part, until };
        let (object, at) = self.read(store, wanted, gone.as_slice(), || store.one(key)).await?;
        if let Some(written) = written {
            self.runtime().lock(&self.ledger).forget(key, &written, &at);
        }
        Ok(object)
    }

    /// Reads all objects once the store has all writes.
    pub async fn all_written<S: Readable>(
        &self,
        store: &S,
        until: Instant,
    ) -> Result<S::All, NotVisibleError> {
        let ((written, deleted), seen) = {
            let ledger = self.runtime().lock(&self.ledger);
            (ledger.all(), ledger.seen())
        };
        let part = (written > 0).then_some(Part { key: None, version: written });
        let wanted = AtLeast { version: written.max(seen), part, until };
        Ok(self.read(store, wanted, &deleted, || store.all()).await?.0)
    }

    /// Waits for the first list; false if it is not there in time, or never will be.
    pub async fn wait_for_sync(&self, until: Instant) -> bool {
        self.fresh.call_async(WaitForSync { until }).await
    }

    /// Reads once the store has the wanted version and none of the deleted objects; returns how far
    /// the store was. If a list goes back to an older version meanwhile, it starts again.
    async fn read<T>(
        &self,
        store: &impl Readable,
        wanted: AtLeast,
        gone: &[(String, String)],
        read: impl Fn() -> T,
    ) -> Result<(T, View), NotVisibleError> {
        loop {
            let View { rollbacks, .. } = self.fresh.call_async(wanted.clone()).await?;
            for (key, uid) in gone {
                self.is_gone(store, key, uid, wanted.until).await?;
            }
            let value = read();
            // An older list may have been stored just now and brought them back.
            let are_back = gone.iter().any(|(key, uid)| store.has(key, uid));
            let now = self.fresh.call(Look);
            if now.rollbacks == rollbacks && !are_back {
                return Ok((value, now));
            }
        }
    }

    /// Waits until an object is gone from the store.
    async fn is_gone(
        &self,
        store: &impl Readable,
        key: &str,
        uid: &str,
        until: Instant,
    ) -> Result<(), NotVisibleError> {
        loop {
            let View { epoch: after, .. } = self.fresh.call(Look);
            if !store.has(key, uid) {
                return Ok(());
            }
            match self.fresh.call_async(Turn { after, until }).await {
                Ok(_) => {}
                Err(NotVisibleError::Behind { .. }) => {
                    return Err(NotVisibleError::StillThere { uid: uid.to_owned() });
                }
                Err(stopped) => return Err(stopped),
            }
        }
    }
}

impl<R: Runtime> std::fmt::Debug for Visible<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Visible")
    }
}

fn number(version: &str) -> Result<u64, NotVisibleError> {
    version.parse().map_err(|_| NotVisibleError::NotANumber(version.to_owned()))
}
