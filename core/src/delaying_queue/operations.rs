//! The calls on a delaying queue. What it shares with the queue inside has the same names there.

use std::time::Duration;

use crate::machine::{Cx, Operation, Step};
use crate::queue::{self, DrainUntil, Finished, GETTERS, Key, Queue, Storage, Token};
use crate::queue::{
    Add, AddAll, Done, DoneAll, DoneKey, Get, GetBatch, Len, Refresh, ShuttingDown,
};
use crate::runtime::Instant;

use super::state::Delaying;

/// Adds an item after a delay; the hash is computed by the caller, outside the lock.
#[derive(Clone, Debug)]
pub struct AddAfter<K> {
    /// The item; taken out when the queue keeps it.
    pub key: Option<K>,
    /// Its hash.
    pub hash: u64,
    /// How long it waits.
    pub delay: Duration,
    /// When the call was made, which the delay counts from (`workqueue:DQ-5`); `None` for the
    /// time of its step.
    pub called: Option<Instant>,
}

/// Refuses new items, wakes everybody, releases every drain, ends all waiting for a time.
#[derive(Clone, Debug)]
pub struct ShutDown<K> {
    /// The items whose waiting ended, to drop outside the lock; filled by the step.
    pub discarded: Vec<K>,
}

/// Refuses new items, ends all waiting for a time, and waits.
#[derive(Clone, Debug)]
pub struct Drain<K> {
    /// The drain of the queue inside.
    pub inner: queue::Drain,
    /// The items whose waiting ended, to drop outside the lock; filled by the first step.
    pub discarded: Vec<K>,
}

/// Asks how often an item was given a delay.
#[derive(Clone, Debug)]
pub struct Retries;

impl<K> ShutDown<K> {
    /// Makes the call.
    #[must_use]
    pub const fn new() -> Self {
        Self { discarded: Vec::new() }
    }
}

impl<K> Default for ShutDown<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Drain<K> {
    /// Makes the call.
    #[must_use]
    pub const fn new(until: DrainUntil) -> Self {
        Self { inner: queue::Drain { until, began: None }, discarded: Vec::new() }
    }
}

crate::operations! {
    [K: Key, S: Storage<K>; K: Key] Delaying<K, S>: Op, Ret {
        Add(Add<K>) -> (),
        AddAfter(AddAfter<K>) -> (),
        Get(Get) -> Option<(Token, K)>,
        Done(Done) -> Finished<K>,
        DoneKey(DoneKey<K>) -> Finished<K>,
        AddAll(AddAll<K>) -> Vec<()>,
        GetBatch(GetBatch) -> Vec<(Token, K)>,
        DoneAll(DoneAll) -> Vec<Finished<K>>,
        ShutDown(ShutDown<K>) -> (),
        Drain(Drain<K>) -> (),
        Refresh(Refresh) -> (),
        Len(Len) -> usize,
        ShuttingDown(ShuttingDown) -> bool,
        Retries(Retries) -> u64,
    } valid = Delaying::check
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for Add<K> {
    #[inline(always)]
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<()> {
        machine.move_due(cx);
        Operation::<Queue<K, S>>::step(self, &mut machine.queue, cx)
    }

    #[inline(always)]
    fn leave(self) {
        drop(self.key);
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for AddAfter<K> {
    #[inline(always)]
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<()> {
        let now = self.called.unwrap_or_else(|| cx.now());
        machine.add_after(&mut self.key, self.hash, now, self.delay, cx);
        Step::Done(())
    }

    #[inline(always)]
    fn leave(self) {
        drop(self.key);
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for Get {
    #[inline(always)]
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<Option<(Token, K)>> {
        machine.move_due(cx);
        match Operation::<Queue<K, S>>::step(self, &mut machine.queue, cx) {
            Step::Wait { on, .. } => Step::Wait { on, until: machine.earliest() },
            taken => {
                // One of the items that were just added needs nobody else: this caller is here.
                cx.wakes.one_less(GETTERS);
                taken
            }
        }
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for Done {
    #[inline(always)]
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<Finished<K>> {
        if machine
            .queue
            .slot_of(self.0)
            .is_some_and(|slot| machine.queue.done_depends_on_time(slot))
        {
            machine.move_due(cx);
        }
        Operation::<Queue<K, S>>::step(self, &mut machine.queue, cx)
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for DoneKey<K> {
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<Finished<K>> {
        machine.move_due(cx);
        Operation::<Queue<K, S>>::step(self, &mut machine.queue, cx)
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for ShutDown<K> {
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<()> {
        machine.move_due(cx); // what was due before is added, what would be later is not (DQ-19)
        self.discarded = machine.discard_later();
        Operation::<Queue<K, S>>::step(&mut queue::ShutDown, &mut machine.queue, cx)
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for Drain<K> {
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<()> {
        if self.inner.began.is_none() {
            machine.move_due(cx);
            self.discarded = machine.discard_later(); // when the drain begins (DQ-21)
        }
        Operation::<Queue<K, S>>::step(&mut self.inner, &mut machine.queue, cx)
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for Refresh {
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<()> {
        Operation::<Queue<K, S>>::step(self, &mut machine.queue, cx)
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for Len {
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<usize> {
        machine.move_due(cx);
        Operation::<Queue<K, S>>::step(self, &mut machine.queue, cx)
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for ShuttingDown {
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<bool> {
        Operation::<Queue<K, S>>::step(self, &mut machine.queue, cx)
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for Retries {
    fn step(&mut self, machine: &mut Delaying<K, S>, _: &mut Cx<'_>) -> Step<u64> {
        Step::Done(machine.retries())
    }
}
