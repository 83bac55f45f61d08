//! The promises of a reflector, as checks of a history.

mod trouble;

use seatrial_core::runtime::{Ambient as _, Instant};

use self::trouble::{GOES_ON, judged, of_trouble};
use super::book::{After, Book};
use super::follower::Answer;
use super::server::number;
use super::tried::Moment;
use super::turn::{Asked, Given, Reply, Told, Turned};
use super::{Event, History, Reflector};
use crate::trial::{Invariant, Ledger as _, Violation};

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<Reflector>> {
    of_the_consumer().into_iter().chain(of_questions()).chain(of_trouble()).collect()
}

fn of_the_consumer() -> Vec<Invariant<Reflector>> {
    vec![
        Invariant::when_quiet(
            "comes_to_the_state",
            "once nothing goes wrong and nothing changes, the consumer has the same objects as the \
             server",
            &[
                "cache:INV-1",
                "cache:INV-24",
                "cache:SC-28",
                "cache:SC-32",
                "cache:RE-30",
                "cache:SV-1",
                "cache:SV-2",
                "cache:SV-3",
                "cache:SV-4",
                "cache:SV-5",
                "cache:SV-7",
            ],
            comes_to_the_state,
        ),
        Invariant::always(
            "a_list_is_one_state",
            "a list that the consumer gets has all objects that the server had at the version of \
             the list",
            &[
                "cache:WL-3",
                "cache:WL-7",
                "cache:LW-8",
                "cache:WL-4",
                "cache:WL-5",
                "cache:WL-6",
                "cache:RE-11",
            ],
            a_list_is_one_state,
        ),
        Invariant::always(
            "events_are_told",
            "the consumer gets every change of a stream once, and nothing else",
            &["cache:RE-23", "cache:RE-24", "cache:RE-22", "cache:LW-5", "cache:LW-6"],
            events_are_told,
        ),
        Invariant::always(
            "skipped_is_told",
            "an event that the reflector skips is reported, and no other event is",
            &["cache:RE-23", "cache:RE-25"],
            skipped_is_told,
        ),
        Invariant::always(
            "lists_never_go_back",
            "a list is no older than any version that the consumer already got",
            &["cache:INV-2", "cache:RE-3"],
            lists_never_go_back,
        ),
        Invariant::after_every_event(
            "says_what_it_gave",
            "the version that a reflector reports is the version of what it gave last",
            &["cache:INV-22", "cache:RE-26", "cache:RE-27", "cache:RE-1", "cache:RE-12"],
            says_what_it_gave,
        ),
        Invariant::always(
            "resyncs_come",
            "all objects are shown again after each period, and a list restarts the period",
            &["cache:RE-33", "cache:RE-35"],
            resyncs_come,
        ),
    ]
}

fn of_questions() -> Vec<Invariant<Reflector>> {
    vec![
        Invariant::always(
            "asks_for_what_it_has",
            "a list or a stream is requested at the version that was given last, or at any \
             version; the newest is requested only if the server does not know that version",
            &["cache:RE-3", "cache:RE-6", "cache:RE-16", "cache:WL-2"],
            asks_for_what_it_has,
        ),
        Invariant::always(
            "pages_as_told",
            "a list is requested in pages of the configured size, each page continues the one \
             before, and there are no pages where the server can answer at once",
            &["cache:LW-9", "cache:LW-10", "cache:RE-5", "cache:LW-11", "cache:RE-10"],
            pages_as_told,
        ),
        Invariant::always(
            "watches_ask_rightly",
            "a stream is requested with bookmarks and a random end, and with all objects if it can \
             begin with them",
            &["cache:RE-16", "cache:WL-1", "cache:WL-2"],
            watches_ask_rightly,
        ),
        Invariant::always(
            "goes_on",
            "the next step is the one that the rules ask for: the next page, the next event or \
             another stream",
            &["cache:RE-19", "cache:RE-21", "cache:RE-13", "cache:RE-14", "cache:RE-17"],
            |history| judged(history, GOES_ON),
        ),
    ]
}

fn at_every_turn(
    history: &History,
    check: impl Fn(&Book, &Turned, Instant) -> Result<(), String>,
) -> Checked {
    Book::at_every_event(history, |book, event: &Event| match event.returned() {
        Some((_, Answer::Turn(Some(turn)))) => check(book, turn, event.at),
        _ => Ok(()),
    })
}

fn comes_to_the_state(book: &Book) -> Result<(), String> {
    let newest = book.at(book.revision);
    if book.view == newest {
        return Ok(());
    }
    Err(format!("the consumer has {:?}, the server {newest:?}", book.view))
}

fn a_list_is_one_state(history: &History) -> Checked {
    at_every_turn(history, |book, turn, _| match &turn.given {
        Some(Given::All(objects, version)) if *objects != book.at(*version) => {
            Err(format!("at {version} there was {:?}, not {objects:?}", book.at(*version)))
        }
        _ => Ok(()),
    })
}

fn lists_never_go_back(history: &History) -> Checked {
    at_every_turn(history, |book, turn, _| match &turn.given {
        Some(Given::All(_, version)) if *version < number(&book.last) => {
            Err(format!("a list of version {version} comes after {}", book.last))
        }
        _ => Ok(()),
    })
}

