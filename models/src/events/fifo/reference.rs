//! The reference's algorithm, with mistakes that can be switched on.
//!
//! A map and a list of keys instead of our slab, so that a mistake is one changed line. Without a
//! mistake it behaves like the machine that ships; with [`REFERENCE`] it is the faithful variant,
//! which replays every recorded trace.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use seatrial_core::fifo::{
    AddIfAbsent, Delete, Get, Op, POPPERS, Popped, Processed, Put, Replace, Ret, SYNC,
};
use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::store::{Handle, Key, Keyed};

use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub enum Mistake {
        // The reference still does these.
        /// The latch is looked at when `pop` returns, not when a place is skipped.
        LatchWhenPopReturns,
        /// The places of a list are in the order of a map.
        ListInMapOrder,

        // The reference did these once, or the article names them.
        /// The first list counts its objects, not its keys.
        CountListedObjects,
        /// An object goes back unless it was asked back.
        RequeueAlways,
        /// A requeued object replaces a newer one.
        RequeueOverwrites,
        /// Whether the queue is closed is looked up under another lock, before going to sleep.
        CloseUnderItsOwnLock,
        /// A resync queues objects that are queued already.
        ResyncQueuesAgain,

        // Mistakes in objects and places.
        /// An update moves its object to the tail.
        UpdateMoves,
        /// An update takes the place of its object away.
        UpdateLosesPlace,
        /// The first state is kept.
        KeepFirst,
        /// Deletion removes the place, too.
        DeleteRemovesPlace,
        /// A deletion does nothing: the object is still handed out.
        DeleteDoesNothing,
        /// An object that is added again gets no new place while its old one is there.
        OnePlaceEach,
        /// A list is added to the objects in the queue.
        ReplaceKeepsOld,
        /// The newest place comes first.
        LastInFirstOut,
        /// An object that is put back comes first.
        RequeueInFront,
        /// An object that is asked back is lost.
        RequeueForgets,

        // Mistakes in the first list.
        /// A place counts when it is taken, not when its object is processed.
        CountWhenTaken,
        /// Only places with an object count.
        StalePlacesDoNotCount,
        /// Every list counts anew.
        CountEveryList,
        /// Places are not counted.
        NeverCount,
        /// Adding does not count as a write.
        PutIsNoWrite,
        /// Deleting does not count as a write.
        DeleteIsNoWrite,
        /// Putting back does not count as a write.
        PutBackIsNoWrite,

        // Mistakes in popping and closing.
        /// The lock is not held while an object is processed.
        UnlockWhileProcessing,
        /// An empty queue is taken for a closed one.
        EmptyIsClosed,
        /// An open queue with one object counts as empty.
        LeavesTheLast,
        /// A closed queue hands out nothing.
        CloseDiscards,
        /// A closed queue takes in nothing.
        CloseGatesWriters,

        // Mistakes in reading.
        /// A listing is sorted by key.
        ListByKey,
        /// The length counts places.
        LenCountsPlaces,
    }
}

use Mistake::*;

/// The mistakes that the reference still makes and our queue does not.
pub const REFERENCE: &[Mistake] = &[LatchWhenPopReturns, ListInMapOrder];

/// The containers of the reference.
#[derive(Clone, Debug)]
pub struct MapAndList<K, O> {
    mistakes: &'static [Mistake],
    items: BTreeMap<K, O>,
    queue: VecDeque<K>,
    populated: bool,
    initial: usize,
    /// The answer that callers get. It follows `populated` and `initial`, sometimes late.
    latch: bool,
    in_process: usize,
    /// The object that was handed out last ([`RequeueAlways`]).
    last: Option<(K, O)>,
    closed: bool,
    /// Whether a caller has looked and is about to sleep ([`CloseUnderItsOwnLock`]).
    about_to_sleep: bool,
}

impl<K: Key + Ord, O: Handle> MapAndList<K, O> {
    /// Makes an empty queue that makes mistakes.
    pub fn with(mistakes: &'static [Mistake]) -> Self {
        Self {
            mistakes,
            items: BTreeMap::new(),
            queue: VecDeque::new(),
            populated: false,
            initial: 0,
            latch: false,
            in_process: 0,
            last: None,
            closed: false,
            about_to_sleep: false,
        }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistakes.contains(&mistake)
    }

