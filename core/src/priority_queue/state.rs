//! The rules of the priority queue: which items are ready, wait for a time, or are locked.
//!
//! ```text
//!          add                       get                    done
//!  absent -----> ready ------------------------> locked -----------> absent
//!    |             ^                              |  |
//!    | add later   | its time comes           add |  | add later
//!    v             |                              v  v
//!  waiting --------+          locked and ready (parked), or locked and waiting
//! ```

use std::cmp::Reverse;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use crate::limiter::{Item, Limiter};
use crate::machine::{Channel, Cx};
use crate::queue::items::{DELAYED, DIRTY, Items, PROCESSING, is_held};
use crate::queue::{Key, Token, UPDATERS};
use crate::runtime::Instant;
use crate::slab::{Slot, SlotHeap};

use super::observer::Observer;
use super::options::{AddOptions, delay};
use super::places::{Ready, Waiting};

/// Callers of `get` sleep here.
pub const GETTERS: Channel = 0;

/// The state of a priority queue, without its lock.
///
/// The reference collects added items in a buffer that a separate thread applies, and hands out
/// items in another thread. Here the caller of an add applies it and the caller of a get takes the
/// item, so every later call sees the added items (`workqueue:PQ-3`).
#[derive(Clone)]
pub struct Prioritized<K: Key, L: Limiter<K>, O: Observer = ()> {
    /// Every item that has an entry or is locked. The bits tell which: `DIRTY` is ready, `DELAYED`
    /// waiting, `PROCESSING` locked.
    pub(super) items: Items<K>,
    /// The entries that can be handed out.
    ready: SlotHeap<Ready>,
    /// The ready entries of locked items; there are at most as many as consumers. They are kept
    /// apart so that they need not be skipped (`workqueue:PQ-25`).
    parked: SlotHeap<Ready>,
    waiting: SlotHeap<Waiting>,
    sequence: u64,
    locked: usize,
    retries: u64,
    shutting_down: bool,
    pub(super) limiter: L,
    pub(super) observer: O,
}

impl<K: Key, L: Limiter<K>, O: Observer> Prioritized<K, L, O> {
    /// Makes an empty, running queue.
    pub fn new(limiter: L, observer: O) -> Self {
        Self {
            items: Items::new(),
            ready: SlotHeap::new(),
            parked: SlotHeap::new(),
            waiting: SlotHeap::new(),
            sequence: 0,
            locked: 0,
            retries: 0,
            shutting_down: false,
            limiter,
            observer,
        }
    }

    /// Makes due entries ready, then adds items (`workqueue:PQ-6` to `PQ-13`). If the limiter
    /// panics, its item and those after it are not added.
    #[inline]
    pub(super) fn add<'k>(
        &mut self,
        items: impl Iterator<Item = (&'k mut Option<K>, u64)>,
        options: &AddOptions,
        called: Option<Instant>,
        cx: &mut Cx<'_>,
    ) {
        if self.shutting_down {
            return; // the limiter is not called either (PQ-2)
        }
        let called = self.begin_add(options, called, cx);
        for (key, hash) in items {
            let Some(known) = key else { continue };
            // Foreign code runs before the slot is taken, because every slot must have an entry.
            let delay = delay(&mut self.limiter, Item::new(known, hash), options, called);
            let Some((slot, _, mark)) = self.items.intern(key, hash) else { continue };
            if is_held(*mark) || !delay.is_zero() {
                self.add_slot(slot, options.priority, called, delay, cx);
            } else {
                *mark |= DIRTY;
                let sequence = self.next();
                let place = Ready { priority: Reverse(options.priority), sequence, slot };
                self.stand(place, None, cx);
            }
        }
    }

    /// Adds the item of a delivery that has not ended.
    pub(super) fn add_again(&mut self, slot: Slot, options: &AddOptions, cx: &mut Cx<'_>) {
        if !self.shutting_down {
            let called = self.begin_add(options, None, cx);
            let delay = delay(&mut self.limiter, self.items.item(slot), options, called);
            self.add_slot(slot, options.priority, called, delay, cx);
        }
    }

    /// Makes due entries ready and returns the time that delays count from. The time matters only
    /// if there are delays.
    #[inline]
    fn begin_add(
        &mut self,
        options: &AddOptions,
        called: Option<Instant>,
        cx: &mut Cx<'_>,
    ) -> Instant {
        self.move_due(cx);
        match called {
            Some(called) => called,
            None if options.may_delay() => cx.now(),
            None => Instant::ZERO,
        }
    }

    #[inline]
    fn add_slot(
        &mut self,
        slot: Slot,
        priority: i32,
        called: Instant,
        delay: Duration,
        cx: &mut Cx<'_>,
    ) {
        if delay.is_zero() {
            return self.add_ready(slot, priority, cx);
        }
        self.retries += 1;
        self.tell(cx, O::retried);
        self.add_waiting(slot, priority, called + delay, cx);
    }

