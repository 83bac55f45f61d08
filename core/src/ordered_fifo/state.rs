//! The rules of the ordered FIFO.
//!
//! ```text
//!                        pop, pop_batch            process returned
//!  events in the queue ------------------> in process -----------> gone
//!
//!  under the lock     plain mode; a long queue, whose writers then wait
//!  lock released      atomic mode that asks for it, while the queue is short
//! ```
//!
//! Whatever is asked of foreign code - known objects, key functions - is asked before anything
//! changes: a panic in there leaves the queue as it was.

use std::fmt;

use crate::delta_fifo::Delta;
use crate::events::SyncLatch;
use crate::machine::{Channel, Wakes};
use crate::slab::Line;
use crate::store::{EnqueueError, Intake, Keyed};
use crate::store::{Handle, Hashed, Key, KeyError, KeySet, KnownObjects, LastState, NothingKnown};

use super::newest::Newest;
use super::{Event, Mode};

/// Where callers of `pop` sleep.
pub const POPPERS: Channel = 0;
/// Where callers of `wait_for_sync` sleep.
pub const SYNC: Channel = 1;

/// The state of an ordered FIFO, without its lock.
#[derive(Clone)]
pub struct OrderedQueue<K: Key, O: Handle, N: KnownObjects<K, O> = NothingKnown> {
    pub(super) events: Line<Event<K, O>>,
    mode: Mode<N>,
    pub(super) batch_size: usize,
    /// Names the objects of queued events, which carry no key.
    pub(super) intake: Intake<K, O>,
    pub(super) latch: SyncLatch,
    in_process: Option<InProcess>,
    closed: bool,
}

/// Events that were taken and whose processing has not ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct InProcess {
    /// How many of them belong to the initial batch. Decided when they are taken: a list that
    /// comes in meanwhile, with the lock released, is not what they belong to (`cache:RF-17`).
    initial: usize,
    /// Whether the lock is released meanwhile.
    unlocked: bool,
}

