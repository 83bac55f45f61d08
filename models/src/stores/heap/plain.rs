//! The keyed heap in a few lines: a map that is searched for the least object instead of a heap
//! (`cache:HP`).
//!
//! It is the specification of every call. A mistake, which is one changed line, makes a mutant of it
//! with the name of the mistake.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::store::heap::{AddIfAbsent, BulkAdd, Op, POPPERS, Put, Ret};
use seatrial_core::store::{HeapError, Keyed};

use super::op::rank;
use crate::events::fixtures::{Mistakes, Object};

/// The map, and the state that concurrency and mistakes add.
#[derive(Clone, Debug, Default)]
pub struct PlainHeap {
    mistakes: Mistakes,
    pub(super) items: BTreeMap<u8, Object>,
    pub(super) closed: bool,
    /// Whether a caller has looked and is about to sleep (`closed_flag_has_its_own_lock`), or sleeps
    /// before it takes (`naps_first`).
    about_to_sleep: bool,
    /// The keys as a heap (`filler_only_sinks`).
    nodes: Vec<u8>,
}

/// The heap of keys with its mistake (`filler_only_sinks`).
impl PlainHeap {
    fn comes_before(&self, one: usize, other: usize) -> bool {
        let rank_at = |at: usize| self.items.get(&self.nodes[at]).map(rank);
        rank_at(one) < rank_at(other)
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.comes_before(at, (at - 1) / 2) {
            self.nodes.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.nodes.len() && self.comes_before(child, least) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.nodes.swap(at, least);
            at = least;
        }
    }

    fn node_of(&self, key: u8) -> Option<usize> {
        self.nodes.iter().position(|other| *other == key)
    }

    /// Moves the key of a new or changed object to its place.
    fn place(&mut self, key: u8) {
        let at = self.node_of(key).unwrap_or_else(|| {
            self.nodes.push(key);
            self.nodes.len() - 1
        });
        self.rise(at);
        if let Some(at) = self.node_of(key) {
            self.sink(at);
        }
    }

    fn take_out(&mut self, key: u8) -> Option<Object> {
        let at = self.node_of(key)?;
        self.nodes.swap_remove(at);
        self.sink(at);
        self.items.remove(&key)
    }
}

impl PlainHeap {
    /// Makes an empty heap that makes mistakes.
    pub fn with(mistakes: Mistakes) -> Self {
        Self { mistakes, ..Self::default() }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn refuses(&self) -> bool {
        self.closed && !self.makes("accept_after_close")
    }

    /// Stores an object; tells whether it is new.
    pub(super) fn put(&mut self, object: Object) -> bool {
        let key = object.0;
        let there = self.items.contains_key(&key);
        if there && self.makes("first_state_wins") {
            return false;
        }
        if there && self.makes("added_again_is_gone") {
            self.items.remove(&key);
            return false;
        }
        self.items.insert(key, object);
        if self.makes("filler_only_sinks") {
            self.place(key);
        }
        !there
    }

    fn put_and_wake(&mut self, object: Object, wakes: &mut Wakes) {
        if self.put(object) {
            wakes.one(POPPERS);
        }
    }

    fn bulk_add(&mut self, bulk: &mut BulkAdd<u8, Object>, wakes: &mut Wakes) {
        if bulk.refused.is_some() && self.makes("bulk_all_or_nothing") {
            return;
        }
        for Keyed { object, .. } in bulk.objects.drain(..) {
            self.put_and_wake(object, wakes);
        }
        if bulk.refused.is_some() && self.makes("refused_bulk_is_silent") {
            *wakes = Wakes::default();
        }
    }

    /// Takes the least object.
    pub(super) fn pop(&mut self) -> Option<Object> {
        self.pop_by(rank)
    }

    fn pop_by<R: Ord>(&mut self, rank: impl Fn(&Object) -> R) -> Option<Object> {
        let key = self.items.values().min_by_key(|object| rank(object))?.0;
        self.items.remove(&key)
    }

    fn pop_or_sleep(&mut self, cx: &mut Cx<'_>) -> Step<Option<Object>> {
        if self.closed && self.makes("close_discards") {
            return Step::Done(None);
        }
        if self.makes("naps_first") && !self.about_to_sleep && !self.items.is_empty() {
            self.about_to_sleep = true;
            return Step::Wait { on: POPPERS, until: Some(cx.now()) };
        }
        let before = self.makes("taken_stays").then(|| self.items.clone());
        let taken = if self.makes("filler_only_sinks") {
            self.nodes.first().copied().and_then(|first| self.take_out(first))
        } else if self.makes("greatest_first") {
            self.pop_by(|object| std::cmp::Reverse(rank(object)))
        } else if self.makes("order_by_key") {
            self.pop_by(|object| object.0)
        } else {
            self.pop()
        };
        if let Some(before) = before {
            self.items = before;
        }
        let looked = std::mem::take(&mut self.about_to_sleep);
        if taken.is_some() || (self.closed && !looked) || self.makes("empty_is_closed") {
            return Step::Done(taken);
        }
        // The caller misses every wake between its look and its sleep.
        let looks = self.makes("closed_flag_has_its_own_lock") && !looked;
        self.about_to_sleep = looks;
        let soon = || cx.now() + Duration::from_nanos(1);
        Step::Wait { on: POPPERS, until: looks.then(soon) }
    }

    fn delete(&mut self, key: u8) -> Option<Object> {
        let gated = self.closed && self.makes("close_gates_delete");
        if gated || self.makes("delete_does_nothing") {
            return None;
        }
        if self.makes("filler_only_sinks") {
            return self.take_out(key);
        }
        let invented = self.makes("deletes_the_absent").then_some((key, 0));
        self.items.remove(&key).or(invented)
    }

    fn list(&self) -> Vec<(u8, Object)> {
        let mut all = self.clone();
        if self.makes("list_lacks_the_least") {
            all.pop();
        }
        all.items.into_iter().collect()
    }
}

impl Machine for PlainHeap {
    type Op = Op<u8, Object>;
    type Ret = Ret<u8, Object>;

