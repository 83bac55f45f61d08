//! The objects that the consumer of a queue already has.

use std::fmt;
use std::sync::Arc;

/// A view of the consumer's store, read by a queue under its own lock (`cache:DF-30`).
///
/// The queue asks it for the objects that a relist deleted, for those of a resync, and whether a
/// deletion matters. It must use the same keys as the queue, must not call the queue, and must be
/// changed only while the queue's `process` runs. Otherwise an object on its way could be in
/// neither of them, and its deletion would be lost (`cache:DF-29`).
pub trait KnownObjects<K, O>: Send + 'static {
    /// Returns the key of every known object, in any order.
    fn keys(&self) -> Vec<K>;

    /// Returns the object, `None` if there is none.
    ///
    /// # Errors
    /// The store cannot tell. The queue then does what loses nothing: it queues a deletion
    /// (`cache:DF-9`), makes a tombstone without an object (`cache:DF-15`), and skips the key in a
    /// resync.
    fn get(&self, key: &K) -> Result<Option<O>, LookupFailed>;
}

/// A store cannot tell whether it holds an object. The store itself reports the reason.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LookupFailed;

impl fmt::Display for LookupFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the store of known objects cannot be read")
    }
}

impl std::error::Error for LookupFailed {}

/// The known objects of a queue without known objects: a type without values.
#[derive(Clone, Copy, Debug)]
pub enum NothingKnown {}

impl<K, O> KnownObjects<K, O> for NothingKnown {
    fn keys(&self) -> Vec<K> {
        match *self {}
    }

    fn get(&self, _: &K) -> Result<Option<O>, LookupFailed> {
        match *self {}
    }
}

impl<K, O, S: KnownObjects<K, O> + Sync + ?Sized> KnownObjects<K, O> for Arc<S> {
    fn keys(&self) -> Vec<K> {
        S::keys(self)
    }

    fn get(&self, key: &K) -> Result<Option<O>, LookupFailed> {
        S::get(self, key)
    }
}
