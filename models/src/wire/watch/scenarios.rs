//! Small programs with a watch, each named by the case that it must reach.

use seatrial_core::request::TransportKind;

use super::machine::{Call, IDLE, LONGEST, Told};
use super::pieces::{
    ADDED, BOOKMARK, DELETED, ERROR, HALVES, LETTER, MODIFIED, NONSENSE, TURNED, UNENDED, line_of,
};
use super::{History, Watch};
use crate::queues::fixtures::{caller, in_turns};
use crate::shared::Shared;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Watch>> {
    vec![
        events_in_pieces(),
        servers_say_nonsense(),
        lines_at_the_limit(),
        a_server_is_silent(),
        the_caller_is_away(),
        connections_end(),
        cancelled_while_events_come(),
    ]
}

impl Shared<Watch> {
    fn comes(&self, bytes: impl AsRef<[u8]>) {
        self.call(Call::Bytes(bytes.as_ref().to_vec()));
    }

    fn ends(&self, how: Option<TransportKind>) {
        self.call(Call::Ends(how));
    }

    fn begin(&self) {
        self.call(Call::Begin);
    }
}

/// Whether items that meet a condition were told at least this many times.
fn tells(history: &History, wanted: fn(&Told) -> bool, count: usize) -> bool {
    let said = history.events.iter().filter_map(|event| Some(&event.returned()?.1.told));
    said.flatten().filter(|told| wanted(told)).count() >= count
}

/// Events are cut at any point, or come together.
fn events_in_pieces() -> Scenario<Watch> {
    Scenario::new(
        "events_in_pieces",
        "events come in pieces that are cut in a word or a letter, or several at once",
        |world| {
            let watch = Shared::new(world);
            watch.comes(ADDED);
            HALVES.iter().for_each(|half| watch.comes(half));
            LETTER.iter().for_each(|half| watch.comes(half));
            watch.comes([ADDED, MODIFIED, "\n", BOOKMARK, " \r\n", DELETED].concat());
            watch.comes("\n");
            watch.comes(TURNED);
            watch.comes([TURNED, UNENDED].concat());
            watch.ends(None);
        },
        |history| tells(history, |told| matches!(told, Told::Event(..)), 10),
    )
}

/// A server sends input without sense, or an error.
fn servers_say_nonsense() -> Scenario<Watch> {
    Scenario::new(
        "servers_say_nonsense",
        "a server sends invalid input, or an error, and goes on",
        |world| {
            let watch = Shared::new(world);
            for nonsense in NONSENSE {
                watch.begin();
                watch.comes([ADDED.as_bytes(), nonsense, DELETED.as_bytes()].concat());
                watch.comes(ADDED);
            }
            watch.begin();
            watch.comes(ERROR);
            watch.comes(ADDED);
            watch.begin();
            watch.comes([ERROR, DELETED].concat());
        },
        |history| tells(history, |told| *told == Told::Nonsense, NONSENSE.len()),
    )
}

/// Lines of exactly the longest length, and longer ones.
fn lines_at_the_limit() -> Scenario<Watch> {
    Scenario::new(
        "lines_at_the_limit",
        "lines have the longest allowed length, or are longer, complete or not",
        |world| {
            let watch = Shared::new(world);
            watch.comes(line_of(LONGEST));
            watch.comes([ADDED, MODIFIED, DELETED].concat());
            watch.comes(line_of(LONGEST + 1));
            watch.begin();
            watch.comes(vec![b' '; LONGEST]);
            watch.comes("\n");
            watch.comes([ADDED.as_bytes(), &[b' '; LONGEST + 1]].concat());
            watch.comes("\n");
        },
        |history| tells(history, |told| *told == Told::TooLong, 2),
    )
}

/// A server is silent for almost as long as it may be, and then for longer.
fn a_server_is_silent() -> Scenario<Watch> {
    Scenario::new(
        "a_server_is_silent",
        "a server is silent for almost the allowed time, then for longer; the caller waits anew",
        |world| {
            let watch = Shared::new(world);
            let almost = || drop(watch.call(Call::Silence(IDLE - 1)));
            almost();
            watch.comes(ADDED);
            almost();
            watch.comes("\n");
            almost();
            watch.comes(HALVES[0]);
            almost();
            watch.call(Call::Again(Vec::new()));
            watch.call(Call::Silence(1));
            watch.comes(HALVES[1]);
        },
        |history| tells(history, |told| *told == Told::End, 1),
    )
}

/// Bytes come between two waits, so the next wait need not wait for them.
fn the_caller_is_away() -> Scenario<Watch> {
    Scenario::new(
        "the_caller_is_away",
        "a caller gives up its wait in a silence, and something comes before it waits \
         again: an event, a part of one, or the end",
        |world| {
            let watch = Shared::new(world);
            for meanwhile in [ADDED.as_bytes(), HALVES[0].as_bytes(), HALVES[1].as_bytes(), b"\n"] {
                watch.call(Call::Silence(IDLE - 1));
                watch.call(Call::Again(meanwhile.to_vec()));
            }
            watch.call(Call::Silence(IDLE - 1));
            watch.call(Call::Bytes(MODIFIED.into()));
            watch.call(Call::Again(Vec::new()));
            watch.call(Call::Silence(IDLE));
        },
        // Every event is told, and the end after a silence that nothing has ended.
        |history: &History| {
            let said = || history.events.iter().filter_map(|event| Some(&event.returned()?.1.told));
            let events = said().flatten().filter(|told| matches!(told, Told::Event(..))).count();
            events == 3 && said().next_back().is_some_and(|told| *told == [Told::End])
        },
    )
}

/// Connections end in every way, with a line that is not ended.
fn connections_end() -> Scenario<Watch> {
    Scenario::new(
        "connections_end",
        "bodies end in every way, within a line and after it",
        |world| {
            use TransportKind::{ConnectionLost, Eof, Other, Reset, Timeout};
            let watch = Shared::new(world);
            for rest in [HALVES[0], UNENDED, "]", " "] {
                watch.begin();
                watch.comes([ADDED, rest].concat());
                watch.ends(None);
                watch.comes(ADDED);
            }
            for kind in [Eof, Reset, Timeout, ConnectionLost, Other] {
                watch.begin();
                watch.comes([ADDED, UNENDED].concat());
                watch.ends(Some(kind));
            }
        },
        |history| tells(history, |told| *told == Told::End, 9),
    )
}

/// A watch is cancelled while events come.
fn cancelled_while_events_come() -> Scenario<Watch> {
    Scenario::new(
        "cancelled_while_events_come",
        "the token of a watch ends between two events, or while an event waits",
        |world| {
            let watch = Shared::new(world);
            let other = caller(world, "other", &watch, |watch| {
                watch.call(Call::Cancel(DELETED.into()));
            });
            watch.comes(ADDED);
            watch.comes(HALVES[0]);
            watch.comes(HALVES[1]);
            world.join(other);
            watch.comes(ADDED);
        },
        in_turns,
    )
}
