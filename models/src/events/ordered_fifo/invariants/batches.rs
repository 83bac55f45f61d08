//! Checks of events that are handed out together.

use seatrial_core::ordered_fifo::Event;

use super::{Checked, Invariant, OrderedFifo, at_every_call};
use crate::ordered_fifo::History;
use crate::ordered_fifo::ledger::{OrderedLedger, Taken};
use crate::ordered_fifo::spec::key_of_change;

pub(super) fn all() -> Vec<Invariant<OrderedFifo>> {
    vec![
        Invariant::always(
            "batches_are_of_changes",
            "only changes are handed out together; a list, a resync or a bookmark is handed out \
             alone",
            &["cache:RF-18", "cache:RF-19"],
            |history| at_every_batch(history, of_changes),
        ),
        Invariant::always(
            "batches_are_of_different_objects",
            "the changes of a batch are of different objects",
            &["cache:RF-19", "cache:RF-22"],
            |history| at_every_batch(history, of_different_objects),
        ),
        Invariant::always(
            "batches_end_with_the_first_list",
            "either all changes of a batch belong to the first list, or none does",
            &["cache:RF-19", "cache:RF-21"],
            |history| at_every_batch(history, within_the_first_list),
        ),
        Invariant::always(
            "batches_have_a_limit",
            "a batch is no larger than the consumer asked for",
            &["cache:RF-19"],
            |history| at_every_batch(history, within_the_limit),
        ),
    ]
}

/// Checks every batch of two or more events.
fn at_every_batch(
    history: &History,
    check: fn(&OrderedLedger, &Taken<'_>) -> Result<(), String>,
) -> Checked {
    at_every_call(history, |before, over| match over.taken() {
        Some(taken) if taken.events.len() > 1 => check(before, &taken),
        _ => Ok(()),
    })
}

fn of_changes(_: &OrderedLedger, taken: &Taken<'_>) -> Result<(), String> {
    match taken.events.iter().find(|event| event.delta().is_none()) {
        Some(other) => Err(format!("{other:?} is in a batch")),
        None => Ok(()),
    }
}

fn of_different_objects(_: &OrderedLedger, taken: &Taken<'_>) -> Result<(), String> {
    let changes = taken.events.iter().filter_map(Event::delta);
    let keys: Vec<_> = changes.filter_map(key_of_change).collect();
    for (at, key) in keys.iter().enumerate() {
        if keys[..at].contains(key) {
            return Err(format!("a batch has two changes of object {key}"));
        }
    }
    Ok(())
}

fn within_the_first_list(before: &OrderedLedger, taken: &Taken<'_>) -> Result<(), String> {
    let left = before.spec.initial_left;
    if left > 0 && taken.events.len() > left {
        return Err(format!("{} events, of which {left} are initial", taken.events.len()));
    }
    Ok(())
}

fn within_the_limit(before: &OrderedLedger, taken: &Taken<'_>) -> Result<(), String> {
    let limit = before.config.setup.batch_size.get();
    if taken.events.len() > limit {
        return Err(format!("{} events in a batch of {limit}", taken.events.len()));
    }
    Ok(())
}
