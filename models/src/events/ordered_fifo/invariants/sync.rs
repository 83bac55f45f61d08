//! Checks of the moment when the first list is processed, and of callers that sleep too long.

use super::{Checked, Invariant, OrderedFifo, OrderedLedger, at_every_call};
use crate::events::fixtures::{Bed, first_list};
use crate::ordered_fifo::History;

pub(super) fn all() -> Vec<Invariant<OrderedFifo>> {
    let mut all = safety();
    all.extend(liveness());
    all
}

fn safety() -> Vec<Invariant<OrderedFifo>> {
    vec![
        Invariant::always(
            "synced_for_good",
            "once the first list counts as processed, it stays so",
            &["cache:QU-16", "cache:INV-8"],
            first_list::synced_for_good::<_, OrderedLedger>,
        ),
        Invariant::always(
            "never_synced_early",
            "the first list is processed only when all its events are processed",
            &["cache:QU-14", "cache:QU-18", "cache:RF-11", "cache:RF-16", "cache:RF-17"],
            first_list::never_synced_early::<_, OrderedLedger>,
        ),
        Invariant::always(
            "synced_once_processed",
            "the first list is processed as soon as its last event is processed",
            &[
                "cache:QU-15",
                "cache:QU-17",
                "cache:QU-19",
                "cache:RF-6",
                "cache:INV-9",
                "cache:RF-23",
            ],
            first_list::synced_once_processed::<_, OrderedLedger>,
        ),
        Invariant::always(
            "initial_until_synced",
            "events count as initial if the first list was not processed when they were taken",
            &["cache:QU-20"],
            initial_until_synced,
        ),
    ]
}

fn liveness() -> Vec<Invariant<OrderedFifo>> {
    vec![
        Invariant::when_quiet(
            "no_lost_wakeup",
            "no consumer sleeps in pop for ever while an event waits and no other consumer holds \
             it up",
            &["cache:QU-7", "cache:INV-11"],
            no_lost_wakeup,
        ),
        Invariant::eventually(
            "close_wakes_everybody",
            "no consumer sleeps in pop for ever once the queue is closed and all taken events are \
             processed",
            &["cache:QU-5", "cache:QU-6", "cache:INV-10"],
            |history| first_list::close_wakes_everybody(history, OrderedLedger::is_drained),
        ),
        Invariant::eventually(
            "sync_wakes_everybody",
            "nobody waits for the first list for ever once it is processed, or never will be",
            &["cache:QU-18", "cache:INV-9"],
            first_list::sync_wakes_everybody::<_, OrderedLedger>,
        ),
    ]
}

fn initial_until_synced(history: &History) -> Checked {
    at_every_call(history, |before, over| match over.taken() {
        Some(taken) if taken.initial == before.spec.has_synced() => {
            Err(format!("{:?} are handed out with initial = {}", taken.events, taken.initial))
        }
        _ => Ok(()),
    })
}

fn no_lost_wakeup(now: &OrderedLedger) -> Result<(), String> {
    match now.state.events.first() {
        Some(event) if now.asleep.count(Bed::Pop) > 0 && now.in_process.is_empty() => {
            Err(format!("a consumer sleeps although {event:?} waits"))
        }
        _ => Ok(()),
    }
}
