//! Checks of the moment when the first list is processed, and of callers that sleep too long.

use seatrial_core::fifo::Ret;

use super::{Checked, Fifo, Invariant};
use crate::events::fixtures::{Bed, MISSED};
use crate::fifo::ledger::{at_every_event, popped, when_quiet};
use crate::fifo::{Event, History};
use crate::trial::Violation;

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
            synced_for_good,
        ),
        Invariant::always(
            "never_synced_early",
            "the first list is processed only when all its places are processed or skipped",
            &["cache:QU-14", "cache:QU-15", "cache:QU-18", "cache:FF-10", "cache:INV-8"],
            never_synced_early,
        ),
        Invariant::always(
            "synced_once_processed",
            "the first list is processed as soon as its last place is processed or skipped",
            &["cache:QU-17", "cache:QU-19", "cache:FF-12", "cache:FF-13", "cache:INV-9"],
            synced_once_processed,
        ),
        Invariant::always(
            "initial_until_synced",
            "an object counts as initial if the first list was not processed when it was taken",
            &["cache:QU-20", "cache:FF-13"],
            initial_until_synced,
        ),
    ]
}

fn liveness() -> Vec<Invariant<Fifo>> {
    vec![
        Invariant::eventually(
            "no_lost_wakeup",
            "no consumer sleeps in pop for ever while an object waits",
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
            &["cache:QU-18", "cache:FF-13", "cache:INV-9"],
            sync_wakes_everybody,
        ),
    ]
}

/// Returns what a caller was told about the first list.
fn said(event: &Event) -> Option<bool> {
    match event.returned()? {
        (_, Ret::HasSynced(says)) => Some(*says),
        (_, Ret::WaitForSync(true)) => Some(true),
        _ => None,
    }
}

fn synced_for_good(history: &History) -> Checked {
    at_every_event(history, |before, event| match said(event) {
        Some(false) if before.synced => {
            Err("the first list was processed, and is not any more".to_owned())
        }
        _ => Ok(()),
    })
}

fn never_synced_early(history: &History) -> Checked {
    at_every_event(history, |before, event| match said(event) {
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
    at_every_event(history, |before, event| {
        let given_up = matches!(event.returned(), Some((_, Ret::WaitForSync(false))));
        if said(event) == Some(false) && before.spec.has_synced() {
            return Err("said not to be synced although the first list is processed".to_owned());
        }
        if given_up && (before.spec.has_synced() || !before.is_drained()) {
            return Err("waiting for the first list was given up too early".to_owned());
        }
        Ok(())
    })
}

fn initial_until_synced(history: &History) -> Checked {
    at_every_event(history, |before, event| {
        let Some(popped) = popped(event) else { return Ok(()) };
        match before.spec.clone().pop() {
            Some(taken) if taken.key == popped.key && taken.initial != popped.initial => {
                let (key, initial) = (popped.key, popped.initial);
                Err(format!("object {key} is handed out with initial = {initial}"))
            }
            _ => Ok(()),
        }
    })
}

fn no_lost_wakeup(history: &History) -> Checked {
    when_quiet(history, |now| match now.spec.items.keys().next() {
        Some(key) if now.asleep.count(Bed::Pop) > 0 => {
            Err(format!("a consumer sleeps although object {key} waits"))
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
    when_quiet(history, |now| {
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
