//! What goes through the queue, marked by its object's key.
//!
//! Events carry no keys: most are never compared. Whoever puts together a batch of different
//! objects would have to ask for the key of every event, under the lock, and long after it left
//! the processor's cache. On the way in the key is at hand, because it was just checked.

use crate::fifo::{EnqueueError, Intake, Mark};
use crate::store::{Handle, Hashed, Key, KeyError, LastState};

/// Something with the mark of its object's key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marked<T> {
    /// What it is.
    pub content: T,
    /// `None` if it names no single object, has lost its key, or nobody looks.
    mark: Option<Mark>,
}

impl<T> Marked<T> {
    #[inline]
    pub(super) fn new(content: T, mark: Option<Mark>) -> Self {
        Self { content, mark }
    }

    /// Leaves something unmarked: it is no change of one object, or nobody looks at marks.
    #[inline]
    pub(super) fn not(content: T) -> Self {
        Self { content, mark: None }
    }

    /// Returns the mark.
    #[inline]
    pub(super) fn mark(&self) -> Option<Mark> {
        self.mark
    }

    /// Converts what is marked.
    #[inline]
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Marked<U> {
        Marked { content: convert(self.content), mark: self.mark }
    }
}

impl<K: Key, O: Handle> Intake<K, O> {
    /// Transforms an object that has a key, and marks it.
    ///
    /// # Errors
    /// The key function or the transformer refused it.
    #[inline]
    pub fn marked(&self, object: O) -> Result<Marked<O>, EnqueueError> {
        let mark = self.mark(&object, true)?;
        if self.transforms() {
            self.transformed(object, true)
        } else {
            Ok(Marked::new(object, mark))
        }
    }

    /// Returns the mark of an object that has a key; `None` if nobody looks at marks.
    #[inline]
    pub(super) fn mark(&self, object: &O, marks: bool) -> Result<Option<Mark>, KeyError> {
        if marks {
            self.mark_of_object(object).map(Some)
        } else {
            self.check(object).map(|()| None)
        }
    }

    /// Marks something with the key of its object.
    #[inline]
    pub(super) fn marked_with<T>(&self, content: T, key: &Hashed<K>) -> Marked<T> {
        Marked::new(content, Some(self.mark_of(key.key())))
    }

    /// Transforms an object that has a key, and marks what comes out.
    pub(super) fn transformed(&self, object: O, marks: bool) -> Result<Marked<O>, EnqueueError> {
        let object = self.transform(object)?;
        Ok(if marks { self.marked_again(object) } else { Marked::not(object) })
    }

    /// Marks an object that was transformed. One that has lost its key is queued all the same
    /// (`cache:RF-20`).
    pub(super) fn marked_again(&self, object: O) -> Marked<O> {
        let mark = self.mark_of_object(&object).ok();
        Marked { content: object, mark }
    }

    /// As [`marked`](Self::marked), for the last state of an object. Tombstones are not refused.
    ///
    /// # Errors
    /// The key function or the transformer refused the object.
    pub fn marked_last_state(
        &self,
        last: LastState<K, O>,
    ) -> Result<Marked<LastState<K, O>>, EnqueueError> {
        match last {
            LastState::Final(object) => Ok(self.marked(object)?.map(LastState::Final)),
            LastState::Tombstone(tombstone) => {
                let mark = Some(self.mark_of(&tombstone.key));
                Ok(Marked { content: LastState::Tombstone(tombstone), mark })
            }
        }
    }
}
