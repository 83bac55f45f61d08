//! One call after another.

use seatrial_core::request::{Mode, TransportKind, Verb};

use super::{After, Bed, OK, Tried, answers, attempts, fails, later, multiplies, needs_exact_time};
use crate::request::Request;
use crate::request::rule::FAILURES;
use crate::trial::Scenario;

const MODES: [(Mode, Verb); 4] = [
    (Mode::Whole, Verb::Get),
    (Mode::Whole, Verb::Post),
    (Mode::Stream, Verb::Get),
    (Mode::Watch, Verb::Get),
];

/// Servers give every kind of answer.
pub(super) fn every_answer() -> Scenario<Request> {
    Scenario::<Request>::new(
        "every_answer",
        "a server answers with any status that matters, with and without a delay",
        |world| {
            let mut calls = Vec::new();
            for status in [404, 429, 500, 503] {
                for after in [After::Silent, After::Date, After::Seconds(2)] {
                    calls.push(Tried::get(&[answers(status, after)]));
                }
            }
            let negative = answers(503, After::Seconds(-3));
            calls.push(Tried::get(&[negative, later(3), later(1)]));
            for (mode, verb) in MODES {
                calls.push(Tried::new(mode, verb.clone(), &[answers(503, After::Silent)]));
                calls.push(Tried::new(mode, verb, &[later(1), later(0), later(0), later(5), OK]));
            }
            let mut never = Tried::get(&[later(1)]);
            never.max = 0;
            calls.push(never);
            Bed::new(world, calls).one();
        },
        |history| attempts(history) == 4,
    )
    .not_on(needs_exact_time)
}

/// Connections break in every way.
pub(super) fn every_failure() -> Scenario<Request> {
    Scenario::<Request>::new(
        "every_failure",
        "attempts fail once, in every way",
        |world| {
            let mut calls = Vec::new();
            for (mode, verb) in MODES {
                // What was not processed is repeated for every verb; made-up calls try it.
                for (kind, ..) in
                    FAILURES.into_iter().filter(|it| it.0 != TransportKind::Unprocessed)
                {
                    calls.push(Tried::new(mode, verb.clone(), &[fails(kind)]));
                }
            }
            Bed::new(world, calls).all();
        },
        |history| attempts(history) == 34,
    )
    .not_on(needs_exact_time)
}

/// Connections break until no attempt is left.
pub(super) fn fails_until_the_last() -> Scenario<Request> {
    Scenario::<Request>::new(
        "fails_until_the_last",
        "all attempts of a call fail, in the same way or in different ways",
        |world| {
            let eof = [fails(TransportKind::Eof); 4];
            let mut calls = MODES.map(|(mode, verb)| Tried::new(mode, verb, &eof)).to_vec();
            let several = [TransportKind::Eof, TransportKind::Reset, TransportKind::Refused];
            calls.push(Tried::get(&several.map(fails)));
            Bed::new(world, calls).all();
        },
        |history| attempts(history) == 13,
    )
    .not_on(needs_exact_time)
}

/// The attempts of a call end in different ways, one after another.
pub(super) fn one_after_another() -> Scenario<Request> {
    Scenario::<Request>::new(
        "one_after_another",
        "the attempts of a call fail, are answered, and fail in another way",
        |world| {
            let (eof, reset) = (fails(TransportKind::Eof), fails(TransportKind::Reset));
            let refused = fails(TransportKind::Refused);
            let no = answers(404, After::Silent);
            let mut calls = Vec::new();
            for mode in [Mode::Whole, Mode::Watch] {
                for acts in [
                    [eof, later(2), refused],
                    [eof, reset, refused],
                    [eof, eof, no],
                    [later(1), eof, OK],
                    [eof, later(3), no],
                    [reset, later(0), reset],
                ] {
                    calls.push(Tried::new(mode, Verb::Get, &acts));
                }
            }
            Bed::new(world, calls).with_turns().all();
        },
        |history| attempts(history) > 30,
    )
    .not_on(multiplies)
}

/// A host is overloaded.
pub(super) fn host_is_left_alone() -> Scenario<Request> {
    Scenario::<Request>::new(
        "host_is_left_alone",
        "a host is overloaded, and says for how long, or does not",
        |world| {
            let busy = answers(500, After::Silent);
            let calls = [
                vec![later(1), later(5), later(0), OK],
                vec![busy],
                vec![later(1), OK],
                vec![busy],
                vec![fails(TransportKind::Eof), OK],
                vec![fails(TransportKind::ConnectionLost), OK],
            ];
            let calls = calls.iter().map(|acts| Tried::get(acts)).collect();
            Bed::new(world, calls).with_backoff().all();
        },
        // A call begins with a pause.
        |history| {
            let mut events = history.events.iter();
            let mut began = None;
            events.any(|event| {
                if event.noted("begins").is_some() {
                    began = Some(event.at);
                }
                let sent = event.noted("sends").is_some();
                let late = sent && began.is_some_and(|began| event.at > began);
                began = began.filter(|_| !sent);
                late
            })
        },
    )
    .not_on(needs_exact_time)
}

/// The time of a call runs out in a pause, before a turn, and without an answer.
pub(super) fn time_is_over() -> Scenario<Request> {
    Scenario::<Request>::new(
        "time_is_over",
        "the time of a call runs out in a pause, or while no answer comes",
        |world| {
            let calls = [vec![later(9)], vec![later(1), super::Act::Hangs]];
            let timed = |acts: &Vec<_>| Tried { timeout: 4, ..Tried::get(acts) };
            Bed::new(world, calls.iter().map(timed).collect()).all();
        },
        |history| history.notes("returns").filter(|value| *value == 3).count() == 2,
    )
    .not_on(needs_exact_time)
}
