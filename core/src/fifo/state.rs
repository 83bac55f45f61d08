//! The rules of the FIFO.
//!
//! ```text
//!  add, update    queue:  a   b   a        places, handed out from the left
//!  delete, pop    items:  a2  b1           an object is handed out at its first place;
//!                                          the second place of a is then stale and skipped
//! ```

use std::fmt;

use crate::events::{POPPERS, Progress, SYNC, SyncLatch};
use crate::machine::{Cx, Wakes};
use crate::store::{Handle, Hashed, Key, KeyHasher, Keyed};

use super::items::{Head, Items};

/// The state of a FIFO, without its lock.
#[derive(Clone)]
pub struct FifoQueue<K: Key, O: Handle> {
    items: Items<K, O>,
    hasher: KeyHasher,
    latch: SyncLatch,
    /// Whether an object is being processed, under the lock.
    in_process: bool,
    /// Whether a `pop` that handed out an object has set the latch before, by skipping stale
    /// places. A held step wakes nobody, so the wake follows when processing ends.
    sync_owed: bool,
    closed: bool,
}

/// An object that was taken out of the queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Popped<K, O> {
    /// The key of the object.
    pub key: K,
    /// Its newest state.
    pub object: O,
    /// Whether the first list was not yet processed when this object was taken (`cache:QU-20`).
    pub initial: bool,
    /// How many objects were left in the queue.
    pub left: usize,
}

impl<K: Key, O: Handle> FifoQueue<K, O> {
    /// Makes an empty, open queue. `hasher` must be the one that hashes the keys of its calls.
    pub fn new(hasher: KeyHasher) -> Self {
        Self {
            items: Items::new(),
            hasher,
            latch: SyncLatch::default(),
            in_process: false,
            sync_owed: false,
            closed: false,
        }
    }

    /// Notes a write other than a list (`cache:QU-14`).
    pub(super) fn populate(&mut self, wakes: &mut Wakes) {
        self.latch.populate(0, wakes, SYNC);
    }

    /// Stores an object, at the present place of its key or at the tail (`cache:FF-2`). Returns the
    /// object that it replaced.
    pub(super) fn put(
        &mut self,
        key: &mut Option<Hashed<K>>,
        object: O,
        wakes: &mut Wakes,
    ) -> Option<O> {
        let before = self.items.put(key, object);
        if before.is_none() {
            wakes.one(POPPERS);
        }
        before
    }

    /// Removes an object; its place stays and will be skipped (`cache:FF-4`).
    pub(super) fn delete(&mut self, key: &Hashed<K>, wakes: &mut Wakes) -> Option<O> {
        let deleted = self.items.delete(key);
        self.tell_if_drained(wakes);
        deleted
    }

    /// Wakes the callers that wait for the first list once the queue is drained: nothing more will
    /// come, whichever call removed the last object.
    fn tell_if_drained(&self, wakes: &mut Wakes) {
        if self.is_drained() {
            wakes.all(SYNC);
        }
    }

    /// Replaces the content by a list, in its order (`cache:FF-9`). Returns the old objects, and
    /// those of the list that a later one with the same key replaced.
    pub(super) fn replace(
        &mut self,
        listed: Vec<Keyed<K, O>>,
        wakes: &mut Wakes,
    ) -> Vec<Keyed<K, O>> {
        let mut left = std::mem::replace(&mut self.items, Items::new()).into_objects();
        for Keyed { key, object } in listed {
            let mut key = Some(key);
            let before = self.put(&mut key, object, wakes);
            left.extend(key.zip(before).map(|(key, object)| Keyed { key, object }));
        }
        self.latch.populate(self.items.len(), wakes, SYNC);
        self.tell_if_drained(wakes);
        left
    }

    /// Takes the next object. The lock stays held until [`finish`](Self::finish).
    ///
    /// Stale places in front of it are skipped. They count as places of the first list
    /// (`cache:FF-12`). If one of them was the last of that list, the latch is set at once, whether
    /// an object follows or not (`cache:FF-13`). A step skips at most
    /// [`AT_ONCE`](crate::machine::AT_ONCE) of them, and their keys go to `stale`.
    pub(super) fn pop(&mut self, stale: &mut Vec<K>, cx: &mut Cx<'_>) -> Option<Popped<K, O>> {
        assert!(!self.in_process, "the lock is held while an object is processed");
        let mut skipped = Wakes::default();
        while cx.left_to_move > 0 {
            match self.items.pop_front() {
                None => break,
                Some(Head::Stale(key)) => {
                    cx.left_to_move -= 1;
                    stale.extend(key);
                    self.latch.finish(1, &mut skipped, SYNC);
                }
                Some(Head::Object(key, object)) => {
                    self.in_process = true;
                    self.sync_owed = skipped.any();
                    let initial = !self.latch.is_set();
                    return Some(Popped { key, object, initial, left: self.items.len() });
                }
            }
        }
        cx.wakes = skipped;
        None
    }

    /// Tells whether there are places, stale ones included.
    pub(super) fn has_places(&self) -> bool {
        self.items.has_places()
    }

    /// Ends the processing of an object, whose place counts only now (`cache:QU-18`).
    pub(super) fn finish(&mut self, wakes: &mut Wakes) {
        if std::mem::take(&mut self.in_process) {
            self.latch.finish(1, wakes, SYNC);
        }
        if std::mem::take(&mut self.sync_owed) {
            wakes.all(SYNC);
        }
        self.tell_if_drained(wakes);
    }

    /// Stores an object unless its key has one (`cache:QU-10`).
    pub(super) fn add_if_absent(
        &mut self,
        key: &mut Option<Hashed<K>>,
        object: &mut Option<O>,
        wakes: &mut Wakes,
    ) {
        self.populate(wakes);
        let absent = key.as_ref().is_some_and(|key| self.items.get(key).is_none());
        if absent && let Some(object) = object.take() {
            self.put(key, object, wakes);
        }
    }

    /// Tells whether the queue is closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Tells how far the first list is processed. Places are counted, not keys: after a second,
    /// shorter list it can stay unset although the queue is empty (`cache:FF-10`).
    pub fn latch(&self) -> &SyncLatch {
        &self.latch
    }

    /// Returns an object that waits.
    pub fn get(&self, key: &Hashed<K>) -> Option<&O> {
        self.items.get(key)
    }

    /// Returns how many objects wait.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Tells whether no object waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Visits the waiting objects in the order of delivery.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &O)> {
        self.items.iter()
    }

    /// Checks `cache:FF-1` and the latch.
    pub(super) fn check(&self) {
        self.items.check(|key| self.hasher.hash(key));
        assert!(self.latch.left() == 0 || self.latch.is_populated(), "a write counts a batch");
        assert!(!self.sync_owed || self.in_process, "a wake is owed by a pop under way only");
    }
}

impl<K: Key, O: Handle> Progress for FifoQueue<K, O> {
    fn close(&mut self) {
        self.closed = true;
    }

    fn is_closed(&self) -> bool {
        self.closed
    }

    fn is_drained(&self) -> bool {
        self.closed && self.is_empty() && !self.in_process
    }

    fn latch(&self) -> &SyncLatch {
        &self.latch
    }

    fn len(&self) -> usize {
        self.items.len()
    }
}

impl<K: Key, O: Handle> fmt::Debug for FifoQueue<K, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FifoQueue")
            .field("waiting", &self.len())
            .field("latch", &self.latch)
            .field("in_process", &self.in_process)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}
