//! Checks of the moment when the first list is processed, and of callers that sleep too long.

use seatrial_core::delta_fifo::Ret;

use super::ledger::{DeltaLedger, Over, at_every_call, when_quiet};
use super::{Checked, DeltaFifo, Invariant};
use crate::delta_fifo::History;
use crate::events::fixtures::{Bed, MISSED};
use crate::trial::Violation;

pub(super) fn all() -> Vec<Invariant<DeltaFifo>> {
    let mut all = safety();
    all.extend(liveness());
    all
}

fn safety() -> Vec<Invariant<DeltaFifo>> {
    vec![
        Invariant::always(
            "synced_for_good",
            "once the first list counts as processed, it stays so",
            &["cache:QU-16", "cache:INV-8"],
            synced_for_good,
        ),
        Invariant::always(
            "never_synced_early",
            "the first list is processed only when every object that it shows or deletes is \
             processed",
            &["cache:QU-14", "cache:QU-15", "cache:QU-18", "cache:DF-18", "cache:INV-8"],
            never_synced_early,
        ),
        Invariant::always(
            "synced_once_processed",
            "the first list is processed as soon as its last entry is processed",
            &["cache:QU-17", "cache:QU-19", "cache:DF-10", "cache:DF-19", "cache:INV-9"],
            synced_once_processed,
        ),
        Invariant::always(
            "initial_until_synced",
            "an entry counts as initial if the first list was not processed when it was taken",
            &["cache:QU-20"],
            initial_until_synced,
        ),
    ]
}

fn liveness() -> Vec<Invariant<DeltaFifo>> {
    vec![
        Invariant::eventually(
            "no_lost_wakeup",
            "no consumer sleeps in pop for ever while an entry is pending",
            &["cache:QU-7", "cache:INV-11"],
            no_lost_wakeup,
        ),
        Invariant::eventually(
            "close_wakes_everybody",
            "no consumer sleeps in pop for ever once the queue is closed",
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
    at_every_call(history, |before, over| match (said(over), before.batch.first()) {
        (Some(true), Some(key)) => {
            Err(format!("said to be synced although object {key} is not processed"))
        }
        (Some(true), None) if !before.spec.populated => {
            Err("said to be synced although nobody has written".to_owned())
        }
        _ => Ok(()),
    })?;
    match history.events.iter().position(|event| event.noted(MISSED).is_some_and(|n| n > 0)) {
        Some(at) => Err(Violation::at(at, "synced, and the consumer's store misses objects")),
        None => Ok(()),
    }
}

fn synced_once_processed(history: &History) -> Checked {
    at_every_call(history, |before, over| match (said(over), over.ret) {
        (Some(false), _) if before.has_synced() => {
            Err("said not to be synced although the first list is processed".to_owned())
        }
        (_, Ret::WaitForSync(false)) if before.has_synced() || !before.is_drained() => {
            Err("waiting for the first list was given up too early".to_owned())
        }
        _ => Ok(()),
    })
}

fn initial_until_synced(history: &History) -> Checked {
    at_every_call(history, |before, over| match over.popped() {
        Some(popped) if popped.initial == before.has_synced() => {
            let initial = popped.initial;
            Err(format!("object {} is handed out with initial = {initial}", popped.key))
        }
        _ => Ok(()),
    })
}

fn no_lost_wakeup(history: &History) -> Checked {
    when_quiet(history, |now| match now.state.pending.first() {
        Some((key, _)) if now.asleep.count(Bed::Pop) > 0 => {
            Err(format!("a consumer sleeps although object {key} is pending"))
        }
        _ => Ok(()),
    })
}

fn close_wakes_everybody(history: &History) -> Checked {
    when_quiet(history, |now| {
        if now.closed && now.asleep.count(Bed::Pop) > 0 {
            return Err("a consumer sleeps although the queue is closed".to_owned());
        }
        Ok(())
    })
}

fn sync_wakes_everybody(history: &History) -> Checked {
    when_quiet(history, |now: &DeltaLedger| {
        if now.asleep.count(Bed::Sync) > 0 && now.has_synced() {
            return Err("somebody waits for the first list, which is processed".to_owned());
        }
        if now.asleep.count(Bed::Sync) > 0 && now.is_drained() {
            return Err("somebody waits for a list that will never be processed".to_owned());
        }
        Ok(())
    })
}
