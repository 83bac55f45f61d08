//! Deletions, seen and unseen.

/// A deletion that was noticed late (`DeletedFinalStateUnknown`): a list does not contain an object
/// that is still known here.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tombstone<K, O> {
    /// The key of the object.
    pub key: K,
    /// The last known state, which may be stale; `None` if it could not be looked up.
    pub object: Option<O>,
}

/// The last state of a deleted object (`cache:DF-4`). A tombstone cannot wrap another one
/// (`cache:DF-14`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LastState<K, O> {
    /// The state that the server sent with the deletion.
    Final(O),
    /// The deletion was missed.
    Tombstone(Box<Tombstone<K, O>>),
}

impl<K, O> LastState<K, O> {
    /// Makes the last state of an object whose deletion was missed.
    pub fn unknown(key: K, object: Option<O>) -> Self {
        Self::Tombstone(Box::new(Tombstone { key, object }))
    }

    /// Tells whether the deletion was missed.
    #[inline]
    pub fn is_tombstone(&self) -> bool {
        matches!(self, Self::Tombstone(_))
    }

    /// Returns the object, also from a tombstone (`cache:PT-5`).
    pub fn object(&self) -> Option<&O> {
        match self {
            Self::Final(object) => Some(object),
            Self::Tombstone(tombstone) => tombstone.object.as_ref(),
        }
    }
}

impl<K, O> From<Tombstone<K, O>> for LastState<K, O> {
    fn from(tombstone: Tombstone<K, O>) -> Self {
        Self::Tombstone(Box::new(tombstone))
    }
}
