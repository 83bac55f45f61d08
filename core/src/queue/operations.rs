//! The calls on a queue. Each step of a call is one critical section.

use std::time::Duration;

use crate::caught::drop_caught;
use crate::machine::{Cx, Many, Operation, Step, UpTo};
use crate::runtime::Instant;

use super::items::Token;
use super::state::{DRAINS, DrainUntil, GETTERS, Key, Queue, UPDATERS};
use super::storage::Storage;

/// Adds an item; the hash is computed by the caller, outside the lock.
#[derive(Clone, Debug)]
pub struct Add<K> {
    /// The item; taken out when the queue keeps it.
    pub key: Option<K>,
    /// Its hash.
    pub hash: u64,
}

/// Takes the next item, waiting for one; `None` once the queue is shut down and empty.
#[derive(Clone, Debug)]
pub struct Get;

/// Ends the delivery that a token names.
#[derive(Clone, Debug)]
pub struct Done(pub Token);

/// Adds items in their order.
pub type AddAll<K> = Many<Add<K>>;

/// Takes the next items, waiting for the first; none once the queue is shut down and empty.
pub type GetBatch = UpTo<Get>;

/// Ends the deliveries that tokens name.
pub type DoneAll = Many<Done>;

/// Ends the delivery of an item that is named by its value.
#[derive(Clone, Debug)]
pub struct DoneKey<K> {
    /// The item.
    pub key: K,
    /// Its hash.
    pub hash: u64,
}

/// Refuses new items, wakes everybody, releases every drain.
#[derive(Clone, Debug)]
pub struct ShutDown;

/// Refuses new items and waits until a condition holds or [`ShutDown`] releases it.
#[derive(Clone, Debug)]
pub struct Drain {
    /// The condition to wait for.
    pub until: DrainUntil,
    /// The number of shutdowns when the drain began; `None` before its first step.
    pub began: Option<u64>,
}

impl Drain {
    /// Makes the call.
    pub(crate) const fn new(until: DrainUntil) -> Self {
        Self { until, began: None }
    }
}

/// The shortest interval at which metrics are refreshed: without a pause nothing else would run.
const LEAST: Duration = Duration::from_millis(1);

/// Tells the metrics again and again how much is unfinished, until shutdown begins
/// (`workqueue:MX-10`).
#[derive(Clone, Debug)]
pub struct Refresh {
    /// The interval.
    pub every: Duration,
    /// The time of the next refresh; `None` before the first step.
    pub next: Option<Instant>,
}

impl Refresh {
    /// Tells whether it is time, and sets the time of the next tick. A missed tick is not made up
    /// for (`workqueue:MX-10`).
    pub(crate) fn ticks(&mut self, now: Instant) -> bool {
        let ticks = self.next.is_some_and(|next| now >= next);
        if ticks || self.next.is_none() {
            self.next = Some(now + self.every.max(LEAST));
        }
        ticks
    }
}

/// Counts the waiting items.
#[derive(Clone, Debug)]
pub struct Len;

/// Asks whether the queue refuses new items.
#[derive(Clone, Debug)]
pub struct ShuttingDown;

crate::operations! {
    [K: Key, S: Storage<K>; K: Key] Queue<K, S>: Op, Ret {
        Add(Add<K>) -> (),
        Get(Get) -> Option<(Token, K)>,
        Done(Done) -> Finished<K>,
        DoneKey(DoneKey<K>) -> Finished<K>,
        AddAll(AddAll<K>) -> Vec<()>,
        GetBatch(GetBatch) -> Vec<(Token, K)>,
        DoneAll(DoneAll) -> Vec<Finished<K>>,
        ShutDown(ShutDown) -> (),
        Drain(Drain) -> (),
        Refresh(Refresh) -> (),
        Len(Len) -> usize,
        ShuttingDown(ShuttingDown) -> bool,
    } valid = Queue::check, describe = Queue::describe
}

/// The result of `done`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finished<K> {
    /// The delivery ended; an item that left the queue comes with it, to drop outside the lock.
    Ended(Option<K>),
    /// The item was not in processing: nothing happened (`workqueue:WQ-21`).
    NotInProcessing,
}

