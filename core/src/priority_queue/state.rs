//! The rules of the priority queue: who is ready, who waits for a time, who is locked.
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
use std::time::Duration;

use crate::limiter::Limiter;
use crate::machine::{Channel, Cx};
use crate::queue::items::{DELAYED, DIRTY, Items, PROCESSING, is_held};
use crate::queue::{Key, Token, UPDATERS};
use crate::runtime::Instant;
use crate::slab::{Slot, SlotHeap};

use super::observer::Observer;
use super::order::Order;
use super::places::{Ready, Waiting};

/// Where callers of `get` sleep.
pub const GETTERS: Channel = 0;

/// How an item is added.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct AddOptions {
    /// How long it waits before it is ready. Given together with a limiter, the shorter counts
    /// (`workqueue:PQ-6`).
    pub after: Option<Duration>,
    /// Whether it failed, and the limiter says how long it waits.
    pub rate_limited: bool,
    /// Larger comes first.
    pub priority: i32,
}

impl AddOptions {
    /// Tells whether an item may have to wait.
    pub(super) fn may_delay(&self) -> bool {
        self.after.is_some() || self.rate_limited
    }
}

/// The state of a priority queue, without its lock.
///
/// The reference collects what is added in a buffer that a thread of its own applies, and hands
/// items out in another one. Here whoever adds applies, and whoever gets takes, so what has been
/// added is seen by every later call (`workqueue:PQ-3`).
#[derive(Clone)]
pub struct Prioritized<K: Key, L: Limiter<K>, O: Observer = ()> {
    /// Every item that has an entry or is locked. The bits say which: `DIRTY` ready,
    /// `DELAYED` waiting, `PROCESSING` locked.
    pub(super) items: Items<K>,
    /// The entries that can be handed out.
    ready: Order,
    /// The ready entries of locked items, as many as there are consumers at most. They are set
    /// aside so that nobody has to skip them (`workqueue:PQ-25`).
    parked: Vec<Ready>,
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
            ready: Order::new(),
            parked: Vec::new(),
            waiting: SlotHeap::new(),
            sequence: 0,
            locked: 0,
            retries: 0,
            shutting_down: false,
            limiter,
            observer,
        }
    }

    /// Adds items (`workqueue:PQ-6` to `PQ-13`), after those whose time has come.
    #[inline]
    pub(super) fn add<'k>(
        &mut self,
        items: impl Iterator<Item = (&'k mut Option<K>, u64)>,
        options: &AddOptions,
        called: Option<Instant>,
        cx: &mut Cx<'_>,
    ) {
        if self.shutting_down {
            return; // the limiter is not asked either (PQ-2)
        }
        let called = self.begin_add(options, called, cx);
        for (key, hash) in items {
            let Some((slot, _, mark)) = self.items.intern(key, hash) else { continue };
            if is_held(*mark) || options.may_delay() {
                cx.lend(|cx| self.add_slot(slot, options, called, cx));
            } else {
                *mark |= DIRTY;
                let sequence = self.next();
                self.stand(Ready { priority: Reverse(options.priority), sequence, slot }, cx);
            }
        }
    }

    /// Adds the item of a delivery that has not ended.
    pub(super) fn add_again(&mut self, slot: Slot, options: &AddOptions, cx: &mut Cx<'_>) {
        if !self.shutting_down {
            let called = self.begin_add(options, None, cx);
            self.add_slot(slot, options, called, cx);
        }
    }

    /// Makes ready what is due and returns the time that delays count from, which matters only if
    /// there are any.
    #[inline]
    fn begin_add(
        &mut self,
        options: &AddOptions,
        called: Option<Instant>,
        cx: &mut Cx<'_>,
    ) -> Instant {
        let needed = options.may_delay() || !self.waiting.is_empty();
        let now = called.unwrap_or_else(|| if needed { cx.now() } else { Instant::ZERO });
        if !self.waiting.is_empty() {
            cx.lend(|cx| self.move_due_at(now, cx));
        }
        now
    }

    #[inline]
    fn add_slot(&mut self, slot: Slot, options: &AddOptions, called: Instant, cx: &mut Cx<'_>) {
        if !options.may_delay() {
            return self.add_ready(slot, options.priority, cx);
        }
        let delay = self.delay(slot, options, called);
        if delay.is_zero() {
            return self.add_ready(slot, options.priority, cx);
        }
        self.retries += 1;
        self.observer.retried();
        self.add_waiting(slot, options.priority, called + delay, cx);
    }

    /// Returns how long an item waits. Computed for every item anew: what the limiter says of one
    /// must not leak to the next of a batch (`workqueue:PQ-6`).
    fn delay(&mut self, slot: Slot, options: &AddOptions, now: Instant) -> Duration {
        let limited = options.rate_limited.then(|| self.limiter.when(self.items.item(slot), now));
        match (options.after, limited) {
            (Some(after), Some(limited)) => after.min(limited),
            (after, limited) => after.or(limited).unwrap_or_default(),
        }
    }

    #[inline]
    fn add_ready(&mut self, slot: Slot, priority: i32, cx: &mut Cx<'_>) {
        let state = self.items.state(slot);
        if state & DIRTY != 0 {
            return self.raise_ready(slot, priority);
        }
        let new = Ready { priority: Reverse(priority), sequence: self.next(), slot };
        // A waiting entry keeps its sequence, unless its priority rises (PQ-12, PQ-13).
        let waited = if state & DELAYED != 0 { self.waiting.remove(slot) } else { None };
        self.make_ready(waited.map_or(new, |old| first_of(old.ready, new)), cx);
    }

    fn add_waiting(&mut self, slot: Slot, priority: i32, until: Instant, cx: &mut Cx<'_>) {
        let (_, mark) = self.items.marked(slot);
        if *mark & DIRTY != 0 {
            return self.raise_ready(slot, priority); // ready is earliest of all (PQ-10)
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

    /// Every sleeper must learn of an earlier time (`workqueue:PQ-21`).
    fn wake_for_earlier(&self, slot: Slot, cx: &mut Cx<'_>) {
        if self.waiting.first().is_some_and(|first| first.ready.slot == slot) {
            cx.wakes.all(GETTERS);
        }
    }

    /// Gives a ready entry a higher priority and a place behind its new equals
    /// (`workqueue:PQ-11`, `PQ-12`).
    fn raise_ready(&mut self, slot: Slot, priority: i32) {
        let new = Ready { priority: Reverse(priority), sequence: self.next(), slot };
        let rises = if self.items.state(slot) & PROCESSING != 0 {
            let parked = self.parked.iter_mut().find(|place| place.slot == slot);
            let place = parked.expect("the ready entry of a locked item is parked");
            let rises = new.priority < place.priority;
            *place = first_of(*place, new);
            rises
        } else {
            let place = *self.ready.get(slot).expect("the ready entry of an item has a place");
            self.ready.replace(first_of(place, new));
            new.priority < place.priority
        };
        if rises {
            self.observer.rose(slot, priority);
        }
    }

    /// Puts an entry among the ready, aside if its item is locked.
    #[inline(always)]
    fn make_ready(&mut self, place: Ready, cx: &mut Cx<'_>) {
        let (_, mark) = self.items.marked(place.slot);
        *mark = *mark & !DELAYED | DIRTY;
        if *mark & PROCESSING != 0 {
            self.observer.ready(place.slot, place.priority.0, cx);
            self.parked.push(place);
        } else {
            self.stand(place, cx);
        }
    }

    /// Puts an entry among those that are handed out.
    #[inline(always)]
    fn stand(&mut self, place: Ready, cx: &mut Cx<'_>) {
        self.observer.ready(place.slot, place.priority.0, cx);
        self.ready.push(place);
        cx.wakes.one(GETTERS);
    }

    /// Makes ready the entries whose time has come, in the order of their times and with new
    /// sequences (`workqueue:PQ-18`). Nothing becomes ready after shutdown (`PQ-31`).
    #[inline]
    pub(super) fn move_due(&mut self, cx: &mut Cx<'_>) {
        if !self.waiting.is_empty() {
            cx.lend(|cx| self.move_due_at(cx.now(), cx));
        }
    }

    #[inline]
    pub(super) fn move_due_at(&mut self, now: Instant, cx: &mut Cx<'_>) {
        while let Some(first) = self.waiting.first() {
            if first.until > now || first.until == Instant::NEVER || self.shutting_down {
                break;
            }
            if let Some(due) = self.waiting.pop() {
                let sequence = self.next();
                self.make_ready(Ready { sequence, ..due.ready }, cx);
            }
        }
    }

    /// Hands out the first of the ready, with its priority (`workqueue:PQ-22`, `PQ-24`).
    #[inline(always)]
    pub(super) fn hand_out(&mut self, cx: &mut Cx<'_>) -> Option<(Token, K, i32)> {
        self.items.take_ahead(self.ready.len(), || self.ready.upcoming());
        let place = self.ready.pop()?;
        self.locked += 1;
        self.observer.handed_out(place.slot, cx);
        let (token, key) = self.items.hand_out(place.slot);
        Some((token, key, place.priority.0))
    }

    /// Unlocks an item (`workqueue:PQ-26`). Returns it if it left the queue.
    #[inline(always)]
    pub(super) fn finish(&mut self, slot: Slot, cx: &mut Cx<'_>) -> Option<K> {
        self.locked -= 1;
        self.observer.done(slot, cx);
        self.items.leave(slot, |_, mark| {
            *mark &= !PROCESSING;
            if *mark & DIRTY != 0 {
                let at = self.parked.iter().position(|place| place.slot == slot);
                let place = self.parked.swap_remove(at.expect("a ready entry has a place"));
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

    /// Returns how many entries are ready, those of locked items too (`workqueue:PQ-29`).
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
        assert_eq!(parked, self.parked.len(), "the parked entries are those of locked items");
        assert_eq!(waiting, self.waiting.len(), "a waiting entry has a time");
        assert_eq!(locked, self.locked, "locked counts the deliveries that have not ended");
    }
}

/// Merges two entries of one item: the higher priority, and of equal ones the older place.
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
