//! The promises of an informer, as checks of a history.

mod ends;
mod telling;
mod times;

use seatrial_core::runtime::Instant;

use super::Informer;
use super::book::Entry;
use super::ledger::Seen;
use crate::events::fixtures::entry;
use crate::trial::Invariant;

pub(super) fn all() -> Vec<Invariant<Informer>> {
    let mut all = telling::all();
    all.extend(ends::all());
    all.extend(times::all());
    all
}

/// States a promise about every entry of the book, and the state before it.
#[track_caller]
fn at_every_entry(
    name: &'static str,
    says: &'static str,
    rules: &'static [&'static str],
    check: fn(&Seen, &Entry, Instant) -> Result<(), String>,
) -> Invariant<Informer> {
    Invariant::at_every_event(name, says, rules, move |seen, event| {
        entry(event).map_or(Ok(()), |entry| check(seen, entry, event.at))
    })
}
