//! Runs batches on one machine and the same single calls on another, for any queue.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::machine::single_step::Stepped;
use crate::machine::{Machine, Many, Operation, Step, UpTo};
use crate::queue::{Done, DoneAll, Finished, GETTERS, Len, Token};

/// Two machines that must behave alike.
pub(crate) struct Pair<M> {
    pub(crate) batches: Stepped<M>,
    pub(crate) singles: Stepped<M>,
    tokens: Vec<Token>,
}

impl<M: Machine> Pair<M> {
    pub(crate) fn new(make: impl Fn() -> M) -> Self {
        let (batches, singles) = (Stepped::new(make()), Stepped::new(make()));
        Self { batches, singles, tokens: Vec::new() }
    }

    /// Makes the same call on both.
    pub(crate) fn both<O: Operation<M>>(&mut self, call: O) -> O::Ret
    where
        O::Ret: PartialEq + Debug,
    {
        let returned = self.batches.call(call.clone());
        assert_eq!(returned, self.singles.call(call));
        returned
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.batches.advance(by);
        self.singles.advance(by);
    }

    /// Returns a delivery, perhaps one that has ended.
    pub(crate) fn delivery(&self, at: u8) -> Option<Token> {
        self.tokens.get(usize::from(at) % self.tokens.len().max(1)).copied()
    }

    /// Makes calls one after the other; returns their results and how many sleepers they woke.
    fn one_by_one<O: Operation<M>>(&mut self, calls: Vec<O>) -> (Vec<O::Ret>, u16) {
        let mut woken = 0_u16;
        let returned = calls.into_iter().map(|call| {
            let ret = self.singles.call(call);
            woken = woken.saturating_add(self.singles.woken.get(GETTERS)); // or all of them
            ret
        });
        (returned.collect(), woken)
    }

    /// Makes a batch on one machine and its calls on the other. An empty batch is left out: it may
    /// look at the time and wake somebody for due items, while there is no single call that could.
    pub(crate) fn row<B: Operation<M>, O: Operation<M>>(&mut self, batch: B, calls: Vec<O>) {
        if calls.is_empty() {
            return;
        }
        self.batches.call(batch);
        let (_, woken) = self.one_by_one(calls);
        assert_eq!(self.batches.woken.get(GETTERS), woken, "as many waiters as items");
    }

    /// Takes a batch from one and as many single items from the other; `token` finds the delivery
    /// in each result.
    pub(crate) fn get_batch<G, T>(&mut self, get: G, most: NonZeroUsize, token: fn(&T) -> Token)
    where
        G: Operation<M, Ret = Option<T>>,
        UpTo<G>: Operation<M, Ret = Vec<T>>,
        T: PartialEq + Debug,
    {
        let (mut expected, mut woken) = (Vec::new(), 0);
        while expected.len() < most.get() {
            let Step::Done(Some(taken)) = self.singles.step(get.clone()) else { break };
            woken += self.singles.woken.get(GETTERS);
            expected.push(taken);
        }
        match self.batches.step(UpTo { most, call: get }) {
            Step::Done(taken) => {
                assert_eq!(taken, expected);
                // When items become due, they wake sleepers for all items but those that are taken
                // here.
                let here = taken.len().saturating_sub(1) as u16;
                assert_eq!(self.batches.woken.get(GETTERS), woken.saturating_sub(here));
            }
            step => assert!(matches!(step, Step::Wait { .. }) && expected.is_empty()),
        }
        self.tokens.extend(expected.iter().map(token));
    }

    /// Ends deliveries, including some that have ended before.
    pub(crate) fn done_all(&mut self, which: &[u8])
    where
        Done: Operation<M, Ret = Finished<u8>>,
        DoneAll: Operation<M, Ret = Vec<Finished<u8>>>,
        Len: Operation<M, Ret = usize>,
    {
        let delivery = |at: &u8| self.delivery(*at);
        let calls: Vec<_> = which.iter().filter_map(delivery).map(Done).collect();
        if calls.is_empty() {
            return;
        }
        let finished = self.batches.call(Many(calls.clone().into()));
        assert_eq!((finished, self.batches.woken.get(GETTERS)), self.one_by_one(calls));
        self.both(Len);
    }
}
