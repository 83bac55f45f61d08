//! The sequential object as a machine, with the mistakes that one may make in it.
//!
//! Without a mistake it behaves like the machine that ships; with [`REFERENCE`] it does what the
//! reference does to this day.

use std::collections::BTreeMap;

use seatrial_core::delta_fifo::{Delta, Verb};
use seatrial_core::fifo::EnqueueError;
use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::ordered_fifo::{
    Batch, Delete, Event, Mark, Op, POPPERS, Popped, Put, Replace, ReplaceAll, Ret, SYNC, Snapshot,
};
use seatrial_core::store::LastState;

use super::op::Setup;
use super::spec::{Spec, key_of_change};
use crate::objects::{Object, Store};
use crate::trial::mistakes;

type Happened = Event<u8, Object>;
type Queued = Result<(), EnqueueError>;

mistakes! {
    /// One changed line.
    pub enum Mistake {
        // What the reference does to this day.
        /// Whether an event belongs to the first list is decided when its processing ends.
        ChargeWhenProcessed,
        // What it did once.
        /// An event counts as processed when it is taken.
        CountWhenTaken,
        /// A list or a resync gets into a batch.
        BatchWhateverComes,
        // What anybody may do.
        /// A batch crosses the end of the first list.
        BatchAcrossFirstList,
        /// A batch holds two changes of one object.
        BatchRepeatsKeys,
        /// A batch is as long as the queue.
        BatchWithoutLimit,
        /// The lock is released in plain mode.
        UnlockPlain,
        /// The lock is released however long the queue is.
        UnlockLongQueue,
        /// A second consumer is let in while the first processes.
        SecondConsumer,
        /// The objects of a list come before the tombstones.
        ListBeforeTombstones,
        /// A queued deletion gets a tombstone behind it.
        TombstoneAfterDeletion,
        /// A list does not look at what is only queued.
        ListForgetsQueued,
        /// A list does not look at what is only known.
        ListForgetsKnown,
        /// A resync shows what is queued, too.
        ResyncShowsQueued,
        /// A resync counts as a write.
        ResyncPopulates,
        /// A refused object is no write.
        RefusedIsNoWrite,
        /// Every list counts anew.
        CountEveryList,
        /// A closed queue hands out nothing.
        CloseDiscards,
        /// Only one sleeper learns that the queue is closed.
        CloseWakesOne,
        /// A write wakes nobody.
        PushNeverWakes,
        /// Whoever waits for the first list is not woken.
        LatchNeverWakes,
        /// A consumer that had to wait for another is not woken.
        ProcessedNeverWakes,
    }
}

use Mistake::*;

/// What the reference does to this day, which ours does better.
pub const REFERENCE: &[Mistake] = &[ChargeWhenProcessed];

/// The sequential object and what concurrency adds.
#[derive(Clone, Debug)]
pub struct EventList {
    mistakes: &'static [Mistake],
    spec: Spec,
    /// The consumer's store in plain mode.
    known: Option<Store<u8, Object>>,
    unlock: bool,
    /// Events in process: how many, how many of the first list, and whether unlocked.
    in_process: Option<(usize, usize, bool)>,
    closed: bool,
}

impl EventList {
    /// Makes an empty queue that makes mistakes. `known` is the consumer's store in plain mode.
    pub fn with(
        mistakes: &'static [Mistake],
        setup: Setup,
        known: Option<Store<u8, Object>>,
    ) -> Self {
        let spec_known = known.as_ref().map(|_| BTreeMap::new());
        Self {
            mistakes,
            spec: Spec::new(spec_known, setup.emit_bookmarks, setup.batch_size.get()),
            known,
            unlock: setup.unlock,
            in_process: None,
            closed: false,
        }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistakes.contains(&mistake)
    }

    /// Runs a write on the sequential object and wakes for what it added.
    fn write(&mut self, wakes: &mut Wakes, write: impl FnOnce(&mut Spec)) {
        if let Some(known) = &self.known {
            self.spec.known = Some(known.objects().clone());
        }
        let (synced, before) = (self.spec.has_synced(), self.spec.events.len());
        write(&mut self.spec);
        if !self.makes(PushNeverWakes) {
            wakes.many(POPPERS, self.spec.events.len() - before);
        }
        self.wake_waiters(synced, wakes);
    }

    fn wake_waiters(&self, was_synced: bool, wakes: &mut Wakes) {
        if !was_synced && self.spec.has_synced() && !self.makes(LatchNeverWakes) {
            wakes.all(SYNC);
        }
    }

