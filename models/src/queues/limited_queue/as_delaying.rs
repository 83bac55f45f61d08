//! A history of the rate-limiting queue as a history of the delaying queue: every failure gives its
//! item the delay that a correct limiter would give.

use std::collections::BTreeMap;

use seatrial_core::delaying_queue::{self as inner, AddAfter};
use seatrial_core::limited_queue::{AddRateLimited, Op as Call, Outcome, Ret, Settle};
use seatrial_core::machine::{Step, Wakes};
use seatrial_core::queue::{Done, Token};
use seatrial_core::runtime::Instant;

use super::{Event, History, LimitedQueue, delay_after};
use crate::delaying_queue::DelayingQueue;
use crate::queues::fixtures::inside::{Seen, as_another, translated};
use crate::trial::{self, EventOf, Violation, What};

type InnerCall = inner::Op<u8>;
type InnerRet = inner::Ret<u8>;
type InnerWhat = What<InnerCall, InnerRet>;

/// The state before an event: how often items failed, and the deliveries that have not ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failures {
    /// Failures since an item was last forgotten.
    pub(super) failures: BTreeMap<u8, u32>,
    /// Deliveries that have not ended.
    held: Vec<(Token, u8)>,
}

impl Failures {
    /// Returns the item of a delivery that has not ended.
    pub(super) fn held(&self, token: Token) -> Option<u8> {
        self.held.iter().find(|(held, _)| *held == token).map(|(_, key)| *key)
    }

    fn count(&self, key: u8) -> u32 {
        self.failures.get(&key).copied().unwrap_or_default()
    }

    /// Returns the delayed add that a call causes, if it causes one.
    fn added(&self, op: &Call<u8>, at: Instant) -> Option<AddAfter<u8>> {
        let add = |key: u8, delay, called| AddAfter { key: Some(key), hash: 0, delay, called };
        match op {
            Call::AddRateLimited(AddRateLimited { key: Some(key), called, .. }) => {
                Some(add(*key, delay_after(self.count(*key)), *called))
            }
            Call::Settle(Settle { token, outcome, .. }) => {
                let key = self.held(*token)?;
                match outcome {
                    Outcome::Retry => Some(add(key, delay_after(self.count(key)), Some(at))),
                    Outcome::RetryAfter(delay) | Outcome::RequeueAfter(delay) => {
                        Some(add(key, *delay, Some(at)))
                    }
                    Outcome::Success | Outcome::GiveUp => None,
                }
            }
            _ => None,
        }
    }

    fn fail(&mut self, key: u8) {
        let failures = self.failures.entry(key).or_default();
        *failures = failures.saturating_add(1);
    }
}

impl trial::Ledger<LimitedQueue> for Failures {
    fn apply(&mut self, event: &Event) {
        let Some((op, ret)) = event.returned() else { return };
        match (op, ret) {
            (Call::AddRateLimited(AddRateLimited { key: Some(key), .. }), _) => self.fail(*key),
            (Call::Forget(forget), _) => drop(self.failures.remove(&forget.key)),
            (Call::Get(_), Ret::Get(Some(taken))) => self.held.push(*taken),
            (Call::GetBatch(_), Ret::GetBatch(taken)) => self.held.extend(taken),
            (Call::Settle(Settle { token, outcome, .. }), _) => {
                match (self.held(*token), outcome) {
                    (Some(key), Outcome::Retry | Outcome::RetryAfter(_)) => self.fail(key),
                    (Some(key), _) => drop(self.failures.remove(&key)),
                    (None, _) => {}
                }
                self.held.retain(|(held, _)| held != token);
            }
            (Call::Done(Done(token)), _) => self.held.retain(|(held, _)| held != token),
            (Call::DoneAll(all), _) => {
                self.held.retain(|(held, _)| !all.0.iter().any(|done| done.0 == *held));
            }
            (Call::DoneKey(done), _) => self.held.retain(|(_, key)| *key != done.key),
            _ => {}
        }
    }
}

/// Translates a call for the queue inside; `None` if the call does not concern it.
pub(super) fn call(op: &Call<u8>) -> Option<InnerCall> {
    Some(as_another!(op, Call => InnerCall
        [Add AddAfter Get AddAll GetBatch DoneAll Done DoneKey ShutDown Drain Len ShuttingDown
         Retries Refresh],
        Call::Settle(settle) => InnerCall::Done(Done(settle.token)),
        Call::AddRateLimited(_) | Call::Forget(_) | Call::NumRequeues(_) => return None,
    ))
}

/// Translates a result for the queue inside.
pub(super) fn outcome(outcome: &Step<Ret<u8>>) -> Option<Step<InnerRet>> {
    let ret = match outcome {
        Step::Wait { on, until } => return Some(Step::Wait { on: *on, until: *until }),
        Step::Done(ret) | Step::Held(ret) => ret,
    };
    Some(Step::Done(as_another!(ret, Ret => InnerRet
        [Add AddAfter Get AddAll GetBatch DoneAll Done DoneKey ShutDown Drain Len ShuttingDown
         Retries Refresh],
        Ret::Settle(finished) => InnerRet::Done(finished.clone()),
        Ret::AddRateLimited(()) | Ret::Forget(()) | Ret::NumRequeues(_) => return None,
    )))
}

fn added(add: AddAfter<u8>) -> InnerWhat {
    What::Step {
        op: InnerCall::AddAfter(add),
        outcome: Step::Done(InnerRet::AddAfter(())),
        wakes: Wakes::default(),
    }
}

/// Turns a history into one of the delaying queue.
fn seen(history: &History) -> Seen<DelayingQueue> {
    let mut seen = Seen::new();
    let mut known = Failures::default();
    for (number, event) in history.events.iter().enumerate() {
        let Event { thread, at, object, .. } = *event;
        let add = match &event.what {
            What::Step { op, .. } => known.added(op, at).map(added),
            _ => None,
        };
        let whats: Vec<_> = add.into_iter().chain(translated(&event.what, call, outcome)).collect();
        let last = whats.len().saturating_sub(1);
        for (nth, what) in whats.into_iter().enumerate() {
            let told = event.told.clone().filter(|_| nth == last); // told by both steps
            seen.push(number, EventOf::<DelayingQueue> { thread, at, object, what, told });
        }
        trial::Ledger::apply(&mut known, event);
    }
    seen
}

/// Judges a history by an invariant of the delaying queue.
pub(super) fn judged(history: &History, invariant: &str) -> Result<(), Violation> {
    seen(history).judged(history.end.clone(), invariant)
}
