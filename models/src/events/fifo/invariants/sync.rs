//! Checks of the moment when the first list is processed, and of callers that sleep too long.

use super::{Fifo, Invariant};
use crate::events::fixtures::{Bed, first_list};
use crate::fifo::Event;
use crate::fifo::ledger::{FifoLedger, popped};

pub(super) fn all() -> Vec<Invariant<Fifo>> {
    let mut all = safety();
    all.extend(liveness());
    all
}

fn safety() -> Vec<Invariant<Fifo>> {
    vec![
        Invariant::always(
            "synced_for_good",
            "once the first list counts as processed, it stays so",
            &["cache:QU-16", "cache:INV-8"],
            first_list::synced_for_good::<_, FifoLedger>,
        ),
        Invariant::always(
            "never_synced_early",
            "the first list is processed only when all its places are processed or skipped",
            &["cache:QU-14", "cache:QU-15", "cache:QU-18", "cache:FF-10", "cache:INV-8"],
            first_list::never_synced_early::<_, FifoLedger>,
        ),
        Invariant::always(
            "synced_once_processed",
            "the first list is processed as soon as its last place is processed or skipped",
            &["cache:QU-17", "cache:QU-19", "cache:FF-12", "cache:FF-13", "cache:INV-9"],
            first_list::synced_once_processed::<_, FifoLedger>,
        ),
        Invariant::at_every_event(
            "initial_until_synced",
            "an object counts as initial if the first list was not processed when it was taken",
            &["cache:QU-20", "cache:FF-13"],
            initial_until_synced,
        ),
    ]
}

fn liveness() -> Vec<Invariant<Fifo>> {
    vec![
        Invariant::when_quiet(
            "no_lost_wakeup",
            "no consumer sleeps in pop for ever while an object waits",
            &["cache:QU-7", "cache:INV-11"],
            no_lost_wakeup,
        ),
        Invariant::eventually(
            "close_wakes_everybody",
            "no consumer sleeps in pop for ever once the queue is closed",
            &["cache:QU-5", "cache:QU-6", "cache:INV-10"],
            |history| first_list::close_wakes_everybody(history, |now: &FifoLedger| now.closed),
        ),
        Invariant::eventually(
            "sync_wakes_everybody",
            "nobody waits for the first list for ever once it is processed, or never will be",
            &["cache:QU-18", "cache:FF-13", "cache:INV-9"],
            first_list::sync_wakes_everybody::<_, FifoLedger>,
        ),
    ]
}

fn initial_until_synced(before: &FifoLedger, event: &Event) -> Result<(), String> {
    let Some(popped) = popped(event) else { return Ok(()) };
    match before.spec.clone().pop() {
        Some(taken) if taken.key == popped.key && taken.initial != popped.initial => {
            let (key, initial) = (popped.key, popped.initial);
            Err(format!("object {key} is handed out with initial = {initial}"))
        }
        _ => Ok(()),
    }
}

fn no_lost_wakeup(now: &FifoLedger) -> Result<(), String> {
    match now.spec.items.keys().next() {
        Some(key) if now.asleep.count(Bed::Pop) > 0 => {
            Err(format!("a consumer sleeps although object {key} waits"))
        }
        _ => Ok(()),
    }
}
