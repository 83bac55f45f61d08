//! Reads that see one's own writes (client-go `MutationCache`).
//!
//! A client that has just written an object finds the old one in its store until the watch brings
//! the new one. This overlay remembers the writes, and reads return the newer of the two. Handlers
//! must report changes of the store to it before they trigger work that reads it (`cache:MC-9`).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::caught::{Remains, drop_caught};
use crate::runtime::{Runtime, System};
use crate::store::KeyFunction;
use crate::store::indexed::{IndexError, IndexFailed, IndexFunction};
use crate::store::lru::{self, LruCache};
use crate::store::{
    Cause, Described, Handle, Hashed, IndexedStore, Key, KeyError, KeyHasher, LastState, Metadata,
};

use super::{NotANumber, ReadError, WriteError};

/// The options of a [`MutationCache`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MutationOptions {
    /// How long writes are remembered.
    pub time: Duration,
    /// How many writes are remembered.
    pub capacity: usize,
    /// Whether reads return objects that the store does not have yet.
    pub include_adds: bool,
}

impl Default for MutationOptions {
    fn default() -> Self {
        Self { time: Duration::from_secs(300), capacity: 100, include_adds: false }
    }
}

/// An overlay of this client's writes over a store.
pub struct MutationCache<K: Key, O: Handle, R: Runtime = System> {
    runtime: R,
    backing: Arc<IndexedStore<K, O, R>>,
    key_of: KeyFunction<K, O>,
    hasher: KeyHasher,
    options: MutationOptions,
    overlay: R::Mutex<Overlay<K, O>>,
}

/// The remembered write to a key.
#[derive(Clone, Debug)]
struct Written<O> {
    /// `None` marks a deletion, so that older states do not come back (`cache:MC-7`).
    object: Option<O>,
    version: u64,
    uid: String,
}

/// Values that a call no longer needs. It is made before the overlay is locked, so it is dropped
/// after the unlock.
struct Left<K, O> {
    entries: Remains<lru::Left<K, Written<O>>>,
    objects: Remains<O>,
}

impl<K, O> Left<K, O> {
    const fn new() -> Self {
        Self { entries: Remains::new(), objects: Remains::new() }
    }

    fn key(&mut self, key: Hashed<K>) {
        self.entries.push((Some(key.into_key()), None));
    }
}

/// The remembered writes, under their lock.
type Overlay<K, O> = LruCache<K, Written<O>>;

impl<K: Key, O: Handle + Described, R: Runtime> MutationCache<K, O, R> {
    /// Makes an empty overlay. `key_of` must give the same keys as the store.
    pub fn new(
        runtime: &R,
        backing: Arc<IndexedStore<K, O, R>>,
        key_of: impl Fn(&O) -> Result<K, Cause> + Send + Sync + 'static,
        options: MutationOptions,
    ) -> Self {
        Self {
            overlay: runtime.mutex(LruCache::new(options.capacity)),
            runtime: runtime.clone(),
            backing,
            key_of: Arc::new(key_of),
            hasher: KeyHasher::new(runtime),
            options,
        }
    }

    /// Returns the newest known state of an object (`cache:MC-3`).
    ///
    /// # Errors
    /// The version of the object in the store is not a number.
    pub fn get(&self, key: &K) -> Result<Option<O>, NotANumber> {
        let (mut left, key) = (Left::new(), self.hasher.hashed(key.clone()));
        let mut overlay = self.runtime.lock(&self.overlay);
        match self.backing.get(key.key()) {
            Some(backing) => self.newer(&mut overlay, &key, backing, &mut left).map(Some),
            None if !self.options.include_adds => Ok(None),
            None => Ok(self.look(&mut overlay, &key, &mut left).and_then(|it| it.object.clone())),
        }
    }

