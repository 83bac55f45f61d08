//! Checks of changes while they are pending.

use seatrial_core::delta_fifo::{Delete, Op};
use seatrial_core::store::LastState;

use super::ledger::{after_every_call, at_every_call};
use super::{Checked, DeltaFifo, Invariant, Over};
use crate::delta_fifo::History;
use crate::delta_fifo::tried::{Change, State};
use crate::events::fixtures::Object;

pub(super) fn all() -> Vec<Invariant<DeltaFifo>> {
    vec![
        Invariant::always(
            "one_entry_per_object",
            "an object with pending changes is in the queue once, and no other object is in the \
             queue",
            &["cache:DF-1", "cache:DF-19", "cache:INV-6"],
            one_entry_per_object,
        ),
        Invariant::always(
            "deletions_are_deduplicated",
            "a pending deletion of an object never follows another deletion directly",
            &["cache:DF-2", "cache:DF-6", "cache:INV-6"],
            deletions_are_deduplicated,
        ),
        Invariant::always(
            "the_better_deletion_survives",
            "of two deletions in a row the older is kept, unless it is a tombstone",
            &["cache:DF-6", "cache:DF-14"],
            the_better_deletion_survives,
        ),
        Invariant::always(
            "changes_stay_until_popped",
            "a pending change stays as it is until it is handed out; only a deletion may be \
             replaced by a second one",
            &["cache:DF-7", "cache:DF-11", "cache:DF-26", "cache:DF-32", "cache:QU-10"],
            changes_stay_until_popped,
        ),
        Invariant::always(
            "needless_deletions_are_ignored",
            "deleting an object that is neither pending nor known queues nothing",
            &["cache:DF-9", "cache:DF-10"],
            needless_deletions_are_ignored,
        ),
    ]
}

pub(super) fn nothing_is_lost() -> Invariant<DeltaFifo> {
    Invariant::always(
        "nothing_is_lost",
        "whenever the lock is free, the consumer's objects and the pending changes add up to what \
         the writers saw",
        &["cache:INV-3", "cache:INV-4", "cache:DF-12", "cache:DF-16", "cache:DF-29", "cache:QU-4"],
        |history| after_every_call(history, what_is_on_its_way_is_the_view),
    )
}

fn one_entry_per_object(history: &History) -> Checked {
    at_every_call(history, |_, over| {
        for (at, (key, deltas)) in over.state.pending.iter().enumerate() {
            if deltas.is_empty() {
                return Err(format!("object {key} is in the queue without a change"));
            }
            if over.state.pending[..at].iter().any(|(earlier, _)| earlier == key) {
                return Err(format!("object {key} is in the queue twice"));
            }
        }
        Ok(())
    })
}

fn deletions_are_deduplicated(history: &History) -> Checked {
    at_every_call(history, |_, over| {
        let twice = |deltas: &[Change]| {
            deltas.windows(2).any(|pair| pair[0].is_deleted() && pair[1].is_deleted())
        };
        match over.state.pending.iter().find(|(_, deltas)| twice(deltas)) {
            Some((key, deltas)) => Err(format!("two deletions of object {key} in {deltas:?}")),
            None => Ok(()),
        }
    })
}

/// Returns the deletion that an object's pending changes end with.
fn deleted_last(state: &State, key: u8) -> Option<&LastState<u8, Object>> {
    match state.deltas(key).last() {
        Some(Change::Deleted(last)) => Some(last),
        _ => None,
    }
}

fn the_better_deletion_survives(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        for (key, deltas) in &before.state.pending {
            let Some(older) = deleted_last(&before.state, *key) else { continue };
            let Some(newer) = newer_deletion(*key, older, over) else { continue };
            let kept = deleted_last(over.state, *key);
            let right = if older.is_tombstone() { &newer } else { older };
            if over.state.deltas(*key).len() == deltas.len() && kept != Some(right) {
                return Err(format!("of {older:?} and {newer:?} the queue keeps {kept:?}"));
            }
        }
        Ok(())
    })
}

/// Returns the deletion that a call queues for an object that is deleted already.
fn newer_deletion(
    key: u8,
    older: &LastState<u8, Object>,
    over: &Over<'_>,
) -> Option<LastState<u8, Object>> {
    match over.op {
        Op::Delete(Delete { key: Some(named), last: Some(Ok(last)) }) if *named.key() == key => {
            Some(last.clone())
        }
        Op::Replace(_) if !over.listed()?.contains_key(&key) => {
            Some(LastState::unknown(key, older.object().copied()))
        }
        _ => None,
    }
}

fn changes_stay_until_popped(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        for (key, old) in &before.state.pending {
            if over.popped().is_some_and(|popped| popped.key == *key) {
                continue;
            }
            let new = over.state.deltas(*key);
            let stay = match old.split_last() {
                Some((Change::Deleted(_), stay))
                    if new.get(stay.len()).is_some_and(Change::is_deleted) =>
                {
                    stay
                }
                _ => old,
            };
            if !new.starts_with(stay) {
                return Err(format!("pending changes of object {key} went: {old:?}, now {new:?}"));
            }
        }
        Ok(())
    })
}

fn needless_deletions_are_ignored(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let Op::Delete(Delete { key: Some(key), .. }) = over.op else { return Ok(()) };
        let key = *key.key();
        let may_be_known = before.config.known.is_some()
            && (!before.spec.readable || over.state.known.contains_key(&key));
        let needless = !before.state.is_pending(key) && !may_be_known;
        if needless && over.state.is_pending(key) {
            return Err(format!("object {key} was nowhere, and its deletion is queued"));
        }
        Ok(())
    })
}

/// A queue that does not know its consumer's objects drops deletions of objects that it has handed
/// out; that is its rule (`cache:DF-9`). It promises nothing here.
fn what_is_on_its_way_is_the_view(now: &super::DeltaLedger) -> Result<(), String> {
    if now.config.known.is_none() {
        return Ok(());
    }
    let pending = now.state.pending.iter().map(|(key, _)| key);
    let stored = now.state.known.keys().chain(now.handed.keys());
    for key in now.view.keys().chain(pending).chain(stored) {
        let (saw, outcome) = (now.view.get(key).copied(), now.outcome(*key));
        if saw != outcome {
            return Err(format!(
                "of object {key} the consumer will have {outcome:?} where the writers saw {saw:?}"
            ));
        }
    }
    Ok(())
}
