//! One change of an object, as queues of objects hand it out and stores apply it.

use std::fmt;

use crate::store::{Handle, Hashed, Intake, Key, KeyError, LastState};

/// One change of an object. It carries the state after the change (`cache:DF-4`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Delta<K, O> {
    /// The object appeared.
    Added(O),
    /// The object changed.
    Updated(O),
    /// The object was deleted: its last state, or a tombstone if the deletion was missed.
    Deleted(LastState<K, O>),
    /// The object was in a list.
    Replaced(O),
    /// The object is known and shown again, by a resync or by a list that is not distinguished from
    /// one.
    Sync(O),
}

impl<K: Key, O: Handle> Intake<K, O> {
    /// Returns the key of a change's object (`cache:KY-10`).
    ///
    /// # Errors
    /// The key function refused the object.
    pub(crate) fn key_of_delta(&self, delta: &Delta<K, O>) -> Result<Hashed<K>, KeyError> {
        match delta {
            Delta::Deleted(last) => self.key_of_last_state(last),
            Delta::Added(object)
            | Delta::Updated(object)
            | Delta::Replaced(object)
            | Delta::Sync(object) => self.key(object),
        }
    }
}

/// The kind of a [`Delta`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the variants are those of `Delta`")]
pub enum DeltaKind {
    Added,
    Updated,
    Deleted,
    Replaced,
    Sync,
}

impl fmt::Display for DeltaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl<K, O> Delta<K, O> {
    /// Returns the kind of change.
    pub fn kind(&self) -> DeltaKind {
        match self {
            Self::Added(_) => DeltaKind::Added,
            Self::Updated(_) => DeltaKind::Updated,
            Self::Deleted(_) => DeltaKind::Deleted,
            Self::Replaced(_) => DeltaKind::Replaced,
            Self::Sync(_) => DeltaKind::Sync,
        }
    }

    /// Returns the object, also from a tombstone; `None` if the tombstone has no object.
    pub fn object(&self) -> Option<&O> {
        match self {
            Self::Added(object)
            | Self::Updated(object)
            | Self::Replaced(object)
            | Self::Sync(object) => Some(object),
            Self::Deleted(last) => last.object(),
        }
    }

    /// Tells whether the object was deleted.
    #[inline]
    pub fn is_deleted(&self) -> bool {
        matches!(self, Self::Deleted(_))
    }
}
