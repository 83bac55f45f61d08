//! Checks of the changes that handlers are told, and of whether handlers have synced.

use std::collections::BTreeMap;

use seatrial_core::runtime::Instant;

use super::{Seen, at_every_entry};
use crate::events::fixtures::entry;
use crate::informer::book::{Entry, Told};
use crate::informer::{History, Informer};
use crate::trial::{Invariant, Ledger as _, Violation};

pub(super) fn all() -> Vec<Invariant<Informer>> {
    vec![
        at_every_entry(
            "a_legal_sequence",
            "for each object a handler gets a legal sequence of calls: added, updated from the \
             last state, deleted; never added twice, never an update or a deletion of an object \
             that it does not know, and never a deletion of one that the server still has",
            &[
                "cache:HN-1",
                "cache:SI-5",
                "cache:SI-33",
                "cache:SI-3",
                "cache:HN-3",
                "cache:SI-18",
                "cache:SI-34",
            ],
            a_legal_sequence,
        ),
        Invariant::when_quiet(
            "all_is_told",
            "once nothing more happens, every handler has been called with all that the server has, \
             except for what an index function refused",
            &[
                "cache:SI-2",
                "cache:SI-19",
                "cache:PL-10",
                "cache:SI-1",
                "cache:SI-35",
                "cache:PL-8",
            ],
            all_is_told,
        ),
        Invariant::always(
            "stored_before_told",
            "during a call a handler finds the object of the call in the store, or a newer state \
             of it",
            &["cache:SI-6"],
            stored_before_told,
        ),
        at_every_entry(
            "synced_not_early",
            "a handler has synced only once it has returned from the calls for all objects that \
             were there when it was added",
            &[
                "cache:SI-15",
                "cache:PL-16",
                "cache:PL-20",
                "cache:PL-21",
                "cache:PL-22",
                "cache:SI-14",
                "cache:SY-4",
            ],
            synced_not_early,
        ),
        Invariant::when_quiet(
            "synced_not_stuck",
            "once nothing more happens, no caller waits for a handler to sync that has seen all \
             objects",
            &["cache:PL-23", "cache:SY-5"],
            synced_not_stuck,
        ),
        at_every_entry(
            "transformed_once",
            "every object in a call of a handler was transformed exactly once",
            &["cache:INV-26", "cache:WL-14"],
            transformed_once,
        ),
    ]
}

fn a_legal_sequence(seen: &Seen, entry: &Entry, _: Instant) -> Result<(), String> {
    let Entry::Calls { number, key, told, .. } = entry else { return Ok(()) };
    let of = &seen.handlers[number];
    let known = of.objects.get(key).copied();
    let wrong = match (told, known) {
        (Told::Added { .. }, Some(known)) => format!("is new, and known as {known}"),
        (Told::Updated { .. }, None) => "has changed, and is not known".to_owned(),
        (Told::Updated { old, new }, Some(known)) if *old != known || new < old => {
            format!("has changed from {old} to {new}, and is known as {known}")
        }
        (Told::Deleted, None) => "is gone, and is not known".to_owned(),
        (Told::Deleted, Some(known)) if seen.deleted.get(key) < Some(&known) => {
            format!("is gone, and the server has not deleted it since {known}")
        }
        _ => return Ok(()),
    };
    Err(format!("handler {number} is told that object {key} {wrong}"))
}

fn all_is_told(seen: &Seen) -> Result<(), String> {
    if seen.began.is_none() || seen.stops.is_some() {
        return Ok(());
    }
    for (number, of) in seen.handlers.iter().filter(|(_, of)| of.listens()) {
        let accepted = |objects: &BTreeMap<u16, u64>| -> BTreeMap<u16, u64> {
            let mut objects = objects.clone();
            objects.retain(|key, _| seen.accepts(*key));
            objects
        };
        let (told, has) = (accepted(&of.objects), accepted(&seen.server));
        if told != has {
            return Err(format!("handler {number} was told {told:?}, and there is {has:?}"));
        }
    }
    Ok(())
}

fn stored_before_told(history: &History) -> Result<(), Violation> {
    Seen::at_every_event(history, |_, event| {
        let Some(Entry::Calls { number, key, told, stored, .. }) = entry(event) else {
            return Ok(());
        };
        let version = match told {
            Told::Added { version, .. } | Told::Updated { new: version, .. } => *version,
            Told::Deleted => return Ok(()),
        };
        // Zero means a deletion that comes later, unless the object was never stored at all.
        let newer = *stored >= version || (*stored == 0 && is_gone_later(history, *key, version));
        if newer {
            return Ok(());
        }
        Err(format!("handler {number} is told {key} at {version}, and the store has {stored}"))
    })
}

/// Whether the server deletes an object after having it in this version.
fn is_gone_later(history: &History, key: u16, version: u64) -> bool {
    let mut had = false;
    history.events.iter().filter_map(crate::events::fixtures::entry).any(|entry| {
        had |= match entry {
            Entry::Begins(count) => key < *count && version == u64::from(key) + 1,
            entry => *entry == Entry::Has(key, version),
        };
        had && *entry == Entry::Has(key, 0)
    })
}

fn synced_not_early(seen: &Seen, entry: &Entry, _: Instant) -> Result<(), String> {
    let Entry::Synced(number, true) = entry else { return Ok(()) };
    let of = &seen.handlers[number];
    let owed = of.first.intersection(&seen.first);
    // Objects that were deleted in the meantime or refused need not be told.
    let mut owed = owed.filter(|key| seen.server.contains_key(key) && seen.accepts(**key));
    match owed.find(|key| !of.seen.contains(key)) {
        Some(key) => Err(format!("handler {number} has synced, and has not seen {key}")),
        None => Ok(()),
    }
}

fn synced_not_stuck(seen: &Seen) -> Result<(), String> {
    let runs = seen.began.is_some() && seen.stops.is_none();
    let sees = |key: &u16, of: &super::super::ledger::Known| of.seen.contains(key);
    for (number, of) in seen.handlers.iter().filter(|(_, of)| of.awaits_sync && runs) {
        if seen.server.keys().all(|key| sees(key, of) || !seen.accepts(*key)) {
            return Err(format!("somebody waits for handler {number}, which has seen all"));
        }
    }
    Ok(())
}

fn transformed_once(_: &Seen, entry: &Entry, _: Instant) -> Result<(), String> {
    match entry {
        Entry::Calls { number, key, transformed, .. } if *transformed != 1 => Err(format!(
            "handler {number} is told of object {key}, which was transformed {transformed} times"
        )),
        _ => Ok(()),
    }
}