/// An event that was taken out of the queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Popped<K, O> {
    /// What happened.
    pub event: Event<K, O>,
    /// Whether the first list was not yet processed when this event was taken (`cache:QU-20`).
    pub initial: bool,
    /// How many events were left in the queue.
    pub left: usize,
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> OrderedQueue<K, O, N> {
    /// Makes an empty, open queue. A batch has one event at least.
    pub fn new(intake: Intake<K, O>, mode: Mode<N>, batch_size: usize) -> Self {
        Self {
            events: Line::new(),
            mode,
            batch_size: batch_size.max(1),
            intake,
            latch: SyncLatch::default(),
            in_process: None,
            closed: false,
        }
    }

    /// Notes a write that is not a list (`cache:QU-14`).
    #[inline]
    pub(super) fn populate(&mut self, wakes: &mut Wakes) {
        self.latch.populate(0, wakes, SYNC);
    }

    /// Appends an event.
    #[inline]
    pub(super) fn push(&mut self, event: impl Into<Event<K, O>>, wakes: &mut Wakes) {
        self.events.push_back(event.into());
        wakes.one(POPPERS);
    }

    /// Appends a complete list, object by object: first tombstones for what is queued or known and
    /// not in it, then what is in it (`cache:RF-7`). `behind` are the keys of an object that was
    /// refused and of those behind it; the others of the list are left there.
    pub(super) fn replace(
        &mut self,
        listed: Vec<Keyed<K, O>>,
        behind: &mut Vec<Hashed<K>>,
        wakes: &mut Wakes,
    ) {
        let (gone, is_whole) = (self.unlisted(&listed, behind), behind.is_empty());
        for (key, object) in gone {
            self.push(Delta::Deleted(LastState::unknown(key.into_key(), object)), wakes);
        }
        for Keyed { key, object } in listed {
            behind.push(key);
            self.push(Delta::Replaced(object), wakes);
        }
        if is_whole {
            self.populate_with_list(wakes);
        }
    }

    /// Makes what is queued the initial batch, if nothing was written before (`cache:RF-11`).
    pub(super) fn populate_with_list(&mut self, wakes: &mut Wakes) {
        self.latch.populate(self.events.len(), wakes, SYNC);
    }

    fn unlisted(
        &self,
        listed: &[Keyed<K, O>],
        behind: &[Hashed<K>],
    ) -> Vec<(Hashed<K>, Option<O>)> {
        let known = self.known_keys();
        let mut seen = KeySet::with_capacity(listed.len() + behind.len() + known.len());
        for key in listed.iter().map(|keyed| &keyed.key).chain(behind) {
            seen.insert(key);
        }
        let queued = self.newest();
        let mut gone = Vec::new();
        for (key, newest) in queued.iter() {
            if !newest.is_deleted() && !seen.contains(key) {
                gone.push((key.clone(), newest.object().cloned()));
            }
        }
        for key in &known {
            if seen.insert(key) && !queued.contains(key) {
                gone.push((key.clone(), self.look_up(key)));
            }
        }
        gone
    }

    /// Shows what the consumer has once more: as one event in atomic mode, otherwise every known
    /// object of which nothing is queued (`cache:RF-12`, `RF-13`).
    pub(super) fn resync(&mut self, wakes: &mut Wakes) -> Result<(), EnqueueError> {
        if self.mode.is_atomic() {
            self.push(Event::SyncAll, wakes);
            return Ok(());
        }
        let (idle, refused) = self.idle();
        for object in idle {
            self.push(Delta::Sync(object), wakes);
        }
        refused.map_or(Ok(()), |error| Err(EnqueueError::Key(error)))
    }

    /// Finds the known objects of which nothing is queued, up to the first that has no key.
    fn idle(&self) -> (Vec<O>, Option<KeyError>) {
        let known = self.known_keys();
        let queued = self.newest();
        let mut shown = KeySet::with_capacity(known.len());
        let mut idle = Vec::new();
        for key in &known {
            if queued.contains(key) || !shown.insert(key) {
                continue;
            }
            let Some(object) = self.look_up(key) else { continue };
            match self.intake.name(&object) {
                Ok(_) => idle.push(object),
                Err(error) => return (idle, Some(error)),
            }
        }
        (idle, None)
    }

    fn known_keys(&self) -> Vec<Hashed<K>> {
        let keys = self.mode.known().map(KnownObjects::keys).unwrap_or_default();
        keys.into_iter().map(|key| self.intake.hasher().hashed(key)).collect()
    }

    fn look_up(&self, key: &Hashed<K>) -> Option<O> {
        self.mode.known()?.get(key.key()).ok().flatten()
    }

    /// Finds the newest queued change of every object. One whose key cannot be computed any more
    /// belongs to no object that a list could name.
    fn newest(&self) -> Newest<'_, K, O> {
        let mut newest = Newest::new();
        for change in self.events.iter().filter_map(Event::delta) {
            if let Ok(key) = self.intake.key_of_delta(change) {
                newest.insert(key, change);
            }
        }
        newest
    }

    /// Tells whether a bookmark is an event here (`cache:RF-14`).
    pub(super) fn emits_bookmarks(&self) -> bool {
        self.mode.emits_bookmarks()
    }

    /// Tells whether a `pop` may take something now. With the lock released, one consumer's
    /// processing ends before another may take the next events (`cache:RF-32`).
    pub(super) fn is_ready(&self) -> bool {
        !self.events.is_empty() && self.in_process.is_none()
    }

    /// Takes the first event (`cache:RF-15`).
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Popped<K, O>> {
        let event = self.events.pop_front()?;
        let initial = self.begin(1);
        Some(Popped { event, initial, left: self.events.len() })
    }

    /// Notes that events were taken; tells whether the first list is not yet processed.
    pub(super) fn begin(&mut self, taken: usize) -> bool {
        assert!(self.in_process.is_none(), "one consumer processes at a time");
        let short = self.events.len() < self.batch_size.saturating_mul(2);
        let unlocked = short && self.mode.unlocks();
        self.in_process = Some(InProcess { initial: taken.min(self.latch.left()), unlocked });
        !self.latch.is_set()
    }

    /// Tells whether the lock is released while the events that were just taken are processed
    /// (`cache:RF-31`). With a long queue it is not, so that writers wait and it gets no longer.
    pub(super) fn is_unlocked(&self) -> bool {
        self.in_process.is_some_and(|in_process| in_process.unlocked)
    }

    /// Ends the processing of what was taken; only now it counts as processed (`cache:RF-16`).
    pub(super) fn finish(&mut self, wakes: &mut Wakes) {
        let Some(in_process) = self.in_process.take() else { return };
        self.latch.finish(in_process.initial, wakes, SYNC);
        if !self.events.is_empty() {
            // A consumer woken while another processed unlocked sleeps again, so the wake-ups of
            // those events are spent. Hence each end wakes one for the events left, locked or not.
            wakes.one(POPPERS);
        }
        if self.is_drained() {
            wakes.all(POPPERS);
            wakes.all(SYNC);
        }
    }

    pub(super) fn close(&mut self, wakes: &mut Wakes) {
        self.closed = true;
        wakes.all(POPPERS);
        wakes.all(SYNC);
    }

    /// Tells whether the queue is closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Tells whether no further event will be handed out unless somebody writes.
    pub(super) fn is_drained(&self) -> bool {
        self.closed && self.events.is_empty() && self.in_process.is_none()
    }

    /// Tells how far the first list is processed.
    pub fn latch(&self) -> &SyncLatch {
        &self.latch
    }

    /// Returns how many events wait.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Tells whether no event waits.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the store that the queue reads, in plain mode.
    pub fn known(&self) -> Option<&N> {
        self.mode.known()
    }

    /// Goes through copies of the events that wait, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Event<K, O>> {
        self.events.iter().cloned()
    }

    /// Checks the count of the initial batch, and who may hold the lock.
    pub(super) fn check(&self) {
        let left = self.latch.left();
        assert!(left == 0 || self.latch.is_populated(), "a batch is counted by a write");
        let taken = self.in_process.map_or(0, |in_process| in_process.initial);
        assert!(taken <= left, "what is in process counts until it is processed");
        assert!(left - taken <= self.len(), "the rest of the initial batch is in the queue");
        assert!(!self.is_unlocked() || self.mode.unlocks(), "plain mode keeps its lock");
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> fmt::Debug for OrderedQueue<K, O, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrderedQueue")
            .field("waiting", &self.len())
            .field("latch", &self.latch)
            .field("in_process", &self.in_process)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordered_fifo::Options;

    #[test]
    fn an_initial_batch_that_is_not_in_the_queue_is_noticed() {
        let intake = Intake::with_hasher(crate::store::KeyHasher::fixed(0), |name: &u8| Ok(*name));
        let mut queue = OrderedQueue::new(intake, Options::default().mode, 2);
        queue.check();
        queue.latch.populate(1, &mut Wakes::default(), SYNC);
        let check = std::panic::AssertUnwindSafe(|| queue.check());
        assert!(std::panic::catch_unwind(check).is_err());
    }
}
