//! Checks of lists and resyncs.

use seatrial_core::delta_fifo::{Delta, DeltaKind, Op, Replace};
use seatrial_core::store::LastState;

use super::ledger::at_every_call;
use super::{Checked, DeltaFifo, DeltaLedger, Invariant, Over};
use crate::delta_fifo::History;
use crate::delta_fifo::tried::Change;

pub(super) fn all() -> Vec<Invariant<DeltaFifo>> {
    vec![
        Invariant::always(
            "lists_are_told_from_resyncs",
            "a list shows its objects as replaced in a queue that distinguishes lists from \
             resyncs, and as sync in any other queue",
            &["cache:DF-12", "cache:DF-33"],
            lists_are_told_from_resyncs,
        ),
        Invariant::always(
            "every_listed_object_is_shown",
            "a list queues every object in it, behind any pending changes",
            &["cache:DF-12", "cache:DF-19", "cache:DF-32"],
            every_listed_object_is_shown,
        ),
        Invariant::always(
            "only_the_unlisted_are_deleted",
            "a list deletes no object that is in it, and no object at all if one of its objects \
             was refused",
            &["cache:DF-12", "cache:DF-20"],
            only_the_unlisted_are_deleted,
        ),
        Invariant::always(
            "tombstones_carry_the_newest_state",
            "a tombstone carries the newest pending state, or else the known state",
            &["cache:DF-13", "cache:DF-14", "cache:DF-15", "cache:DF-16"],
            tombstones_carry_the_newest_state,
        ),
        Invariant::always(
            "resync_never_goes_back",
            "a resync queues nothing behind pending changes, which are newer",
            &["cache:DF-21", "cache:INV-5"],
            resync_never_goes_back,
        ),
        Invariant::always(
            "resync_shows_the_idle",
            "a resync shows every known object that has nothing pending",
            &["cache:DF-21"],
            resync_shows_the_idle,
        ),
    ]
}

/// Returns the changes that a call appended to those of an object.
fn appended<'a>(before: &DeltaLedger, over: &'a Over<'_>, key: u8) -> &'a [Change] {
    let (old, new) = (before.state.deltas(key), over.state.deltas(key));
    new.get(old.len()..).unwrap_or_default()
}

fn lists_are_told_from_resyncs(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let Op::Replace(Replace { objects, .. }) = over.op else { return Ok(()) };
        let right = if before.config.emit_replaced { DeltaKind::Replaced } else { DeltaKind::Sync };
        for keyed in objects {
            let shown = appended(before, over, *keyed.key.key());
            let wrong = |delta: &&Change| !delta.is_deleted() && delta.kind() != right;
            if let Some(wrong) = shown.iter().find(wrong) {
                return Err(format!("a listed object is shown as {wrong:?}, not as {right}"));
            }
        }
        Ok(())
    })
}

fn every_listed_object_is_shown(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let Op::Replace(Replace { objects, .. }) = over.op else { return Ok(()) };
        for keyed in objects {
            let key = *keyed.key.key();
            let listed = objects.iter().filter(|other| *other.key.key() == key);
            let listed: Vec<_> = listed.map(|keyed| keyed.object).collect();
            let shown = appended(before, over, key).iter().filter(|delta| !delta.is_deleted());
            let shown: Vec<_> = shown.filter_map(Delta::object).copied().collect();
            if shown != listed {
                return Err(format!("of {listed:?} in the list the queue shows {shown:?}"));
            }
        }
        Ok(())
    })
}

fn only_the_unlisted_are_deleted(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let Op::Replace(Replace { objects, refused, .. }) = over.op else { return Ok(()) };
        for (key, _) in &over.state.pending {
            let listed = objects.iter().any(|keyed| keyed.key.key() == key);
            let deleted = appended(before, over, *key).iter().any(Delta::is_deleted);
            if deleted && (listed || refused.is_some()) {
                return Err(format!("a list that does not miss object {key} deletes it"));
            }
        }
        Ok(())
    })
}

fn tombstones_carry_the_newest_state(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let Some(listed) = over.listed() else { return Ok(()) };
        for (key, deltas) in &over.state.pending {
            let newest = before.state.deltas(*key).last();
            let real = |last: &LastState<_, _>| !last.is_tombstone();
            if listed.contains_key(key)
                || matches!(newest, Some(Delta::Deleted(last)) if real(last))
            {
                continue; // no tombstone, or none that is kept
            }
            let right = match newest {
                Some(newest) => newest.object().copied(),
                None => over.state.known.get(key).filter(|_| before.spec.readable).copied(),
            };
            let right = Delta::Deleted(LastState::unknown(*key, right));
            if deltas.last() != Some(&right) {
                let shown = deltas.last();
                return Err(format!("a list deletes object {key} by {shown:?}, not {right:?}"));
            }
        }
        Ok(())
    })
}

fn resync_never_goes_back(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        if !matches!(over.op, Op::Resync(_)) {
            return Ok(());
        }
        match before.state.pending.iter().find(|(key, _)| !appended(before, over, *key).is_empty())
        {
            Some((key, _)) => {
                let shown = appended(before, over, *key);
                Err(format!("a resync queues {shown:?} behind pending changes of object {key}"))
            }
            None => Ok(()),
        }
    })
}

fn resync_shows_the_idle(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        if !matches!(over.op, Op::Resync(_)) || before.config.known.is_none() {
            return Ok(());
        }
        for (key, object) in &over.state.known {
            let idle = !before.state.is_pending(*key);
            let right: &[_] = if before.spec.readable { &[Delta::Sync(*object)] } else { &[] };
            if idle && over.state.deltas(*key) != right {
                let shown = over.state.deltas(*key);
                return Err(format!("a resync shows object {key} as {shown:?}, not {right:?}"));
            }
        }
        Ok(())
    })
}