/// Checks the event that the consumer gets for each reply.
fn events_are_told(history: &History) -> Checked {
    at_every_turn(history, |book, turn, _| {
        let initial = book.stream.initial;
        let right = match (&turn.reply, &turn.given) {
            (Reply::Told(Told::Bookmark(at, true)), Some(Given::All(_, version))) if initial => {
                at == version
            }
            (Reply::Told(Told::Exists(key, at)), Some(Given::Exists(same, given))) => {
                (key, at) == (same, given) && !initial
            }
            (Reply::Told(Told::Gone(key, at)), Some(Given::Gone(same, given))) => {
                (key, at) == (same, given) && !initial
            }
            (Reply::Told(Told::Bookmark(at, _)), Some(Given::Bookmark(given))) => {
                at == given && !initial
            }
            (Reply::Page(_), Some(Given::All(..))) | (Reply::ResyncDue, Some(Given::Resync)) => {
                true
            }
            (Reply::Told(Told::Nonsense) | Reply::Page(true), None) => true,
            (Reply::Told(Told::Bookmark(_, true)), None) => false,
            (Reply::Told(_), None) => initial,
            (
                Reply::Opened | Reply::Failed(..) | Reply::Ended | Reply::Slept | Reply::Stuck,
                None,
            ) => true,
            _ => false,
        };
        if right {
            return Ok(());
        }
        Err(format!("for {:?} the consumer is given {:?}", turn.reply, turn.given))
    })
}

fn skipped_is_told(history: &History) -> Checked {
    at_every_turn(history, |_, turn, _| {
        if turn.skipped == (turn.reply == Reply::Told(Told::Nonsense)) {
            return Ok(());
        }
        Err(format!("for {:?} it is said: {}", turn.reply, turn.skipped))
    })
}

fn says_what_it_gave(after: &Book, event: &Event) -> Result<(), String> {
    match event.returned() {
        Some((_, Answer::Turn(Some(turn)))) if turn.last != after.last => {
            Err(format!("it says {:?} and gave {:?}", turn.last, after.last))
        }
        _ => Ok(()),
    }
}

fn resyncs_come(history: &History) -> Checked {
    at_every_turn(history, |book, turn, at| {
        let Asked::Next { resync } = turn.asked else { return Ok(()) };
        let due = book.resync.filter(|_| !book.stream.initial);
        if resync != due {
            return Err(format!("a resync is due at {due:?}, and it wants {resync:?}"));
        }
        if turn.reply == Reply::ResyncDue && due.is_none_or(|due| at < due) {
            return Err("a resync comes that is not due".to_owned());
        }
        Ok(())
    })
}

fn asks_for_what_it_has(history: &History) -> Checked {
    at_every_turn(history, |book, turn, _| {
        let last = book.last.clone();
        let (version, right) = match &turn.asked {
            Asked::List { goes_on: true, .. } => return Ok(()),
            Asked::List { version, .. } => {
                let any = if last.is_empty() { "0".to_owned() } else { last };
                (version, if book.condemned { String::new() } else { any })
            }
            Asked::Watch { version, initial: true, .. } if book.condemned => {
                (version, String::new())
            }
            Asked::Watch { version, .. } => (version, last),
            _ => return Ok(()),
        };
        if *version == right {
            return Ok(());
        }
        Err(format!("it asks for version {version:?}, not {right:?}"))
    })
}

fn pages_as_told(history: &History) -> Checked {
    at_every_turn(history, |book, turn, _| {
        let Asked::List { version, limit, goes_on } = &turn.asked else { return Ok(()) };
        let chosen = book.setting.config.page_size;
        let (right, any) = match (&book.listing, book.after) {
            (Some(listing), After::InOne) => (0, listing.version.as_str()),
            (Some(listing), After::Page) => (listing.limit, ""),
            _ if chosen > 0 => (chosen, version.as_str()),
            _ if book.paginated || matches!(version.as_str(), "" | "0") => (500, version.as_str()),
            _ => (0, version.as_str()),
        };
        if *limit != right {
            return Err(format!("a page of {limit} is asked for, not of {right}"));
        }
        if *goes_on != (book.after == After::Page) || version != any {
            return Err(format!("after {:?}, a list of {version:?} is asked for", book.after));
        }
        Ok(())
    })
}

fn watches_ask_rightly(history: &History) -> Checked {
    at_every_turn(history, |book, turn, _| {
        let Asked::Watch { initial, rightly, timeout, .. } = &turn.asked else { return Ok(()) };
        if !rightly {
            return Err("it wants no bookmarks, or any version".to_owned());
        }
        if *initial && !book.streams() {
            return Err("it asks for all objects who cannot give them".to_owned());
        }
        let right = 300 + (300.0 * part(turn)) as u64;
        if *timeout != right {
            return Err(format!("the stream is to end after {timeout} seconds, not {right}"));
        }
        Ok(())
    })
}

/// The random number of a turn, from zero up to one.
fn part(turn: &Turned) -> f64 {
    Moment(turn.since, turn.chance).uniform()
}
