//! Checks that concern time: slow handlers, panics, pauses, resyncs.

use std::time::Duration;

use seatrial_core::runtime::Instant;

use super::{Seen, at_every_entry};
use crate::informer::book::{Complaint, Entry, Told};
use crate::informer::{Event, Informer};
use crate::trial::Invariant;

pub(super) fn all() -> Vec<Invariant<Informer>> {
    vec![
        at_every_entry(
            "nobody_waits_for_another",
            "a handler that takes no time is called at once, whatever the other handlers do",
            &["cache:SI-5", "cache:PL-5", "cache:PL-9"],
            nobody_waits_for_another,
        ),
        at_every_entry(
            "slow_is_reported",
            "a handler that takes long while many changes wait is reported, and no other handler \
             is",
            &["cache:PL-17"],
            slow_is_reported,
        ),
        at_every_entry(
            "a_panic_costs_one_change",
            "a handler that panics is reported, gets no call for a second, and then gets the next \
             change",
            &["cache:PL-15"],
            a_panic_costs_one_change,
        ),
        at_every_entry(
            "failures_pause",
            "after each further failure the informer waits longer before it asks the server again",
            &["cache:BO-4"],
            failures_pause,
        ),
        at_every_entry(
            "resyncs_as_wanted",
            "unchanged objects are shown again to the handlers that want them, as often as they \
             want them",
            &[
                "cache:SI-21",
                "cache:SI-22",
                "cache:SI-24",
                "cache:SI-28",
                "cache:SI-29",
                "cache:SI-20",
            ],
            resyncs_as_wanted,
        ),
        Invariant::at_every_event(
            "resyncs_come",
            "a handler that wants unchanged objects again gets them within two periods",
            &["cache:SI-25", "cache:SI-27", "cache:SI-28"],
            resyncs_come,
        ),
    ]
}

fn nobody_waits_for_another(seen: &Seen, entry: &Entry, at: Instant) -> Result<(), String> {
    const LONG: Duration = Duration::from_secs(5);
    let Entry::Calls { number, told, .. } = entry else { return Ok(()) };
    let of = &seen.handlers[number];
    let again = matches!(told, Told::Updated { old, new } if old == new);
    if again || seen.has_failed || of.panics > 0 || !of.took.is_zero() {
        return Ok(());
    }
    let since = [seen.changed, of.since, seen.began].into_iter().flatten().max();
    match since.map(|since| at.since(since)) {
        Some(late) if late > LONG => {
            Err(format!("handler {number} is told {late:?} after the change"))
        }
        _ => Ok(()),
    }
}

fn slow_is_reported(seen: &Seen, entry: &Entry, _: Instant) -> Result<(), String> {
    match entry {
        Entry::Reported(number, Complaint::Slow) if !seen.handlers[number].owes_slow => {
            Err(format!("handler {number} is reported to be slow, and is not"))
        }
        Entry::Calls { number, .. } | Entry::Gone(number, _)
            if seen.handlers[number].owes_slow && !seen.handlers[number].leaves =>
        {
            Err(format!("handler {number} is slow, and nobody says so"))
        }
        _ => Ok(()),
    }
}

fn a_panic_costs_one_change(seen: &Seen, entry: &Entry, at: Instant) -> Result<(), String> {
    const PAUSE: Duration = Duration::from_secs(1);
    let (Entry::Calls { number, .. } | Entry::Gone(number, _)) = entry else { return Ok(()) };
    let of = &seen.handlers[number];
    if of.panics > of.panics_reported {
        return Err(format!("handler {number} panicked, and nobody says so"));
    }
    let paused = of.panicked.is_none_or(|panicked| at.since(panicked) >= PAUSE);
    match entry {
        Entry::Calls { .. } if !paused => {
            Err(format!("handler {number} panicked, and is called at once"))
        }
        Entry::Gone(..) if of.panics > 0 && of.listens() && seen.stops.is_none() => {
            Err(format!("handler {number} panicked, and is gone"))
        }
        _ => Ok(()),
    }
}

fn failures_pause(seen: &Seen, entry: &Entry, at: Instant) -> Result<(), String> {
    const FIRST: Duration = Duration::from_millis(800);
    const LONGEST: Duration = Duration::from_secs(30);
    let (Entry::Asked { .. }, Some(failed)) = (entry, seen.failed) else { return Ok(()) };
    let least = FIRST.saturating_mul(1 << (seen.failures - 1).min(20)).min(LONGEST);
    let paused = at.since(failed);
    if paused < least {
        return Err(format!("it asks again after {paused:?}, and not {least:?}"));
    }
    Ok(())
}

fn resyncs_as_wanted(seen: &Seen, entry: &Entry, at: Instant) -> Result<(), String> {
    let Entry::Calls { number, told: Told::Updated { old, new }, .. } = entry else {
        return Ok(());
    };
    let of = &seen.handlers[number];
    if old != new {
        return Ok(());
    }
    let Some(period) = of.wants else {
        return Err(format!("handler {number} is shown again what has not changed"));
    };
    // A resync shows all objects at the same instant, so a distance of zero is allowed.
    let least = period.max(Duration::from_secs(1)) / 2;
    match of.shown.map(|shown| at.since(shown)) {
        Some(soon) if !soon.is_zero() && soon < least => {
            Err(format!("handler {number} is shown everything after {soon:?} again"))
        }
        _ => Ok(()),
    }
}

fn resyncs_come(seen: &Seen, event: &Event) -> Result<(), String> {
    if super::entry(event) != Some(&Entry::Stops) || seen.server.is_empty() {
        return Ok(());
    }
    for (number, of) in seen.handlers.iter().filter(|(_, of)| of.listens()) {
        let Some(period) = of.wants else { continue };
        let since = [seen.began, of.since, of.shown].into_iter().flatten().max();
        let Some(since) = since.map(|since| event.at.since(since)) else { continue };
        // The check for a resync comes at most one period late.
        if since > period * 2 + Duration::from_secs(1) && seen.began.is_some() {
            return Err(format!("handler {number} was shown nothing for {since:?}"));
        }
    }
    Ok(())
}
