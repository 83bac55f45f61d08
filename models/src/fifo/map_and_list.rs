//! The reference's algorithm, with the mistakes that one may make in it.
//!
//! A map and a list of keys instead of our slab, so that a mistake is one changed line. Without a
//! mistake it behaves like the machine that ships; with [`REFERENCE`] it is the faithful variant,
//! which replays every recorded trace.

use std::collections::{BTreeMap, VecDeque};

use seatrial_core::fifo::{
    AddIfAbsent, Delete, Get, Keyed, Op, POPPERS, Popped, Processed, Put, Replace, Ret, SYNC,
};
use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::store::{Handle, Key};

/// One changed line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mistake {
    // What the reference does to this day.
    /// The latch is looked at when `pop` returns, not when a place is skipped.
    LatchWhenPopReturns,
    // What anybody may do.
    /// A place counts when it is taken, not when its object is processed.
    CountWhenTaken,
    /// Only places with an object count.
    StalePlacesDoNotCount,
    /// The first list counts its objects, not its keys.
    CountListedObjects,
    /// Every list counts anew.
    CountEveryList,
    /// An update moves its object to the tail.
    UpdateMoves,
    /// The first state wins.
    KeepFirst,
    /// Deletion removes the place, too.
    DeleteRemovesPlace,
    /// An object added again while its old place is there takes no new one.
    OnePlaceEach,
    /// A list is added to what is there.
    ReplaceKeepsOld,
    /// The newest place comes first.
    LastInFirstOut,
    /// Only one sleeper learns that the queue is closed.
    CloseWakesOne,
    /// A write wakes nobody.
    PutNeverWakes,
    /// A list wakes one sleeper, however long it is.
    ReplaceWakesOne,
    /// A closed queue hands out nothing.
    CloseDiscards,
    /// A requeued object replaces a newer one.
    RequeueOverwrites,
    /// Whoever waits for the first list is not woken.
    LatchNeverWakes,
}

use Mistake::*;

/// What the reference does to this day, which ours does better.
pub const REFERENCE: &[Mistake] = &[LatchWhenPopReturns];

