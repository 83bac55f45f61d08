//! Follows histories with the ledger.

use seatrial_core::elector::{Op, Ret};

use super::asked::Asked;
use super::ledger::{Elector, ElectorLedger};
use super::{Event, History};
use crate::engine::End;
use crate::trial::{Ledger as _, Violation};

/// Checks every step of an elector against the state before it.
pub(super) fn at_every_step(
    history: &History,
    check: impl Fn(&Elector, &Asked<'_>, &Event) -> Result<(), String>,
) -> Result<(), Violation> {
    ElectorLedger::at_every_event(history, |before, event| match before.asked(event) {
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