    fn put(&mut self, change: Result<Delta<u8, Object>, EnqueueError>, cx: &mut Cx<'_>) -> Queued {
        if change.is_err() && self.makes(RefusedIsNoWrite) {
            return change.map(drop);
        }
        let (change, end) = match change {
            Ok(change) => (Some(change), Ok(())),
            Err(refused) => (None, Err(refused)),
        };
        self.write(&mut cx.wakes, |spec| spec.put(change));
        end
    }

    fn replace(&mut self, list: &List, cx: &mut Cx<'_>) {
        let mistakes = self.mistakes;
        let makes = |mistake| mistakes.contains(&mistake);
        self.write(&mut cx.wakes, |spec| {
            let (known, before) = (spec.known.clone(), spec.events.len());
            let plain = known.is_some();
            let mut listed = list.keys.clone();
            if makes(ListForgetsKnown) && plain {
                spec.known = Some(BTreeMap::new());
            }
            if makes(ListForgetsQueued) && plain {
                listed
                    .extend(spec.events.iter().filter_map(Event::delta).filter_map(key_of_change));
            }
            spec.replace(&listed, &list.accepted, list.refused, &list.version);
            if makes(ListBeforeTombstones) && plain {
                let tombstones = spec.events.len() - before - list.accepted.len();
                spec.events.make_contiguous()[before..].rotate_left(tombstones);
            }
            if makes(TombstoneAfterDeletion) && plain {
                repeat_deletions(spec, &listed, before);
            }
            if makes(CountEveryList) && !list.refused {
                spec.initial_left = spec.events.len();
            }
            spec.known = known;
        });
    }

    fn resync(&mut self, cx: &mut Cx<'_>) {
        let (again, populates) = (self.makes(ResyncShowsQueued), self.makes(ResyncPopulates));
        self.write(&mut cx.wakes, |spec| {
            if again {
                let queued = std::mem::take(&mut spec.events);
                spec.resync();
                let shown = std::mem::replace(&mut spec.events, queued);
                spec.events.extend(shown);
            } else {
                spec.resync();
            }
            spec.populated |= populates;
        });
    }

    /// Takes events; `None` if the call has to wait.
    fn take(&mut self, batched: bool) -> Option<(Vec<Happened>, bool)> {
        let busy = self.in_process.is_some() && !self.makes(SecondConsumer);
        if busy || self.spec.events.is_empty() || (self.closed && self.makes(CloseDiscards)) {
            return None;
        }
        let left = self.spec.initial_left;
        let (events, initial) = self.mistaken_batch(batched);
        let unlocks = (self.unlock && self.known.is_none()) || self.makes(UnlockPlain);
        let short = self.spec.events.len() < 2 * self.spec.batch_size;
        let unlocked = unlocks && (short || self.makes(UnlockLongQueue));
        self.in_process = Some((events.len(), events.len().min(left), unlocked));
        if self.makes(CountWhenTaken) {
            self.spec.processed(events.len());
        }
        Some((events, initial))
    }

    fn mistaken_batch(&mut self, batched: bool) -> (Vec<Happened>, bool) {
        let (size, left) = (self.spec.batch_size, self.spec.initial_left);
        if self.makes(BatchWithoutLimit) {
            self.spec.batch_size = usize::MAX;
        }
        if self.makes(BatchAcrossFirstList) {
            self.spec.initial_left = if left > 0 { usize::MAX } else { 0 };
        }
        let (mut events, initial) = self.spec.pop(batched);
        (self.spec.batch_size, self.spec.initial_left) = (size, left);
        let more = |list: &Self| match list.spec.events.front().map(Event::delta) {
            Some(Some(_)) => list.makes(BatchRepeatsKeys),
            Some(None) => list.makes(BatchWhateverComes),
            None => false,
        };
        if batched && events.len() < size && more(self) {
            events.extend(self.spec.events.pop_front());
        }
        (events, initial)
    }

    fn after<T>(&self, taken: Option<T>) -> Step<Option<T>> {
        match taken {
            Some(_) if self.in_process.is_some_and(|(_, _, unlocked)| unlocked) => {
                Step::Done(taken)
            }
            Some(_) => Step::Held(taken),
            None if self.closed && (self.spec.events.is_empty() || self.makes(CloseDiscards)) => {
                Step::Done(None)
            }
            None => Step::Wait { on: POPPERS, until: None },
        }
    }

