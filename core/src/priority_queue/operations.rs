//! The calls on a priority queue.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::caught::Remains;
use crate::limited_queue::{Forget, NumRequeues, Outcome};
use crate::limiter::{Item, Limiter};
use crate::machine::{Cx, Operation, Step, UpTo};
use crate::queue::{Done, DoneAll, DoneKey, Finished, Key, Len, Refresh, ShutDown};
use crate::queue::{ShuttingDown, Token, UPDATERS};
use crate::runtime::Instant;

use super::observer::Observer;
use super::options::AddOptions;
use super::state::{GETTERS, Prioritized};

/// Adds an item; the hash is computed by the caller, outside the lock.
#[derive(Clone, Debug)]
pub struct Add<K> {
    /// The item; taken out when the queue keeps it.
    pub key: Option<K>,
    /// Its hash.
    pub hash: u64,
    /// How it is added.
    pub options: AddOptions,
    /// The time of the call, from which delays count (`workqueue:PQ-16`); `None` for the time of
    /// its step.
    pub called: Option<Instant>,
}

/// Adds items in their order; the batch owns them (`workqueue:PQ-5`).
#[derive(Clone, Debug)]
pub struct AddBatch<K> {
    /// The items and their hashes; items are taken out when the queue keeps them.
    pub items: Remains<(Option<K>, u64)>,
    /// How each of them is added.
    pub options: AddOptions,
    /// The time of the call, from which delays count; `None` for the time of its step.
    pub called: Option<Instant>,
}

/// Takes the first ready item with its priority, waiting for one; `None` after shutdown.
#[derive(Clone, Debug)]
pub struct Get;

/// Takes the first ready items with their priorities, waiting for one; none after shutdown.
pub type GetBatch = UpTo<Get>;

/// Ends a delivery and does what its outcome asks for, in one critical section.
#[derive(Clone, Debug)]
pub struct Settle<K> {
    /// The delivery.
    pub token: Token,
    /// The outcome of the item.
    pub outcome: Outcome,
    /// The priority of the item if it comes back (`workqueue:PQ-42`).
    pub priority: i32,
    /// Keys that the limiter held for it, to drop outside the lock.
    pub left: Remains<K>,
}

impl<K> Settle<K> {
    /// Makes the call.
    pub const fn new(token: Token, outcome: Outcome, priority: i32) -> Self {
        Self { token, outcome, priority, left: Remains::new() }
    }
}

/// Asks how often an item was given a delay of more than zero.
#[derive(Clone, Debug)]
pub struct Retries;

