//! Checks of the moment when the first list is processed, and of callers that sleep too long.

use seatrial_core::delta_fifo::Ret;

use super::ledger::{DeltaLedger, at_every_call};
use super::{Checked, DeltaFifo, Invariant};
use crate::delta_fifo::History;
use crate::events::fixtures::{Bed, first_list};

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
            first_list::synced_for_good::<_, DeltaLedger>,
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
            first_list::synced_once_processed::<_, DeltaLedger>,
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
        Invariant::when_quiet(
            "no_lost_wakeup",
            "no consumer sleeps in pop for ever while an entry is pending",
            &["cache:QU-7", "cache:INV-11"],
            no_lost_wakeup,
        ),
        Invariant::eventually(
            "close_wakes_everybody",
            "no consumer sleeps in pop for ever once the queue is closed",
            &["cache:QU-5", "cache:QU-6", "cache:INV-10"],
            |history| first_list::close_wakes_everybody(history, |now: &DeltaLedger| now.closed),
        ),
        Invariant::eventually(
            "sync_wakes_everybody",
            "nobody waits for the first list for ever once it is processed, or never will be",
            &["cache:QU-18", "cache:INV-9"],
            first_list::sync_wakes_everybody::<_, DeltaLedger>,
        ),
    ]
}

fn never_synced_early(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        if !matches!(over.ret, Ret::HasSynced(true) | Ret::WaitForSync(true)) {
            return Ok(());
        }
        match before.batch.first() {
            Some(key) => Err(format!("said to be synced although object {key} is not processed")),
            None if !before.spec.populated => {
                Err("said to be synced although nobody has written".to_owned())
            }
            None => Ok(()),
        }
    })?;
    first_list::never_misses_objects::<DeltaFifo>(history)
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

fn no_lost_wakeup(now: &DeltaLedger) -> Result<(), String> {
    match now.state.pending.first() {
        Some((key, _)) if now.asleep.count(Bed::Pop) > 0 => {
            Err(format!("a consumer sleeps although object {key} is pending"))
        }
        _ => Ok(()),
    }
}
