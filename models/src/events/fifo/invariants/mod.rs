//! What the queue of newest objects promises, as checks of a history.

mod delivery;
mod sync;

use super::Fifo;
use crate::trial::{Invariant, Violation};

type Checked = Result<(), Violation>;

/// Whatever says more comes first: an execution is blamed on the first promise that it breaks.
pub(super) fn all() -> Vec<Invariant<Fifo>> {
    let mut all = delivery::all();
    all.extend(sync::all());
    all.push(delivery::agrees());
    all
}
