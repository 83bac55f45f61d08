//! A store of objects with indices by value (client-go `tools/cache`: `Store`, `Indexer`,
//! `ThreadSafeStore`).
//!
//! ```
//! use seatrial_core::runtime::System;
//! use seatrial_core::store::{IndexedStore, index_by};
//!
//! // Objects are pairs of a name, which is the key, and the node that it runs on.
//! let pods = IndexedStore::new(&System::new(), |pod: &(&str, &str)| Ok(pod.0));
//! pods.add_indexers([("node", index_by(|pod: &(&str, &str)| [pod.1]))])?;
//! pods.add(("web", "n1"))?;
//! pods.add(("db", "n1"))?;
//! pods.update(("db", "n2"))?;
//!
//! assert_eq!(pods.get(&"db"), Some(("db", "n2")));
//! assert_eq!(pods.by_index("node", "n1")?, [("web", "n1")]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Two locks.** Writers take turns under one lock; index functions run and large writes are
//! prepared there. Readers use the other lock, which a writer holds only for the moment in which a
//! prepared write becomes the content. So a reader never waits for foreign code, nor for a list of
//! many objects; it waits while the changes of a transaction are put in. All foreign code runs
//! before anything changes, so a function that fails or panics does not change the store
//! (`cache:IX-8`). A snapshot of all objects is one reference count, however many there are; a write
//! while it is alive copies the few objects around the written one.
//!
//! Left out: a store of stores. The three types of the reference are one type here.

mod content;
mod error;
mod index;
mod members;
mod read;
mod replace;
mod slots;
mod writer;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use crate::caught::{Remains, drop_caught, drop_each};
use crate::runtime::{Runtime, System};
use crate::store::Intake;

use super::{Cause, Described, Handle, Hashed, Key, KeyError, LastState};

use content::Content;
use index::Index;
use writer::{Change, Writer};

pub use error::{AddIndexersError, IndexError, IndexFailed, StoreError, TransactionError};
pub use index::{IndexFunction, NotOneValue, Values, index_by, index_by_one, key_by_index};
pub use slots::Snapshot;

/// Reads the resource version of an object; `None` if it has none.
pub type VersionOf<O> = Arc<dyn for<'a> Fn(&'a O) -> Option<&'a str> + Send + Sync>;

/// Reads the resource version from an object's metadata.
pub fn metadata_version<O: Described>(object: &O) -> Option<&str> {
    object.metadata().map(|metadata| metadata.resource_version)
}

/// A store of objects with indices by value. Shared by reference or in an `Arc`.
///
/// `K` is the key, `O` the handle to an object, `R` the runtime. Keys and handles are cloned while
/// a snapshot is alive. So objects are normally in an `Arc`, and `Arc<str>` is a better key than
/// `String`.
pub struct IndexedStore<K: Key, O: Handle, R: Runtime = System> {
    runtime: R,
    intake: Intake<K, O>,
    /// Present if the store follows the resource version of its content (`cache:ST-14`).
    version_of: Option<VersionOf<O>>,
    /// Held by writers, never by readers. Taken before `content`.
    writer: R::Mutex<Writer<O>>,
    /// Held only briefly.
    content: R::Mutex<Content<K, O>>,
}

/// An entry of a transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Transaction<K, O> {
    /// Stores a new object.
    Add(O),
    /// Stores a changed object.
    Update(O),
    /// Removes an object.
    Delete(LastState<K, O>),
}

impl<K: Key, O: Handle, R: Runtime> IndexedStore<K, O, R> {
    /// Makes an empty store without indices.
    pub fn new(
        runtime: &R,
        key_of: impl Fn(&O) -> Result<K, Cause> + Send + Sync + 'static,
    ) -> Self {
        Self::with_intake(runtime, Intake::new(runtime, key_of), None)
    }

    /// Makes an empty store with a given key function and transformer. With `version_of`, it
    /// follows the resource version of its content.
    pub fn with_intake(
        runtime: &R,
        intake: Intake<K, O>,
        version_of: Option<VersionOf<O>>,
    ) -> Self {
        Self {
            writer: runtime.mutex(Writer::new(intake.hasher().clone())),
            content: runtime.mutex(Content::with_room(0)),
            runtime: runtime.clone(),
            intake,
            version_of,
        }
    }

    /// Stores an object (`cache:ST-2`).
    ///
    /// # Errors
    /// It has no key, or the transformer or an index function refused it. Nothing has changed.
    pub fn add(&self, object: O) -> Result<(), StoreError> {
        let key = self.intake.key(&object)?;
        let object = self.intake.transform(object)?;
        self.write(Change { key, object: Some(object) }, Sets::Object)
    }

