//! Checks of the requests that follow a reply, above all after trouble, and of the pauses before
//! them.

use std::time::Duration;

use seatrial_core::informer::SourceKind;

use super::{Checked, at_every_turn, part};
use crate::reflector::book::{After, Book};
use crate::reflector::turn::{Asked, Reply, Why};
use crate::reflector::{History, Reflector};
use crate::trial::Invariant;

pub(super) fn of_trouble() -> Vec<Invariant<Reflector>> {
    vec![
        Invariant::always(
            "condemned_versions_are_left",
            "a version or a page that the server does not know or understand is not requested \
             again",
            &["cache:INV-24", "cache:RE-6", "cache:RE-7", "cache:RE-8", "cache:WL-10"],
            |history| judged(history, CONDEMNED),
        ),
        Invariant::always(
            "busy_servers_are_not_listed",
            "if a server refuses a stream for now, the reflector requests a stream again, and not \
             a list",
            &["cache:RE-18", "cache:WL-9"],
            |history| judged(history, BUSY),
        ),
        Invariant::always(
            "falls_back_to_lists",
            "the reflector lists where a stream cannot begin with all objects, and after a few \
             streams that end too soon",
            &["cache:WL-11", "cache:WL-13", "cache:WL-8"],
            |history| judged(history, FALLS_BACK),
        ),
        Invariant::always(
            "failures_pause",
            "a pause follows a failure; it grows each time, has a random part, and lasts at least \
             as long as the server asks; after an internal error of the server the reflector \
             retries at once, for the configured time; one short stream is followed by another at \
             once, a second is not; a page that names itself as the next one is a failure",
            &[
                "cache:INV-25",
                "cache:BO-1",
                "cache:BO-2",
                "cache:BO-3",
                "cache:BO-6",
                "cache:RE-19",
                "cache:BO-5",
                "cache:RE-20",
                "cache:WL-16",
                "cache:RE-9",
            ],
            failures_pause,
        ),
        Invariant::always(
            "failures_are_told",
            "the error handler gets the reason why a reflector begins anew, and nothing else",
            &["cache:RE-31"],
            failures_are_told,
        ),
    ]
}

pub(super) const GOES_ON: &str = "goes_on";
const CONDEMNED: &str = "condemned_versions_are_left";
const BUSY: &str = "busy_servers_are_not_listed";
const FALLS_BACK: &str = "falls_back_to_lists";
const PAUSES: &str = "failures_pause";

/// Tells whether a pause must come before the next request, and which promise says so.
fn must_pause(book: &Book) -> Option<(bool, &'static str)> {
    use SourceKind::{Expired, Invalid, Refused, TooLarge, TooManyRequests};
    let turn = book.turn.as_ref()?;
    let listed = matches!(turn.asked, Asked::List { .. });
    Some(match (&turn.reply, book.after) {
        (Reply::Slept, _) => (false, GOES_ON),
        (Reply::Failed(Refused | TooManyRequests, _), After::Watch | After::WatchList) => {
            (true, BUSY)
        }
        (Reply::Failed(Expired | TooLarge, _), After::List | After::WatchList | After::InOne) => {
            (false, CONDEMNED)
        }
        (Reply::Failed(Invalid, _), After::List) if listed => (false, CONDEMNED),
        (Reply::Failed(..) | Reply::Ended, After::List) => (false, FALLS_BACK),
        (Reply::Failed(..), After::Watch) => (book.hurries, PAUSES),
        (Reply::Ended, After::Watch) if book.hurries => (true, PAUSES),
        (Reply::Stuck, _) => (true, PAUSES),
        (Reply::Failed(..), _) | (Reply::Ended, After::Begin | After::WatchList) => (true, PAUSES),
        (Reply::Page(false), After::Begin) => (true, PAUSES),
        (Reply::Told(_), After::List) => (false, FALLS_BACK),
        _ => (false, GOES_ON),
    })
}

/// Checks that each request is the one that the reply before it calls for.
pub(super) fn judged(history: &History, promise: &str) -> Checked {
    at_every_turn(history, |book, turn, _| {
        let (pauses, says) = must_pause(book).unwrap_or((false, GOES_ON));
        // After a pause, the next request still belongs to the promise that called for the pause.
        let says = match (&turn.asked, book.turn.as_ref().map(|turn| &turn.reply)) {
            (_, Some(Reply::Slept)) if promise == BUSY => match book.after {
                After::Watch | After::WatchList => BUSY,
                _ => says,
            },
            _ => says,
        };
        if says != promise {
            return Ok(());
        }
        let right = match (&turn.asked, book.after) {
            (Asked::Sleep { .. }, _) => pauses,
            _ if pauses => false,
            (Asked::List { goes_on: false, .. }, After::List | After::InOne)
            | (Asked::List { goes_on: true, .. }, After::Page)
            | (Asked::Watch { initial: true, .. }, After::WatchList)
            | (Asked::Watch { initial: false, .. }, After::Watch)
            | (Asked::Next { .. }, After::Next) => true,
            _ => false,
        };
        let pause = if pauses { "a pause, then " } else { "" };
        if right {
            return Ok(());
        }
        Err(format!("comes {pause}{:?}, and it asks for {:?}", book.after, turn.asked))
    })
}

fn failures_pause(history: &History) -> Checked {
    judged(history, PAUSES)?;
    at_every_turn(history, |book, turn, _| {
        let Asked::Sleep { until, .. } = turn.asked else { return Ok(()) };
        let wanted = match book.turn.as_ref().map(|turn| &turn.reply) {
            Some(Reply::Failed(_, after)) => Duration::from_secs(*after),
            _ => Duration::ZERO,
        };
        let (least, pause) = (book.delay(turn.since), until.since(turn.since));
        let right = (least + least.mul_f64(part(turn))).max(wanted);
        if pause.abs_diff(right) > Duration::from_micros(1) {
            return Err(format!("a pause of {pause:?}, where {right:?} is due"));
        }
        Ok(())
    })
}

fn failures_are_told(history: &History) -> Checked {
    at_every_turn(history, |book, turn, _| {
        let Asked::Sleep { failed, .. } = turn.asked else { return Ok(()) };
        let Some(before) = &book.turn else { return Ok(()) };
        let why = match (&before.asked, &before.reply, book.after) {
            (Asked::List { .. }, Reply::Failed(..) | Reply::Stuck, _) => Some(Why::List),
            (Asked::List { .. }, _, _) => Some(Why::Replace),
            (Asked::Watch { .. }, _, After::Begin) => Some(Why::Watch),
            _ => None,
        };
        if failed == why {
            return Ok(());
        }
        Err(format!("the error handler is told of {failed:?}, not of {why:?}"))
    })
}
