//! The promises of an informer, as checks of a history.

mod ends;
mod telling;
mod times;

use super::Informer;
use super::book::Entry;
use super::ledger::Seen;
use crate::events::fixtures::entry;
use crate::trial::{HistoryOf, Invariant, Ledger as _, Violation};

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<Informer>> {
    let mut all = telling::all();
    all.extend(ends::all());
    all.extend(times::all());
    all
}

/// Checks every entry of the book against the state before it.
fn at_every_entry(
    history: &HistoryOf<Informer>,
    check: impl Fn(&Seen, &Entry, seatrial_core::runtime::Instant) -> Result<(), String>,
) -> Checked {
    Seen::at_every_event(history, |seen, event| match entry(event) {
        Some(entry) => check(seen, entry, event.at),
        None => Ok(()),
    })
}