    /// As [`add`](Self::add).
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn update(&self, object: O) -> Result<(), StoreError> {
        self.add(object)
    }

    /// Removes an object by its key, if it is there (`cache:ST-3`). The version of the store
    /// becomes that of the passed object, even if it was not there (`cache:ST-12`).
    ///
    /// # Errors
    /// It has no key, or an index function refused the stored object.
    pub fn delete(&self, object: &O) -> Result<(), StoreError> {
        let key = self.intake.key(object)?;
        self.write(Change { key, object: None }, Sets::To(self.version(object)))
    }

    /// As [`delete`](Self::delete), for a deletion that may have been missed. If it was, the
    /// version of the store does not change.
    ///
    /// # Errors
    /// As [`delete`](Self::delete).
    pub fn delete_last_state(&self, last: &LastState<K, O>) -> Result<(), StoreError> {
        match last {
            LastState::Final(object) => self.delete(object),
            LastState::Tombstone(tombstone) => self.delete_key(&tombstone.key),
        }
    }

    /// Removes the object with a key, if it is there. The version of the store does not change
    /// (`cache:IX-18`).
    ///
    /// # Errors
    /// An index function refused the stored object.
    pub fn delete_key(&self, key: &K) -> Result<(), StoreError> {
        self.write(Change { key: self.hashed(key), object: None }, Sets::Nothing)
    }

