//! The store of a consumer, as simple as can be.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use seatrial_core::delta_fifo::Delta;
use seatrial_core::store::{Handle, Key, KnownObjects, LookupFailed};

/// A map that is shared by a queue, which knows its objects, and the queue's consumer.
///
/// It needs no lock that a checker sees: a queue reads it, and a consumer changes it, under the
/// queue's own (`cache:DF-29`).
#[derive(Clone)]
pub struct Store<K, O> {
    objects: Arc<Mutex<BTreeMap<K, O>>>,
    readable: bool,
}

impl<K: Ord, O> Store<K, O> {
    /// Makes a store with a content.
    pub fn of(objects: impl IntoIterator<Item = (K, O)>) -> Self {
        Self { objects: Arc::new(Mutex::new(objects.into_iter().collect())), readable: true }
    }

    /// Makes every lookup of the queue fail. It can still list the keys.
    #[must_use]
    pub fn unreadable(mut self) -> Self {
        self.readable = false;
        self
    }

    /// Tells whether lookups succeed.
    pub fn is_readable(&self) -> bool {
        self.readable
    }

    /// Gives access to the content.
    pub fn objects(&self) -> MutexGuard<'_, BTreeMap<K, O>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Ord + Clone, O: Clone> Store<K, O> {
    /// Takes in changes of an object, as a consumer does.
    pub fn apply<'a>(&self, key: &K, deltas: impl IntoIterator<Item = &'a Delta<K, O>>)
    where
        K: 'a,
        O: 'a,
    {
        let mut objects = self.objects();
        for delta in deltas {
            match left_by(delta) {
                Some(object) => drop(objects.insert(key.clone(), object.clone())),
                None => drop(objects.remove(key)),
            }
        }
    }
}

/// Returns the object that a change leaves in the store that it is applied to.
pub(crate) fn left_by<K, O>(delta: &Delta<K, O>) -> Option<&O> {
    delta.object().filter(|_| !delta.is_deleted())
}

impl<K: Key + Ord, O: Handle> KnownObjects<K, O> for Store<K, O> {
    fn keys(&self) -> Vec<K> {
        self.objects().keys().cloned().collect()
    }

    fn get(&self, key: &K) -> Result<Option<O>, LookupFailed> {
        if self.readable { Ok(self.objects().get(key).cloned()) } else { Err(LookupFailed) }
    }
}

impl<K: Ord, O> Default for Store<K, O> {
    fn default() -> Self {
        Self::of([])
    }
}

impl<K: Ord + fmt::Debug, O: fmt::Debug> fmt::Debug for Store<K, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.objects().fmt(f)
    }
}
