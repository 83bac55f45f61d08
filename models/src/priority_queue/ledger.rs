//! Follows a history call by call: what waits, what is ready, who holds what, who sleeps.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::slice;
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::machine::Step;
use seatrial_core::priority_queue::{Add, AddBatch, Settle};
use seatrial_core::queue::{Done, DoneKey, Finished, Token};
use seatrial_core::runtime::Instant;

use super::op::{BASE, MAX};
use super::{Call, Event, History, Ret, Spec};
use crate::engine::End;
use crate::trial::{Violation, What};

/// What is known before an event.
///
/// Who holds an item is told by what the calls *returned*; what waits and what is ready is told by
/// the sequential object, led through the same calls.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    pub(super) spec: Spec<u8>,
    /// Deliveries that have not ended.
    pub(super) deliveries: BTreeMap<(u32, u32), u8>,
    /// Threads asleep in `get`.
    pub(super) getters: Vec<u8>,
}

/// Returns the moment as the sequential object counts it.
pub(super) fn moment(at: Instant) -> Duration {
    at.since(Instant::ZERO)
}

/// A token as numbers, which are unique in one queue.
pub(super) fn numbers(token: Token) -> (u32, u32) {
    (token.slot(), token.delivery())
}

impl Ledger {
    fn new() -> Self {
        Self { spec: Spec::new(BASE, MAX), deliveries: BTreeMap::new(), getters: Vec::new() }
    }

    /// Lets time pass until an event.
    fn reach(&mut self, event: &Event) {
        self.spec.advance_to(moment(event.at));
    }

    /// Tells whether somebody holds an item.
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

    /// Takes in an event that time has reached.
    fn apply(&mut self, event: &Event) {
        if let What::Step { .. } | What::Cancel { .. } = event.what {
            self.getters.retain(|thread| *thread != event.thread);
        }
        let What::Step { op, outcome, .. } = &event.what else { return };
        match (op, outcome) {
            (Call::Add(Add { key: Some(key), options, called, .. }), _) => {
                self.spec.add_call(key, *options, moment(called.unwrap_or(event.at)));
            }
            (Call::AddBatch(AddBatch { items, options, called }), _) => {
                let called = moment(called.unwrap_or(event.at));
                for key in items.iter().filter_map(|(key, _)| key.as_ref()) {
                    self.spec.add_call(key, *options, called);
                }
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
}

/// Reads a batch as the single calls that it stands for; any other event stands for itself.
fn singles(event: &Event) -> Cow<'_, [Event]> {
    let What::Step { op, outcome, .. } = &event.what else {
        return Cow::Borrowed(slice::from_ref(event));
    };
    match (op, outcome) {
        (Call::GetBatch(batch), Step::Wait { on, until }) => {
            let waits = Step::Wait { on: *on, until: *until };
            vec![event.instead(Call::Get(batch.call.clone()), waits)].into()
        }
        (Call::GetBatch(batch), Step::Done(Ret::GetBatch(taken))) => {
            let got =
                |taken| event.instead(Call::Get(batch.call.clone()), Step::Done(Ret::Get(taken)));
            let none = taken.is_empty().then_some(None);
            taken.iter().copied().map(Some).chain(none).map(got).collect()
        }
        (Call::DoneAll(all), Step::Done(Ret::DoneAll(finished))) => {
            let done = |(done, finished): (&Done, &Finished<u8>)| {
                event.instead(Call::Done(done.clone()), Step::Done(Ret::Done(finished.clone())))
            };
            all.0.iter().zip(finished).map(done).collect()
        }
        _ => Cow::Borrowed(slice::from_ref(event)),
    }
}

/// Checks every event against what is known when time has come so far.
pub(super) fn at_every_event(
    history: &History,
    check: impl Fn(&Ledger, &Event) -> Result<(), String>,
) -> Result<(), Violation> {
    let mut ledger = Ledger::new();
    for (number, event) in history.events.iter().enumerate() {
        ledger.reach(event);
        for event in singles(event).iter() {
            check(&ledger, event).map_err(|because| Violation::at(number, because))?;
            ledger.apply(event);
        }
    }
    Ok(())
}

/// Checks every event against what is known before time passes until it.
pub(super) fn before_time_passes(
    history: &History,
    check: impl Fn(&Ledger, &Event) -> Result<(), String>,
) -> Result<(), Violation> {
    let mut ledger = Ledger::new();
    for (number, event) in history.events.iter().enumerate() {
        check(&ledger, event).map_err(|because| Violation::at(number, because))?;
        ledger.reach(event);
        singles(event).iter().for_each(|event| ledger.apply(event));
    }
    Ok(())
}

/// Checks every moment at which nobody can move: recorded ones, and a deadlock at the end.
pub(super) fn when_quiet(
    history: &History,
    check: impl Fn(&Ledger) -> Result<(), String>,
) -> Result<(), Violation> {
    let mut ledger = Ledger::new();
    for (number, event) in history.events.iter().enumerate() {
        ledger.reach(event);
        if matches!(event.what, What::Quiet) {
            check(&ledger).map_err(|because| Violation::at(number, because))?;
        }
        singles(event).iter().for_each(|event| ledger.apply(event));
    }
    if matches!(history.end, End::Deadlock(_)) {
        check(&ledger).map_err(Violation::overall)?;
    }
    Ok(())
}
