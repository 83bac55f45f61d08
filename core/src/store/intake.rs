//! Processing of an object before a queue or a store takes its lock.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::runtime::Ambient;

use super::{Cause, Handle, Hashed, Key, KeyError, KeyHasher, LastState};

/// Changes an object before anybody else sees it (`cache:DF-23`). It must not change the key.
pub type Transform<O> = Arc<dyn Fn(O) -> Result<O, Cause> + Send + Sync>;

/// Returns the key of an object. It must be deterministic and without side effects (`cache:KY-1`).
pub type KeyFunction<K, O> = Arc<dyn Fn(&O) -> Result<K, Cause> + Send + Sync>;

/// Why an object was not accepted by a queue or a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EnqueueError {
    /// The key function refused it.
    Key(KeyError),
    /// The transformer refused it.
    Transform(Cause),
}

impl fmt::Display for EnqueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(error) => error.fmt(f),
            Self::Transform(_) => f.write_str("transforming the object"),
        }
    }
}

impl Error for EnqueueError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Key(error) => error.source(),
            Self::Transform(cause) => Some(&**cause),
        }
    }
}

impl From<KeyError> for EnqueueError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

/// The key function, the transformer and the hash function of one queue.
#[derive(Clone)]
pub struct Intake<K, O> {
    key_of: KeyFunction<K, O>,
    transform: Option<Transform<O>>,
    hasher: KeyHasher,
}

/// An object and its key.
#[derive(Clone, Debug)]
pub struct Keyed<K, O> {
    /// The key of the untransformed object (`cache:ST-11`).
    pub key: Hashed<K>,
    /// The object, transformed.
    pub object: O,
}

/// A list of objects, as far as their keys could be computed.
#[derive(Clone, Debug)]
pub struct Listed<K, O> {
    /// The objects before the first one that was refused.
    pub objects: Vec<Keyed<K, O>>,
    /// Why that one was refused.
    pub refused: Option<EnqueueError>,
}

impl<K: Key, O: Handle> Intake<K, O> {
    /// Makes an intake; its hash function is keyed with the runtime's entropy.
    pub fn new(
        ambient: &dyn Ambient,
        key_of: impl Fn(&O) -> Result<K, Cause> + Send + Sync + 'static,
    ) -> Self {
        Self::with_hasher(KeyHasher::new(ambient), key_of)
    }

    /// Makes an intake with a given hash function.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_hasher(
        hasher: KeyHasher,
        key_of: impl Fn(&O) -> Result<K, Cause> + Send + Sync + 'static,
    ) -> Self {
        Self { key_of: Arc::new(key_of), transform: None, hasher }
    }

    /// Adds a transformer.
    #[must_use]
    pub fn with_transform(
        mut self,
        transform: impl Fn(O) -> Result<O, Cause> + Send + Sync + 'static,
    ) -> Self {
        self.transform = Some(Arc::new(transform));
        self
    }

    /// Returns the hash function, which the queue's state needs too.
    pub(crate) fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }

    /// Returns the key of an object, with its hash.
    ///
    /// # Errors
    /// The key function refused it.
    #[inline]
    pub(crate) fn key(&self, object: &O) -> Result<Hashed<K>, KeyError> {
        self.name(object).map(|key| self.hasher.hashed(key))
    }

    /// Returns the key of an object, without its hash.
    ///
    /// # Errors
    /// The key function refused it.
    #[inline]
    pub(crate) fn name(&self, object: &O) -> Result<K, KeyError> {
        (self.key_of)(object).map_err(|cause| KeyError::new(object, cause))
    }

    /// Returns the key of a deleted object; a tombstone has its own (`cache:KY-10`).
    ///
    /// # Errors
    /// The key function refused the object.
    pub(crate) fn key_of_last_state(&self, last: &LastState<K, O>) -> Result<Hashed<K>, KeyError> {
        match last {
            LastState::Final(object) => self.key(object),
            LastState::Tombstone(tombstone) => Ok(self.hasher.hashed(tombstone.key.clone())),
        }
    }

    /// Transforms an object.
    ///
    /// # Errors
    /// The transformer refused it.
    #[inline]
    pub(crate) fn transform(&self, object: O) -> Result<O, EnqueueError> {
        match &self.transform {
            None => Ok(object),
            Some(transform) => transform(object).map_err(EnqueueError::Transform),
        }
    }

    /// Transforms the last state of an object. Tombstones do not change (`cache:DF-22`).
    ///
    /// # Errors
    /// The transformer refused it.
    pub(crate) fn transform_last_state(
        &self,
        last: LastState<K, O>,
    ) -> Result<LastState<K, O>, EnqueueError> {
        match last {
            LastState::Final(object) => self.transform(object).map(LastState::Final),
            tombstone @ LastState::Tombstone(_) => Ok(tombstone),
        }
    }

    /// Computes the key of an object, then transforms it.
    ///
    /// # Errors
    /// The key function or the transformer refused it.
    pub(crate) fn keyed(&self, object: O) -> Result<Keyed<K, O>, EnqueueError> {
        let key = self.key(&object).map_err(EnqueueError::Key)?;
        Ok(Keyed { key, object: self.transform(object)? })
    }

    /// Computes the keys of a list, without transforming its objects.
    ///
    /// # Errors
    /// The key function refused one of them.
    pub(crate) fn untransformed(&self, objects: Vec<O>) -> Result<Vec<Keyed<K, O>>, KeyError> {
        let keyed = |object| Ok(Keyed { key: self.key(&object)?, object });
        objects.into_iter().map(keyed).collect()
    }

    /// Computes the keys of a list and transforms its objects, up to the first that is refused.
    pub(crate) fn list(&self, objects: impl IntoIterator<Item = O>) -> Listed<K, O> {
        let objects = objects.into_iter();
        let room = Vec::with_capacity(objects.size_hint().0);
        let mut listed = Listed { objects: room, refused: None };
        for object in objects {
            match self.keyed(object) {
                Ok(keyed) => listed.objects.push(keyed),
                Err(error) => {
                    listed.refused = Some(error);
                    break;
                }
            }
        }
        listed
    }
}

impl<K, O> fmt::Debug for Intake<K, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intake")
            .field("transform", &self.transform.is_some())
            .finish_non_exhaustive()
    }
}
