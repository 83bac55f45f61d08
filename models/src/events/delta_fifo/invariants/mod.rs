//! The promises of the queue of changes, as checks of a history.

mod changes;
mod delivery;
mod lists;
mod sync;

use super::DeltaFifo;
use super::ledger::{self, DeltaLedger};
use super::tried::Over;
use crate::trial::{Invariant, Violation};

type Checked = Result<(), Violation>;

/// The most specific promises come first: an execution is blamed on the first promise that it
/// breaks.
pub(super) fn all() -> Vec<Invariant<DeltaFifo>> {
    let mut all = changes::all();
    all.extend(lists::all());
    all.extend(delivery::all());
    all.push(changes::nothing_is_lost());
    all.extend(sync::all());
    all.push(delivery::agrees());
    all
}
