//! The rules of the delaying queue: a queue, and the items whose time has not come.

use std::fmt;
use std::time::Duration;

use crate::caught::Remains;
use crate::machine::Cx;
use crate::metrics::Metrics;
use crate::queue::{Fifo, GETTERS, Key, Queue, Storage};
use crate::runtime::Instant;
use crate::slab::Slot;

use super::later::{Due, Later};

/// The state of a delaying queue, without its lock.
///
/// The reference moves due items in a separate thread. Here every call that could see the
/// difference moves them first, and a consumer sleeps until the earliest deadline. Nothing runs in
/// the background, so nothing has to be started, handed over or stopped.
#[derive(Clone)]
pub struct Delaying<K: Key, S: Storage<K> = Fifo> {
    pub(super) queue: Queue<K, S>,
    /// One entry for every item that the queue keeps (`workqueue:INV-12`).
    later: Later,
    /// How often an item was given a delay (`workqueue:DQ-4`).
    retries: u64,
    /// When it was shut down or a drain began.
    pub(super) ended: Option<Instant>,
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

    /// Makes an empty, running queue that is measured, including retries (`workqueue:MX-2`).
    pub fn measured(storage: S, metrics: &Metrics) -> Self {
        Self::around(Queue::measured(storage, metrics))
    }

    fn around(queue: Queue<K, S>) -> Self {
        Self { queue, later: Later::new(), retries: 0, ended: None }
    }

    /// Adds the items whose time has come, in the order of their times (`workqueue:DQ-10`). Every
    /// call does this first, so that its answer is right for its time.
    ///
    /// A step adds at most [`AT_ONCE`](crate::machine::AT_ONCE) items; otherwise the first caller
    /// would hold the lock until a large number is added. Calls that need all of them ask
    /// [`is_behind`](Self::is_behind).
    #[inline]
    pub(super) fn move_due(&mut self, cx: &mut Cx<'_>) {
        if !self.later.is_empty() {
            self.move_some(cx);
        }
    }

    fn move_some(&mut self, cx: &mut Cx<'_>) {
        let by = self.due_by(cx);
        while cx.left_to_move > 0
            && let Some(due) = self.later.pop_due(by)
        {
            cx.left_to_move -= 1;
            self.queue.ripen(due.slot, due.deadline, cx);
        }
    }

    /// Tells whether there are items whose time has come but that were not added yet.
    pub(super) fn is_behind(&self, cx: &mut Cx<'_>) -> bool {
        let Some(first) = self.later.first() else { return false };
        first.deadline <= self.due_by(cx) && first.deadline != Instant::NEVER
    }

    /// Items with a time up to this one are due. Once the queue has ended, later items never become
    /// due.
    fn due_by(&self, cx: &mut Cx<'_>) -> Instant {
        self.ended.unwrap_or_else(|| cx.now())
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
        self.queue.count_retry(cx);
        self.move_due(cx);
        if delay.is_zero() {
            self.queue.add(key, hash, cx);
        } else if let Some(slot) = self.queue.keep(key, hash) {
            self.wait_until(slot, now + delay, cx);
        }
    }

    /// As [`add_after`](Self::add_after), for an item that the queue holds already.
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
        self.queue.count_retry(cx);
        self.move_due(cx);
        if delay.is_zero() {
            self.queue.make_dirty(slot, None, cx);
        } else {
            self.queue.keep_slot(slot);
            self.wait_until(slot, now + delay, cx);
        }
    }

    /// Sets the deadline of a kept item. If it has an earlier one, it keeps that
    /// (`workqueue:DQ-9`).
    #[inline]
    fn wait_until(&mut self, slot: Slot, deadline: Instant, cx: &mut Cx<'_>) {
        // If its earlier time has already come, the item was only not added yet. It is added in
        // front of others that are due and were not added either: this call does not pay for them.
        let given = self.later.get(slot).map(|due| due.deadline);
        if let Some(due) = given.filter(|due| *due != Instant::NEVER)
            && due <= self.due_by(cx)
        {
            self.later.remove(slot);
            self.queue.ripen(slot, due, cx);
            self.queue.keep_slot(slot);
        }
        if self.later.give(slot, deadline) {
            cx.wakes.earlier(GETTERS);
        }
    }

    /// Refuses new items and ends all waiting (`workqueue:DQ-19`): due items are added and the
    /// others dropped, some in each step. Returns whether that is complete; dropped items are in
    /// `discarded`.
    pub(super) fn end_waiting(&mut self, discarded: &mut Vec<Remains<K>>, cx: &mut Cx<'_>) -> bool {
        if self.ended.is_none() {
            self.ended = Some(cx.now());
            self.queue.begin_shutdown(&mut cx.wakes);
        }
        self.move_due(cx);
        if self.is_behind(cx) {
            return false;
        }
        let mut left = Remains::new();
        while cx.left_to_move > 0
            && let Some(due) = self.later.pop_any()
        {
            cx.left_to_move -= 1;
            left.extend(self.queue.let_go(due.slot));
        }
        if !left.is_empty() {
            discarded.push(left); // in pieces: one long list would be copied as it grows
        }
        self.later.is_empty()
    }

    /// Returns the earliest time of the waiting items.
    #[inline]
    pub(super) fn earliest(&self) -> Option<Instant> {
        self.later.first().map(|due| due.deadline)
    }

    /// Returns the inner queue, with the items that are ready or in processing.
    pub fn queue(&self) -> &Queue<K, S> {
        &self.queue
    }

    /// Returns the items that wait for their time, with the time, in the order in which they will
    /// be added.
    pub fn later(&self) -> Vec<(&K, Instant)> {
        let mut all: Vec<Due> = self.queue.kept().filter_map(|slot| self.later.get(slot)).collect();
        all.sort_unstable();
        all.iter().map(|due| (self.queue.item(due.slot), due.deadline)).collect()
    }

    /// Returns how many items wait for their time.
    pub fn delayed(&self) -> usize {
        self.later.len()
    }

    /// Returns how often an item was given a delay, including delays of zero (`workqueue:DQ-4`).
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
        let ended = self.ended.is_some();
        assert_eq!(ended, self.queue.is_shutting_down(), "a queue that ends knows since when");
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
