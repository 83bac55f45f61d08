//! The promises of reading one's own writes, as checks of a history.

use seatrial_core::informer::fresh::{self, AtLeast, NotVisibleError, Turn, WaitForSync};
use seatrial_core::machine::Step;
use seatrial_core::runtime::Instant;

use super::book::Book;
use super::shelf::{Note, Op, Ret};
use super::{Event, OwnWrites};
use crate::trial::{Invariant, What};

pub(super) fn all() -> Vec<Invariant<OwnWrites>> {
    vec![
        Invariant::at_every_event(
            "reads_are_new_enough",
            "a read returns a state that the server had at the requested version or later",
            &["informer:OW-1", "informer:OW-2", "informer:OW-4", "informer:OW-5", "informer:OW-6"],
            reads_are_new_enough,
        ),
        Invariant::at_every_event(
            "deleted_is_gone",
            "a client does not read an object again that it deleted, even if another object has \
             its name now",
            &["informer:OW-3"],
            deleted_is_gone,
        ),
        Invariant::at_every_event(
            "errors_are_true",
            "a call that fails has waited as long as it was allowed to, or the store changes no \
             more; and the requested state is not there",
            &["informer:OW-7", "informer:OW-9", "informer:OW-12"],
            errors_are_true,
        ),
        Invariant::at_every_event(
            "nobody_sleeps_for_what_is_there",
            "a call for a state that is there already returns at once",
            &["informer:OW-8", "cache:WS-1"],
            nobody_sleeps_for_what_is_there,
        ),
        Invariant::when_quiet(
            "nobody_outwaits_its_time",
            "no call sleeps beyond its time limit",
            &["informer:OW-7"],
            nobody_outwaits_its_time,
        ),
        Invariant::when_quiet(
            "who_waits_is_told",
            "no read sleeps once the requested state is there or the informer has ended",
            &["informer:OW-8", "informer:OW-9", "informer:OW-11"],
            who_waits_is_told,
        ),
        Invariant::at_every_event(
            "synced_not_early",
            "a caller that waits for the first list gets the true answer",
            &["informer:OW-10"],
            synced_not_early,
        ),
        Invariant::when_quiet(
            "synced_not_stuck",
            "no caller waits for a first list that is there or will never arrive",
            &["cache:WS-3"],
            synced_not_stuck,
        ),
    ]
}

fn note(event: &Event) -> Option<&Note> {
    match &event.what {
        What::Step { op: Op::Note(note), .. } => Some(note),
        _ => None,
    }
}

fn reads_are_new_enough(book: &Book, event: &Event) -> Result<(), String> {
    let Some(Note::Told(wish, Ok(told))) = note(event) else { return Ok(()) };
    let asked = &book.asks[&event.thread];
    if book.is_new_enough(asked, told) {
        return Ok(());
    }
    Err(format!("{wish:?}: it is told {told:?}, and wants version {}", asked.version))
}

fn deleted_is_gone(book: &Book, event: &Event) -> Result<(), String> {
    let Some(Note::Told(_, Ok(told))) = note(event) else { return Ok(()) };
    let gone = &book.asks[&event.thread].gone;
    match told.iter().find(|it| gone.get(it.name()).is_some_and(|uid| *uid == it.uid)) {
        Some(object) => Err(format!("{object:?} was deleted, and is read")),
        None => Ok(()),
    }
}

/// Returns the time at which a call stops waiting.
fn limit(call: &fresh::Op) -> Instant {
    match call {
        fresh::Op::AtLeast(AtLeast { until, .. })
        | fresh::Op::Turn(Turn { until, .. })
        | fresh::Op::WaitForSync(WaitForSync { until }) => *until,
        _ => Instant::NEVER,
    }
}

fn errors_are_true(book: &Book, event: &Event) -> Result<(), String> {
    if let Some(Note::Told(wish, Err(error))) = note(event)
        && !book.is_over
        && event.at < book.asks[&event.thread].until
    {
        return Err(format!("{wish:?}: it had time, and is told {error:?}"));
    }
    let What::Step { op: Op::Fresh(call), outcome, .. } = &event.what else { return Ok(()) };
    let error = match outcome {
        Step::Done(Ret::Fresh(fresh::Ret::AtLeast(Err(error)) | fresh::Ret::Turn(Err(error)))) => {
            error
        }
        _ => return Ok(()),
    };
    if book.is_told(call) {
        return Err(format!("it is there, and is told {error:?}"));
    }
    match (error, book.is_over) {
        (NotVisibleError::Stopped, true) => Ok(()),
        (NotVisibleError::Stopped, false) => Err("it has not stopped, and is told so".to_owned()),
        (error, true) => Err(format!("it has stopped, and is told {error:?}")),
        (error, false) if event.at < limit(call) => {
            Err(format!("it had time, and is told {error:?}"))
        }
        _ => Ok(()),
    }
}

fn nobody_sleeps_for_what_is_there(book: &Book, event: &Event) -> Result<(), String> {
    match &event.what {
        What::Step { op: Op::Fresh(call), outcome: Step::Wait { .. }, .. }
            if book.is_told(call) =>
        {
            Err(format!("{call:?} sleeps, and it is there"))
        }
        _ => Ok(()),
    }
}

fn nobody_outwaits_its_time(book: &Book) -> Result<(), String> {
    match book.asleep.values().find(|call| limit(call) < book.now) {
        Some(call) => Err(format!("{call:?} sleeps, and its time is over")),
        None => Ok(()),
    }
}

fn who_waits_is_told(book: &Book) -> Result<(), String> {
    match book.asks.values().find(|asked| book.is_over || book.is_there(asked)) {
        Some(asked) => Err(format!("{:?} waits, and need not", asked.wish)),
        None => Ok(()),
    }
}

fn synced_not_early(book: &Book, event: &Event) -> Result<(), String> {
    let What::Step { op: Op::Fresh(call), outcome, .. } = &event.what else { return Ok(()) };
    let Step::Done(Ret::Fresh(fresh::Ret::WaitForSync(synced))) = outcome else {
        return Ok(());
    };
    match (synced, book.has_synced) {
        (true, false) => Err("the first list is not there".to_owned()),
        (false, true) => Err("the first list is there, and is denied".to_owned()),
        (false, false) if !book.is_over && event.at < limit(call) => {
            Err("it had time, and is given up".to_owned())
        }
        _ => Ok(()),
    }
}

fn synced_not_stuck(book: &Book) -> Result<(), String> {
    let waits = book.asleep.values().any(|call| matches!(call, fresh::Op::WaitForSync(_)));
    if waits && (book.has_synced || book.is_over) {
        return Err("somebody waits for what has come to pass".to_owned());
    }
    Ok(())
}