crate::operations! {
    [K: Key, L: Limiter<K>, O: Observer; K: Key] Prioritized<K, L, O>: Op, Ret {
        Add(Add<K>) -> (),
        AddBatch(AddBatch<K>) -> (),
        Get(Get) -> Option<(Token, K, i32)>,
        Done(Done) -> Finished<K>,
        DoneKey(DoneKey<K>) -> Finished<K>,
        GetBatch(GetBatch) -> Vec<(Token, K, i32)>,
        DoneAll(DoneAll) -> Vec<Finished<K>>,
        Settle(Settle<K>) -> Finished<K>,
        Forget(Forget<K>) -> (),
        NumRequeues(NumRequeues<K>) -> u32,
        ShutDown(ShutDown) -> (),
        Refresh(Refresh) -> (),
        Len(Len) -> usize,
        ShuttingDown(ShuttingDown) -> bool,
        Retries(Retries) -> u64,
    } valid = Prioritized::check
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for Add<K> {
    #[inline(always)]
    fn step(&mut self, queue: &mut Prioritized<K, L, O>, cx: &mut Cx<'_>) -> Step<()> {
        let item = std::iter::once((&mut self.key, self.hash));
        queue.add(item, &self.options, self.called, cx);
        Step::Done(())
    }
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for AddBatch<K> {
    fn step(&mut self, queue: &mut Prioritized<K, L, O>, cx: &mut Cx<'_>) -> Step<()> {
        let items = self.items.iter_mut().map(|(key, hash)| (key, *hash));
        queue.add(items, &self.options, self.called, cx);
        Step::Done(())
    }
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for Get {
    const SHARES_TIME: bool = true;

    #[inline(always)]
    fn step(
        &mut self,
        queue: &mut Prioritized<K, L, O>,
        cx: &mut Cx<'_>,
    ) -> Step<Option<(Token, K, i32)>> {
        if queue.is_shutting_down() {
            return Step::Done(None); // even if items are ready (PQ-31)
        }
        queue.move_due(cx);
        if queue.is_behind(cx) {
            return Step::again(GETTERS); // a higher priority may be among the rest
        }
        match queue.hand_out(cx) {
            None => Step::Wait { on: GETTERS, until: queue.earliest() },
            taken => {
                // One of the entries that just became ready is for this caller, so it wakes nobody.
                cx.takes_one(GETTERS);
                Step::Done(taken)
            }
        }
    }
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for Done {
    #[inline(always)]
    fn step(&mut self, queue: &mut Prioritized<K, L, O>, cx: &mut Cx<'_>) -> Step<Finished<K>> {
        queue.move_due(cx);
        Step::Done(match queue.items.in_processing(self.0) {
            Some(slot) => Finished::Ended(queue.finish(slot, cx)),
            None => Finished::NotInProcessing,
        })
    }
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for DoneKey<K> {
    fn step(&mut self, queue: &mut Prioritized<K, L, O>, cx: &mut Cx<'_>) -> Step<Finished<K>> {
        queue.move_due(cx);
        Step::Done(match queue.items.find_in_processing(&self.key, self.hash) {
            Some(slot) => Finished::Ended(queue.finish(slot, cx)),
            None => Finished::NotInProcessing,
        })
    }
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for Settle<K> {
    #[inline(always)]
    fn step(&mut self, queue: &mut Prioritized<K, L, O>, cx: &mut Cx<'_>) -> Step<Finished<K>> {
        queue.move_due(cx);
        let Some(slot) = queue.items.in_processing(self.token) else {
            return Step::Done(Finished::NotInProcessing);
        };
        let (priority, left) = (self.priority, &mut self.left);
        let (after, rate_limited) = match self.outcome {
            Outcome::Success | Outcome::GiveUp => (None, false),
            Outcome::Retry => (None, true),
            Outcome::RetryAfter(delay) | Outcome::RequeueAfter(delay) => (Some(delay), false),
        };
        // The limiter is foreign code: if it panics, the item continues without it, and the
        // delivery ends.
        let limited = catch_unwind(AssertUnwindSafe(|| match self.outcome {
            Outcome::Retry => {
                queue.add_again(slot, &AddOptions { after, rate_limited, priority }, cx);
            }
            Outcome::RetryAfter(_) if queue.is_shutting_down() => {} // as `Retry` (PQ-2)
            Outcome::RetryAfter(_) => {
                queue.limiter.when(queue.items.item(slot), cx.now()); // the failure counts
            }
            _ => queue.limiter.forget(queue.items.item(slot), left),
        }));
        if after.is_some() || (rate_limited && limited.is_err()) {
            queue.add_again(slot, &AddOptions { after, rate_limited: false, priority }, cx);
        }
        let ended = queue.finish(slot, cx);
        match limited {
            Ok(()) => Step::Done(Finished::Ended(ended)),
            Err(panic) => {
                self.left.extend(ended);
                resume_unwind(panic)
            }
        }
    }
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for Forget<K> {
    fn step(&mut self, queue: &mut Prioritized<K, L, O>, _: &mut Cx<'_>) -> Step<()> {
        queue.limiter.forget(Item::new(&self.key, self.hash), &mut self.left);
        Step::Done(())
    }
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for NumRequeues<K> {
    fn step(&mut self, queue: &mut Prioritized<K, L, O>, _: &mut Cx<'_>) -> Step<u32> {
        Step::Done(queue.limiter.num_requeues(Item::new(&self.key, self.hash)))
    }
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for ShutDown {
    fn step(&mut self, queue: &mut Prioritized<K, L, O>, cx: &mut Cx<'_>) -> Step<()> {
        queue.move_due(cx); // items due by now count as ready; of very many, only a part
        queue.begin_shutdown(cx);
        Step::Done(())
    }
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for Refresh {
    fn step(&mut self, queue: &mut Prioritized<K, L, O>, cx: &mut Cx<'_>) -> Step<()> {
        if queue.is_shutting_down() {
            return Step::Done(()); // the gauges keep what they said last (MX-12)
        }
        queue.move_due(cx); // the depth is right at every tick, also if nobody else calls
        if queue.is_behind(cx) {
            return Step::again(UPDATERS);
        }
        let now = cx.now();
        if self.ticks(now) {
            queue.tell(cx, O::unfinished);
        }
        Step::Wait { on: UPDATERS, until: self.next }
    }
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for Len {
    fn step(&mut self, queue: &mut Prioritized<K, L, O>, cx: &mut Cx<'_>) -> Step<usize> {
        queue.move_due(cx);
        if queue.is_behind(cx) {
            return Step::again(UPDATERS);
        }
        Step::Done(queue.len())
    }
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for ShuttingDown {
    fn step(&mut self, queue: &mut Prioritized<K, L, O>, _: &mut Cx<'_>) -> Step<bool> {
        Step::Done(queue.is_shutting_down())
    }
}

impl<K: Key, L: Limiter<K>, O: Observer> Operation<Prioritized<K, L, O>> for Retries {
    fn step(&mut self, queue: &mut Prioritized<K, L, O>, _: &mut Cx<'_>) -> Step<u64> {
        Step::Done(queue.retries())
    }
}
