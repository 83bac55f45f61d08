//! Follows histories with the ledger.

use seatrial_core::elector::{Op, Ret};

use super::asked::Asked;
use super::ledger::{Elector, ElectorLedger};
use super::{Event, History};
use crate::engine::End;
use crate::trial::Violation;

/// Checks every event against the state before it.
pub(super) fn at_every_event(
    history: &History,
    check: impl Fn(&ElectorLedger, &Event) -> Result<(), String>,
) -> Result<(), Violation> {
    let mut ledger = ElectorLedger::default();
    for (number, event) in history.events.iter().enumerate() {
        check(&ledger, event).map_err(|because| Violation::at(number, because))?;
        ledger.apply(event);
    }
    Ok(())
}

/// Checks the states after some events: `ask` picks an event by the state before it, and what it returns
/// is checked against the state after it.
pub(super) fn after_events<'a, A>(
    history: &'a History,
    ask: impl Fn(&ElectorLedger, &'a Event) -> Option<A>,
    check: impl Fn(&ElectorLedger, A) -> Result<(), String>,
) -> Result<(), Violation> {
    let mut ledger = ElectorLedger::default();
    for (number, event) in history.events.iter().enumerate() {
        let asked = ask(&ledger, event);
        ledger.apply(event);
        if let Some(asked) = asked {
            check(&ledger, asked).map_err(|because| Violation::at(number, because))?;
        }
    }
    Ok(())
}

/// Checks every step of an elector against the state before it.
pub(super) fn at_every_step(
    history: &History,
    check: impl Fn(&Elector, &Asked<'_>, &Event) -> Result<(), String>,
) -> Result<(), Violation> {
    at_every_event(history, |before, event| match before.asked(event) {
        Some((elector, asked)) => check(elector, &asked, event),
        None => Ok(()),
    })
}

/// Returns the state at the end.
pub(super) fn at_the_end(history: &History) -> ElectorLedger {
    let mut ledger = ElectorLedger::default();
    history.events.iter().for_each(|event| ledger.apply(event));
    ledger
}

/// As [`at_the_end`], without the steps in which sleepers break down when a deadlock is given up.
pub(super) fn at_the_end_of_calls(history: &History) -> ElectorLedger {
    let gives_up = matches!(history.end, End::Deadlock(_));
    let mut ledger = ElectorLedger::default();
    for event in &history.events {
        let breaks_down = ledger.asked(event).is_some_and(|(elector, asked)| {
            let sleeps = elector.sleepers.iter().any(|sleeper| sleeper.thread == event.thread);
            matches!(asked.op, Op::Abort(_)) || sleeps && matches!(asked.op, Op::WorkEnded(_))
        });
        if !gives_up || !breaks_down {
            ledger.apply(event);
        }
    }
    ledger
}

/// Tells whether a caller was told that the elector leads.
pub(super) fn says_it_leads(asked: &Asked<'_>) -> bool {
    matches!(asked.outcome, Some(Ret::IsLeader(true)))
}
