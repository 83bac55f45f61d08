//! The rules of the work queue: how an item moves between sets, and which sleepers that wakes.
//!
//! ```text
//!            add                 get                  done
//!  absent --------> waiting ---------> processing ----------> absent
//!                      ^                   |  add
//!                      |                   v
//!                      +----- done --- processing, dirty       (add while waiting: touch only)
//! ```

use std::fmt;
use std::hash::Hash;
use std::panic::resume_unwind;

use crate::machine::{Channel, Cx, Wakes};
use crate::metrics::{Meter, Metrics};
use crate::runtime::Instant;
use crate::slab::Slot;

use super::items::{DIRTY, Items, PROCESSING, Token};
use super::storage::{Fifo, Storage};

/// Callers of `get` sleep here.
pub const GETTERS: Channel = 0;
/// Callers of the two drains sleep here. This is a separate channel, so that a drain never uses up
/// a wake meant for a getter (`workqueue:WQ-18`).
pub const DRAINS: Channel = 1;

/// Callers that refresh the metrics sleep here.
pub const UPDATERS: Channel = 2;

/// The items that the queue can hold. Equal values are the same item (`workqueue:CV-2`). Items are
/// compared and copied under the lock, and must not call back into the queue.
pub trait Key: Eq + Hash + Clone + Send + fmt::Debug + 'static {}
impl<T: Eq + Hash + Clone + Send + fmt::Debug + 'static> Key for T {}

/// The condition that a drain waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DrainUntil {
    /// Nothing is in processing; waiting items may be left (`workqueue:WQ-32`).
    NothingInFlight,
    /// Every accepted item is processed (`workqueue:WQ-33`). Never ends without a consumer.
    AllWorkDone,
}

/// The state of a work queue, without its lock.
pub struct Queue<K: Key, S: Storage<K> = Fifo> {
    /// Every item that is dirty, in processing or delayed. Other items are removed.
    pub(super) items: Items<K>,
    /// The items that are dirty and not in processing, in the order of delivery.
    waiting: S,
    /// How many items are in processing.
    in_flight: usize,
    /// How many items are dirty and in processing.
    reprocess: usize,
    shutting_down: bool,
    /// How often `shut_down` was called. A drain remembers the number at its start and ends when
    /// it has changed; a plain flag would lose the release when a new drain sets it again before
    /// the sleepers look (`workqueue:WQ-36`).
    shutdowns: u64,
    /// The metrics; without them a call only checks for `None`.
    meter: Option<Box<Meter>>,
}

impl<K: Key, S: Storage<K> + Clone> Clone for Queue<K, S> {
    fn clone(&self) -> Self {
        Self {
            items: self.items.clone(),
            waiting: self.waiting.clone(),
            meter: self.meter.clone(),
            ..*self
        }
    }

    /// Reuses the memory that is already there: a search of all states makes many copies.
    fn clone_from(&mut self, source: &Self) {
        let Self { items, waiting, in_flight, reprocess, shutting_down, shutdowns, meter } = self;
        items.clone_from(&source.items);
        waiting.clone_from(&source.waiting);
        *in_flight = source.in_flight;
        *reprocess = source.reprocess;
        *shutting_down = source.shutting_down;
        *shutdowns = source.shutdowns;
        meter.clone_from(&source.meter);
    }
}

impl<K: Key, S: Storage<K> + Default> Default for Queue<K, S> {
    fn default() -> Self {
        Self::new(S::default())
    }
}

impl<K: Key, S: Storage<K>> Queue<K, S> {
    /// Makes an empty, running queue (`workqueue:WQ-2`).
    pub fn new(storage: S) -> Self {
        Self {
            items: Items::new(),
            waiting: storage,
            in_flight: 0,
            reprocess: 0,
            shutting_down: false,
            shutdowns: 0,
            meter: None,
        }
    }

    /// Makes an empty, running queue that is measured (`workqueue:MX-1`).
    pub fn measured(storage: S, metrics: &Metrics) -> Self {
        Self { meter: metrics.meter().map(Box::new), ..Self::new(storage) }
    }

    /// Accepts an item, in the order of checks of `workqueue:WQ-4`.
    #[inline(always)]
    pub(crate) fn add(&mut self, key: &mut Option<K>, hash: u64, cx: &mut Cx<'_>) {
        if self.shutting_down {
            return;
        }
        if let Some((slot, key, mark)) = self.items.intern(key, hash) {
            let Self { waiting, reprocess, meter, .. } = self;
            dirty((slot, key, mark), None, (waiting, reprocess, meter), cx);
        }
    }