    /// Notes a write, unless this kind of call does not count as one.
    fn populate(&mut self, unless: Mistake, wakes: &mut Wakes) {
        if !self.makes(unless) {
            self.populated = true;
            self.update_latch(wakes);
        }
    }

    fn update_latch(&mut self, wakes: &mut Wakes) {
        if self.populated && self.initial == 0 && !self.latch {
            self.latch = true;
            wakes.all(SYNC);
        }
    }

    fn put(&mut self, key: K, object: O, wakes: &mut Wakes) {
        if self.closed && self.makes(CloseGatesWriters) {
            return;
        }
        let waits = self.items.contains_key(&key);
        if waits && (self.makes(UpdateMoves) || self.makes(UpdateLosesPlace)) {
            self.queue.retain(|queued| *queued != key);
            if self.makes(UpdateMoves) {
                self.queue.push_back(key.clone());
            }
        }
        let keeps_place = self.makes(OnePlaceEach) && self.queue.contains(&key);
        if !waits && !keeps_place {
            self.queue.push_back(key.clone());
            wakes.one(POPPERS);
        }
        if !waits || !self.makes(KeepFirst) {
            self.items.insert(key, object);
        }
    }

    fn delete(&mut self, key: &K) -> Option<O> {
        if self.makes(DeleteDoesNothing) {
            return None;
        }
        if self.makes(DeleteRemovesPlace) {
            self.queue.retain(|queued| queued != key);
        }
        self.items.remove(key)
    }

    fn replace(&mut self, mut list: Vec<Keyed<K, O>>, wakes: &mut Wakes) {
        if !self.makes(ReplaceKeepsOld) {
            self.items.clear();
            self.queue.clear();
        }
        let objects = list.len();
        if self.makes(ListInMapOrder) {
            list.sort_by(|one, other| one.key.key().cmp(other.key.key()));
        }
        for Keyed { key, object } in list {
            self.put(key.into_key(), object, wakes);
        }
        if !self.populated || self.makes(CountEveryList) {
            let objects_count = self.makes(CountListedObjects);
            self.initial = if objects_count { objects } else { self.queue.len() };
            self.latch = false;
        }
        self.populated = true;
        self.update_latch(wakes);
    }

    fn resync(&mut self) {
        if self.makes(ResyncQueuesAgain) {
            self.queue.extend(self.items.keys().cloned());
        }
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Step<Ret<K, O>> {
        if self.closed && self.makes(CloseDiscards) {
            return Step::Done(Ret::Pop(None));
        }
        if !self.closed && self.items.len() == 1 && self.makes(LeavesTheLast) {
            return Step::Wait { on: POPPERS, until: None };
        }
        let mut skipped = Wakes::default();
        while let Some(key) = self.next_place() {
            let object = self.items.remove(&key);
            if !self.makes(NeverCount) && (object.is_some() || !self.makes(StalePlacesDoNotCount)) {
                self.initial = self.initial.saturating_sub(1);
            }
            if let Some(object) = object {
                return self.hand_out(key, object);
            }
            if !self.makes(LatchWhenPopReturns) {
                self.update_latch(&mut skipped);
            }
        }
        cx.wakes = skipped;
        let looked = std::mem::take(&mut self.about_to_sleep);
        if (self.closed && !looked) || self.makes(EmptyIsClosed) {
            self.update_latch(&mut cx.wakes);
            return Step::Done(Ret::Pop(None));
        }
        // The caller misses every wake between its look and its sleep.
        let looks = self.makes(CloseUnderItsOwnLock) && !looked;
        self.about_to_sleep = looks;
        let soon = || cx.now() + Duration::from_nanos(1);
        Step::Wait { on: POPPERS, until: looks.then(soon) }
    }

    fn next_place(&mut self) -> Option<K> {
        if self.makes(LastInFirstOut) { self.queue.pop_back() } else { self.queue.pop_front() }
    }

    /// The place was counted before, as in the reference; the latch follows when the object is
    /// processed.
    fn hand_out(&mut self, key: K, object: O) -> Step<Ret<K, O>> {
        self.in_process += 1;
        self.last = self.makes(RequeueAlways).then(|| (key.clone(), object.clone()));
        if self.makes(CountWhenTaken) {
            self.update_latch(&mut Wakes::default());
        }
        let (initial, left) = (!self.latch, self.items.len());
        let popped = Ret::Pop(Some(Popped { key, object, initial, left }));
        if self.makes(UnlockWhileProcessing) { Step::Done(popped) } else { Step::Held(popped) }
    }

    fn add_if_absent(&mut self, key: K, object: O, wakes: &mut Wakes) {
        self.populate(PutBackIsNoWrite, wakes);
        if self.items.contains_key(&key) && !self.makes(RequeueOverwrites) {
            return;
        }
        if self.makes(RequeueInFront) {
            self.queue.push_front(key.clone());
            self.items.insert(key, object);
            wakes.one(POPPERS);
        } else {
            self.put(key, object, wakes);
        }
    }

    fn processed(&mut self, asked: Option<AddIfAbsent<K, O>>, wakes: &mut Wakes) {
        let asked = asked.filter(|_| !self.makes(RequeueForgets));
        let asked = asked.and_then(|add| Some((add.key?.into_key(), add.object?)));
        if let Some((key, object)) = asked.or(self.last.take()) {
            self.add_if_absent(key, object, wakes);
        }
        self.in_process = self.in_process.saturating_sub(1);
        self.update_latch(wakes);
        if self.latch || self.is_drained() {
            wakes.all(SYNC);
        }
    }

    fn is_drained(&self) -> bool {
        self.closed && self.items.is_empty() && self.in_process == 0
    }

    fn close(&mut self, wakes: &mut Wakes) {
        self.closed = true;
        wakes.all(POPPERS);
        wakes.all(SYNC);
    }

    /// Returns the waiting objects, in the order of delivery.
    fn list(&self) -> Vec<(K, O)> {
        let mut seen = Vec::new();
        for key in &self.queue {
            if !seen.contains(&key) {
                seen.push(key);
            }
        }
        let object = |key: &K| Some((key.clone(), self.items.get(key)?.clone()));
        seen.into_iter().filter_map(object).collect()
    }
}

impl<K: Key + Ord, O: Handle> Machine for MapAndList<K, O> {
    type Op = Op<K, O>;
    type Ret = Ret<K, O>;