    /// Returns the remembered write to a key, if it has not expired.
    fn look<'a>(
        &self,
        overlay: &'a mut Overlay<K, O>,
        key: &Hashed<K>,
        left: &mut Left<K, O>,
    ) -> Option<&'a Written<O>> {
        match overlay.look(key, self.runtime.now()) {
            Ok(written) => written,
            Err(expired) => {
                left.entries.push(expired);
                None
            }
        }
    }

    /// Returns the newer one of the store's object and the write to its key; forgets the write if
    /// it is not newer.
    fn newer(
        &self,
        overlay: &mut Overlay<K, O>,
        key: &Hashed<K>,
        backing: O,
        left: &mut Left<K, O>,
    ) -> Result<O, NotANumber> {
        let Some(written) = self.look(overlay, key, left) else { return Ok(backing) };
        match number(&backing) {
            Ok(version) if version >= written.version => {
                left.entries.push(overlay.pull(key));
                Ok(backing)
            }
            Ok(_) => Ok(match &written.object {
                Some(object) => {
                    left.objects.push(backing);
                    object.clone()
                }
                None => backing,
            }),
            Err(error) => {
                left.objects.push(backing);
                Err(error)
            }
        }
    }

    /// Returns the objects under a value of an index of the store, each in its newest state
    /// (`cache:MC-4`). An object that has moved to another value is still returned under the old
    /// one while the store has it there.
    ///
    /// # Errors
    /// The store has no such index, or its function fails on a written object, or the version of an
    /// object in the store is not a number.
    pub fn by_index(&self, name: &str, value: &str) -> Result<Vec<O>, ReadError>
    where
        K: Ord,
    {
        let is_adding = self.options.include_adds;
        let function = if is_adding { Some(self.index_function(name)?) } else { None };
        // Everything that an error drops is declared before the lock is taken.
        let (mut left, mut found, mut keys) = (Left::new(), Vec::new(), Vec::new());
        let mut written = Vec::new();
        let mut overlay = self.runtime.lock(&self.overlay);
        keys.extend(self.backing.index_keys(name, value)?);
        for key in &keys {
            if let Some(backing) = self.backing.get(key) {
                let key = self.hasher.hashed(key.clone());
                let newest = self.newer(&mut overlay, &key, backing, &mut left);
                left.key(key);
                found.push(newest?);
            }
        }
        if is_adding {
            self.list_written(&mut overlay, &keys, &mut written, &mut left);
        }
        drop(overlay);
        if let Some(function) = function {
            for object in written {
                if self.has_value(name, &function, &object, value)? {
                    found.push(object);
                }
            }
        }
        Ok(found)
    }

    /// Lists the writes whose keys are not in `keys`, which is sorted. Whether they are under a
    /// value says the index function, which is foreign code, so it is called without the lock.
    fn list_written(
        &self,
        overlay: &mut Overlay<K, O>,
        keys: &[K],
        written: &mut Vec<O>,
        left: &mut Left<K, O>,
    ) where
        K: Ord,
    {
        for key in overlay.keys(self.runtime.now()) {
            let (is_new, key) = (keys.binary_search(&key).is_err(), self.hasher.hashed(key));
            let known = if is_new { self.look(overlay, &key, left) } else { None };
            written.extend(known.and_then(|known| known.object.clone()));
            left.key(key);
        }
    }

    fn index_function(&self, name: &str) -> Result<IndexFunction<O>, IndexError> {
        let known = self.backing.indexers().into_iter().find(|(known, _)| **known == *name);
        known.map(|(_, function)| function).ok_or_else(|| IndexError::Unknown(name.to_owned()))
    }

    fn has_value(
        &self,
        name: &str,
        function: &IndexFunction<O>,
        object: &O,
        value: &str,
    ) -> Result<bool, IndexError> {
        let mut values = crate::store::indexed::Values::new(self.hasher.clone());
        function(object, &mut values)
            .map_err(|cause| IndexError::Failed(IndexFailed { index: name.into(), cause }))?;
        Ok(values.contains(value))
    }

    /// Remembers an object that this client wrote, unless a newer state or its deletion is known
    /// (`cache:MC-5`).
    ///
    /// # Errors
    /// The object has no key, or its version is not a number.
    pub fn mutation(&self, object: O) -> Result<(), WriteError> {
        let key = self.key(&object)?;
        let (version, uid) = (number(&object)?, uid(&object));
        let mut left = Left::new();
        let mut overlay = self.runtime.lock(&self.overlay);
        if let Some(known) = self.look(&mut overlay, &key, &mut left) {
            let deleted = known.object.is_none();
            if known.version > version
                || (deleted && (known.version == version || known.uid == uid))
            {
                return Ok(());
            }
        }
        let written = Written { object: Some(object), version, uid };
        left.entries.push(overlay.put(key, written, self.runtime.now(), self.options.time));
        Ok(())
    }

    /// Call this when the store has a new state: forgets writes that are not newer (`cache:MC-6`).
    ///
    /// # Errors
    /// The object has no key, or its version is not a number.
    pub fn on_add_or_update(&self, object: &O) -> Result<(), WriteError> {
        let (key, version) = (self.key(object)?, number(object)?);
        let mut left = Left::new();
        let mut overlay = self.runtime.lock(&self.overlay);
        let known = self.look(&mut overlay, &key, &mut left);
        if known.is_some_and(|known| version >= known.version) {
            left.entries.push(overlay.pull(&key));
        }
        Ok(())
    }

    /// Call this when the store has seen an object deleted. Forgets older writes to it, and keeps a
    /// late [`mutation`](Self::mutation) from bringing it back (`cache:MC-7`).
    ///
    /// # Errors
    /// The object has no key, or its version is not a number.
    pub fn on_delete(&self, object: &O) -> Result<(), WriteError> {
        self.deleted(self.key(object)?, object)
    }

    /// As [`on_delete`](Self::on_delete), for a deletion that may have been missed. If only the key
    /// of the object is known, the write is forgotten without a mark, so the store alone decides.
    ///
    /// # Errors
    /// As [`on_delete`](Self::on_delete).
    pub fn on_delete_last_state(&self, last: &LastState<K, O>) -> Result<(), WriteError> {
        let tombstone = match last {
            LastState::Final(object) => return self.on_delete(object),
            LastState::Tombstone(tombstone) => tombstone,
        };
        let key = self.hasher.hashed(tombstone.key.clone());
        if let Some(object) = &tombstone.object {
            return self.deleted(key, object);
        }
        let forgotten = self.runtime.lock(&self.overlay).pull(&key);
        drop_caught(forgotten); // outside the lock
        Ok(())
    }

    fn deleted(&self, key: Hashed<K>, object: &O) -> Result<(), WriteError> {
        let (version, uid) = (number(object)?, uid(object));
        let mut left = Left::new();
        let mut overlay = self.runtime.lock(&self.overlay);
        let known = self.look(&mut overlay, &key, &mut left);
        if known.is_some_and(|known| known.version > version && known.uid != uid) {
            return Ok(()); // a different object of that name was written since
        }
        let deleted = Written { object: None, version, uid };
        left.entries.push(overlay.put(key, deleted, self.runtime.now(), self.options.time));
        Ok(())
    }

    fn key(&self, object: &O) -> Result<Hashed<K>, KeyError> {
        let key = (self.key_of)(object).map_err(|cause| KeyError::new(object, cause))?;
        Ok(self.hasher.hashed(key))
    }
}

/// Returns the resource version of an object as a number; a missing one is zero (`cache:MC-2`).
fn number<O: Described>(object: &O) -> Result<u64, NotANumber> {
    match object.metadata().map_or("", |metadata| metadata.resource_version) {
        "" => Ok(0),
        version => version.parse().map_err(|_| NotANumber(version.to_owned())),
    }
}

fn uid<O: Described>(object: &O) -> String {
    let Metadata { uid, .. } = object.metadata().unwrap_or_default();
    uid.to_owned()
}

impl<K: Key, O: Handle, R: Runtime> fmt::Debug for MutationCache<K, O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MutationCache")
    }
}