    /// Adds an item that is held already: at once, or because its time came (`workqueue:MX-5`).
    #[inline(always)]
    pub(crate) fn make_dirty(&mut self, slot: Slot, due: Option<Instant>, cx: &mut Cx<'_>) {
        let Self { items, waiting, reprocess, meter, .. } = self;
        let (key, mark) = items.marked(slot);
        dirty((slot, key, mark), due, (waiting, reprocess, meter), cx);
    }

    /// Hands out the next waiting item. It leaves the dirty set here, not at done (`WQ-11`). If the
    /// item cannot be copied, it waits again, behind the others.
    #[inline(always)]
    pub(super) fn pop(&mut self, cx: &mut Cx<'_>) -> Option<(Token, K)> {
        if self.waiting.is_empty() {
            return None;
        }
        let slot = self.waiting.pop().expect("a storage that holds items hands one out (ST-4)");
        let key = self.items.copy(slot).unwrap_or_else(|panic| {
            self.waiting.push(slot, self.items.item(slot).key());
            resume_unwind(panic)
        });
        self.in_flight += 1;
        if let Some(meter) = &mut self.meter {
            let now = cx.now();
            meter.handed_out(slot, now, &mut cx.left);
        }
        Some((self.items.hand_out(slot), key))
    }

    /// Ends a delivery. Returns the item if it left the queue, so that it drops outside the lock.
    #[inline(always)]
    pub(super) fn finish(&mut self, slot: Slot, cx: &mut Cx<'_>) -> Option<K> {
        self.in_flight -= 1;
        let left = self.items.leave(slot, |key, mark| {
            // The item has been looked up at this point; an earlier call would look it up again.
            if let Some(meter) = &mut self.meter {
                let now = cx.now();
                meter.done(slot, now, &mut cx.left);
            }
            *mark &= !PROCESSING;
            if *mark & DIRTY != 0 {
                self.reprocess -= 1;
                self.waiting.push(slot, key); // also while shutting down (WQ-17)
                cx.wakes.one(GETTERS);
            }
        });
        if self.in_flight == 0 && self.shutting_down {
            cx.wakes.all(DRAINS); // every drain, in both branches (WQ-18)
        }
        left
    }

    pub(crate) fn begin_shutdown(&mut self, wakes: &mut Wakes) {
        self.shutting_down = true;
        wakes.all(GETTERS);
        wakes.all(DRAINS);
        wakes.all(UPDATERS);
    }

    /// Counts that an item was given a delay.
    pub(crate) fn count_retry(&self, cx: &mut Cx<'_>) {
        if let Some(meter) = &self.meter {
            meter.retried(&mut cx.left);
        }
    }

    /// Tells the metrics how long the items in processing have been there.
    pub(super) fn tell_unfinished(&self, cx: &mut Cx<'_>) {
        if let Some(meter) = &self.meter {
            let now = cx.now();
            meter.tell_unfinished(now, &mut cx.left);
        }
    }

    pub(super) fn release_drains(&mut self) {
        self.shutdowns += 1;
    }

    /// Returns how often `shut_down` was called.
    pub fn shutdowns(&self) -> u64 {
        self.shutdowns
    }

    pub(super) fn is_drained(&self, until: DrainUntil) -> bool {
        self.in_flight == 0
            && (until == DrainUntil::NothingInFlight || Storage::<K>::is_empty(&self.waiting))
    }

    #[inline]
    pub(crate) fn slot_of(&self, token: Token) -> Option<Slot> {
        self.items.in_processing(token)
    }

    pub(super) fn slot_in_processing(&self, key: &K, hash: u64) -> Option<Slot> {
        self.items.find_in_processing(key, hash)
    }

    /// Returns how many items wait; those in processing do not count (`workqueue:WQ-23`).
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Tells whether no item waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns how many items are in processing.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Tells whether the queue refuses new items.
    pub fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }

    /// Tells whether the delivery that a token names has not ended.
    pub fn is_in_processing(&self, token: Token) -> bool {
        self.slot_of(token).is_some()
    }

    /// Checks `workqueue:INV-1` to `INV-3`.
    pub(crate) fn check(&self) {
        let (mut waiting, mut in_flight, mut reprocess, mut idle) = (0, 0, 0, 0);
        for (_, state) in self.items.iter() {
            assert_ne!(state, 0, "an item in no set is removed");
            match state & (DIRTY | PROCESSING) {
                DIRTY => waiting += 1,
                PROCESSING => in_flight += 1,
                0 => idle += 1,
                _ => reprocess += 1,
            }
        }
        assert_eq!(waiting, self.waiting.len(), "storage holds dirty items out of processing");
        assert_eq!(in_flight + reprocess, self.in_flight, "in flight counts all in processing");
        assert_eq!(reprocess, self.reprocess, "reprocess counts the dirty ones among them");
        let held = waiting + self.in_flight + idle;
        assert_eq!(held, self.items.len(), "the table holds all items");
    }

    /// Tells which items are in which set.
    pub(crate) fn describe(&self) -> String {
        let of = |sets: u32| {
            let all = self.items.iter();
            let within = all.filter(move |(_, state)| state & (DIRTY | PROCESSING) == sets);
            within.map(|(slot, _)| self.items.item(slot).key()).collect::<Vec<_>>()
        };
        let (waiting, processing, again) = (of(DIRTY), of(PROCESSING), of(DIRTY | PROCESSING));
        let end = if self.shutting_down { ", shutting down" } else { "" };
        format!(
            "waiting {waiting:?}, in processing {processing:?}, again afterwards {again:?}{end}"
        )
    }
}

