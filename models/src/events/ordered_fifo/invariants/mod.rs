//! The promises of the queue of events, as checks of a history.

mod batches;
mod delivery;
mod lists;
mod sync;

use super::ledger::{OrderedLedger, Over, over};
use super::{History, OrderedFifo};
use crate::trial::{Invariant, Ledger as _, Violation};

type Checked = Result<(), Violation>;

/// The most specific promises come first: an execution is blamed on the first promise that it
/// breaks.
pub(super) fn all() -> Vec<Invariant<OrderedFifo>> {
    let mut all = lists::all();
    all.extend(batches::all());
    all.extend(delivery::all());
    all.extend(sync::all());
    all.push(delivery::nothing_is_lost());
    all.push(delivery::agrees());
    all
}

/// Checks every finished call against the state before it.
fn at_every_call(
    history: &History,
    check: impl Fn(&OrderedLedger, &Over<'_>) -> Result<(), String>,
) -> Checked {
    OrderedLedger::at_every_event(history, |before, event| {
        over(event).map_or(Ok(()), |over| check(before, &over))
    })
}
