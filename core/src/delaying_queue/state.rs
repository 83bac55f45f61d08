//! The rules of the delaying queue: a queue, and the items whose time has not come.

use std::fmt;
use std::time::Duration;

use crate::machine::Cx;
use crate::metrics::Metrics;
use crate::queue::{Fifo, GETTERS, Key, Queue, Storage};
use crate::runtime::Instant;
use crate::slab::Slot;

use super::later::{Due, Later};

/// The state of a delaying queue, without its lock.
///
/// The reference moves due items in a thread of their own. Here every call that could tell the
/// difference moves them first, and a consumer sleeps until the earliest deadline: nothing runs
/// in the background, so nothing has to be started, handed over to or stopped.
#[derive(Clone)]
pub struct Delaying<K: Key, S: Storage<K> = Fifo> {
    pub(super) queue: Queue<K, S>,
    /// One entry for every item that the queue keeps (`workqueue:INV-12`).
    later: Later,
    /// How often an item was given a delay (`workqueue:DQ-4`).
    retries: u64,
}

impl<K: Key, S: Storage<K> + Default> Default for Delaying<K, S> {
    fn default() -> Self {
        Self::new(S::default())
    }
}

impl<K: Key, S: Storage<K>> Delaying<K, S> {
    /// Makes an empty, running queue.
    pub fn new(storage: S) -> Self {
        Self::around(Queue::new(storage))
    }

    /// Makes an empty, running queue that is measured, retries too (`workqueue:MX-2`).
    pub fn measured(storage: S, metrics: &Metrics) -> Self {
        Self::around(Queue::measured(storage, metrics))
    }

    fn around(queue: Queue<K, S>) -> Self {
        Self { queue, later: Later::new(), retries: 0 }
    }

    /// Adds the items whose time has come, in the order of their times (`workqueue:DQ-10`).
    #[inline]
    pub(super) fn move_due(&mut self, cx: &mut Cx<'_>) {
        if !self.later.is_empty() {
            let now = cx.now();
            self.move_due_at(now, cx);
        }
    }

    #[inline]
    pub(super) fn move_due_at(&mut self, now: Instant, cx: &mut Cx<'_>) {
        while let Some(due) = self.later.first() {
            if due.deadline > now || due.deadline == Instant::NEVER {
                break;
            }
            if let Some(due) = self.later.pop() {
                self.queue.ripen(due.slot, cx);
            }
        }
    }

    /// Adds an item `delay` after `now`, in the order of checks of `workqueue:DQ-3`.
    #[inline(always)]
    pub(crate) fn add_after(
        &mut self,
        key: &mut Option<K>,
        hash: u64,
        now: Instant,
        delay: Duration,
        cx: &mut Cx<'_>,
    ) {
        if self.queue.is_shutting_down() {
            return;
        }
        self.retries += 1;
        self.queue.count_retry();
        self.move_due_at(now, cx);
        if delay.is_zero() {
            self.queue.add(key, hash, cx);
        } else if let Some(slot) = self.queue.keep(key, hash) {
            self.wait_until(slot, now + delay, cx);
        }
    }

    /// As [`add_after`](Self::add_after), for an item that the queue holds.
    pub(crate) fn add_slot_after(
        &mut self,
        slot: Slot,
        now: Instant,
        delay: Duration,
        cx: &mut Cx<'_>,
    ) {
        if self.queue.is_shutting_down() {
            return;
        }
        self.retries += 1;
        self.queue.count_retry();
        self.move_due_at(now, cx);
        if delay.is_zero() {
            self.queue.make_dirty(slot, cx);
        } else {
            self.queue.keep_slot(slot);
            self.wait_until(slot, now + delay, cx);
        }
    }

    /// Gives an item that is kept a deadline; one that has an earlier one keeps it
    /// (`workqueue:DQ-9`).
    #[inline]
    fn wait_until(&mut self, slot: Slot, deadline: Instant, cx: &mut Cx<'_>) {
        // Every sleeper must learn of an earlier deadline: one alone might be off with another
        // item when the time comes, while all others sleep until the deadline they know.
        if self.later.give(slot, deadline) {
            cx.wakes.all(GETTERS);
        }
    }

    /// Ends the waiting of all items (`workqueue:DQ-19`); returns those that left the queue.
    pub(super) fn discard_later(&mut self) -> Vec<K> {
        let later = self.later.drain();
        later.into_iter().filter_map(|slot| self.queue.let_go(slot)).collect()
    }

    /// Returns the earliest time at which an item's time comes.
    #[inline]
    pub(super) fn earliest(&self) -> Option<Instant> {
        self.later.first().map(|due| due.deadline)
    }

    /// Returns the queue inside: what waits to be handed out, and what is in processing.
    pub fn queue(&self) -> &Queue<K, S> {
        &self.queue
    }

    /// Returns the items that wait for their time, and when it comes, in the order in which they
    /// will be added.
    pub fn later(&self) -> Vec<(&K, Instant)> {
        let mut all: Vec<Due> = self.queue.kept().filter_map(|slot| self.later.get(slot)).collect();
        all.sort_unstable();
        all.iter().map(|due| (self.queue.item(due.slot), due.deadline)).collect()
    }

    /// Returns how many items wait for their time.
    pub fn delayed(&self) -> usize {
        self.later.len()
    }

    /// Returns how often an item was given a delay, of zero too (`workqueue:DQ-4`).
    pub fn retries(&self) -> u64 {
        self.retries
    }

    /// Checks `workqueue:INV-1` to `INV-3` and `INV-12`.
    pub(crate) fn check(&self) {
        self.queue.check();
        self.later.check();
        for slot in self.queue.kept() {
            assert!(self.later.get(slot).is_some(), "an item that is kept has a deadline");
        }
        assert_eq!(self.queue.kept().count(), self.later.len(), "a deadline has its item");
        if self.queue.is_shutting_down() {
            assert!(self.later.is_empty(), "nothing waits for its time after shutdown");
        }
    }
}

impl<K: Key, S: Storage<K>> fmt::Debug for Delaying<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delaying")
            .field("queue", &self.queue)
            .field("delayed", &self.delayed())
            .finish_non_exhaustive()
    }
}
