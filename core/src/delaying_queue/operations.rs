//! The calls on a delaying queue. Calls that the inner queue has as well have the same names there.

use std::time::Duration;

use crate::caught::Remains;
use crate::machine::{Cx, Operation, Step};
use crate::queue::{self, DrainUntil, Finished, GETTERS, Key, Queue, Storage, Token, UPDATERS};
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
    /// The delay.
    pub delay: Duration,
    /// The time of the call, from which the delay counts (`workqueue:DQ-5`); `None` for the time of
    /// its step.
    pub called: Option<Instant>,
}

/// Refuses new items, wakes everybody, releases every drain, and drops items that wait for a time.
#[derive(Clone, Debug)]
pub struct ShutDown<K> {
    /// The dropped items, to be dropped outside the lock; filled by the steps.
    pub discarded: Vec<Remains<K>>,
}

/// Refuses new items, drops items that wait for a time, and waits.
#[derive(Clone, Debug)]
pub struct Drain<K> {
    /// The drain of the inner queue.
    pub inner: queue::Drain,
    /// The dropped items, to be dropped outside the lock; filled by the first steps.
    pub discarded: Vec<Remains<K>>,
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
        Self { inner: queue::Drain::new(until), discarded: Vec::new() }
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
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for AddAfter<K> {
    #[inline(always)]
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<()> {
        let now = self.called.unwrap_or_else(|| cx.now());
        machine.add_after(&mut self.key, self.hash, now, self.delay, cx);
        Step::Done(())
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for Get {
    const SHARES_TIME: bool = true;

    #[inline(always)]
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<Option<(Token, K)>> {
        machine.move_due(cx);
        match Operation::<Queue<K, S>>::step(self, &mut machine.queue, cx) {
            Step::Wait { on, .. } => Step::Wait { on, until: machine.earliest() },
            // All items that were added are in processing, and more are due.
            Step::Done(None) if machine.is_behind(cx) => Step::again(GETTERS),
            taken => {
                // One of the items that were just added is for this caller, so it wakes nobody.
                cx.takes_one(GETTERS);
                taken
            }
        }
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for Done {
    #[inline(always)]
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<Finished<K>> {
        machine.move_due(cx);
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
        if !machine.end_waiting(&mut self.discarded, cx) {
            return Step::again(UPDATERS);
        }
        Operation::<Queue<K, S>>::step(&mut queue::ShutDown, &mut machine.queue, cx)
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for Drain<K> {
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<()> {
        let over = machine.end_waiting(&mut self.discarded, cx); // when the drain begins (DQ-21)
        self.inner.began.get_or_insert_with(|| machine.queue.shutdowns());
        if !over {
            return Step::again(UPDATERS);
        }
        Operation::<Queue<K, S>>::step(&mut self.inner, &mut machine.queue, cx)
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for Refresh {
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<()> {
        machine.move_due(cx); // the depth is right at every tick, also if nobody else calls
        if machine.is_behind(cx) {
            return Step::again(UPDATERS);
        }
        Operation::<Queue<K, S>>::step(self, &mut machine.queue, cx)
    }
}

impl<K: Key, S: Storage<K>> Operation<Delaying<K, S>> for Len {
    fn step(&mut self, machine: &mut Delaying<K, S>, cx: &mut Cx<'_>) -> Step<usize> {
        machine.move_due(cx);
        if machine.is_behind(cx) {
            return Step::again(UPDATERS);
        }
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
