//! The promises of the queue of events, as checks of a history.

mod batches;
mod delivery;
mod lists;
mod sync;

use super::ledger::OrderedLedger;
use super::tried::Over;
use super::{History, OrderedFifo};
use crate::events::fixtures::over;
use crate::trial::{Invariant, Violation};

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
    over::at_every_call(history, check)
}