    fn step(&mut self, op: &mut Op<K, O>, cx: &mut Cx<'_>) -> Step<Ret<K, O>> {
        Step::Done(match op {
            Op::Put(Put { key, object }) => {
                self.populate(PutIsNoWrite, &mut cx.wakes);
                if let (Some(key), Some(object)) = (key.take(), object.take()) {
                    self.put(key.into_key(), object, &mut cx.wakes);
                }
                Ret::Put(())
            }
            Op::Delete(Delete(key)) => {
                self.populate(DeleteIsNoWrite, &mut cx.wakes);
                Ret::Delete(self.delete(key.key()))
            }
            Op::Replace(Replace(list)) => {
                self.replace(std::mem::take(list), &mut cx.wakes);
                Ret::Replace(())
            }
            Op::Resync(_) => {
                self.resync();
                Ret::Resync(())
            }
            Op::Pop(_) => return self.pop(cx),
            Op::Processed(Processed { requeue }) => {
                self.processed(requeue.take().map(|add| *add), &mut cx.wakes);
                Ret::Processed(())
            }
            Op::AddIfAbsent(AddIfAbsent { key, object }) => {
                if let (Some(key), Some(object)) = (key.take(), object.take()) {
                    self.add_if_absent(key.into_key(), object, &mut cx.wakes);
                }
                Ret::AddIfAbsent(())
            }
            Op::Close(_) => {
                self.close(&mut cx.wakes);
                Ret::Close(())
            }
            Op::IsClosed(_) => Ret::IsClosed(self.closed),
            Op::HasSynced(_) => Ret::HasSynced(self.latch),
            Op::WaitForSync(_) if self.latch || self.is_drained() => Ret::WaitForSync(self.latch),
            Op::WaitForSync(_) => return Step::Wait { on: SYNC, until: None },
            Op::Get(Get(key)) => Ret::Get(self.items.get(key.key()).cloned()),
            Op::List(_) if self.makes(ListByKey) => {
                Ret::List(self.items.clone().into_iter().collect())
            }
            Op::List(_) => Ret::List(self.list()),
            Op::Len(_) if self.makes(LenCountsPlaces) => Ret::Len(self.queue.len()),
            Op::Len(_) => Ret::Len(self.items.len()),
        })
    }
}
