//! What is taken out together: events of different objects.
//!
//! Two events of one object are told by their keys. Those are foreign code's to compute, of objects
//! that lie far away, so every event is marked with a hash of its key (`entry.rs`), and keys are
//! compared only where marks are equal. Who takes batches has events marked on the way in, where
//! the key is at hand; what came in before is marked when it is looked at.

use std::ops::Range;

use hashbrown::{HashTable, hash_table};

use crate::fifo::Mark;
use crate::slab::ahead::look_at;
use crate::store::{Handle, Key, KnownObjects, spread};

use super::entry::Entry;
use super::{Event, OrderedQueue};

/// How many events are marked together: about as many as a processor waits for at once.
const TOGETHER: usize = 32;

/// Events that were taken out of the queue together. If there is more than one, all are changes,
/// of different objects (`cache:RF-22`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch<K, O> {
    /// What happened, in order of arrival; at least one.
    pub events: Vec<Event<K, O>>,
    /// Whether the first list was not yet processed when these events were taken.
    pub initial: bool,
    /// How many events were left in the queue.
    pub left: usize,
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> OrderedQueue<K, O, N> {
    /// Notes that batches are taken: from now on, changes are marked on the way in.
    pub(super) fn expect_batches(&mut self) {
        self.batches = self.batch_size > 1;
    }

    /// Returns the mark of a key that is at hand, if anybody looks at marks.
    #[inline]
    pub(super) fn mark_of(&self, key: Option<&K>) -> Option<Mark> {
        key.filter(|_| self.batches).map(|key| self.intake.mark_of(key))
    }

    /// Takes the first events that may be processed together.
    pub(super) fn pop_batch(&mut self) -> Option<Batch<K, O>> {
        let taken = self.batch_length();
        if taken == 0 {
            return None;
        }
        let mut events = Vec::with_capacity(taken);
        let next = || self.events.pop_front().map(Entry::into_event);
        events.extend(std::iter::from_fn(next).take(taken));
        let initial = self.begin(taken);
        Some(Batch { events, initial, left: self.events.len() })
    }

    /// Counts the events of the next batch (`cache:RF-19`): at most the batch size, not across the
    /// end of the initial batch, changes only, and of different objects. A change whose key cannot
    /// be computed is the last (`cache:RF-20`). An event that is alone is not compared.
    fn batch_length(&mut self) -> usize {
        let left = self.latch.left();
        let limit = if left > 0 { self.batch_size.min(left) } else { self.batch_size };
        let limit = limit.min(self.events.len());
        if limit < 2 {
            return limit;
        }
        // Keys are computed only of what has no mark, and where two marks are equal.
        let mut seen = HashTable::with_capacity(limit);
        for length in 0..limit {
            if self.events.get(length).is_some_and(Entry::is_unmarked) {
                self.mark(length..limit.min(length + TOGETHER));
            }
            let Some(event) = self.events.get(length).filter(|event| event.is_change()) else {
                return length.max(1);
            };
            let Some(mark) = event.mark() else { return length + 1 };
            let same = |&(other, at): &(Mark, usize)| other == mark && self.is_of_object(at, event);
            let hash_of = |&(mark, _): &(Mark, usize)| spread(mark.get());
            match seen.entry(spread(mark.get()), same, hash_of) {
                hash_table::Entry::Occupied(_) => return length,
                hash_table::Entry::Vacant(place) => place.insert((mark, length)),
            };
        }
        limit
    }

    /// Marks what has no mark yet. Objects and keys lie far away, and are waited for together: keys
    /// that objects carry are looked at first, with little in between.
    fn mark(&mut self, events: Range<usize>) {
        let run = self.events.run_mut(events.start);
        let together = events.len().min(run.len());
        let run = &mut run[..together];
        let objects = run.iter().filter_map(|event| event.unmarked_object());
        look_at(objects.filter_map(|object| self.intake.shown(object)));
        run.iter_mut().for_each(|event| event.mark_with(&self.intake));
    }

    /// Tells whether a queued event is of the same object as a change.
    fn is_of_object(&self, at: usize, change: &Entry<K, O>) -> bool {
        let other = self.events.get(at).and_then(|event| event.key(&self.intake));
        other.is_some_and(|other| change.key(&self.intake) == Some(other))
    }
}