/// Adds an item with a known slot, key and mark: at once, or because its time came.
#[inline(always)]
fn dirty<K: Key, S: Storage<K>>(
    (slot, key, mark): (Slot, &K, &mut u32),
    due: Option<Instant>,
    (waiting, reprocess, meter): (&mut S, &mut usize, &mut Option<Box<Meter>>),
    cx: &mut Cx<'_>,
) {
    let was = std::mem::replace(mark, *mark | DIRTY);
    if was & (DIRTY | PROCESSING) == 0 {
        waiting.push(slot, key);
        cx.wakes.one(GETTERS);
    } else if was & DIRTY == 0 {
        *reprocess += 1;
    } else {
        if was & PROCESSING == 0 {
            waiting.touch(slot, key);
        }
        return; // an item that is dirty and in processing does not change (WQ-5)
    }
    if let Some(meter) = meter {
        let since = due.unwrap_or_else(|| cx.now());
        meter.added(slot, since, &mut cx.left);
    }
}

impl<K: Key> Queue<K> {
    /// Visits the waiting items in the order of delivery.
    pub fn waiting(&self) -> impl Iterator<Item = &K> {
        self.waiting.slots().map(|slot| self.items.item(slot).key())
    }

    /// Visits the items in processing, in any order; tells whether they were added meanwhile.
    pub fn processing(&self) -> impl Iterator<Item = (&K, bool)> {
        let processing = self.items.iter().filter(|(_, state)| state & PROCESSING != 0);
        processing.map(|(slot, state)| (self.items.item(slot).key(), state & DIRTY != 0))
    }
}

impl<K: Key, S: Storage<K>> fmt::Debug for Queue<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("waiting", &self.len())
            .field("in_flight", &self.in_flight)
            .field("reprocess", &self.reprocess)
            .field("shutting_down", &self.shutting_down)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::single_step::{Stepped, each_is_noticed};
    use crate::queue::items::DELAYED;
    use crate::queue::{Add, Get};

    /// One item waits, one waits for its time, two are in processing, one of them added meanwhile.
    fn queue() -> Queue<u8> {
        let mut queue = Stepped::new(Queue::default());
        let add = |key: u8| Add { key: Some(key), hash: key.into() };
        (1..=3).for_each(|key| queue.call(add(key)));
        assert!(queue.call(Get).is_some() && queue.call(Get).is_some());
        queue.call(add(2));
        queue.machine.keep(&mut Some(4), 4);
        queue.machine
    }

    #[test]
    fn a_state_that_is_wrong_is_noticed() {
        let waiting = Slot(2);
        assert_eq!(queue().item(waiting), &3);
        let breaks: [fn(&mut Queue<u8>); 9] = [
            |queue| _ = queue.items.intern(&mut Some(9), 9),
            |queue| _ = Storage::<u8>::pop(&mut queue.waiting),
            |queue| queue.waiting.push(Slot(2), &3),
            |queue| *queue.items.marked(Slot(2)).1 = DELAYED,
            |queue| *queue.items.marked(Slot(2)).1 |= PROCESSING,
            |queue| queue.in_flight += 1,
            |queue| queue.in_flight -= 1,
            |queue| queue.reprocess += 1,
            |queue| queue.reprocess -= 1,
        ];
        each_is_noticed(queue, breaks, Queue::check);
    }

    #[test]
    fn a_state_is_shown_by_its_counts() {
        let shown = "Queue { waiting: 1, in_flight: 2, reprocess: 1, shutting_down: false, .. }";
        assert_eq!(format!("{:?}", queue()), shown);
        let queue = queue();
        let mut processing: Vec<_> = queue.processing().collect();
        processing.sort_unstable();
        assert_eq!(processing, [(&1, false), (&2, true)], "not what waits, for whatever");
    }
}
