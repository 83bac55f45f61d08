//! The DeltaFIFO in a few lines: a map of changes and a list of keys instead of our slab
//! (`cache:DF`).
//!
//! It is the specification of every call, and replays every recorded trace. A mistake, which is one
//! changed line, makes a mutant of it with the name of the mistake.

mod writes;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use seatrial_core::delta_fifo::{Delta, Op, POPPERS, Popped, Processed, Ret, SYNC};
use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::store::{Handle, Key, KnownObjects};

use crate::events::fixtures::Mistakes;

/// The mistake that the reference still makes and our queue does not.
pub const REFERENCE: &[&str] = &["latch_set_when_taken"];

/// The containers of the reference.
#[derive(Clone, Debug)]
pub struct MapAndKeys<K, O, N> {
    mistakes: Mistakes,
    items: BTreeMap<K, Vec<Delta<K, O>>>,
    queue: VecDeque<K>,
    known: Option<N>,
    emit_replaced: bool,
    /// Whether there was a write.
    pub(super) populated: bool,
    /// How many entries of the first list are not processed yet.
    pub(super) initial: usize,
    in_process: usize,
    /// The entry that was handed out last (`requeued_without_being_asked`).
    last: Option<(K, Vec<Delta<K, O>>)>,
    closed: bool,
    /// Whether a caller has waited for the first list (`latch_set_when_taken`).
    awaited: bool,
    /// Whether a caller has looked and is about to sleep (`closed_flag_has_its_own_lock`).
    about_to_sleep: bool,
}

impl<K: Key + Ord, O: Handle, N: KnownObjects<K, O>> MapAndKeys<K, O, N> {
    /// Makes an empty queue that makes mistakes.
    pub fn with(mistakes: Mistakes, known: Option<N>, emit_replaced: bool) -> Self {
        Self {
            mistakes,
            items: BTreeMap::new(),
            queue: VecDeque::new(),
            known,
            emit_replaced,
            populated: false,
            initial: 0,
            in_process: 0,
            last: None,
            closed: false,
            awaited: false,
            about_to_sleep: false,
        }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    /// Tells whether the first list is processed (`cache:QU-15`).
    pub(super) fn has_synced(&self) -> bool {
        self.populated && self.initial == 0
    }

    fn is_drained(&self) -> bool {
        self.closed && self.items.is_empty() && self.in_process == 0
    }

    fn ends_the_wait(&self) -> bool {
        self.is_drained() || self.closed && self.makes("close_ends_the_wait")
    }

    /// Notes a write; the first one makes `batch` entries the first list.
    fn populate(&mut self, batch: usize, wakes: &mut Wakes) {
        if !self.populated {
            (self.populated, self.initial) = (true, batch);
            self.wake_synced(wakes);
        }
    }

    fn wake_synced(&self, wakes: &mut Wakes) {
        if self.has_synced() {
            wakes.all(SYNC);
        }
    }

    fn count(&mut self, wakes: &mut Wakes) {
        if self.initial > 0 && !self.makes("processed_is_not_counted") {
            self.initial -= 1;
            self.wake_synced(wakes);
        }
    }

    /// Takes an entry (`cache:DF-24`, `QU-20`).
    fn pop(&mut self, cx: &mut Cx<'_>) -> Step<Ret<K, O>> {
        if self.closed && self.makes("close_discards") {
            return Step::Done(Ret::Pop(None));
        }
        while let Some(key) = self.next_key() {
            // A key without changes is an error of the queue; there is nothing to hand out.
            if let Some(deltas) = self.items.remove(&key) {
                return self.hand_out(key, deltas, cx);
            }
        }
        let looked = std::mem::take(&mut self.about_to_sleep);
        if self.closed && !looked || self.makes("empty_is_closed") {
            return Step::Done(Ret::Pop(None));
        }
        // The caller misses every wake between its look and its sleep.
        let looks = self.makes("closed_flag_has_its_own_lock") && !looked;
        self.about_to_sleep = looks;
        let soon = || cx.now() + Duration::from_nanos(1);
        Step::Wait { on: POPPERS, until: looks.then(soon) }
    }

    fn next_key(&mut self) -> Option<K> {
        if self.makes("last_in_first_out") { self.queue.pop_back() } else { self.queue.pop_front() }
    }

    fn hand_out(
        &mut self,
        key: K,
        mut deltas: Vec<Delta<K, O>>,
        cx: &mut Cx<'_>,
    ) -> Step<Ret<K, O>> {
        if self.makes("newest_change_only") {
            deltas.drain(..deltas.len() - 1);
        }
        let last = self.initial == 1;
        let counted = last && self.makes("flag_after_count");
        let initial = !counted && !self.has_synced();
        self.in_process += 1;
        self.last =
            self.makes("requeued_without_being_asked").then(|| (key.clone(), deltas.clone()));
        let deltas = deltas.into_iter().collect();
        let popped = Ret::Pop(Some(Popped { key, deltas, initial, left: self.items.len() }));
        if self.makes("latch_set_when_taken") && last && self.awaited {
            self.count(&mut cx.wakes);
            return Step::Done(popped);
        }
        if self.makes("unlocked_while_processing") {
            Step::Done(popped)
        } else {
            Step::Held(popped)
        }
    }

    fn processed(&mut self, processed: &mut Processed<K, O>, wakes: &mut Wakes) {
        let asked = processed.requeue.take();
        let asked = asked.and_then(|back| Some((back.key?.into_key(), back.deltas.to_vec())));
        if let Some((key, deltas)) = asked.or(self.last.take()) {
            self.add_if_absent(key, deltas, wakes);
        }
        self.in_process = self.in_process.saturating_sub(1);
        self.count(wakes);
        if self.is_drained() {
            wakes.all(SYNC);
        }
    }

    /// Puts an entry back unless there is a newer one (`cache:QU-10`).
    fn add_if_absent(&mut self, key: K, deltas: Vec<Delta<K, O>>, wakes: &mut Wakes) {
        if !self.makes("put_back_is_no_write") {
            self.populate(0, wakes);
        }
        if deltas.is_empty()
            || (self.items.contains_key(&key) && !self.makes("requeue_overwrites_newer"))
        {
            return;
        }
        if self.items.insert(key.clone(), deltas).is_some() {
            return;
        }
        if self.makes("requeue_in_front") {
            self.queue.push_front(key);
        } else {
            self.queue.push_back(key);
        }
        wakes.one(POPPERS);
    }

    fn close(&mut self, wakes: &mut Wakes) {
        self.closed = true;
        wakes.all(POPPERS);
        wakes.all(SYNC);
    }

    /// Returns what is pending, in the order of delivery.
    pub(super) fn pending(&self) -> Vec<(K, Vec<Delta<K, O>>)> {
        let changes = |key: &K| (key.clone(), self.items.get(key).cloned().unwrap_or_default());
        self.queue.iter().map(changes).collect()
    }

    fn read(&self, op: &Op<K, O>) -> Ret<K, O> {
        let few = |deltas: &[Delta<K, O>]| {
            let newest = self.makes("get_newest_only").then(|| deltas.len().saturating_sub(1));
            deltas[newest.unwrap_or(0)..].iter().cloned().collect()
        };
        match op {
            Op::Get(get) => Ret::Get(self.items.get(get.0.key()).map(|deltas| few(deltas))),
            Op::Len(_) if self.makes("len_counts_changes") => {
                Ret::Len(self.items.values().map(Vec::len).sum())
            }
            Op::Len(_) => Ret::Len(self.items.len()),
            Op::IsClosed(_) => Ret::IsClosed(self.closed),
            Op::HasSynced(_) => Ret::HasSynced(self.has_synced()),
            _ => {
                let mut list = self.pending();
                if self.makes("list_by_key") {
                    list.sort_by(|one, other| one.0.cmp(&other.0));
                }
                let entry = |(key, deltas): (K, Vec<_>)| (key, deltas.into_iter().collect());
                Ret::List(list.into_iter().map(entry).collect())
            }
        }
    }
}

impl<K: Key + Ord, O: Handle, N: KnownObjects<K, O>> Machine for MapAndKeys<K, O, N> {
    type Op = Op<K, O>;
    type Ret = Ret<K, O>;

