//! Follows a history call by call: the keys that are reconciled, and the keys that are owed another
//! attempt.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_core::limited_queue::{Op, Outcome, Ret, Settle};
use seatrial_core::machine::Step;
use seatrial_core::queue::{Done, Finished, Token};
use seatrial_core::runtime::Instant;

use super::{BASE, Event, Pool};
use crate::trial::{self, What};

/// The state before an event, by the returned values of the calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct PoolLedger {
    /// Deliveries that have not ended.
    pub(super) deliveries: Vec<(Token, u8)>,
    /// Failures per key since its last success.
    pub(super) failures: BTreeMap<u8, u32>,
    /// Keys that failed and have not been handed out since, with the earliest time at which they
    /// may be. A key that was added since then may be handed out at once.
    pub(super) owed: BTreeMap<u8, Instant>,
    /// The times of the retries for which keys wait. A key that is handed out earlier, because it
    /// was added, still comes again at its time.
    retries: BTreeMap<u8, Instant>,
    /// Keys that were given up, wait for no retry, and have not been added since.
    pub(super) given_up: BTreeSet<u8>,
    /// Keys that were added while they were reconciled.
    pub(super) dirty: BTreeSet<u8>,
    /// Threads that sleep until there is a key.
    pub(super) asleep: BTreeSet<u8>,
    pub(super) shut_down: bool,
}

impl PoolLedger {
    pub(super) fn is_reconciled(&self, key: u8) -> bool {
        self.deliveries.iter().any(|(_, delivered)| *delivered == key)
    }

    fn settle(&mut self, settle: &Settle<u8>, at: Instant) {
        let named = self.deliveries.iter().position(|(token, _)| *token == settle.token);
        let Some(named) = named else { return };
        let (_, key) = self.deliveries.remove(named);
        let delay = match settle.outcome {
            Outcome::Retry => {
                let failures = self.failures.get(&key).copied().unwrap_or(0);
                BASE.saturating_mul(2_u32.saturating_pow(failures))
            }
            Outcome::RetryAfter(delay) => delay,
            outcome => {
                self.failures.remove(&key);
                let comes_again = self.dirty.contains(&key) || self.retries.contains_key(&key);
                if outcome == Outcome::GiveUp && !comes_again {
                    self.given_up.insert(key);
                }
                return;
            }
        };
        *self.failures.entry(key).or_default() += 1;
        if !self.shut_down {
            self.retries.insert(key, at + delay);
            let earliest = if self.dirty.contains(&key) { at } else { at + delay };
            self.owed.insert(key, earliest);
        }
    }
}

impl trial::Ledger<Pool> for PoolLedger {
    fn apply(&mut self, event: &Event) {
        self.asleep.remove(&event.thread);
        let What::Step { op, outcome, .. } = &event.what else { return };
        match (op, outcome) {
            (Op::Get(_), Step::Wait { .. }) => drop(self.asleep.insert(event.thread)),
            (Op::Add(add), _) => {
                if let Some(key) = add.key {
                    self.given_up.remove(&key);
                    if self.is_reconciled(key) {
                        self.dirty.insert(key);
                    }
                    self.owed.entry(key).and_modify(|earliest| *earliest = event.at);
                }
            }
            (Op::Get(_), Step::Done(Ret::Get(Some((token, key))))) => {
                self.deliveries.push((*token, *key));
                self.owed.remove(key);
                self.dirty.remove(key);
                self.retries.retain(|waits, at| waits != key || *at > event.at);
            }
            (Op::Settle(settle), Step::Done(Ret::Settle(Finished::Ended(_)))) => {
                self.settle(settle, event.at);
            }
            (Op::Done(Done(ended)), Step::Done(Ret::Done(Finished::Ended(_)))) => {
                self.deliveries.retain(|(token, _)| token != ended); // neither failed nor succeeded
            }
            (Op::ShutDown(_), _) => {
                self.shut_down = true;
                self.owed.clear();
            }
            _ => {}
        }
    }
}
