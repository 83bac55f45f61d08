//! The ordered FIFO as a sequential object: the meaning of every call when no calls overlap.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use seatrial_core::delta_fifo::Delta;
use seatrial_core::ordered_fifo::{Bookmark, Event, Snapshot};
use seatrial_core::store::LastState;

use crate::events::fixtures::{Object, key_of};

type Change = Delta<u8, Object>;
type Happened = Event<u8, Object>;

/// The waiting events, the consumer's objects, and the progress of the first list (`cache:RF`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// The events that wait, oldest first.
    pub events: VecDeque<Happened>,
    /// The consumer's store in plain mode; `None` in atomic mode.
    pub known: Option<BTreeMap<u8, Object>>,
    /// Whether bookmarks are events.
    pub emit_bookmarks: bool,
    /// The largest number of events in a batch.
    pub batch_size: usize,
    /// Whether there was a write.
    pub populated: bool,
    /// How many events of the first list are not processed yet.
    pub initial_left: usize,
}

/// Returns the key of a change, if it has one.
pub(crate) fn key_of_change(change: &Change) -> Option<u8> {
    match change {
        Delta::Deleted(LastState::Tombstone(tombstone)) => Some(tombstone.key),
        change => key_of(change.object()?).ok(),
    }
}

impl Spec {
    /// Makes an empty queue; atomic if no store is known.
    pub fn new(
        known: Option<BTreeMap<u8, Object>>,
        emit_bookmarks: bool,
        batch_size: usize,
    ) -> Self {
        let emit_bookmarks = emit_bookmarks && known.is_none();
        Self {
            events: VecDeque::new(),
            known,
            emit_bookmarks,
            batch_size,
            populated: false,
            initial_left: 0,
        }
    }

    fn push(&mut self, change: Change) {
        self.events.push_back(Event::Delta(change));
    }

    /// The newest queued change of a key.
    fn newest(&self, key: u8) -> Option<&Change> {
        let changes = self.events.iter().rev().filter_map(Event::delta);
        changes.into_iter().find(|change| key_of_change(change) == Some(key))
    }

    /// Queues a change; `None` stands for a refused object (`cache:RF-5`, `RF-6`).
    pub fn put(&mut self, change: Option<Change>) {
        self.populated = true;
        change.into_iter().for_each(|change| self.push(change));
    }

    /// Queues a list: as one event, or tombstones and then its objects (`cache:RF-7`, `RF-10`).
    /// `accepted` are the objects in front of the first that the transformer `refused`.
    pub fn replace(&mut self, listed: &[u8], accepted: &[Object], refused: bool, version: &str) {
        let Some(known) = self.known.clone() else {
            let (resource_version, objects) = (version.to_owned(), accepted.to_vec());
            let snapshot = Snapshot { resource_version, objects };
            self.events.push_back(Event::ReplacedAll(Arc::new(snapshot)));
            return self.populate_with_list();
        };
        let mut queued: Vec<u8> =
            self.events.iter().filter_map(Event::delta).filter_map(key_of_change).collect();
        queued.extend(known.keys());
        let mut seen = listed.to_vec();
        for key in queued {
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            let newest = self.newest(key);
            if newest.is_some_and(Delta::is_deleted) {
                continue;
            }
            let object = newest.map_or(known.get(&key), Delta::object).copied();
            self.push(Delta::Deleted(LastState::unknown(key, object)));
        }
        accepted.iter().for_each(|object| self.push(Delta::Replaced(*object)));
        if !refused {
            self.populate_with_list();
        }
    }

    /// Makes everything that waits the first list, unless there was a write.
    pub fn populate_with_list(&mut self) {
        if !self.populated {
            (self.populated, self.initial_left) = (true, self.events.len());
        }
    }

    /// Shows the consumer's objects, up to the first without a key (`cache:RF-12`, `RF-13`); false
    /// if there is one.
    pub fn resync(&mut self) -> bool {
        let Some(known) = self.known.clone() else {
            self.events.push_back(Event::SyncAll);
            return true;
        };
        for (key, object) in known {
            if self.newest(key).is_some() {
                continue;
            }
            if object.0 == 0 {
                return false;
            }
            self.push(Delta::Sync(object));
        }
        true
    }

    /// Queues a bookmark if bookmarks are events (`cache:RF-14`).
    pub fn bookmark(&mut self, version: &str) {
        if self.emit_bookmarks {
            let bookmark = Bookmark { resource_version: version.to_owned() };
            self.events.push_back(Event::Bookmark(Arc::new(bookmark)));
        }
    }

    /// Takes the first event, or the next batch, with the flag for its processing.
    pub fn pop(&mut self, batched: bool) -> (Vec<Happened>, bool) {
        let length = if batched { self.batch_length() } else { self.events.len().min(1) };
        (self.events.drain(..length).collect(), !self.has_synced())
    }

    fn batch_length(&self) -> usize {
        let mut keys = vec![];
        for (length, event) in self.events.iter().enumerate() {
            let at_the_end =
                length == self.batch_size || (self.initial_left > 0 && length == self.initial_left);
            let Some(change) = event.delta() else { return length.max(1) };
            let key = key_of_change(change);
            if at_the_end || keys.contains(&key) {
                return length;
            }
            if key.is_none() {
                return length + 1;
            }
            keys.push(key);
        }
        self.events.len()
    }

    /// Ends the processing of this many events.
    pub fn processed(&mut self, events: usize) {
        self.initial_left = self.initial_left.saturating_sub(events);
    }

    /// Tells whether the first list is processed (`cache:QU-15`).
    pub fn has_synced(&self) -> bool {
        self.populated && self.initial_left == 0
    }
}