    fn processed(&mut self, wakes: &mut Wakes) {
        let Some((all, initial, unlocked)) = self.in_process.take() else { return };
        let synced = self.spec.has_synced();
        if self.makes(ChargeWhenProcessed) {
            self.spec.processed(all);
        } else if !self.makes(CountWhenTaken) {
            self.spec.processed(initial);
        }
        self.wake_waiters(synced && !self.makes(CountWhenTaken), wakes);
        if self.makes(ProcessedNeverWakes) {
            return;
        }
        if unlocked && !self.spec.events.is_empty() {
            wakes.one(POPPERS);
        }
        if self.is_drained() {
            wakes.all(POPPERS);
            wakes.all(SYNC);
        }
    }

    fn is_drained(&self) -> bool {
        self.closed && self.spec.events.is_empty() && self.in_process.is_none()
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
}

/// A list that was passed to the queue.
struct List {
    keys: Vec<u8>,
    accepted: Vec<Object>,
    refused: bool,
    version: String,
}

/// Puts a tombstone behind every deletion that was queued before a list and is not in it.
fn repeat_deletions(spec: &mut Spec, listed: &[u8], before: usize) {
    let queued = spec.events.iter().take(before).filter_map(Event::delta);
    let deleted = queued.filter(|change| change.is_deleted()).filter_map(|change| {
        let key = key_of_change(change).filter(|key| !listed.contains(key))?;
        Some(Event::Delta(Delta::Deleted(LastState::unknown(key, None))))
    });
    let deleted: Vec<_> = deleted.collect();
    spec.events.extend(deleted);
}

impl Machine for EventList {
    type Op = Op<u8, Object>;
    type Ret = Ret<u8, Object>;

    fn step(&mut self, op: &mut Self::Op, cx: &mut Cx<'_>) -> Step<Self::Ret> {
        Step::Done(match op {
            Op::Put(Put { verb, object }) => {
                let show = if *verb == Verb::Add { Delta::Added } else { Delta::Updated };
                let Some(object) = object.take() else { return Step::Done(Ret::Put(Ok(()))) };
                Ret::Put(self.put(object.map(show), cx))
            }
            Op::Delete(Delete { last }) => {
                let Some(last) = last.take() else { return Step::Done(Ret::Delete(Ok(()))) };
                Ret::Delete(self.put(last.map(Delta::Deleted), cx))
            }
            Op::Replace(Replace { objects, behind, refused }) => {
                let keys = objects.iter().map(|keyed| &keyed.key).chain(&*behind);
                let keys: Vec<u8> = keys.map(|key| *key.key()).collect();
                let accepted = objects.iter().map(|keyed| keyed.object).collect();
                let (refused_any, version) = (refused.is_some(), String::new());
                self.replace(&List { keys, accepted, refused: refused_any, version }, cx);
                Ret::Replace(refused.take().map_or(Ok(()), Err))
            }
            Op::ReplaceAll(ReplaceAll(list)) => {
                let Snapshot { resource_version: version, objects: accepted } = (**list).clone();
                let keys = accepted.iter().map(|object| object.0).collect();
                self.replace(&List { keys, accepted, refused: false, version }, cx);
                Ret::ReplaceAll(())
            }
            Op::Resync(_) => {
                self.resync(cx);
                Ret::Resync(Ok(()))
            }
            Op::Mark(Mark(bookmark)) => {
                let version = bookmark.resource_version.clone();
                self.write(&mut cx.wakes, |spec| spec.bookmark(&version));
                Ret::Mark(())
            }
            Op::Pop(_) => {
                let left = |list: &Self| list.spec.events.len();
                let popped = self.take(false).and_then(|(mut events, initial)| {
                    Some(Popped { event: events.pop()?, initial, left: left(self) })
                });
                return self.after(popped).map(Ret::Pop);
            }
            Op::PopBatch(_) => {
                let taken = self.take(true);
                let left = self.spec.events.len();
                let batch = taken.map(|(events, initial)| Batch { events, initial, left });
                return self.after(batch).map(Ret::PopBatch);
            }
            Op::Processed(_) => {
                self.processed(&mut cx.wakes);
                Ret::Processed(())
            }
            Op::Close(_) => {
                self.close(&mut cx.wakes);
                Ret::Close(())
            }
            Op::IsClosed(_) => Ret::IsClosed(self.closed),
            Op::HasSynced(_) => Ret::HasSynced(self.spec.has_synced()),
            Op::WaitForSync(_) if self.spec.has_synced() || self.is_drained() => {
                Ret::WaitForSync(self.spec.has_synced())
            }
            Op::WaitForSync(_) => return Step::Wait { on: SYNC, until: None },
            Op::List(_) => Ret::List(self.spec.events.iter().cloned().collect()),
            Op::Len(_) => Ret::Len(self.spec.events.len()),
        })
    }
}
