//! The promises from end to end, as checks of a history.

use std::collections::BTreeMap;

use super::chain::{Answer, Call, Informed};
use super::{Delivery, Event, History};
use crate::reflector::Happen;
use crate::trial::{self, Invariant, Ledger as _, What};

pub(super) fn all() -> Vec<Invariant<Delivery>> {
    vec![
        Invariant::when_quiet(
            "every_change_is_reconciled",
            "once all is at rest, every key was reconciled last with what the server has of it",
            &[
                "cache:PT-5",
                "cache:PT-7",
                "cache:PT-9",
                "workqueue:CL-2",
                "cache:CT-7",
                "cache:CT-9",
            ],
            every_change_is_reconciled,
        ),
        Invariant::at_every_event(
            "work_sees_what_was_told",
            "a worker sees the store in the state that made its key due, or in a later state",
            &["cache:CT-8"],
            work_sees_what_was_told,
        ),
    ]
}

/// The state before an event, derived from the history.
#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    server: BTreeMap<u8, u64>,
    revision: u64,
    /// The version that the store was told to have, for each key; zero for none.
    told: BTreeMap<u8, u64>,
    reconciled: BTreeMap<u8, u64>,
}

impl Book {
    fn happen(&mut self, happen: Happen, revision: u64) {
        if revision > self.revision {
            match happen {
                Happen::Write(key) => drop(self.server.insert(key, revision)),
                Happen::Remove(key) => drop(self.server.remove(&key)),
                _ => {}
            }
        }
        self.revision = revision;
    }
}

impl trial::Ledger<Delivery> for Book {
    fn apply(&mut self, event: &Event) {
        let What::Step { op, .. } = &event.what else { return };
        match (op, event.returned()) {
            (Call::Begin(begin), Some(_)) => {
                self.server = (0..begin.0).map(|key| (key, 10 + u64::from(key))).collect();
                self.revision = 10 + u64::from(begin.0);
            }
            (Call::Occur(occur), Some((_, Answer::Occur(revision)))) => {
                self.happen(occur.0, *revision);
            }
            (_, Some((_, Answer::Inform(Informed::Stored(told))))) => {
                self.told.extend(told.iter().copied());
            }
            (Call::Finish(finish), Some((_, Answer::Finish(true)))) => {
                self.reconciled.insert(finish.0.key, finish.0.saw);
            }
            _ => {}
        }
    }
}

fn every_change_is_reconciled(book: &Book) -> Result<(), String> {
    let keys = book.server.keys().chain(book.reconciled.keys());
    for key in keys {
        let [newest, seen] =
            [&book.server, &book.reconciled].map(|of| of.get(key).copied().unwrap_or(0));
        if newest != seen {
            return Err(format!("key {key} was reconciled with {seen}, and is at {newest}"));
        }
    }
    Ok(())
}

fn work_sees_what_was_told(book: &Book, event: &Event) -> Result<(), String> {
    match event.returned() {
        Some((_, Answer::Take(Some(work)))) => match book.told.get(&work.key) {
            Some(told) if work.saw != *told => {
                Err(format!("key {} is seen as {}, and is stored as {told}", work.key, work.saw))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Tells whether some event meets a condition. The condition also sees the state before the event.
pub(super) fn some(history: &History, wanted: impl Fn(&Book, &Event) -> bool) -> bool {
    Book::some(history, wanted)
}
