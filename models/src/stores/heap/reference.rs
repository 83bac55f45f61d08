//! The sequential object as a machine, with mistakes that can be switched on.
//!
//! A map that is searched for the least object instead of a heap, so that a mistake is one changed
//! line. Without a mistake it behaves like the machine that ships; with [`REFERENCE`] it behaves
//! like the reference.

use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::store::heap::{AddIfAbsent, BulkAdd, Op, POPPERS, Put, Ret};
use seatrial_core::store::{HeapError, Keyed};

use super::Spec;
use super::op::rank;
use crate::events::fixtures::Object;
use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub enum Mistake {
        // The reference still does this.
        /// Adding many objects wakes no caller if one of them has no key.
        RefusedBulkIsSilent,

        // Other mistakes.
        /// The last node fills a gap, and may only sink from there, not rise.
        FillerOnlySinks,
        /// The greatest comes first.
        GreatestFirst,
        /// A caller that takes an object sleeps for a moment first, even if there is one.
        NapsFirst,
        /// The order is that of the keys, not the given one.
        OrderByKey,
        /// The first state is kept.
        KeepFirst,
        /// An object that is added again is lost.
        UpdateLoses,
        /// Adding if absent replaces an object that is there.
        AbsentReplaces,
        /// Deletion does nothing.
        DeleteDoesNothing,
        /// An object that is taken stays.
        TakenStays,
        /// A deletion of an absent object succeeds.
        DeletesTheAbsent,
        /// If one of many objects is bad, none is added.
        BulkAllOrNothing,
        /// A bad object among many is not reported.
        BulkHidesTheBad,
        /// A closed heap takes in objects.
        AcceptAfterClose,
        /// A closed heap allows no deletion.
        CloseGatesDelete,
        /// A closed heap hands out nothing.
        CloseDiscards,
        /// An empty heap is taken for a closed one.
        EmptyIsClosed,
        /// Whether the heap is closed is looked up under another lock, before going to sleep.
        CloseUnderItsOwnLock,
        /// The length counts one object too many.
        LenCountsOneMore,
        /// A listing lacks the least object.
        ListLacksTheLeast,
        /// A read finds nothing in a closed heap.
        GetFindsNothingClosed,
    }
}

use Mistake::*;

/// The mistake that the reference still makes and our heap does not.
pub const REFERENCE: &[Mistake] = &[RefusedBulkIsSilent];

/// The sequential object, and the state that concurrency adds.
#[derive(Clone, Debug)]
pub struct PlainHeap {
    mistakes: &'static [Mistake],
    spec: Spec<u8, Object>,
    /// Whether a caller has looked and is about to sleep ([`CloseUnderItsOwnLock`]), or sleeps
    /// before it takes ([`NapsFirst`]).
    about_to_sleep: bool,
    /// The keys as a heap ([`FillerOnlySinks`]).
    nodes: Vec<u8>,
}

/// The heap of keys with its mistake ([`FillerOnlySinks`]).
impl PlainHeap {
    fn comes_before(&self, one: usize, other: usize) -> bool {
        let rank_at = |at: usize| self.spec.items.get(&self.nodes[at]).map(rank);
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
        self.spec.items.remove(&key)
    }
}