    #[inline]
    fn add_ready(&mut self, slot: Slot, priority: i32, cx: &mut Cx<'_>) {
        let state = self.items.state(slot);
        if state & DIRTY != 0 {
            return self.raise_ready(slot, priority, cx);
        }
        let new = Ready { priority: Reverse(priority), sequence: self.next(), slot };
        // A waiting entry keeps its sequence, unless its priority rises (PQ-12, PQ-13).
        let waited = if state & DELAYED != 0 { self.waiting.remove(slot) } else { None };
        // If its time has come, it was only not moved yet: it has been ready since then.
        let due = waited.map(|old| old.until).filter(|due| *due != Instant::NEVER);
        let due = due.filter(|due| *due <= cx.now());
        self.make_ready(waited.map_or(new, |old| first_of(old.ready, new)), due, cx);
    }

    fn add_waiting(&mut self, slot: Slot, priority: i32, until: Instant, cx: &mut Cx<'_>) {
        let (_, mark) = self.items.marked(slot);
        if *mark & DIRTY != 0 {
            return self.raise_ready(slot, priority, cx); // no time is earlier than ready (PQ-10)
        }
        *mark |= DELAYED;
        let new = Ready { priority: Reverse(priority), sequence: self.next(), slot };
        match self.waiting.get(slot) {
            Some(&Waiting { until: before, ready }) => {
                let until = until.min(before);
                self.waiting.replace(Waiting { until, ready: first_of(ready, new) });
                if until < before {
                    self.wake_for_earlier(slot, cx);
                }
            }
            None => {
                self.waiting.push(Waiting { until, ready: new });
                self.wake_for_earlier(slot, cx);
            }
        }
    }

    /// Sleepers must learn of an earlier time (`workqueue:PQ-21`).
    fn wake_for_earlier(&self, slot: Slot, cx: &mut Cx<'_>) {
        if self.waiting.first().is_some_and(|first| first.ready.slot == slot) {
            cx.wakes.earlier(GETTERS);
        }
    }

    /// Gives a ready entry a higher priority and a place after its new equals (`workqueue:PQ-11`,
    /// `PQ-12`).
    fn raise_ready(&mut self, slot: Slot, priority: i32, cx: &mut Cx<'_>) {
        let new = Ready { priority: Reverse(priority), sequence: self.next(), slot };
        let locked = self.items.state(slot) & PROCESSING != 0;
        let places = if locked { &mut self.parked } else { &mut self.ready };
        let place = *places.get(slot).expect("the ready entry of an item has a place");
        places.replace(first_of(place, new));
        if new.priority < place.priority {
            self.tell(cx, |observer, cx| observer.rose(slot, priority, cx));
        }
    }

    /// Makes an entry ready, now or because its time came. If its item is locked, it is kept apart.
    #[inline(always)]
    fn make_ready(&mut self, place: Ready, due: Option<Instant>, cx: &mut Cx<'_>) {
        let (_, mark) = self.items.marked(place.slot);
        *mark = *mark & !DELAYED | DIRTY;
        if *mark & PROCESSING != 0 {
            self.tell_ready(place, due, cx);
            self.parked.push(place);
        } else {
            self.stand(place, due, cx);
        }
    }

    /// Adds an entry to those that can be handed out.
    #[inline(always)]
    fn stand(&mut self, place: Ready, due: Option<Instant>, cx: &mut Cx<'_>) {
        self.tell_ready(place, due, cx);
        self.ready.push(place);
        cx.wakes.one(GETTERS);
    }

    /// Makes due entries ready, in the order of their times and with new sequences
    /// (`workqueue:PQ-18`). Nothing becomes ready after shutdown (`PQ-31`). Every call does this
    /// first, so that its answer is right for its time.
    ///
    /// A step makes at most [`AT_ONCE`](crate::machine::AT_ONCE) entries ready, so that one call
    /// does not hold the lock while a large number become ready. Calls that need all of them ask
    /// [`is_behind`](Self::is_behind).
    #[inline]
    pub(super) fn move_due(&mut self, cx: &mut Cx<'_>) {
        if !self.waiting.is_empty() {
            self.move_some(cx);
        }
    }

    fn move_some(&mut self, cx: &mut Cx<'_>) {
        while cx.left_to_move > 0
            && self.is_behind(cx)
            && let Some(due) = self.waiting.pop()
        {
            cx.left_to_move -= 1;
            let sequence = self.next();
            self.make_ready(Ready { sequence, ..due.ready }, Some(due.until), cx);
        }
    }

    /// Tells whether there are entries whose time has come but that were not made ready yet.
    pub(super) fn is_behind(&self, cx: &mut Cx<'_>) -> bool {
        let Some(Waiting { until, .. }) = self.waiting.first() else { return false };
        !self.shutting_down && *until != Instant::NEVER && *until <= cx.now()
    }

