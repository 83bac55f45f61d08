//! The promises of the queue of events, as checks of a history.

use super::queue::apply;
use super::{Led, OrderedFifo};
use crate::events::fixtures::promises;
use crate::trial::Invariant;

pub(super) fn all() -> Vec<Invariant<OrderedFifo>> {
    let lost = Invariant::after_every_event(
        "nothing_is_lost",
        "at every unlock, the events that the consumer got and those that wait add up to what the \
         writers saw",
        &["cache:INV-3", "cache:INV-4", "cache:RF-5", "cache:RF-7", "cache:QU-4"],
        |after: &Led, _| nothing_is_lost(after),
    );
    let transformed = promises::transformed_once(&["cache:RF-10", "cache:INV-26"]);
    let alone = &["cache:QU-12", "cache:QU-13", "cache:RF-32", "cache:INV-12"];
    let early = &["cache:QU-14", "cache:QU-18", "cache:RF-11", "cache:RF-16", "cache:RF-17"];
    let late =
        &["cache:QU-15", "cache:QU-17", "cache:QU-19", "cache:RF-6", "cache:INV-9", "cache:RF-23"];
    promises::of(vec![transformed, lost], [alone, early, late], RULES)
}

/// What the comparison with the plain queue checks; others check some of it, too.
const RULES: &[&str] = &[
    "cache:RF-1",
    "cache:RF-3",
    "cache:RF-5",
    "cache:RF-7",
    "cache:RF-8",
    "cache:RF-12",
    "cache:RF-13",
    "cache:RF-14",
    "cache:RF-15",
    "cache:RF-18",
    "cache:RF-19",
    "cache:RF-21",
    "cache:RF-22",
    "cache:RF-31",
    "cache:QU-1",
    "cache:QU-2",
    "cache:QU-3",
    "cache:QU-8",
    "cache:QU-20",
    "cache:QU-21",
    "cache:INV-5",
    "cache:INV-7",
    "cache:INV-21",
    "cache:INV-28",
];

/// What the consumer will have once everything is applied: first the events that it was handed, then
/// those that wait.
fn nothing_is_lost(now: &Led) -> Result<(), String> {
    let mut outcome = now.view.handed.clone();
    now.state.waiting.iter().for_each(|event| apply(&mut outcome, event));
    if outcome == now.view.seen {
        return Ok(());
    }
    let saw = &now.view.seen;
    Err(format!("the consumer will have {outcome:?} where the writers saw {saw:?}"))
}
