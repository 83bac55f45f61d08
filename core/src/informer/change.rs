//! The changes of a store, as its readers are told them.

use crate::store::{Described, LastState, NoMetadata};

/// A change of an object in a store, as handlers are told it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change<K, O> {
    /// The object is new to the store.
    Added {
        /// The object.
        object: O,
        /// Whether it was in the first list.
        initial: bool,
    },
    /// The object changed, or is shown again.
    Updated {
        /// The object that was stored before.
        old: O,
        /// The object that is stored now.
        new: O,
    },
    /// The object is gone: its last state, or a tombstone if the deletion was missed.
    Deleted(LastState<K, O>),
}

/// A change of an object whose key is a string.
pub type ObjectChange<O> = Change<String, O>;

impl<O: Described> Change<String, O> {
    /// Returns the key of the object. A tombstone has it even without an object (`cache:HN-3`).
    ///
    /// # Errors
    /// The object has no metadata. Objects from an informer's store always have it.
    pub fn key(&self) -> Result<String, NoMetadata> {
        match self {
            Self::Deleted(LastState::Tombstone(gone)) => Ok(gone.key.clone()),
            Self::Added { object, .. }
            | Self::Updated { new: object, .. }
            | Self::Deleted(LastState::Final(object)) => object.key(),
        }
    }

    /// Tells whether an update shows a different object with the same name: the deletion between
    /// the two was missed (`cache:HN-7`).
    pub fn is_another(&self) -> bool {
        let Self::Updated { old, new } = self else { return false };
        let uids = old.metadata().zip(new.metadata()).map(|(old, new)| (old.uid, new.uid));
        uids.is_some_and(|(old, new)| old != new)
    }
}

impl<K, O> Change<K, O> {
    /// Returns the newest known state. For a deletion this is the last state, or `None` if the
    /// deletion was missed and no state is known.
    pub fn newest(&self) -> Option<&O> {
        match self {
            Self::Added { object, .. } | Self::Updated { new: object, .. } => Some(object),
            Self::Deleted(last) => last.object(),
        }
    }

    /// Returns the state before an update.
    pub fn before(&self) -> Option<&O> {
        match self {
            Self::Updated { old, .. } => Some(old),
            Self::Added { .. } | Self::Deleted(_) => None,
        }
    }
}
