//! The promises of a registry, as checks of a history.

use super::book::Entry;
use super::ledger::Seen;
use super::{Event, Registry};
use crate::events::fixtures::entry;
use crate::trial::Invariant;

pub(super) fn all() -> Vec<Invariant<Registry>> {
    vec![
        at_every_entry(
            "one_of_a_kind",
            "all callers that ask for a name get the same informer, until that informer is removed",
            &["informer:RG-1"],
            one_of_a_kind,
        ),
        at_every_entry(
            "runs_once",
            "an informer runs at most once, and never after the shutdown",
            &["informer:RG-2", "informer:RG-5"],
            runs_once,
        ),
        Invariant::when_quiet(
            "all_run",
            "every informer that is there at a start runs",
            &["informer:RG-2"],
            all_run,
        ),
        at_every_entry(
            "synced_not_early",
            "a caller that waits for the first lists gets yes once all are there, and no when its \
             time is over or an informer ends, with the names of the late informers",
            &["informer:RG-3"],
            synced_not_early,
        ),
        Invariant::when_quiet(
            "synced_not_stuck",
            "no caller waits for first lists that are all there, or for informers that have ended",
            &["informer:RG-3"],
            synced_not_stuck,
        ),
        at_every_entry(
            "nothing_runs_on",
            "after a removal or a shutdown returns, the informers that it stopped have ended",
            &["informer:RG-4", "informer:RG-6", "informer:RG-7"],
            nothing_runs_on,
        ),
        Invariant::when_quiet(
            "nothing_is_left",
            "after a shutdown, or once a registry is dropped, no informer runs, and none is still \
             held",
            &["informer:RG-4", "informer:RG-8"],
            nothing_is_left,
        ),
        at_every_entry(
            "nothing_behind_the_end",
            "after the shutdown no caller gets an informer, and before it every caller does",
            &["informer:RG-5"],
            nothing_behind_the_end,
        ),
        at_every_entry(
            "panics_come_out",
            "a caller that shuts down gets the panic of an informer, if there was one",
            &["informer:RG-7"],
            panics_come_out,
        ),
    ]
}

/// States a promise about every entry of the book, and the state before it.
#[track_caller]
fn at_every_entry(
    name: &'static str,
    says: &'static str,
    rules: &'static [&'static str],
    check: fn(&Seen, &Entry, &Event) -> Result<(), String>,
) -> Invariant<Registry> {
    Invariant::at_every_event(name, says, rules, move |seen, event| match entry(event) {
        Some(entry) => check(seen, entry, event),
        None => Ok(()),
    })
}

fn one_of_a_kind(seen: &Seen, entry: &Entry, _: &Event) -> Result<(), String> {
    match entry {
        Entry::Got(name, Some(number)) => match seen.named.get(name) {
            Some(known) if known != number => {
                Err(format!("{name} is informer {known}, and somebody gets {number}"))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn runs_once(seen: &Seen, entry: &Entry, _: &Event) -> Result<(), String> {
    match entry {
        Entry::Runs(number) if seen.is_over => Err(format!("informer {number} begins to run")),
        Entry::Runs(number) if seen.members.get(number).is_some_and(|it| it.runs) => {
            Err(format!("informer {number} runs again"))
        }
        _ => Ok(()),
    }
}

fn all_run(seen: &Seen) -> Result<(), String> {
    let idle = |it: &super::ledger::Known| it.is_started && !it.leaves && !it.runs;
    match seen.members.iter().find(|(_, it)| idle(it)) {
        Some((number, _)) if seen.ends == 0 && !seen.is_dropped => {
            Err(format!("informer {number} does not run"))
        }
        _ => Ok(()),
    }
}

fn synced_not_early(seen: &Seen, entry: &Entry, event: &Event) -> Result<(), String> {
    let Entry::Synced(synced) = entry else { return Ok(()) };
    let awaits = &seen.awaits[&event.thread];
    let is_late = |number: &&u8| seen.members.get(number).is_none_or(|it| !it.lists);
    let had = |late: &&String| awaits.had.iter().any(|it| late.starts_with(&format!("{it} (")));
    match synced {
        Ok(()) => match awaits.all.iter().find(is_late) {
            Some(number) => Err(format!("informer {number} has no first list")),
            None => Ok(()),
        },
        Err(late) => match late.iter().find(had) {
            Some(late) => Err(format!("{late} had its list, and is called late")),
            None if seen.ends == 0 && !seen.has_removed && event.at < awaits.until => {
                Err("it had time, and is given up".to_owned())
            }
            None => Ok(()),
        },
    }
}

fn synced_not_stuck(seen: &Seen) -> Result<(), String> {
    let is_done = |number: &u8| seen.members.get(number).is_some_and(|it| it.lists || it.ended);
    match seen.awaits.values().find(|awaits| awaits.all.iter().all(is_done)) {
        Some(_) => Err("somebody waits for what is there".to_owned()),
        None => Ok(()),
    }
}

fn nothing_runs_on(seen: &Seen, entry: &Entry, event: &Event) -> Result<(), String> {
    let running = match entry {
        Entry::ShutDown { .. } => seen.running(),
        // No scenario makes another member with that name during a removal, so this is the
        // removed one.
        Entry::Removed(_, true) => seen.removes[&event.thread]
            .filter(|number| seen.members.get(number).is_some_and(|it| it.is_started && !it.ended)),
        _ => None,
    };
    match running {
        Some(number) => Err(format!("informer {number} has not ended")),
        None => Ok(()),
    }
}

fn nothing_is_left(seen: &Seen) -> Result<(), String> {
    let is_over = seen.is_over && seen.stops.is_empty() && seen.removes.is_empty();
    match seen.running().or(seen.held()) {
        Some(number) if is_over || seen.is_dropped => {
            Err(format!("informer {number} is still there"))
        }
        _ => Ok(()),
    }
}

fn nothing_behind_the_end(seen: &Seen, entry: &Entry, event: &Event) -> Result<(), String> {
    let Entry::Got(name, got) = entry else { return Ok(()) };
    let was_over = seen.gets[&event.thread].last().is_some_and(|was_over| *was_over);
    match got {
        Some(_) if was_over => Err(format!("somebody gets {name} behind the end")),
        None if seen.ends == 0 => Err(format!("nobody gets {name}, before the end")),
        _ => Ok(()),
    }
}

/// If several callers stop all members at once, or remove some, one of these callers gets the
/// panic.
fn panics_come_out(seen: &Seen, entry: &Entry, _: &Event) -> Result<(), String> {
    match entry {
        Entry::ShutDown { panicked } if seen.ends == 1 && *panicked != seen.has_panicked => {
            Err(format!("panicked: {}, and told: {panicked}", seen.has_panicked))
        }
        _ => Ok(()),
    }
}