/// The containers of the reference.
#[derive(Clone, Debug)]
pub struct MapAndList<K, O> {
    mistakes: &'static [Mistake],
    items: BTreeMap<K, O>,
    queue: VecDeque<K>,
    populated: bool,
    initial: usize,
    /// What callers are told; follows `populated` and `initial`, sooner or later.
    latch: bool,
    in_process: bool,
    closed: bool,
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
            in_process: false,
            closed: false,
        }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn update_latch(&mut self, wakes: &mut Wakes) {
        if self.populated && self.initial == 0 && !self.latch {
            self.latch = true;
            if !self.makes(LatchNeverWakes) {
                wakes.all(SYNC);
            }
        }
    }

    fn put(&mut self, key: K, object: O, wakes: &mut Wakes) {
        let waits = self.items.contains_key(&key);
        if waits && self.makes(UpdateMoves) {
            self.queue.retain(|queued| *queued != key);
            self.queue.push_back(key.clone());
        }
        let keeps_place = self.makes(OnePlaceEach) && self.queue.contains(&key);
        if !waits && !keeps_place {
            self.queue.push_back(key.clone());
            if !self.makes(PutNeverWakes) {
                wakes.one(POPPERS);
            }
        }
        if !waits || !self.makes(KeepFirst) {
            self.items.insert(key, object);
        }
    }

    fn delete(&mut self, key: &K) -> Option<O> {
        if self.makes(DeleteRemovesPlace) {
            self.queue.retain(|queued| queued != key);
        }
        self.items.remove(key)
    }

    fn replace(&mut self, list: Vec<Keyed<K, O>>, wakes: &mut Wakes) {
        if !self.makes(ReplaceKeepsOld) {
            self.items.clear();
            self.queue.clear();
        }
        let objects = list.len();
        let mut woken = Wakes::default();
        for Keyed { key, object } in list {
            self.put(key.into_key(), object, &mut woken);
        }
        let one = self.makes(ReplaceWakesOne);
        wakes.many(POPPERS, usize::from(woken.get(POPPERS)).min(if one { 1 } else { usize::MAX }));
        if !self.populated || self.makes(CountEveryList) {
            let objects_count = self.makes(CountListedObjects);
            self.initial = if objects_count { objects } else { self.queue.len() };
        }
        self.populated = true;
        self.update_latch(wakes);
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Step<Ret<K, O>> {
        if self.closed && self.makes(CloseDiscards) {
            return Step::Done(Ret::Pop(None));
        }
        let mut skipped = Wakes::default();
        while let Some(key) = self.next_place() {
            let object = self.items.remove(&key);
            if object.is_some() || !self.makes(StalePlacesDoNotCount) {
                self.initial = self.initial.saturating_sub(1);
            }
            let Some(object) = object else {
                if !self.makes(LatchWhenPopReturns) {
                    self.update_latch(&mut skipped);
                }
                continue;
            };
            self.in_process = true;
            // Counted here, as the reference does; the latch follows when the object is processed.
            let initial = !self.latch;
            if self.makes(CountWhenTaken) {
                self.update_latch(&mut skipped);
            }
            let left = self.items.len();
            return Step::Held(Ret::Pop(Some(Popped { key, object, initial, left })));
        }
        cx.wakes = skipped;
        if !self.closed {
            return Step::Wait { on: POPPERS, until: None };
        }
        self.update_latch(&mut cx.wakes);
        Step::Done(Ret::Pop(None))
    }

    fn next_place(&mut self) -> Option<K> {
        if self.makes(LastInFirstOut) { self.queue.pop_back() } else { self.queue.pop_front() }
    }

    fn add_if_absent(&mut self, add: &mut AddIfAbsent<K, O>, wakes: &mut Wakes) {
        self.populated = true;
        self.update_latch(wakes);
        let (Some(key), Some(object)) = (add.key.take(), add.object.take()) else { return };
        if !self.items.contains_key(key.key()) || self.makes(RequeueOverwrites) {
            self.put(key.into_key(), object, wakes);
        }
    }

    fn processed(&mut self, requeue: Option<&mut AddIfAbsent<K, O>>, wakes: &mut Wakes) {
        if let Some(add) = requeue {
            self.add_if_absent(add, wakes);
        }
        self.in_process = false;
        self.update_latch(wakes);
        if self.latch || self.is_drained() {
            wakes.all(SYNC);
        }
        if self.makes(LatchNeverWakes) {
            wakes.set(SYNC, 0);
        }
    }

    fn is_drained(&self) -> bool {
        self.closed && self.items.is_empty() && !self.in_process
    }

    fn close(&mut self, wakes: &mut Wakes) {
        self.closed = true;
        if self.makes(CloseWakesOne) {
            wakes.one(POPPERS);
        } else {
            wakes.all(POPPERS);
        }
        wakes.all(SYNC);
    }

    /// Returns what waits, in the order of delivery.
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
                self.populated = true;
                self.update_latch(&mut cx.wakes);
                if let (Some(key), Some(object)) = (key.take(), object.take()) {
                    self.put(key.into_key(), object, &mut cx.wakes);
                }
                Ret::Put(())
            }
            Op::Delete(Delete(key)) => {
                self.populated = true;
                self.update_latch(&mut cx.wakes);
                Ret::Delete(self.delete(key.key()))
            }
            Op::Replace(Replace(list)) => {
                self.replace(std::mem::take(list), &mut cx.wakes);
                Ret::Replace(())
            }
            Op::Resync(_) => Ret::Resync(()),
            Op::Pop(_) => return self.pop(cx),
            Op::Processed(Processed { requeue }) => {
                self.processed(requeue.as_deref_mut(), &mut cx.wakes);
                Ret::Processed(())
            }
            Op::AddIfAbsent(add) => {
                self.add_if_absent(add, &mut cx.wakes);
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
            Op::List(_) => Ret::List(self.list()),
            Op::Len(_) => Ret::Len(self.items.len()),
        })
    }
}
