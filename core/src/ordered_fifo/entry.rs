//! How the queue holds an event: with a mark, in no more room than it takes without.
//!
//! A batch is of different objects, so whoever puts one together needs the keys of its events, which
//! carry none. To ask for them then is to wait for objects that left the processor's cache long
//! ago, under the lock; on the way in they are at hand. So who takes batches has events marked with
//! hashes of their keys as they come. The mark lies where the event alone would have a gap, between
//! its kind and its object: what a producer writes has to arrive before it can unlock, and a mark
//! beside the event would be half as much again.

use std::sync::Arc;

use crate::delta_fifo::{Delta, DeltaKind};
use crate::fifo::{Intake, Mark};
use crate::store::{Handle, Hashed, Key, LastState, Tombstone};

use super::{Bookmark, Event, Snapshot};

/// An event and the mark of its object's key.
#[derive(Clone, Debug)]
pub(super) enum Entry<K, O> {
    /// A change that carries a state of the object.
    Change {
        kind: DeltaKind,
        mark: Option<Mark>,
        object: O,
    },
    /// A deletion that was missed.
    Missed {
        mark: Option<Mark>,
        last: Box<Tombstone<K, O>>,
    },
    /// What follows is no change of one object, so it has no mark.
    ReplacedAll(Arc<Snapshot<O>>),
    SyncAll,
    Bookmark(Arc<Bookmark>),
}

const _: () =
    assert!(size_of::<Entry<Arc<str>, Arc<u8>>>() == size_of::<Event<Arc<str>, Arc<u8>>>());

impl<K, O> Entry<K, O> {
    #[inline(always)]
    pub(super) fn new(event: Event<K, O>, mark: Option<Mark>) -> Self {
        let (kind, object) = match event {
            Event::Delta(Delta::Added(object)) => (DeltaKind::Added, object),
            Event::Delta(Delta::Updated(object)) => (DeltaKind::Updated, object),
            Event::Delta(Delta::Deleted(LastState::Final(object))) => (DeltaKind::Deleted, object),
            Event::Delta(Delta::Deleted(LastState::Tombstone(last))) => {
                return Self::Missed { mark, last };
            }
            Event::Delta(Delta::Replaced(object)) => (DeltaKind::Replaced, object),
            Event::Delta(Delta::Sync(object)) => (DeltaKind::Sync, object),
            Event::ReplacedAll(list) => return Self::ReplacedAll(list),
            Event::SyncAll => return Self::SyncAll,
            Event::Bookmark(bookmark) => return Self::Bookmark(bookmark),
        };
        Self::Change { kind, mark, object }
    }

    /// Returns the event as its consumer knows it.
    #[inline(always)]
    pub(super) fn into_event(self) -> Event<K, O> {
        Event::Delta(match self {
            Self::Change { kind, object, .. } => match kind {
                DeltaKind::Added => Delta::Added(object),
                DeltaKind::Updated => Delta::Updated(object),
                DeltaKind::Deleted => Delta::Deleted(LastState::Final(object)),
                DeltaKind::Replaced => Delta::Replaced(object),
                DeltaKind::Sync => Delta::Sync(object),
            },
            Self::Missed { last, .. } => Delta::Deleted(LastState::Tombstone(last)),
            Self::ReplacedAll(list) => return Event::ReplacedAll(list),
            Self::SyncAll => return Event::SyncAll,
            Self::Bookmark(bookmark) => return Event::Bookmark(bookmark),
        })
    }

    /// Tells whether it is a change of one object.
    #[inline]
    pub(super) fn is_change(&self) -> bool {
        matches!(self, Self::Change { .. } | Self::Missed { .. })
    }

    /// Tells whether it is a change of one object that was not marked.
    #[inline]
    pub(super) fn is_unmarked(&self) -> bool {
        matches!(self, Self::Change { mark: None, .. } | Self::Missed { mark: None, .. })
    }

    /// Returns the object whose key says how it is to be marked, if it was not.
    #[inline]
    pub(super) fn unmarked_object(&self) -> Option<&O> {
        match self {
            Self::Change { mark: None, object, .. } => Some(object),
            _ => None,
        }
    }

    /// Returns the mark, if it was marked.
    #[inline]
    pub(super) fn mark(&self) -> Option<Mark> {
        match self {
            Self::Change { mark, .. } | Self::Missed { mark, .. } => *mark,
            Self::ReplacedAll(_) | Self::SyncAll | Self::Bookmark(_) => None,
        }
    }

