//! Checks of the ends of handlers and of the informer.

use std::time::Duration;

use seatrial_core::runtime::Instant;

use super::{Seen, at_every_entry};
use crate::informer::book::Entry;
use crate::informer::{Event, Informer};
use crate::trial::Invariant;

pub(super) fn all() -> Vec<Invariant<Informer>> {
    vec![
        at_every_entry(
            "removed_is_left_alone",
            "after a removal only a call that was already on its way may begin; after a removal \
             that was waited for, no call is under way",
            &["cache:SI-36", "cache:SI-37", "cache:SI-38", "cache:PL-13", "cache:PL-14"],
            removed_is_left_alone,
        ),
        Invariant::when_quiet(
            "removed_goes",
            "once nothing more happens, removed handlers are gone, and so are all handlers of a \
             dropped informer",
            &["cache:SI-38", "cache:PL-13", "cache:PL-7", "cache:SI-40"],
            removed_goes,
        ),
        at_every_entry(
            "runs_once",
            "of several runs only the first one proceeds",
            &["cache:SI-9", "cache:SI-10", "cache:CT-1"],
            runs_once,
        ),
        Invariant::when_quiet(
            "panics_come_out",
            "if an index function panics, the run panics",
            &["cache:CT-4"],
            panics_come_out,
        ),
        at_every_entry(
            "nothing_is_left",
            "a run that has ended leaves no handler, no call of a handler, no stream and no \
             request",
            &["cache:SI-12", "cache:LW-4", "cache:RE-21", "cache:INV-23"],
            nothing_is_left,
        ),
        at_every_entry(
            "ends_in_order",
            "a handler that was not removed ends after the informer, and a stopped informer \
             accepts no handler",
            &["cache:SI-12", "cache:SI-32"],
            ends_in_order,
        ),
        at_every_entry(
            "ends_at_once",
            "a run ends soon after it is stopped: it waits for calls that are under way, but for \
             no pause",
            &["cache:WL-9", "cache:SI-12"],
            ends_at_once,
        ),
        Invariant::after_every_event(
            "stores_nothing_behind_the_end",
            "after the stop only the change or list that is under way is stored: no object twice",
            &["cache:CT-3", "cache:INV-10"],
            stores_nothing_behind_the_end,
        ),
    ]
}

fn removed_is_left_alone(seen: &Seen, entry: &Entry, _: Instant) -> Result<(), String> {
    match entry {
        Entry::Calls { number, .. } => {
            let of = &seen.handlers[number];
            if of.awaited || (of.removed && of.calls_behind > 0) {
                return Err(format!("handler {number} was removed, and is called"));
            }
            Ok(())
        }
        Entry::Removed(number, true) => {
            let of = &seen.handlers[number];
            match of.call {
                Some(_) => Err(format!("handler {number} was waited for, and is at a call")),
                None if !of.gone => Err(format!("handler {number} was waited for, and is there")),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn removed_goes(seen: &Seen) -> Result<(), String> {
    let stays = |of: &super::super::ledger::Known| of.leaves && !of.gone;
    match seen.handlers.iter().find(|(_, of)| stays(of)) {
        Some((number, _)) => Err(format!("handler {number} was removed, and is there")),
        None => Ok(()),
    }
}

fn runs_once(seen: &Seen, entry: &Entry, _: Instant) -> Result<(), String> {
    match entry {
        Entry::Ran(true) if seen.runs > 0 => Err("a second run was accepted".to_owned()),
        _ => Ok(()),
    }
}

fn panics_come_out(seen: &Seen) -> Result<(), String> {
    if seen.index_panicked && !seen.run_panicked {
        return Err("an index function panicked, and the run goes on".to_owned());
    }
    Ok(())
}

fn nothing_is_left(seen: &Seen, entry: &Entry, _: Instant) -> Result<(), String> {
    if *entry != Entry::Ran(true) {
        return Ok(());
    }
    if seen.open > 0 {
        return Err(format!("it leaves {} streams and requests", seen.open));
    }
    let stays = |of: &super::super::ledger::Known| of.accepted && !of.gone;
    match seen.handlers.iter().find(|(_, of)| stays(of)) {
        Some((number, _)) => Err(format!("it leaves handler {number}")),
        None => Ok(()),
    }
}

fn ends_in_order(seen: &Seen, entry: &Entry, _: Instant) -> Result<(), String> {
    match entry {
        Entry::Gone(number, false) if !seen.handlers[number].leaves => {
            Err(format!("handler {number} is gone, and its informer has not stopped"))
        }
        Entry::Added(number, true) if seen.runs > 0 => {
            Err(format!("handler {number} was added behind the end"))
        }
        _ => Ok(()),
    }
}

fn ends_at_once(seen: &Seen, entry: &Entry, at: Instant) -> Result<(), String> {
    const LITTLE: Duration = Duration::from_millis(700);
    let (Some(stops), Entry::Ran(true)) = (seen.stops, entry) else { return Ok(()) };
    let since = seen.last_return.map_or(stops, |last| last.max(stops));
    let late = at.since(since);
    if late > LITTLE {
        return Err(format!("it ends {late:?} after it could have ended"));
    }
    Ok(())
}

fn stores_nothing_behind_the_end(seen: &Seen, _: &Event) -> Result<(), String> {
    match seen.stored_behind.iter().find(|(_, times)| **times > 1) {
        Some((key, times)) => Err(format!("object {key} was stored {times} times")),
        None => Ok(()),
    }
}