    fn step(&mut self, op: &mut Op<K, O>, cx: &mut Cx<'_>) -> Step<Ret<K, O>> {
        Step::Done(match op {
            Op::Put(put) => Ret::Put(self.put(put, &mut cx.wakes)),
            Op::Delete(delete) => Ret::Delete(self.delete(delete, &mut cx.wakes)),
            Op::Replace(replace) => Ret::Replace(self.replace(replace, &mut cx.wakes)),
            Op::Resync(_) => {
                self.resync(&mut cx.wakes);
                Ret::Resync(())
            }
            Op::Pop(_) => return self.pop(cx),
            Op::Processed(processed) => {
                self.processed(processed, &mut cx.wakes);
                Ret::Processed(())
            }
            Op::AddIfAbsent(add) => {
                if let Some(key) = add.key.take() {
                    self.add_if_absent(key.into_key(), add.deltas.to_vec(), &mut cx.wakes);
                }
                Ret::AddIfAbsent(())
            }
            Op::Close(_) => {
                self.close(&mut cx.wakes);
                Ret::Close(())
            }
            Op::WaitForSync(_) if self.has_synced() || self.ends_the_wait() => {
                Ret::WaitForSync(self.has_synced())
            }
            Op::WaitForSync(_) => {
                self.awaited = true;
                return Step::Wait { on: SYNC, until: None };
            }
            Op::Get(_) | Op::List(_) | Op::Len(_) | Op::IsClosed(_) | Op::HasSynced(_) => {
                self.read(op)
            }
        })
    }
}
