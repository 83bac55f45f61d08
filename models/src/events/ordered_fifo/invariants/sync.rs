//! Checks of the moment when the first list is processed, and of callers that sleep too long.

use seatrial_core::ordered_fifo::Ret;

use super::{Checked, Invariant, OrderedFifo, OrderedLedger, Over, at_every_call};
use crate::events::fixtures::{Bed, MISSED};
use crate::ordered_fifo::History;
use crate::trial::{Ledger as _, Violation};

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
            synced_for_good,
        ),
        Invariant::always(
            "never_synced_early",
            "the first list is processed only when all its events are processed",
            &["cache:QU-14", "cache:QU-18", "cache:RF-11", "cache:RF-16", "cache:RF-17"],
            never_synced_early,
        ),
        Invariant::always(
            "synced_once_processed",
            "the first list is processed as soon as its last event is processed",
            &["cache:QU-15", "cache:QU-17", "cache:QU-19", "cache:RF-6", "cache:INV-9"],
            synced_once_processed,
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
        Invariant::eventually(
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
            close_wakes_everybody,
        ),
        Invariant::eventually(
            "sync_wakes_everybody",
            "nobody waits for the first list for ever once it is processed, or never will be",
            &["cache:QU-18", "cache:INV-9"],
            sync_wakes_everybody,
        ),
    ]
}

/// Returns what a caller was told about the first list.
fn said(over: &Over<'_>) -> Option<bool> {
    match over.ret {
        Ret::HasSynced(says) => Some(*says),
        Ret::WaitForSync(true) => Some(true),
        _ => None,
    }
}

fn synced_for_good(history: &History) -> Checked {
    at_every_call(history, |before, over| match said(over) {
        Some(false) if before.synced => {
            Err("the first list was processed, and is not any more".to_owned())
        }
        _ => Ok(()),
    })
}

fn never_synced_early(history: &History) -> Checked {
    at_every_call(history, |before, over| match said(over) {
        Some(true) if !before.spec.has_synced() => {
            Err("said to be synced although the first list is not processed".to_owned())
        }
        _ => Ok(()),
    })?;
    match history.events.iter().position(|event| event.noted(MISSED).is_some_and(|n| n > 0)) {
        Some(at) => Err(Violation::at(at, "synced, and the consumer's store misses objects")),
        None => Ok(()),
    }
}

fn synced_once_processed(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let synced = before.spec.has_synced();
        if said(over) == Some(false) && synced {
            return Err("said not to be synced although the first list is processed".to_owned());
        }
        if matches!(over.ret, Ret::WaitForSync(false)) && (synced || !before.is_drained()) {
            return Err("waiting for the first list was given up too early".to_owned());
        }
        Ok(())
    })
}

fn initial_until_synced(history: &History) -> Checked {
    at_every_call(history, |before, over| match over.taken() {
        Some(taken) if taken.initial == before.spec.has_synced() => {
            Err(format!("{:?} are handed out with initial = {}", taken.events, taken.initial))
        }
        _ => Ok(()),
    })
}

fn no_lost_wakeup(history: &History) -> Checked {
    OrderedLedger::when_quiet(history, |now| match now.state.events.first() {
        Some(event) if now.asleep.count(Bed::Pop) > 0 && now.in_process.is_empty() => {
            Err(format!("a consumer sleeps although {event:?} waits"))
        }
        _ => Ok(()),
    })
}

fn close_wakes_everybody(history: &History) -> Checked {
    OrderedLedger::when_quiet(history, |now| {
        if now.is_drained() && now.asleep.count(Bed::Pop) > 0 {
            return Err("a consumer sleeps although the queue is closed".to_owned());
        }
        Ok(())
    })
}

fn sync_wakes_everybody(history: &History) -> Checked {
    OrderedLedger::when_quiet(history, |now| {
        let waits = now.asleep.count(Bed::Sync) > 0;
        if waits && now.spec.has_synced() {
            return Err("somebody waits for the first list, which is processed".to_owned());
        }
        if waits && now.is_drained() {
            return Err("somebody waits for a list that will never be processed".to_owned());
        }
        Ok(())
    })
}