    fn version<'a>(&self, object: &'a O) -> Option<&'a str> {
        self.version_of.as_ref()?(object)
    }

    fn hashed(&self, key: &K) -> Hashed<K> {
        self.intake.hasher().hashed(key.clone())
    }

    /// Carries out one change. Index functions are foreign code, so the readers' lock is released
    /// while they see a stored object; if there is none, the lock is taken only once.
    fn write(&self, change: Change<K, O>, sets: Sets<'_>) -> Result<(), StoreError> {
        // These are declared before the locks, so they are dropped after them on every return:
        // objects may run foreign code when dropped. `change` is a parameter and is dropped last.
        let (mut before, mut left) = (None, None);
        let mut writer = self.runtime.lock(&self.writer);
        writer.begin();
        writer.plan_after(change.object.as_ref())?;
        let sets_version = self.note_version(&mut writer, Some(&change), sets);
        let mut content = self.runtime.lock(&self.content);
        // The slot stays valid until the end: the content changes only under the writers' lock.
        let slot = content.slot(change.key.key(), change.key.hash());
        if let Some(stored) = content.at(slot)
            && !writer.functions().is_empty()
        {
            before = Some(stored.clone());
            drop(content);
            writer.plan_before(0, before.as_ref())?;
            content = self.runtime.lock(&self.content);
        }
        content.apply(slot, change, &writer.spans, &writer.values, |gone| left = Some(gone));
        if sets_version {
            content.version.clone_from(&writer.version);
        }
        drop((content, writer));
        drop_caught(left);
        drop_caught(before);
        Ok(())
    }

    /// Carries out changes as one: readers see all of them or none.
    fn write_all(&self, changes: Vec<Change<K, O>>, sets: Sets<'_>) -> Result<(), StoreError> {
        // As in `write`, these are declared before the lock, for an early return.
        let (mut before, mut left) = (Vec::new(), Vec::with_capacity(changes.len()));
        let mut writer = self.runtime.lock(&self.writer);
        {
            let content = self.runtime.lock(&self.content);
            let stored = |key: &Hashed<K>| content.get(key.key(), key.hash()).cloned();
            before.extend(changes.iter().map(|change| stored(&change.key)));
        }
        writer.plan(&changes, &before)?;
        let sets_version = self.note_version(&mut writer, changes.last(), sets);
        let indices = writer.functions().len();
        {
            let mut content = self.runtime.lock(&self.content);
            for (number, change) in changes.into_iter().enumerate() {
                let spans = &writer.spans[number * indices..][..indices];
                let slot = content.slot(change.key.key(), change.key.hash());
                content.apply(slot, change, spans, &writer.values, |gone| left.push(gone));
            }
            if sets_version {
                content.version.clone_from(&writer.version);
            }
        }
        writer.begin(); // many changes take much memory
        drop(writer);
        drop_each(left);
        drop_each(before);
        Ok(())
    }

    /// Writes the new version of the store into the writer's buffer; false if it does not change.
    fn note_version(
        &self,
        writer: &mut Writer<O>,
        last: Option<&Change<K, O>>,
        sets: Sets<'_>,
    ) -> bool {
        if self.version_of.is_none() {
            return false;
        }
        let version = match sets {
            Sets::Nothing => None,
            Sets::To(version) => version,
            Sets::Object => {
                last.and_then(|last| last.object.as_ref()).and_then(|object| self.version(object))
            }
        };
        version.is_some_and(|version| {
            writer.version.clear();
            writer.version.push_str(version);
            true
        })
    }

    /// Checks whether an object could be stored. Nothing changes.
    pub(crate) fn accepts(&self, object: &O) -> Result<(), StoreError> {
        let object = self.intake.keyed(object.clone())?.object;
        let mut writer = self.runtime.lock(&self.writer);
        writer.begin();
        writer.plan_after(Some(&object))?;
        Ok(())
    }

    /// Carries out several writes as one. Entries whose object has no key are skipped
    /// (`cache:ST-16`, `ST-17`); the transformer is not called (`cache:ST-19`).
    ///
    /// # Errors
    /// Entries were skipped, or an index function failed and nothing has changed.
    pub fn transaction(&self, entries: Vec<Transaction<K, O>>) -> Result<(), TransactionError> {
        let (total, entries) = (entries.len(), Remains::from(entries));
        let (mut changes, mut successful, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        let mut last = None;
        for (number, entry) in entries.iter().enumerate() {
            match self.change(entry) {
                Ok(change) => {
                    changes.push(change);
                    successful.push(number);
                    last = Some(entry);
                }
                Err(error) => errors.push(StoreError::Key(error)),
            }
        }
        let sets = match last {
            Some(Transaction::Delete(LastState::Final(object))) => Sets::To(self.version(object)),
            Some(Transaction::Add(_) | Transaction::Update(_)) => Sets::Object,
            Some(Transaction::Delete(LastState::Tombstone(_))) | None => Sets::Nothing,
        };
        if let Err(error) = self.write_all(changes, sets) {
            return Err(TransactionError { successful: Vec::new(), total, errors: vec![error] });
        }
        if errors.is_empty() { Ok(()) } else { Err(TransactionError { successful, total, errors }) }
    }

    fn change(&self, entry: &Transaction<K, O>) -> Result<Change<K, O>, KeyError> {
        Ok(match entry {
            Transaction::Add(object) | Transaction::Update(object) => {
                Change { key: self.intake.key(object)?, object: Some(object.clone()) }
            }
            Transaction::Delete(last) => {
                Change { key: self.intake.key_of_last_state(last)?, object: None }
            }
        })
    }

    /// Notes up to which version the content is complete; nothing else changes (`cache:ST-15`).
    pub fn bookmark(&self, resource_version: &str) {
        if self.version_of.is_some() {
            resource_version.clone_into(&mut self.runtime.lock(&self.content).version);
        }
    }

    /// Checks the store against its own rules, for harnesses.
    ///
    /// # Panics
    /// If a rule is violated; the message names it.
    pub fn assert_valid(&self) {
        let _writer = self.runtime.lock(&self.writer);
        self.runtime.lock(&self.content).check(self.intake.hasher());
    }

    /// Adds indices over the stored and all future objects (`cache:IX-14`).
    ///
    /// # Errors
    /// A name is in use, or a function failed on an object. No index was added.
    pub fn add_indexers<N: Into<Arc<str>>>(
        &self,
        indexers: impl IntoIterator<Item = (N, IndexFunction<O>)>,
    ) -> Result<(), AddIndexersError> {
        // As in `write`: the caller's iterator runs, and functions are dropped, without a lock.
        let indexers: Vec<(Arc<str>, _)> =
            indexers.into_iter().map(|(name, function)| (name.into(), function)).collect();
        let mut added: Vec<Index<O>> = Vec::with_capacity(indexers.len());
        let mut writer = self.runtime.lock(&self.writer);
        let slots = self.runtime.lock(&self.content).copy_slots();
        for (name, function) in &indexers {
            if writer.has(name) || added.iter().any(|index| index.name == *name) {
                return Err(AddIndexersError::Conflict);
            }
            let index = writer.index(Arc::clone(name), Arc::clone(function), &slots);
            added.push(index.map_err(AddIndexersError::Failed)?);
        }
        added.iter().for_each(|index| writer.adopt(index));
        self.runtime.lock(&self.content).indices.extend(added);
        Ok(())
    }
}

/// The version that a write gives the store.
#[derive(Clone, Copy)]
enum Sets<'a> {
    /// It does not change.
    Nothing,
    /// This one, if it is known.
    To(Option<&'a str>),
    /// That of the last object stored.
    Object,
}

impl<K: Key, O: Handle, R: Runtime> fmt::Debug for IndexedStore<K, O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexedStore")
    }
}
