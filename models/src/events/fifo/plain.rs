//! The FIFO in a few lines: a map and a list of keys instead of our slab (`cache:FF`).
//!
//! It is the specification of every call. A mistake, which is one changed line, makes a mutant of it
//! with the name of the mistake; with [`REFERENCE`] it is the faithful variant, which replays every
//! recorded trace.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use seatrial_core::fifo::{
    AddIfAbsent, Delete, Get, Op, POPPERS, Popped, Processed, Put, Replace, Ret, SYNC,
};
use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::store::{Handle, Key, Keyed};

use crate::events::fixtures::Mistakes;

/// The mistakes that the reference still makes and our queue does not.
pub const REFERENCE: &[&str] = &["latch_looked_at_when_pop_returns", "list_in_the_order_of_a_map"];

/// The containers of the reference.
#[derive(Clone, Debug)]
pub struct MapAndList<K, O> {
    mistakes: Mistakes,
    /// The newest state of every object that waits.
    pub(super) items: BTreeMap<K, O>,
    /// Keys in the order of delivery. Some are stale, and some occur twice.
    pub(super) queue: VecDeque<K>,
    /// Whether there was a write.
    pub(super) populated: bool,
    /// How many places of the first list are neither taken nor skipped.
    initial: usize,
    /// The answer that callers get. It follows `populated` and `initial`, sometimes late.
    pub(super) latch: bool,
    in_process: usize,
    /// The object that was handed out last (`requeued_without_being_asked`).
    last: Option<(K, O)>,
    closed: bool,
    /// Whether a caller has looked and is about to sleep (`closed_flag_has_its_own_lock`).
    about_to_sleep: bool,
}

