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
//! Foreign code - known objects, key functions - is called before anything changes, so a panic in
//! it does not change the queue.

use std::fmt;

use crate::delta_fifo::Delta;
use crate::events::{POPPERS, Progress, SYNC, SyncLatch};
use crate::machine::Wakes;
use crate::slab::Line;
use crate::store::{EnqueueError, Intake, Keyed};
use crate::store::{Handle, Hashed, Key, KeyError, KeySet, KnownObjects, LastState, NothingKnown};

use super::newest::Newest;
use super::{Event, Mode};

/// The state of an ordered FIFO, without its lock.
#[derive(Clone)]
pub struct OrderedQueue<K: Key, O: Handle, N: KnownObjects<K, O> = NothingKnown> {
    pub(super) events: Line<Event<K, O>>,
    mode: Mode<N>,
    pub(super) batch_size: usize,
    /// Computes the keys of queued events, which do not store them.
    pub(super) intake: Intake<K, O>,
    pub(super) latch: SyncLatch,
    in_process: Option<InProcess>,
    closed: bool,
}

/// Events that were taken and are still being processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct InProcess {
    /// How many of them belong to the initial batch. This is decided when they are taken: they do
    /// not belong to a list that comes meanwhile, while the lock is released (`cache:RF-17`).
    initial: usize,
    /// Whether the lock is released while they are processed.
    unlocked: bool,
}

/// An event that was taken out of the queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Popped<K, O> {
    /// The event.
    pub event: Event<K, O>,
    /// Whether the first list was not yet processed when this event was taken (`cache:QU-20`).
    pub initial: bool,
    /// How many events were left in the queue.
    pub left: usize,
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> OrderedQueue<K, O, N> {
    /// Makes an empty, open queue. A batch has at least one event.
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

    /// Notes a write other than a list (`cache:QU-14`).
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

    /// Appends a complete list, object by object: first tombstones for objects that are queued or
    /// known but not listed, then the listed ones (`cache:RF-7`). `behind` has the keys of a
    /// refused object and of those after it; afterwards it has all keys of the list.
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

    /// Makes the queued events the initial batch, if nothing was written before (`cache:RF-11`).
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

    /// Shows the consumer's objects again: as one event in atomic mode, otherwise every known
    /// object that has no queued event (`cache:RF-12`, `RF-13`).
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

    /// Finds the known objects without queued events, up to the first one without a key.
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

    /// Finds the newest queued change of every object. A change whose key cannot be computed any
    /// more is ignored, because no list could name its object.
    fn newest(&self) -> Newest<'_, K, O> {
        let mut newest = Newest::new();
        for change in self.events.iter().filter_map(Event::delta) {
            if let Ok(key) = self.intake.key_of_delta(change) {
                newest.insert(key, change);
            }
        }
        newest
    }

    /// Tells whether bookmarks are events in this queue (`cache:RF-14`).
    pub(super) fn emits_bookmarks(&self) -> bool {
        self.mode.emits_bookmarks()
    }

    /// Tells whether a `pop` may take an event now. While a consumer processes with the lock
    /// released, no other may take the next events (`cache:RF-32`).
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
    /// (`cache:RF-31`). If the queue is long it is not, so that writers wait and the queue stops
    /// growing.
    pub(super) fn is_unlocked(&self) -> bool {
        self.in_process.is_some_and(|in_process| in_process.unlocked)
    }

    /// Ends the processing of the taken events; only now they count as processed (`cache:RF-16`).
    pub(super) fn finish(&mut self, wakes: &mut Wakes) {
        let Some(in_process) = self.in_process.take() else { return };
        self.latch.finish(in_process.initial, wakes, SYNC);
        if !self.events.is_empty() {
            // A consumer that is woken while another one processes unlocked sleeps again, so its
            // wake-up is used up. So every end of processing wakes one consumer for the events that
            // are left.
            wakes.one(POPPERS);
        }
        if self.is_drained() {
            wakes.all(POPPERS);
            wakes.all(SYNC);
        }
    }

    /// Tells whether the queue is closed.
    pub fn is_closed(&self) -> bool {
        self.closed
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

    /// Visits copies of the waiting events, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Event<K, O>> {
        self.events.iter().cloned()
    }

    /// Checks the count of the initial batch, and the state of the lock.
    pub(super) fn check(&self) {
        let left = self.latch.left();
        assert!(left == 0 || self.latch.is_populated(), "a batch is counted by a write");
        let taken = self.in_process.map_or(0, |in_process| in_process.initial);
        assert!(taken <= left, "what is in process counts until it is processed");
        assert!(left - taken <= self.len(), "the rest of the initial batch is in the queue");
        assert!(!self.is_unlocked() || self.mode.unlocks(), "plain mode keeps its lock");
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Progress for OrderedQueue<K, O, N> {
    fn close(&mut self) {
        self.closed = true;
    }

    fn is_closed(&self) -> bool {
        self.closed
    }

    fn is_drained(&self) -> bool {
        self.closed && self.events.is_empty() && self.in_process.is_none()
    }

    fn latch(&self) -> &SyncLatch {
        &self.latch
    }

    fn len(&self) -> usize {
        self.events.len()
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
