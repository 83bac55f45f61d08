//! One call after another.

use seatrial_core::request::{Mode, TransportKind, Verb};
use seatrial_core::runtime::Runtime;

use super::{After, Bed, OK, Tried, answers, attempts, fails, later, multiplies, needs_exact_time};
use crate::engine::Engine;
use crate::request::rule::FAILURES;
use crate::request::{History, Request};
use crate::trial::{Scenario, World};

const MODES: [(Mode, Verb); 4] = [
    (Mode::Whole, Verb::Get),
    (Mode::Whole, Verb::Post),
    (Mode::Stream, Verb::Get),
    (Mode::Watch, Verb::Get),
];

/// Servers give every kind of answer.
pub(super) struct EveryAnswer;

impl Scenario<Request> for EveryAnswer {
    const NAME: &'static str = "every_answer";
    const SAYS: &'static str =
        "servers answer with every status that matters, with and without a delay";

    fn run<R: Runtime>(&self, world: &World<R, Request>) {
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
        Bed::new(world, calls).all();
    }

    fn reaches(history: &History) -> bool {
        attempts(history) > 35
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        needs_exact_time(engine)
    }
}

/// Connections break in every way.
pub(super) struct EveryFailure;

impl Scenario<Request> for EveryFailure {
    const NAME: &'static str = "every_failure";
    const SAYS: &'static str = "attempts fail once, in every way";

    fn run<R: Runtime>(&self, world: &World<R, Request>) {
        let mut calls = Vec::new();
        for (mode, verb) in MODES {
            // What was not processed is repeated for every verb; made-up calls try it.
            for (kind, ..) in FAILURES.into_iter().filter(|it| it.0 != TransportKind::Unprocessed) {
                calls.push(Tried::new(mode, verb.clone(), &[fails(kind)]));
            }
        }
        Bed::new(world, calls).all();
    }

    fn reaches(history: &History) -> bool {
        attempts(history) == 34
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        needs_exact_time(engine)
    }
}

/// Connections break until no attempt is left.
pub(super) struct FailsUntilTheLast;

impl Scenario<Request> for FailsUntilTheLast {
    const NAME: &'static str = "fails_until_the_last";
    const SAYS: &'static str = "all attempts of a call fail, in the same way or in different ways";

    fn run<R: Runtime>(&self, world: &World<R, Request>) {
        let eof = [fails(TransportKind::Eof); 4];
        let mut calls = MODES.map(|(mode, verb)| Tried::new(mode, verb, &eof)).to_vec();
        let several = [TransportKind::Eof, TransportKind::Reset, TransportKind::Refused];
        calls.push(Tried::get(&several.map(fails)));
        Bed::new(world, calls).all();
    }

    fn reaches(history: &History) -> bool {
        attempts(history) == 13
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        needs_exact_time(engine)
    }
}

/// The attempts of a call end in different ways, one after another.
pub(super) struct OneAfterAnother;

impl Scenario<Request> for OneAfterAnother {
    const NAME: &'static str = "one_after_another";
    const SAYS: &'static str = "the attempts of a call fail, are answered, and fail in another way";

    fn run<R: Runtime>(&self, world: &World<R, Request>) {
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
    }

    fn reaches(history: &History) -> bool {
        attempts(history) > 30
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        multiplies(engine)
    }
}

/// A host is overloaded.
pub(super) struct HostIsLeftAlone;

impl Scenario<Request> for HostIsLeftAlone {
    const NAME: &'static str = "host_is_left_alone";
    const SAYS: &'static str = "a host is overloaded, and says for how long, or does not";

    fn run<R: Runtime>(&self, world: &World<R, Request>) {
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
    }

    /// A call begins with a pause.
    fn reaches(history: &History) -> bool {
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
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        needs_exact_time(engine)
    }
}

/// The time of a call runs out in a pause, before a turn, and without an answer.
pub(super) struct TimeIsOver;

impl Scenario<Request> for TimeIsOver {
    const NAME: &'static str = "time_is_over";
    const SAYS: &'static str = "the time of a call runs out in a pause, or while no answer comes";

    fn run<R: Runtime>(&self, world: &World<R, Request>) {
        let calls = [vec![later(9)], vec![later(1), super::Act::Hangs]];
        let timed = |acts: &Vec<_>| Tried { timeout: 4, ..Tried::get(acts) };
        Bed::new(world, calls.iter().map(timed).collect()).all();
    }

    fn reaches(history: &History) -> bool {
        history.notes("returns").filter(|value| *value == 3).count() == 2
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        needs_exact_time(engine)
    }
}