impl<K: Key + Ord, O: Handle> MapAndList<K, O> {
    /// Makes an empty queue that makes mistakes.
    pub fn with(mistakes: Mistakes) -> Self {
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

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    /// Notes a write, unless this kind of call does not count as one.
    fn populate(&mut self, unless: &str, wakes: &mut Wakes) {
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

    /// Stores an object (`cache:FF-2`).
    fn put(&mut self, key: K, object: O, wakes: &mut Wakes) {
        if self.closed && self.makes("close_gates_writers") {
            return;
        }
        let waits = self.items.contains_key(&key);
        if waits && (self.makes("update_moves") || self.makes("update_loses_its_place")) {
            self.queue.retain(|queued| *queued != key);
            if self.makes("update_moves") {
                self.queue.push_back(key.clone());
            }
        }
        let keeps_place = self.makes("one_place_each") && self.queue.contains(&key);
        if !waits && !keeps_place {
            self.queue.push_back(key.clone());
            wakes.one(POPPERS);
        }
        if !waits || !self.makes("first_state_wins") {
            self.items.insert(key, object);
        }
    }

    /// Takes an object away and leaves its place (`cache:FF-4`).
    fn delete(&mut self, key: &K) -> Option<O> {
        if self.makes("delete_does_nothing") {
            return None;
        }
        if self.makes("delete_removes_the_place") {
            self.queue.retain(|queued| queued != key);
        }
        self.items.remove(key)
    }

    /// Replaces the content by a list (`cache:FF-9`).
    fn replace(&mut self, mut list: Vec<Keyed<K, O>>, wakes: &mut Wakes) {
        if !self.makes("list_keeps_what_it_misses") {
            self.items.clear();
            self.queue.clear();
        }
        let objects = list.len();
        if self.makes("list_in_the_order_of_a_map") {
            list.sort_by(|one, other| one.key.key().cmp(other.key.key()));
        }
        for Keyed { key, object } in list {
            self.put(key.into_key(), object, wakes);
        }
        if !self.populated || self.makes("every_list_counts") {
            let objects_count = self.makes("batch_counts_objects");
            self.initial = if objects_count { objects } else { self.queue.len() };
            self.latch = false;
        }
        self.populated = true;
        self.update_latch(wakes);
    }

    fn resync(&mut self) {
        if self.makes("resync_queues_again") {
            self.queue.extend(self.items.keys().cloned());
        }
    }

    /// Takes the next object. It skips stale places, but counts them (`cache:FF-6`, `FF-12`).
    fn pop(&mut self, cx: &mut Cx<'_>) -> Step<Ret<K, O>> {
        if self.closed && self.makes("close_discards") {
            return Step::Done(Ret::Pop(None));
        }
        if !self.closed && self.items.len() == 1 && self.makes("last_object_is_left") {
            return Step::Wait { on: POPPERS, until: None };
        }
        let mut skipped = Wakes::default();
        while let Some(key) = self.next_place() {
            let object = self.items.remove(&key);
            if !self.makes("processed_is_not_counted")
                && (object.is_some() || !self.makes("stale_places_do_not_count"))
            {
                self.initial = self.initial.saturating_sub(1);
            }
            if let Some(object) = object {
                return self.hand_out(key, object);
            }
            if !self.makes("latch_looked_at_when_pop_returns") {
                self.update_latch(&mut skipped);
            }
        }
        cx.wakes = skipped;
        let looked = std::mem::take(&mut self.about_to_sleep);
        if (self.closed && !looked) || self.makes("empty_is_closed") {
            self.update_latch(&mut cx.wakes);
            return Step::Done(Ret::Pop(None));
        }
        // The caller misses every wake between its look and its sleep.
        let looks = self.makes("closed_flag_has_its_own_lock") && !looked;
        self.about_to_sleep = looks;
        let soon = || cx.now() + Duration::from_nanos(1);
        Step::Wait { on: POPPERS, until: looks.then(soon) }
    }

    fn next_place(&mut self) -> Option<K> {
        if self.makes("last_in_first_out") { self.queue.pop_back() } else { self.queue.pop_front() }
    }

    /// The place was counted before, as in the reference; the latch follows when the object is
    /// processed.
    fn hand_out(&mut self, key: K, object: O) -> Step<Ret<K, O>> {
        self.in_process += 1;
        self.last =
            self.makes("requeued_without_being_asked").then(|| (key.clone(), object.clone()));
        if self.makes("flag_after_count") {
            self.update_latch(&mut Wakes::default());
        }
        let (initial, left) = (!self.latch, self.items.len());
        let popped = Ret::Pop(Some(Popped { key, object, initial, left }));
        if self.makes("unlocked_while_processing") {
            Step::Done(popped)
        } else {
            Step::Held(popped)
        }
    }

    /// Stores an object unless an object of the same key waits (`cache:QU-10`).
    fn add_if_absent(&mut self, key: K, object: O, wakes: &mut Wakes) {
        self.populate("put_back_is_no_write", wakes);
        if self.items.contains_key(&key) && !self.makes("requeue_overwrites_newer") {
            return;
        }
        if self.makes("requeue_in_front") {
            self.queue.push_front(key.clone());
            self.items.insert(key, object);
            wakes.one(POPPERS);
        } else {
            self.put(key, object, wakes);
        }
    }

    fn processed(&mut self, asked: Option<AddIfAbsent<K, O>>, wakes: &mut Wakes) {
        let asked = asked.filter(|_| !self.makes("requeue_forgets"));
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
    pub(super) fn list(&self) -> Vec<(K, O)> {
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
                self.populate("put_is_no_write", &mut cx.wakes);
                if let (Some(key), Some(object)) = (key.take(), object.take()) {
                    self.put(key.into_key(), object, &mut cx.wakes);
                }
                Ret::Put(())
            }
            Op::Delete(Delete(key)) => {
                self.populate("delete_is_no_write", &mut cx.wakes);
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
            Op::List(_) if self.makes("list_by_key") => {
                Ret::List(self.items.clone().into_iter().collect())
            }
            Op::List(_) => Ret::List(self.list()),
            Op::Len(_) if self.makes("len_counts_places") => Ret::Len(self.queue.len()),
            Op::Len(_) => Ret::Len(self.items.len()),
        })
    }
}
