//! The changes of one object, and how they are compressed.

use std::fmt;
use std::ops::Deref;

use crate::events::Delta;

/// The changes of one object, oldest first, never with two deletions in a row (`cache:DF-2`).
///
/// The usual single change is stored in place.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Deltas<K, O>(Few<K, O>);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Few<K, O> {
    None,
    One(Delta<K, O>),
    #[expect(clippy::box_collection, reason = "a thin pointer: a waiting entry takes 16 bytes")]
    Many(Box<Vec<Delta<K, O>>>),
}

impl<K, O> Deltas<K, O> {
    /// Makes an empty list.
    pub fn new() -> Self {
        Self(Few::None)
    }

    /// Returns the first change.
    pub fn oldest(&self) -> Option<&Delta<K, O>> {
        self.first()
    }

    /// Returns the last change.
    #[inline]
    pub fn newest(&self) -> Option<&Delta<K, O>> {
        self.last()
    }

    /// Appends a change, and returns the change that is dropped for it, if any.
    ///
    /// Only two deletions in a row are merged (`cache:DF-6`, `DF-7`). The older one is dropped,
    /// unless it is a tombstone: then the newer one knows at least as much.
    #[inline]
    pub fn push(&mut self, delta: Delta<K, O>) -> Option<Delta<K, O>> {
        match (self.newest_mut(), &delta) {
            (Some(Delta::Deleted(older)), Delta::Deleted(_)) if !older.is_tombstone() => {
                Some(delta)
            }
            (Some(older @ Delta::Deleted(_)), Delta::Deleted(_)) => {
                Some(std::mem::replace(older, delta))
            }
            _ => {
                self.append(delta);
                None
            }
        }
    }

    #[inline]
    fn newest_mut(&mut self) -> Option<&mut Delta<K, O>> {
        match &mut self.0 {
            Few::None => None,
            Few::One(delta) => Some(delta),
            Few::Many(deltas) => deltas.last_mut(),
        }
    }

    #[inline]
    fn append(&mut self, delta: Delta<K, O>) {
        match std::mem::replace(&mut self.0, Few::None) {
            Few::None => self.0 = Few::One(delta),
            Few::One(first) => self.0 = Few::Many(Box::new(vec![first, delta])),
            Few::Many(mut deltas) => {
                deltas.push(delta);
                self.0 = Few::Many(deltas);
            }
        }
    }
}

#[cfg(test)]
impl<K, O> Deltas<K, O> {
    /// Makes a list of exactly these changes, which is impossible for callers.
    pub(super) fn uncompressed(changes: Vec<Delta<K, O>>) -> Self {
        Self(Few::Many(Box::new(changes)))
    }
}

impl<K, O> Default for Deltas<K, O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, O> From<Delta<K, O>> for Deltas<K, O> {
    fn from(delta: Delta<K, O>) -> Self {
        Self(Few::One(delta))
    }
}

/// Compresses the changes while collecting them.
impl<K, O> FromIterator<Delta<K, O>> for Deltas<K, O> {
    fn from_iter<I: IntoIterator<Item = Delta<K, O>>>(changes: I) -> Self {
        let mut deltas = Self::new();
        for delta in changes {
            deltas.push(delta);
        }
        deltas
    }
}

impl<K, O> Deref for Deltas<K, O> {
    type Target = [Delta<K, O>];

    #[inline]
    fn deref(&self) -> &[Delta<K, O>] {
        match &self.0 {
            Few::None => &[],
            Few::One(delta) => std::slice::from_ref(delta),
            Few::Many(deltas) => deltas,
        }
    }
}

impl<'a, K, O> IntoIterator for &'a Deltas<K, O> {
    type Item = &'a Delta<K, O>;
    type IntoIter = std::slice::Iter<'a, Delta<K, O>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K: fmt::Debug, O: fmt::Debug> fmt::Debug for Deltas<K, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
