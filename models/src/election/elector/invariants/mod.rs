//! The promises of the elector, as checks of a history.
//!
//! The promises about the lease itself are those of the simulated cluster. They are judged here on
//! the history retold as a run (`shared.rs`). Promises about the answers to callers are stated here
//! (`terms.rs`, `calls.rs`, `answers.rs`).

mod answers;
mod calls;
mod chosen;
mod shared;
mod terms;

use super::asked::Asked;
use super::ledger::{Elector as Known, ElectorLedger};
use super::{Elector, Event};
use crate::trial::Invariant;

type Checked = Result<(), String>;

/// A check of a step of an elector.
type CheckStep = fn(&Known, &Asked<'_>, &Event) -> Checked;

/// Lists every promise; the main one is the first.
pub(super) fn all() -> Vec<Invariant<Elector>> {
    let mut all = shared::all();
    all.extend(terms::all());
    all.extend(calls::all());
    all.extend(answers::all());
    all.extend(chosen::all());
    all
}

/// States a promise about every step of an elector, and the state before it.
#[track_caller]
fn at_every_step(
    name: &'static str,
    says: &'static str,
    rules: &'static [&'static str],
    check: CheckStep,
) -> Invariant<Elector> {
    Invariant::at_every_event(name, says, rules, move |known, event| {
        check_step(known, event, check)
    })
}

/// States a promise about every step of an elector, and the state after it.
#[track_caller]
fn after_every_step(
    name: &'static str,
    says: &'static str,
    rules: &'static [&'static str],
    check: CheckStep,
) -> Invariant<Elector> {
    Invariant::after_every_event(name, says, rules, move |known, event| {
        check_step(known, event, check)
    })
}

fn check_step(known: &ElectorLedger, event: &Event, check: CheckStep) -> Checked {
    known.asked(event).map_or(Ok(()), |(elector, asked)| check(elector, &asked, event))
}
