//! Follows a history call by call: the items that wait, are ready or are held, and the threads that
//! sleep.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::slice;
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::machine::Step;
use seatrial_core::priority_queue::{Add, AddBatch, Settle};
use seatrial_core::queue::{Done, DoneKey, Finished, Token};
use seatrial_core::runtime::Instant;

use super::spec::Spec;
use super::{Call, Event, History, PriorityQueue, Ret};
use crate::queues::fixtures::batches;
use crate::trial::{self, Ledger as _, Violation, What};

/// The state before an event.
///
/// The calls' *returned* values tell which items are held. The sequential object, which gets the
/// same calls, tells which items wait and which are ready.
#[derive(Clone, Debug, Default)]
pub(crate) struct PriorityLedger {
    pub(super) spec: Spec,
    /// Deliveries that have not ended.
    pub(super) deliveries: BTreeMap<(u32, u32), u8>,
    /// Threads asleep in `get`.
    pub(super) getters: Vec<u8>,
}

/// Returns the moment in the time of the sequential object.
pub(super) fn moment(at: Instant) -> Duration {
    at.since(Instant::ZERO)
}

/// A token as numbers, which are unique in one queue.
pub(super) fn numbers(token: Token) -> (u32, u32) {
    (token.slot(), token.delivery())
}

impl PriorityLedger {
    /// Tells whether an item is held.
    pub(super) fn is_held(&self, key: u8) -> bool {
        self.deliveries.values().any(|held| *held == key)
    }

    fn end(&mut self, token: Token, outcome: Option<(Outcome, i32)>) {
        let Some(key) = self.deliveries.remove(&numbers(token)) else { return };
        match outcome {
            Some((outcome, priority)) => self.spec.settle(&key, outcome, priority),
            None => self.spec.done(&key),
        };
    }
}

impl trial::Ledger<PriorityQueue> for PriorityLedger {
    fn reach(&mut self, event: &Event) {
        self.spec.advance_to(moment(event.at));
    }

    fn apply(&mut self, event: &Event) {
        if let What::Step { .. } | What::Cancel { .. } = event.what {
            self.getters.retain(|thread| *thread != event.thread);
        }
        let What::Step { op, outcome, .. } = &event.what else { return };
        match (op, outcome) {
            (Call::Add(Add { key: Some(key), options, called, .. }), _) => {
                self.spec.add(&[*key], *options, moment(called.unwrap_or(event.at)));
            }
            (Call::AddBatch(AddBatch { items, options, called }), _) => {
                let called = moment(called.unwrap_or(event.at));
                let keys: Vec<u8> = items.iter().filter_map(|(key, _)| *key).collect();
                self.spec.add(&keys, *options, called);
            }
            (Call::Get(_), Step::Wait { .. }) => self.getters.push(event.thread),
            (_, Step::Done(Ret::Get(Some((token, key, _))))) => {
                self.spec.take(key);
                self.deliveries.insert(numbers(*token), *key);
            }
            (Call::Done(Done(token)), Step::Done(Ret::Done(Finished::Ended(_)))) => {
                self.end(*token, None);
            }
            (Call::Settle(Settle { token, outcome, priority, .. }), _) => {
                self.end(*token, Some((*outcome, *priority)));
            }
            (Call::DoneKey(DoneKey { key, .. }), Step::Done(Ret::DoneKey(Finished::Ended(_)))) => {
                self.deliveries.retain(|_, held| held != key);
                self.spec.done(key);
            }
            (Call::Forget(forget), _) => drop(self.spec.failures.remove(&forget.key)),
            (Call::ShutDown(_), _) => self.spec.shut_down = true,
            _ => {}
        }
    }

    fn parts(event: &Event) -> Cow<'_, [Event]> {
        let What::Step { op, outcome, .. } = &event.what else {
            return Cow::Borrowed(slice::from_ref(event));
        };
        match (op, outcome) {
            (Call::GetBatch(batch), Step::Wait { on, until }) => {
                batches::waits(event, Call::Get(batch.call.clone()), (*on, *until))
            }
            (Call::GetBatch(batch), Step::Done(Ret::GetBatch(taken))) => {
                batches::gets(event, &Call::Get(batch.call.clone()), taken, Ret::Get)
            }
            (Call::DoneAll(all), Step::Done(Ret::DoneAll(finished))) => {
                batches::dones(event, &all.0, finished, Call::Done, Ret::Done)
            }
            _ => Cow::Borrowed(slice::from_ref(event)),
        }
    }
}

/// Checks every event against the state before time passes up to it.
pub(super) fn before_time_passes(
    history: &History,
    check: impl Fn(&PriorityLedger, &Event) -> Result<(), String>,
) -> Result<(), Violation> {
    let mut ledger = PriorityLedger::default();
    for (number, event) in history.events.iter().enumerate() {
        check(&ledger, event).map_err(|because| Violation::at(number, because))?;
        ledger.take_in(event);
    }
    Ok(())
}