    /// Hands out the first ready entry with its priority (`workqueue:PQ-22`, `PQ-24`). If its item
    /// cannot be copied, it is ready again, after its equals.
    #[inline(always)]
    pub(super) fn hand_out(&mut self, cx: &mut Cx<'_>) -> Option<(Token, K, i32)> {
        let place = self.ready.pop()?;
        let key = self.items.copy(place.slot).unwrap_or_else(|panic| {
            let sequence = self.next();
            self.ready.push(Ready { sequence, ..place });
            resume_unwind(panic)
        });
        self.locked += 1;
        self.tell(cx, |observer, cx| observer.handed_out(place.slot, cx));
        Some((self.items.hand_out(place.slot), key, place.priority.0))
    }

    /// Unlocks an item (`workqueue:PQ-26`). Returns the item if it left the queue.
    #[inline(always)]
    pub(super) fn finish(&mut self, slot: Slot, cx: &mut Cx<'_>) -> Option<K> {
        self.locked -= 1;
        self.tell(cx, |observer, cx| observer.done(slot, cx));
        self.items.leave(slot, |_, mark| {
            *mark &= !PROCESSING;
            if *mark & DIRTY != 0 {
                let place = self.parked.remove(slot).expect("a ready entry has a place");
                self.ready.push(place);
                cx.wakes.one(GETTERS);
            }
        })
    }

    pub(super) fn begin_shutdown(&mut self, cx: &mut Cx<'_>) {
        self.shutting_down = true;
        cx.wakes.all(GETTERS);
        cx.wakes.all(UPDATERS);
    }

    #[inline(always)]
    fn tell_ready(&mut self, place: Ready, due: Option<Instant>, cx: &mut Cx<'_>) {
        self.tell(cx, |observer, cx| observer.ready(place.slot, place.priority.0, due, cx));
    }

    /// Calls the observer, which is foreign code. If it panics it misses a report, but nothing else
    /// is affected.
    #[inline(always)]
    pub(super) fn tell(&mut self, cx: &mut Cx<'_>, what: impl FnOnce(&mut O, &mut Cx<'_>)) {
        let observer = &mut self.observer;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| what(observer, cx))) {
            cx.left.push(panic);
        }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Returns the earliest time at which an entry becomes ready.
    #[inline]
    pub(super) fn earliest(&self) -> Option<Instant> {
        self.waiting.first().map(|first| first.until)
    }

    /// Returns how many entries are ready, including those of locked items (`workqueue:PQ-29`).
    pub fn len(&self) -> usize {
        self.ready.len() + self.parked.len()
    }

    /// Tells whether no entry is ready.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many entries wait for their time.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns how many items are handed out and not done.
    pub fn locked(&self) -> usize {
        self.locked
    }

    /// Returns how often an item was given a delay of more than zero (`workqueue:PQ-8`).
    pub fn retries(&self) -> u64 {
        self.retries
    }

    /// Tells whether the queue is shut down.
    pub fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }

    /// Checks `workqueue:INV-19`.
    pub(super) fn check(&self) {
        self.ready.check();
        self.waiting.check();
        let (mut ready, mut parked, mut waiting, mut locked) = (0, 0, 0, 0);
        for (slot, state) in self.items.iter() {
            assert_ne!(state, 0, "an item without an entry that is not locked is removed");
            assert_ne!(state & (DIRTY | DELAYED), DIRTY | DELAYED, "an entry is in one place");
            locked += usize::from(state & PROCESSING != 0);
            waiting += usize::from(state & DELAYED != 0);
            match state & (DIRTY | PROCESSING) {
                DIRTY => ready += 1,
                0 | PROCESSING => assert!(self.ready.get(slot).is_none(), "what is ready says so"),
                _ => parked += 1,
            }
        }
        assert_eq!(ready, self.ready.len(), "the ready entries are those of unlocked items");
        self.parked.check();
        assert_eq!(parked, self.parked.len(), "the parked entries are those of locked items");
        assert_eq!(waiting, self.waiting.len(), "a waiting entry has a time");
        assert_eq!(locked, self.locked, "locked counts the deliveries that have not ended");
    }
}

/// Merges two entries of one item: the higher priority counts; if equal, the older place.
fn first_of(old: Ready, new: Ready) -> Ready {
    if new.priority < old.priority { new } else { old }
}

impl<K: Key, L: Limiter<K>, O: Observer> fmt::Debug for Prioritized<K, L, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prioritized")
            .field("ready", &self.ready.len())
            .field("parked", &self.parked.len())
            .field("waiting", &self.waiting.len())
            .field("locked", &self.locked)
            .field("shutting_down", &self.shutting_down)
            .finish_non_exhaustive()
    }
}