impl<K> Finished<K> {
    /// Tells whether the call ended a delivery, and drops the item.
    #[inline]
    pub(crate) fn has_ended(self) -> bool {
        let ended = matches!(self, Self::Ended(_));
        drop_caught(self);
        ended
    }
}

/// Counts the deliveries that ended, and drops their items.
pub(crate) fn ended<K>(finished: Vec<Finished<K>>) -> usize {
    finished.into_iter().map(Finished::has_ended).filter(|ended| *ended).count()
}

impl<K: Key, S: Storage<K>> Operation<Queue<K, S>> for Add<K> {
    #[inline(always)]
    fn step(&mut self, queue: &mut Queue<K, S>, cx: &mut Cx<'_>) -> Step<()> {
        queue.add(&mut self.key, self.hash, cx);
        Step::Done(())
    }
}

impl<K: Key, S: Storage<K>> Operation<Queue<K, S>> for Get {
    #[inline(always)]
    fn step(&mut self, queue: &mut Queue<K, S>, cx: &mut Cx<'_>) -> Step<Option<(Token, K)>> {
        match queue.pop(cx) {
            None if !queue.is_shutting_down() => Step::Wait { on: GETTERS, until: None },
            found => Step::Done(found),
        }
    }
}

impl<K: Key, S: Storage<K>> Operation<Queue<K, S>> for Done {
    #[inline(always)]
    fn step(&mut self, queue: &mut Queue<K, S>, cx: &mut Cx<'_>) -> Step<Finished<K>> {
        Step::Done(match queue.slot_of(self.0) {
            Some(slot) => Finished::Ended(queue.finish(slot, cx)),
            None => Finished::NotInProcessing,
        })
    }
}

impl<K: Key, S: Storage<K>> Operation<Queue<K, S>> for DoneKey<K> {
    fn step(&mut self, queue: &mut Queue<K, S>, cx: &mut Cx<'_>) -> Step<Finished<K>> {
        Step::Done(match queue.slot_in_processing(&self.key, self.hash) {
            Some(slot) => Finished::Ended(queue.finish(slot, cx)),
            None => Finished::NotInProcessing,
        })
    }
}

impl<K: Key, S: Storage<K>> Operation<Queue<K, S>> for ShutDown {
    fn step(&mut self, queue: &mut Queue<K, S>, cx: &mut Cx<'_>) -> Step<()> {
        queue.begin_shutdown(&mut cx.wakes);
        queue.release_drains();
        Step::Done(())
    }
}

impl<K: Key, S: Storage<K>> Operation<Queue<K, S>> for Drain {
    fn step(&mut self, queue: &mut Queue<K, S>, cx: &mut Cx<'_>) -> Step<()> {
        let began = *self.began.get_or_insert_with(|| {
            queue.begin_shutdown(&mut cx.wakes);
            queue.shutdowns()
        });
        if queue.is_drained(self.until) || queue.shutdowns() != began {
            Step::Done(())
        } else {
            Step::Wait { on: DRAINS, until: None }
        }
    }
}

impl<K: Key, S: Storage<K>> Operation<Queue<K, S>> for Refresh {
    fn step(&mut self, queue: &mut Queue<K, S>, cx: &mut Cx<'_>) -> Step<()> {
        if queue.is_shutting_down() {
            return Step::Done(()); // the gauges keep what they said last (MX-12)
        }
        let now = cx.now();
        if self.ticks(now) {
            queue.tell_unfinished(cx);
        }
        Step::Wait { on: UPDATERS, until: self.next }
    }
}

impl<K: Key, S: Storage<K>> Operation<Queue<K, S>> for Len {
    fn step(&mut self, queue: &mut Queue<K, S>, _: &mut Cx<'_>) -> Step<usize> {
        Step::Done(queue.len())
    }
}

impl<K: Key, S: Storage<K>> Operation<Queue<K, S>> for ShuttingDown {
    fn step(&mut self, queue: &mut Queue<K, S>, _: &mut Cx<'_>) -> Step<bool> {
        Step::Done(queue.is_shutting_down())
    }
}
