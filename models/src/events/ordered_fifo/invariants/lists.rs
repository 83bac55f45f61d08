//! Checks of lists, resyncs and bookmarks.

use std::collections::BTreeMap;

use seatrial_core::delta_fifo::Delta;
use seatrial_core::ordered_fifo::{Event, Op};
use seatrial_core::store::{LastState, Tombstone};

use super::{Checked, Invariant, OrderedFifo, at_every_call};
use crate::events::fixtures::Object;
use crate::ordered_fifo::History;
use crate::ordered_fifo::ledger::OrderedLedger;
use crate::ordered_fifo::spec::key_of_change;
use crate::ordered_fifo::tried::Happened;

pub(super) fn all() -> Vec<Invariant<OrderedFifo>> {
    vec![
        Invariant::always(
            "tombstones_come_first",
            "a list shows the deleted objects before the objects that it contains",
            &["cache:RF-7"],
            tombstones_come_first,
        ),
        Invariant::always(
            "deletions_are_not_repeated",
            "a list puts no tombstone behind a queued deletion",
            &["cache:RF-8"],
            deletions_are_not_repeated,
        ),
        Invariant::always(
            "tombstones_carry_the_newest_state",
            "a tombstone carries the newest state that is queued, else the one that is known",
            &["cache:RF-7"],
            tombstones_carry_the_newest_state,
        ),
        Invariant::always(
            "resync_never_goes_back",
            "a resync shows no object with a queued change, because the change is newer",
            &["cache:RF-12", "cache:INV-5"],
            resync_never_goes_back,
        ),
        Invariant::always(
            "resync_shows_the_idle",
            "a resync shows every known object without a queued change, or shows all objects by \
             one event",
            &["cache:RF-12", "cache:RF-13"],
            resync_shows_the_idle,
        ),
        Invariant::always(
            "a_list_is_one_step",
            "in atomic mode a list is one event with all its objects, and there is no other event \
             for a list",
            &["cache:RF-3", "cache:RF-10", "cache:INV-28"],
            a_list_is_one_step,
        ),
        Invariant::always(
            "bookmarks_where_asked",
            "a bookmark is one event in a queue that was asked for bookmarks, and no event in any \
             other queue",
            &["cache:RF-14"],
            bookmarks_where_asked,
        ),
    ]
}

/// Returns the newest queued change of every object.
fn newest(before: &OrderedLedger) -> BTreeMap<u8, &Delta<u8, Object>> {
    let changes = before.state.events.iter().filter_map(Event::delta);
    changes.filter_map(|change| Some((key_of_change(change)?, change))).collect()
}

fn tombstone(event: &Happened) -> Option<&Tombstone<u8, Object>> {
    match event.delta()? {
        Delta::Deleted(LastState::Tombstone(tombstone)) => Some(tombstone),
        _ => None,
    }
}

fn tombstones_come_first(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        if !matches!(over.op, Op::Replace(_)) {
            return Ok(());
        }
        let behind = over.appended(before).iter().skip_while(|event| tombstone(event).is_some());
        match behind.into_iter().find_map(tombstone) {
            Some(late) => Err(format!("a tombstone of object {} is behind the list", late.key)),
            None => Ok(()),
        }
    })
}

fn deletions_are_not_repeated(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        if !matches!(over.op, Op::Replace(_)) {
            return Ok(());
        }
        let newest = newest(before);
        let deleted = |key: &u8| newest.get(key).is_some_and(|change| change.is_deleted());
        match over.appended(before).iter().filter_map(tombstone).find(|it| deleted(&it.key)) {
            Some(again) => Err(format!("object {} is deleted once more by a list", again.key)),
            None => Ok(()),
        }
    })
}

fn tombstones_carry_the_newest_state(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        if !matches!(over.op, Op::Replace(_)) {
            return Ok(());
        }
        let newest = newest(before);
        let known = over.state.known.as_ref();
        for tombstone in over.appended(before).iter().filter_map(tombstone) {
            let stored = known.and_then(|known| known.get(&tombstone.key));
            let right = newest.get(&tombstone.key).map_or(stored, |change| change.object());
            if tombstone.object.as_ref() != right {
                return Err(format!("{tombstone:?} should carry {right:?}"));
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
        let newest = newest(before);
        let changes = over.appended(before).iter().filter_map(Event::delta);
        match changes.filter_map(key_of_change).find(|key| newest.contains_key(key)) {
            Some(key) => Err(format!("object {key} is shown behind a change that is newer")),
            None => Ok(()),
        }
    })
}

fn resync_shows_the_idle(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        if !matches!(over.op, Op::Resync(_)) {
            return Ok(());
        }
        let shown = over.appended(before);
        let Some(known) = &over.state.known else {
            let whole = shown == [Event::SyncAll];
            return if whole { Ok(()) } else { Err(format!("a resync is {shown:?}")) };
        };
        let newest = newest(before);
        let idle = known.iter().filter(|(key, _)| !newest.contains_key(key));
        for (key, object) in idle {
            if !shown.contains(&Event::Delta(Delta::Sync(*object))) {
                return Err(format!("object {key} is idle, and a resync does not show it"));
            }
        }
        Ok(())
    })
}

fn a_list_is_one_step(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let Op::ReplaceAll(list) = over.op else { return Ok(()) };
        let shown = over.appended(before);
        if shown == [Event::ReplacedAll(list.0.clone())] {
            return Ok(());
        }
        Err(format!("the list {:?} is shown as {shown:?}", list.0.objects))
    })
}

fn bookmarks_where_asked(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let Op::Mark(mark) = over.op else { return Ok(()) };
        let asked = before.config.known.is_none() && before.config.setup.emit_bookmarks;
        let right = asked.then(|| Event::Bookmark(mark.0.clone()));
        let shown = over.appended(before);
        if shown == right.as_slice() {
            return Ok(());
        }
        Err(format!("a bookmark is shown as {shown:?}"))
    })
}
