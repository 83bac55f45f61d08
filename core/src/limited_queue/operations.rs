//! The calls on a rate-limiting queue. Calls that it shares with the delaying queue have the same
//! names there.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::caught::Remains;
use crate::delaying_queue::{AddAfter, Delaying, Drain, Retries, ShutDown};
use crate::limiter::{Item, Limiter};
use crate::machine::{Cx, Operation, Step};
use crate::queue::{Add, AddAll, Done, DoneAll, DoneKey, Finished, Get, GetBatch, Key, Len};
use crate::queue::{Refresh, ShuttingDown, Storage, Token};
use crate::runtime::Instant;

use super::state::{Limited, Outcome};

/// Counts a failure of an item and adds it when the limiter says so.
#[derive(Clone, Debug)]
pub struct AddRateLimited<K> {
    /// The item; taken out when the queue keeps it.
    pub key: Option<K>,
    /// Its hash.
    pub hash: u64,
    /// The time of the call, from which the delay counts; `None` for the time of its step.
    pub called: Option<Instant>,
}

/// Forgets the failures of an item.
#[derive(Clone, Debug)]
pub struct Forget<K> {
    /// The item.
    pub key: K,
    /// Its hash.
    pub hash: u64,
    /// Keys that the limiter held for it, to drop outside the lock.
    pub left: Remains<K>,
}

impl<K> Forget<K> {
    /// Makes the call.
    pub const fn new(key: K, hash: u64) -> Self {
        Self { key, hash, left: Remains::new() }
    }
}

/// Asks how often an item failed since it was last forgotten.
#[derive(Clone, Debug)]
pub struct NumRequeues<K> {
    /// The item.
    pub key: K,
    /// Its hash.
    pub hash: u64,
}

/// Ends a delivery and does what its outcome asks for, in one critical section.
#[derive(Clone, Debug)]
pub struct Settle<K> {
    /// The delivery.
    pub token: Token,
    /// The outcome of the item.
    pub outcome: Outcome,
    /// Keys that the limiter held for it, to drop outside the lock.
    pub left: Remains<K>,
}

impl<K> Settle<K> {
    /// Makes the call.
    pub const fn new(token: Token, outcome: Outcome) -> Self {
        Self { token, outcome, left: Remains::new() }
    }
}

crate::operations! {
    [K: Key, L: Limiter<K>, S: Storage<K>; K: Key] Limited<K, L, S>: Op, Ret {
        Add(Add<K>) -> (),
        AddAfter(AddAfter<K>) -> (),
        AddRateLimited(AddRateLimited<K>) -> (),
        Get(Get) -> Option<(Token, K)>,
        Done(Done) -> Finished<K>,
        DoneKey(DoneKey<K>) -> Finished<K>,
        AddAll(AddAll<K>) -> Vec<()>,
        GetBatch(GetBatch) -> Vec<(Token, K)>,
        DoneAll(DoneAll) -> Vec<Finished<K>>,
        Settle(Settle<K>) -> Finished<K>,
        Forget(Forget<K>) -> (),
        NumRequeues(NumRequeues<K>) -> u32,
        ShutDown(ShutDown<K>) -> (),
        Drain(Drain<K>) -> (),
        Refresh(Refresh) -> (),
        Len(Len) -> usize,
        ShuttingDown(ShuttingDown) -> bool,
        Retries(Retries) -> u64,
    } valid = Limited::check
}

/// Calls that are passed on to the inner delaying queue.
macro_rules! pass_on {
    ($($op:ty => $ret:ty),+ $(,)?) => {
        $(impl<K: Key, L: Limiter<K>, S: Storage<K>> Operation<Limited<K, L, S>> for $op {
            const SHARES_TIME: bool = <$op as Operation<Delaying<K, S>>>::SHARES_TIME;

            #[inline(always)]
            fn step(
                &mut self,
                machine: &mut Limited<K, L, S>,
                cx: &mut Cx<'_>,
            ) -> Step<$ret> {
                Operation::<Delaying<K, S>>::step(self, &mut machine.delaying, cx)
            }
        })+
    };
}

pass_on! {
    Add<K> => (),
    AddAfter<K> => (),
    Get => Option<(Token, K)>,
    Done => Finished<K>,
    DoneKey<K> => Finished<K>,
    ShutDown<K> => (),
    Drain<K> => (),
    Refresh => (),
    Len => usize,
    ShuttingDown => bool,
    Retries => u64,
}

impl<K: Key, L: Limiter<K>, S: Storage<K>> Operation<Limited<K, L, S>> for AddRateLimited<K> {
    #[inline(always)]
    fn step(&mut self, machine: &mut Limited<K, L, S>, cx: &mut Cx<'_>) -> Step<()> {
        let now = self.called.unwrap_or_else(|| cx.now());
        machine.add_rate_limited(&mut self.key, self.hash, now, cx);
        Step::Done(())
    }
}

impl<K: Key, L: Limiter<K>, S: Storage<K>> Operation<Limited<K, L, S>> for Settle<K> {
    #[inline(always)]
    fn step(&mut self, machine: &mut Limited<K, L, S>, cx: &mut Cx<'_>) -> Step<Finished<K>> {
        let left = &mut self.left;
        let settle = || machine.settle(self.token, self.outcome, left, cx);
        let settled = catch_unwind(AssertUnwindSafe(settle));
        if settled.is_err() {
            machine.requeue(self.token, self.outcome, cx);
        }
        let ended =
            Operation::<Delaying<K, S>>::step(&mut Done(self.token), &mut machine.delaying, cx);
        match (settled, ended) {
            (Ok(()), ended) => ended,
            (Err(panic), ended) => {
                if let Step::Done(Finished::Ended(Some(key))) = ended {
                    self.left.push(key);
                }
                resume_unwind(panic)
            }
        }
    }
}

impl<K: Key, L: Limiter<K>, S: Storage<K>> Operation<Limited<K, L, S>> for Forget<K> {
    fn step(&mut self, machine: &mut Limited<K, L, S>, _: &mut Cx<'_>) -> Step<()> {
        machine.limiter.forget(Item::new(&self.key, self.hash), &mut self.left);
        Step::Done(())
    }
}

impl<K: Key, L: Limiter<K>, S: Storage<K>> Operation<Limited<K, L, S>> for NumRequeues<K> {
    fn step(&mut self, machine: &mut Limited<K, L, S>, _: &mut Cx<'_>) -> Step<u32> {
        Step::Done(machine.limiter.num_requeues(Item::new(&self.key, self.hash)))
    }
}
