//! The promises of the queue of newest objects, as checks of a history.

mod delivery;
mod sync;

use super::Fifo;
use crate::trial::Invariant;

/// The most specific promises come first: an execution is blamed on the first promise that it
/// breaks.
pub(super) fn all() -> Vec<Invariant<Fifo>> {
    let mut all = delivery::all();
    all.extend(sync::all());
    all.push(delivery::agrees());
    all
}
