//! The rules of the DeltaFIFO.
//!
//! ```text
//!            add, update, delete,              pop                   process
//!            replace, resync                                         returned
//!  absent ---------------------> pending ---------------> in process --------> absent
//!                                 |   ^                        |
//!                                 +---+ append, compress       | requeue (on request)
//!                                   ^                          |
//!                                   +--------------------------+
//! ```
//!
//! Foreign code - the store of known objects - is called before anything changes, so a panic in it
//! does not change the queue.

use std::fmt;

use crate::caught::Remains;
use crate::events::{POPPERS, Progress, SYNC, SyncLatch};
use crate::machine::Wakes;
use crate::store::Keyed;
use crate::store::{Handle, Hashed, Key, KeyHasher, KeySet, KnownObjects, LastState, NothingKnown};

use super::pending::Pending;
use super::{Delta, Deltas};

/// The state of a DeltaFIFO, without its lock.
#[derive(Clone)]
pub struct DeltaQueue<K: Key, O: Handle, N: KnownObjects<K, O> = NothingKnown> {
    pending: Pending<K, O>,
    known: Option<N>,
    hasher: KeyHasher,
    emit_replaced: bool,
    latch: SyncLatch,
    /// Whether an entry is being processed, under the lock.
    in_process: bool,
    closed: bool,
}

/// Values that a call no longer needs, to drop outside the lock.
#[derive(Clone, Debug)]
pub struct Left<K, O> {
    /// Keys that the queue already has, or that were only looked up.
    pub keys: Remains<Hashed<K>>,
    /// Changes that compression dropped, and objects that are not queued.
    pub changes: Remains<Delta<K, O>>,
}

impl<K, O> Left<K, O> {
    pub(super) const fn new() -> Self {
        Self { keys: Remains::new(), changes: Remains::new() }
    }
}

