//! Small programs with an informer and handlers, each named by the case that it must reach.

mod ending;
mod reading;
mod telling;
mod timing;

use std::time::Duration;

use super::book::{Entry, Number};
use super::ledger::Seen;
use super::source::Manners;
use super::stage::{Care, Setting, Stage};
use super::{History, Informer};
use crate::engine::Engine;
use crate::events::fixtures::entry;
use crate::trial::{Ledger as _, Scenario, has_many_traces};

pub(super) fn all() -> Vec<Scenario<Informer>> {
    let mut all = telling::all();
    all.extend(ending::all());
    all.extend(timing::all());
    all.extend(reading::all());
    all
}

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn objects(objects: u16) -> Setting {
    Setting { manners: Manners { objects, ..Manners::default() }, ..Setting::default() }
}

/// Tells whether some entry meets a condition. The condition also sees the state before the entry.
fn some(history: &History, wanted: impl Fn(&Seen, &Entry) -> bool) -> bool {
    Seen::some(history, |seen, event| entry(event).is_some_and(|entry| wanted(seen, entry)))
}

/// Tells whether some entry is recorded during a call of a handler.
fn during_a_call(history: &History, number: Number, wanted: impl Fn(&Entry) -> bool) -> bool {
    some(history, |seen, entry| {
        let calls = seen.handlers.get(&number).is_some_and(|of| of.call.is_some());
        calls && wanted(entry)
    })
}

/// Refuses real threads to scenarios that sleep.
fn sleeps(engine: Engine) -> Option<&'static str> {
    let sleeps = "it sleeps for seconds, and so would real threads";
    (engine == Engine::Threads).then_some(sleeps)
}

/// Refuses all searches to scenarios that have too many schedules.
fn has_many_schedules(engine: Engine) -> Option<&'static str> {
    let many = "it has too many schedules to search; others try some of them";
    matches!(engine, Engine::Trace | Engine::Loom).then_some(many)
}