    fn step(&mut self, op: &mut Self::Op, cx: &mut Cx<'_>) -> Step<Self::Ret> {
        Step::Done(match op {
            Op::Put(_) if self.refuses() => Ret::Put(Err(HeapError::Closed)),
            Op::Put(Put { object, .. }) => {
                if let Some(object) = object.take() {
                    self.put_and_wake(object, &mut cx.wakes);
                }
                Ret::Put(Ok(()))
            }
            Op::AddIfAbsent(_) if self.refuses() => Ret::AddIfAbsent(Err(HeapError::Closed)),
            Op::AddIfAbsent(AddIfAbsent { object, .. }) => {
                let added = object.take().filter(|object| {
                    !self.items.contains_key(&object.0) || self.makes("absent_replaces")
                });
                if let Some(object) = added {
                    self.put_and_wake(object, &mut cx.wakes);
                }
                Ret::AddIfAbsent(Ok(()))
            }
            Op::BulkAdd(_) if self.refuses() => Ret::BulkAdd(Err(HeapError::Closed)),
            Op::BulkAdd(bulk) => {
                self.bulk_add(bulk, &mut cx.wakes);
                let refused = bulk.refused.take().filter(|_| !self.makes("bulk_hides_the_bad_one"));
                Ret::BulkAdd(refused.map_or(Ok(()), |error| Err(HeapError::Key(error))))
            }
            Op::Delete(delete) => {
                Ret::Delete(self.delete(*delete.0.key()).map(|object| (object.0, object)))
            }
            Op::Pop(_) => {
                let taken = |object: Option<Object>| object.map(|object| (object.0, object));
                return self.pop_or_sleep(cx).map(|object| Ret::Pop(taken(object)));
            }
            Op::Get(_) if self.closed && self.makes("get_finds_nothing_closed") => Ret::Get(None),
            Op::Get(get) => Ret::Get(self.items.get(get.0.key()).copied()),
            Op::List(_) => Ret::List(self.list()),
            Op::Len(_) => {
                Ret::Len(self.items.len() + usize::from(self.makes("len_counts_one_more")))
            }
            Op::Close(_) => {
                self.closed = true;
                cx.wakes.all(POPPERS);
                Ret::Close(())
            }
            Op::IsClosed(_) => Ret::IsClosed(self.closed),
        })
    }
}