    /// Returns the object of a change, out of its tombstone if it is in one.
    pub(super) fn object(&self) -> Option<&O> {
        match self {
            Self::Change { object, .. } => Some(object),
            Self::Missed { last, .. } => last.object.as_ref(),
            Self::ReplacedAll(_) | Self::SyncAll | Self::Bookmark(_) => None,
        }
    }

    /// Tells whether it is a deletion of one object.
    pub(super) fn is_deleted(&self) -> bool {
        matches!(self, Self::Change { kind: DeltaKind::Deleted, .. } | Self::Missed { .. })
    }
}

impl<K: Key, O: Handle> Entry<K, O> {
    /// Returns the key of a change's object; `None` if it cannot be computed any more.
    pub(super) fn key(&self, intake: &Intake<K, O>) -> Option<Hashed<K>> {
        match self {
            Self::Change { object, .. } => intake.key(object).ok(),
            Self::Missed { last, .. } => Some(intake.hasher().hashed(last.key.clone())),
            Self::ReplacedAll(_) | Self::SyncAll | Self::Bookmark(_) => None,
        }
    }

    /// Marks a change with its object's key, if that was not done before and it has one.
    #[inline(always)]
    pub(super) fn mark_with(&mut self, intake: &Intake<K, O>) {
        match self {
            Self::Change { mark: mark @ None, object, .. } => {
                *mark = intake.mark(object);
            }
            Self::Missed { mark: mark @ None, last } => *mark = Some(intake.mark_of(&last.key)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Cause, KeyHasher};

    type Happened = Event<&'static str, u32>;

    fn events() -> Vec<(Happened, Option<&'static str>, Option<u32>)> {
        let missed = |object| Delta::Deleted(LastState::unknown("lost", object)).into();
        let bookmark = Bookmark { resource_version: "7".to_owned() };
        let list = Snapshot { resource_version: "8".to_owned(), objects: vec![1] };
        vec![
            (Delta::Added(1).into(), Some("key"), Some(1)),
            (Delta::Updated(2).into(), Some("key"), Some(2)),
            (Delta::Deleted(LastState::Final(3)).into(), Some("key"), Some(3)),
            (missed(Some(4)), Some("lost"), Some(4)),
            (missed(None), Some("lost"), None),
            (Delta::Replaced(5).into(), Some("key"), Some(5)),
            (Delta::Sync(6).into(), Some("key"), Some(6)),
            (Event::ReplacedAll(Arc::new(list)), None, None),
            (Event::SyncAll, None, None),
            (Event::Bookmark(Arc::new(bookmark)), None, None),
        ]
    }

    #[test]
    fn an_event_comes_out_as_it_went_in() {
        let intake = Intake::with_hasher(KeyHasher::fixed(0), |_: &u32| Ok("key"));
        for (event, key, object) in events() {
            let mut entry = Entry::new(event.clone(), None);
            assert_eq!(entry.is_change(), event.delta().is_some(), "{event:?}");
            assert_eq!(entry.object(), object.as_ref(), "{event:?}");
            assert_eq!(entry.is_deleted(), event.delta().is_some_and(Delta::is_deleted));
            let hashed = key.map(|key| intake.hasher().hashed(key));
            assert_eq!(entry.key(&intake), hashed, "{event:?}");
            assert_eq!(entry.mark(), None, "nobody asked");
            let named = entry.unmarked_object().map(|_| "key");
            assert_eq!(named, key.filter(|key| *key == "key"), "a tombstone has a key of its own");
            assert_eq!(entry.is_unmarked(), entry.is_change(), "{event:?}");
            entry.mark_with(&intake);
            assert_eq!((entry.unmarked_object(), entry.is_unmarked()), (None, false));
            assert_eq!(entry.mark(), key.map(|key| intake.mark_of(&key)), "{event:?}");
            assert_eq!(entry.into_event(), event);
        }
    }

    #[test]
    fn what_is_marked_is_not_asked_again() {
        let intake = Intake::with_hasher(KeyHasher::fixed(0), |_: &u32| nameless());
        let mark = Some(intake.mark_of(&"known"));
        let mut entry = Entry::new(Event::Delta(Delta::Added(1)), mark);
        entry.mark_with(&intake);
        assert_eq!(entry.mark(), mark);
    }

    #[test]
    fn what_has_lost_its_key_has_no_mark() {
        let intake = Intake::with_hasher(KeyHasher::fixed(0), |_: &u32| nameless());
        let mut entry = Entry::new(Event::Delta(Delta::Added(1)), None);
        entry.mark_with(&intake);
        assert_eq!((entry.mark(), entry.key(&intake)), (None, None));
    }

    fn nameless() -> Result<&'static str, Cause> {
        Err(Arc::new(std::fmt::Error))
    }
}