impl PlainHeap {
    /// Makes an empty heap that makes mistakes.
    pub fn with(mistakes: &'static [Mistake]) -> Self {
        Self { mistakes, spec: Spec::new(), about_to_sleep: false, nodes: Vec::new() }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn refuses(&self) -> bool {
        self.spec.closed && !self.makes(AcceptAfterClose)
    }

    fn put(&mut self, key: u8, object: Object, wakes: &mut Wakes) {
        let there = self.spec.items.contains_key(&key);
        if there && self.makes(KeepFirst) {
            return;
        }
        if there && self.makes(UpdateLoses) {
            self.spec.items.remove(&key);
            return;
        }
        self.spec.items.insert(key, object);
        if self.makes(FillerOnlySinks) {
            self.place(key);
        }
        if !there {
            wakes.one(POPPERS);
        }
    }

    fn bulk_add(&mut self, bulk: &mut BulkAdd<u8, Object>, wakes: &mut Wakes) {
        if bulk.refused.is_some() && self.makes(BulkAllOrNothing) {
            return;
        }
        for Keyed { key, object } in bulk.objects.drain(..) {
            self.put(key.into_key(), object, wakes);
        }
        if bulk.refused.is_some() && self.makes(RefusedBulkIsSilent) {
            *wakes = Wakes::default();
        }
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Step<Option<Object>> {
        if self.spec.closed && self.makes(CloseDiscards) {
            return Step::Done(None);
        }
        if self.makes(NapsFirst) && !self.about_to_sleep && !self.spec.items.is_empty() {
            self.about_to_sleep = true;
            return Step::Wait { on: POPPERS, until: Some(cx.now()) };
        }
        let before = self.makes(TakenStays).then(|| self.spec.items.clone());
        let taken = if self.makes(FillerOnlySinks) {
            self.nodes.first().copied().and_then(|first| self.take_out(first))
        } else if self.makes(GreatestFirst) {
            self.spec.pop(|object| std::cmp::Reverse(rank(object)))
        } else if self.makes(OrderByKey) {
            self.spec.pop(|object| object.0)
        } else {
            self.spec.pop(rank)
        };
        if let Some(before) = before {
            self.spec.items = before;
        }
        let looked = std::mem::take(&mut self.about_to_sleep);
        if taken.is_some() || (self.spec.closed && !looked) || self.makes(EmptyIsClosed) {
            return Step::Done(taken);
        }
        // The caller misses every wake between its look and its sleep.
        let looks = self.makes(CloseUnderItsOwnLock) && !looked;
        self.about_to_sleep = looks;
        let soon = || cx.now() + std::time::Duration::from_nanos(1);
        Step::Wait { on: POPPERS, until: looks.then(soon) }
    }

    fn delete(&mut self, key: u8) -> Option<Object> {
        let gated = self.spec.closed && self.makes(CloseGatesDelete);
        if gated || self.makes(DeleteDoesNothing) {
            return None;
        }
        if self.makes(FillerOnlySinks) {
            return self.take_out(key);
        }
        let invented = self.makes(DeletesTheAbsent).then_some((key, 0));
        self.spec.items.remove(&key).or(invented)
    }

    fn list(&self) -> Vec<(u8, Object)> {
        let mut spec = self.spec.clone();
        if self.makes(ListLacksTheLeast) {
            spec.pop(rank);
        }
        spec.items.into_iter().collect()
    }
}

impl Machine for PlainHeap {
    type Op = Op<u8, Object>;
    type Ret = Ret<u8, Object>;

    fn step(&mut self, op: &mut Self::Op, cx: &mut Cx<'_>) -> Step<Self::Ret> {
        Step::Done(match op {
            Op::Put(_) if self.refuses() => Ret::Put(Err(HeapError::Closed)),
            Op::Put(Put { key, object }) => {
                if let Some((key, object)) = key.take().zip(object.take()) {
                    self.put(key.into_key(), object, &mut cx.wakes);
                }
                Ret::Put(Ok(()))
            }
            Op::AddIfAbsent(_) if self.refuses() => Ret::AddIfAbsent(Err(HeapError::Closed)),
            Op::AddIfAbsent(AddIfAbsent { key, object }) => {
                let there = key.as_ref().is_some_and(|it| self.spec.items.contains_key(it.key()));
                let added = key.take().zip(object.take());
                if let Some((key, object)) = added.filter(|_| !there || self.makes(AbsentReplaces))
                {
                    self.put(key.into_key(), object, &mut cx.wakes);
                }
                Ret::AddIfAbsent(Ok(()))
            }
            Op::BulkAdd(_) if self.refuses() => Ret::BulkAdd(Err(HeapError::Closed)),
            Op::BulkAdd(bulk) => {
                self.bulk_add(bulk, &mut cx.wakes);
                let refused = bulk.refused.take().filter(|_| !self.makes(BulkHidesTheBad));
                Ret::BulkAdd(refused.map_or(Ok(()), |error| Err(HeapError::Key(error))))
            }
            Op::Delete(delete) => {
                Ret::Delete(self.delete(*delete.0.key()).map(|object| (object.0, object)))
            }
            Op::Pop(_) => {
                let taken = |object: Option<Object>| object.map(|object| (object.0, object));
                return self.pop(cx).map(|object| Ret::Pop(taken(object)));
            }
            Op::Get(_) if self.spec.closed && self.makes(GetFindsNothingClosed) => Ret::Get(None),
            Op::Get(get) => Ret::Get(self.spec.items.get(get.0.key()).copied()),
            Op::List(_) => Ret::List(self.list()),
            Op::Len(_) => {
                Ret::Len(self.spec.items.len() + usize::from(self.makes(LenCountsOneMore)))
            }
            Op::Close(_) => {
                self.spec.closed = true;
                cx.wakes.all(POPPERS);
                Ret::Close(())
            }
            Op::IsClosed(_) => Ret::IsClosed(self.spec.closed),
        })
    }
}