/// An entry that was taken out of the queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Popped<K, O> {
    /// The key of the object.
    pub key: K,
    /// Its changes, oldest first, at least one.
    pub deltas: Deltas<K, O>,
    /// Whether the first list was not yet processed when this entry was taken (`cache:QU-20`).
    pub initial: bool,
    /// How many entries were left in the queue.
    pub left: usize,
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> DeltaQueue<K, O, N> {
    /// Makes an empty, open queue. `hasher` must be the one that hashes the keys of its calls.
    pub fn new(hasher: KeyHasher, known: Option<N>, emit_replaced: bool) -> Self {
        Self {
            pending: Pending::new(),
            known,
            hasher,
            emit_replaced,
            latch: SyncLatch::default(),
            in_process: false,
            closed: false,
        }
    }

    /// Notes a write other than a list (`cache:QU-14`).
    #[inline]
    pub(super) fn populate(&mut self, wakes: &mut Wakes) {
        self.latch.populate(0, wakes, SYNC);
    }

    /// Queues a change; takes the key if it is new. Returns the change that compression dropped.
    #[inline]
    pub(super) fn enqueue(
        &mut self,
        key: &mut Option<Hashed<K>>,
        delta: Delta<K, O>,
        wakes: &mut Wakes,
    ) -> Option<Delta<K, O>> {
        match self.pending.seek(key.as_ref()?) {
            Ok(slot) => self.pending.deltas_mut(slot).push(delta),
            Err(vacancy) => {
                self.pending.push_back(vacancy, key.take()?.into_key(), delta.into());
                wakes.one(POPPERS);
                None
            }
        }
    }

    /// Tells whether a deletion must be queued: the object is pending or known, or the store cannot
    /// tell (`cache:DF-9`).
    pub(super) fn may_exist(&self, key: &Hashed<K>) -> bool {
        self.pending.find(key).is_some()
            || self.known.as_ref().is_some_and(|known| !matches!(known.get(key.key()), Ok(None)))
    }

    /// Queues a complete list, and tombstones for pending or known objects that are not in it.
    /// Values that are no longer needed go to `left`.
    pub(super) fn replace(
        &mut self,
        listed: Vec<Keyed<K, O>>,
        left: &mut Left<K, O>,
        wakes: &mut Wakes,
    ) {
        let gone = self.unlisted(&listed, left);
        self.enqueue_listed(listed, left, wakes);
        for (key, object) in gone {
            let tombstone = LastState::unknown(key.key().clone(), object);
            self.enqueue_of(key, Delta::Deleted(tombstone), left, wakes);
        }
        // Listed or deleted, every key in the queue is part of the batch (DF-18).
        self.latch.populate(self.pending.len(), wakes, SYNC);
    }

    pub(super) fn enqueue_listed(
        &mut self,
        listed: Vec<Keyed<K, O>>,
        left: &mut Left<K, O>,
        wakes: &mut Wakes,
    ) {
        for Keyed { key, object } in listed {
            let delta =
                if self.emit_replaced { Delta::Replaced(object) } else { Delta::Sync(object) };
            self.enqueue_of(key, delta, left, wakes);
        }
    }

    /// As [`enqueue`](Self::enqueue); a key that is not new, and a change that compression drops,
    /// go to `left`.
    fn enqueue_of(
        &mut self,
        key: Hashed<K>,
        delta: Delta<K, O>,
        left: &mut Left<K, O>,
        wakes: &mut Wakes,
    ) {
        let mut key = Some(key);
        left.changes.extend(self.enqueue(&mut key, delta, wakes));
        left.keys.extend(key);
    }

    /// Finds the objects that a list has deleted, with their newest known states (`cache:DF-12`):
    /// first the pending keys, then the known ones that are not pending.
    fn unlisted(
        &self,
        listed: &[Keyed<K, O>],
        left: &mut Left<K, O>,
    ) -> Vec<(Hashed<K>, Option<O>)> {
        let known = self.known_keys();
        let mut seen = KeySet::with_capacity(listed.len() + known.len());
        for keyed in listed {
            seen.insert(&keyed.key);
        }
        let mut gone = Vec::new();
        for (key, hash, deltas) in self.pending.iter() {
            let key = Hashed::of(key.clone(), hash);
            if seen.contains(&key) {
                left.keys.push(key);
            } else {
                gone.push((key, deltas.newest().and_then(Delta::object).cloned()));
            }
        }
        for key in &known {
            if seen.insert(key) && self.pending.find(key).is_none() {
                gone.push((key.clone(), self.look_up(key)));
            }
        }
        drop(seen);
        left.keys.extend(known);
        gone
    }

    /// Shows again every known object without pending changes (`cache:DF-21`), because an older
    /// state must not be queued after a newer one. Values no longer needed go to `left`.
    pub(super) fn resync(&mut self, left: &mut Left<K, O>, wakes: &mut Wakes) {
        let mut idle = Vec::new();
        for key in self.known_keys() {
            let is_idle = self.pending.find(&key).is_none();
            match is_idle.then(|| self.look_up(&key)).flatten() {
                Some(object) => idle.push((key, object)),
                None => left.keys.push(key),
            }
        }
        for (key, object) in idle {
            // If a store names a key twice, it is shown once.
            if self.pending.find(&key).is_none() {
                self.enqueue(&mut Some(key), Delta::Sync(object), wakes);
            } else {
                left.keys.push(key);
                left.changes.push(Delta::Sync(object));
            }
        }
    }

    fn known_keys(&self) -> Vec<Hashed<K>> {
        let keys = self.known.as_ref().map(KnownObjects::keys).unwrap_or_default();
        keys.into_iter().map(|key| self.hasher.hashed(key)).collect()
    }

    fn look_up(&self, key: &Hashed<K>) -> Option<O> {
        self.known.as_ref()?.get(key.key()).ok().flatten()
    }

    /// Takes the next entry. The lock stays held until [`finish`](Self::finish).
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Popped<K, O>> {
        assert!(!self.in_process, "the lock is held while an entry is processed");
        let (key, deltas) = self.pending.pop_front()?;
        let initial = !self.latch.is_set();
        self.in_process = true;
        Some(Popped { key, deltas, initial, left: self.pending.len() })
    }

    /// Ends the processing of an entry, which counts as processed only now (`cache:QU-18`).
    #[inline]
    pub(super) fn finish(&mut self, wakes: &mut Wakes) {
        if std::mem::take(&mut self.in_process) {
            self.latch.finish(1, wakes, SYNC);
        }
        if self.closed && self.pending.is_empty() {
            wakes.all(SYNC);
        }
    }

    /// Queues changes unless their key has newer ones; then leaves them with the caller
    /// (`cache:QU-10`).
    pub(super) fn add_if_absent(
        &mut self,
        key: &mut Option<Hashed<K>>,
        deltas: &mut Deltas<K, O>,
        wakes: &mut Wakes,
    ) {
        let Some(known) = key.as_ref() else { return };
        self.populate(wakes);
        if let Err(vacancy) = self.pending.seek(known)
            && !deltas.is_empty()
            && let Some(key) = key.take()
        {
            self.pending.push_back(vacancy, key.into_key(), std::mem::take(deltas));
            wakes.one(POPPERS);
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

    /// Returns the pending changes of an object.
    pub fn get(&self, key: &Hashed<K>) -> Option<&Deltas<K, O>> {
        self.pending.find(key).map(|slot| self.pending.deltas(slot))
    }

    /// Returns how many objects have pending changes.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Tells whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Visits the pending objects in the order of delivery.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &Deltas<K, O>)> {
        self.pending.iter().map(|(key, _, deltas)| (key, deltas))
    }

    /// Checks `cache:DF-1`, `DF-2` and the count of the initial batch.
    pub(super) fn check(&self) {
        self.pending.check(|key| self.hasher.hash(key));
        for (key, deltas) in self.iter() {
            assert!(!deltas.is_empty(), "{key:?} is pending without a change");
            let twice = deltas.windows(2).any(|pair| pair.iter().all(Delta::is_deleted));
            assert!(!twice, "{key:?} has two deletions in a row");
        }
        let left = self.latch.left();
        assert!(left == 0 || self.latch.is_populated(), "a batch is counted by a write");
        let places = self.len() + usize::from(self.in_process);
        assert!(left <= places, "the initial batch is in the queue or in process");
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Progress for DeltaQueue<K, O, N> {
    fn close(&mut self) {
        self.closed = true;
    }

    fn is_closed(&self) -> bool {
        self.closed
    }

    fn is_drained(&self) -> bool {
        self.closed && self.pending.is_empty() && !self.in_process
    }

    fn latch(&self) -> &SyncLatch {
        &self.latch
    }

    fn len(&self) -> usize {
        self.pending.len()
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> fmt::Debug for DeltaQueue<K, O, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeltaQueue")
            .field("pending", &self.len())
            .field("latch", &self.latch)
            .field("in_process", &self.in_process)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::single_step::each_is_noticed;

    type Queue = DeltaQueue<u8, u8>;

    /// Two objects of the first list wait, and a third is in process.
    fn queue() -> Queue {
        let hasher = KeyHasher::fixed(0);
        let mut queue = DeltaQueue::new(hasher.clone(), None, true);
        let keyed = |object: u8| Keyed { key: hasher.hashed(object), object };
        queue.replace((1..=3).map(keyed).collect(), &mut Left::new(), &mut Wakes::default());
        assert!(queue.pop().is_some());
        queue
    }

    /// The changes of the object that will be delivered next.
    fn next(queue: &mut Queue) -> &mut Deltas<u8, u8> {
        let slot = queue.pending.find(&queue.hasher.hashed(2)).unwrap();
        queue.pending.deltas_mut(slot)
    }

    #[test]
    fn a_state_that_is_wrong_is_noticed() {
        let gone = || Delta::Deleted(LastState::Final(2));
        let breaks: [&dyn Fn(&mut Queue); 5] = [
            &|queue| *next(queue) = Deltas::new(),
            &|queue| *next(queue) = Deltas::uncompressed(vec![gone(), gone()]),
            &|queue| queue.in_process = false,
            &|queue| drop(queue.pending.pop_front()),
            &|queue| queue.hasher = KeyHasher::fixed(1),
        ];
        each_is_noticed(queue, breaks, Queue::check);
        let mut queue = queue();
        *next(&mut queue) = Deltas::uncompressed(vec![gone(), Delta::Added(2), gone()]);
        queue.check();
    }

    #[test]
    fn a_state_is_shown_by_what_waits_and_how_far_it_is() {
        let shown = format!("{:?}", queue());
        assert!(shown.starts_with("DeltaQueue { pending: 2, latch: SyncLatch {"), "{shown}");
        assert!(shown.ends_with("in_process: true, closed: false, .. }"), "{shown}");
    }
}
