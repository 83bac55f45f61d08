//! Small programs with a client, each named by the case that it must reach.

use seatrial_core::request::{Mode, TransportKind};

use super::machine::{Call, IDLE, Pace, Sending, Told};
use super::server::{Act, OK, Seen};
use super::spec::Carries;
use super::{Client, History};
use crate::queues::fixtures::{caller, in_turns};
use crate::request::{After, Outcome};
use crate::shared::Shared;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Client>> {
    vec![
        requests_are_sent_again(),
        bodies_break(),
        bodies_are_long(),
        answers_are_late(),
        a_host_has_too_much_to_do(),
        calls_are_cancelled(),
        two_send(),
    ]
}

const MODES: [Mode; 3] = [Mode::Whole, Mode::Stream, Mode::Watch];

impl Shared<Client> {
    fn begin(&self, pace: Pace) {
        self.call(Call::Begin(pace));
    }

    fn make(&self, carries: Carries) {
        self.call(Call::Make(carries));
    }

    fn rest(&self, seconds: u8) {
        self.call(Call::Rest(seconds));
    }

    fn send(&self, mode: Mode, acts: &[Act]) {
        let acts = acts.to_vec();
        self.call(Call::Send(Sending { mode, acts, cancelled: None, timeout: None }));
    }

    fn get(&self, acts: &[Act]) {
        self.send(Mode::Whole, acts);
    }

    fn cancelled(&self, mode: Mode, acts: &[Act], after: u8) {
        let (acts, cancelled) = (acts.to_vec(), Some(after));
        self.call(Call::Send(Sending { mode, acts, cancelled, timeout: None }));
    }
}

const fn later(seconds: i8) -> Act {
    Act::Ends(Outcome::Status(503, After::Seconds(seconds)))
}

const fn fails(kind: TransportKind) -> Act {
    Act::Ends(Outcome::Fails(kind))
}

/// Counts the results that meet a condition.
fn told(history: &History, wanted: fn(&Told) -> bool) -> usize {
    let told = history.events.iter().filter_map(|event| event.returned()?.1.told.as_ref());
    told.filter(|told| wanted(told)).count()
}

/// Requests with every kind of body are repeated, and sent a second time.
fn requests_are_sent_again() -> Scenario<Client> {
    Scenario::new(
        "requests_are_sent_again",
        "requests with every kind of body are retried, and sent a second time, in every mode",
        |world| {
            let client = Shared::new(world);
            for carries in [Carries::Nothing, Carries::Bytes, Carries::Made, Carries::Reader] {
                for mode in MODES {
                    client.make(carries);
                    client.send(mode, &[later(1), OK]);
                    client.send(mode, &[later(1), later(0), OK]);
                }
            }
        },
        |history| {
            let seen = history.events.iter().filter_map(|event| Some(&event.returned()?.1.seen));
            let sent = seen.flatten().filter(|seen| matches!(seen, Seen::Sent(..))).count();
            sent > 40 && told(history, |told| matches!(told, Told::NoBody(_))) == 6
        },
    )
}

/// Answers break off, bodies cannot be made, and a limiter refuses.
fn bodies_break() -> Scenario<Client> {
    Scenario::new(
        "bodies_break",
        "answers break off or never come, bodies cannot be made, and a limiter refuses",
        |world| {
            use TransportKind::{Eof, Other, Refused, Reset};
            let client = Shared::new(world);
            for mode in MODES {
                client.send(mode, &[Act::Half(Reset)]);
                client.send(mode, &[fails(Eof), Act::Half(Other)]);
                client.send(mode, &[fails(Eof), fails(Refused)]);
                client.send(mode, &[Act::Hangs]);
            }
            client.make(Carries::Reader);
            client.get(&[later(0)]);
            client.begin(Pace::Never);
            MODES.iter().for_each(|mode| client.send(*mode, &[later(0)]));
        },
        |history| {
            let half = told(history, |told| matches!(told, Told::Half(_)));
            let refused = told(history, |told| matches!(told, Told::Refused(_)));
            (half, refused) == (2, 3)
        },
    )
}

/// Answers come in few pieces, in as many as the client accepts, and in more.
fn bodies_are_long() -> Scenario<Client> {
    Scenario::new(
        "bodies_are_long",
        "answers come in small pieces, which are together longer than is accepted",
        |world| {
            let client = Shared::new(world);
            for mode in MODES {
                [0, 4, 5].iter().for_each(|pieces| client.send(mode, &[Act::Pieces(*pieces)]));
            }
            client.get(&[OK]);
        },
        |history| told(history, |told| *told == Told::TooLong) == 1,
    )
}

/// Answers come late: while the client waits, in its last second, and too late.
fn answers_are_late() -> Scenario<Client> {
    Scenario::new(
        "answers_are_late",
        "answers come while the client waits, in the moment at which it gives up, and later",
        |world| {
            let client = Shared::new(world);
            for mode in MODES {
                [IDLE - 1, IDLE, IDLE + 1]
                    .iter()
                    .for_each(|late| client.send(mode, &[Act::Later(*late)]));
            }
        },
        |history| told(history, |told| matches!(told, Told::Status(_) | Told::Open)) >= 6,
    )
}

/// A host is busy, for several requests.
fn a_host_has_too_much_to_do() -> Scenario<Client> {
    Scenario::new(
        "a_host_has_too_much_to_do",
        "a host is overloaded for several requests, and then fails or answers",
        |world| {
            let client = Shared::new(world);
            let busy = Act::Ends(Outcome::Status(500, After::Silent));
            client.get(&[busy]);
            client.make(Carries::Made);
            client.get(&[busy]);
            client.get(&[OK]);
            client.get(&[later(1), later(5), OK]);
            client.get(&[OK]);
            client.get(&[busy]);
            client.get(&[fails(TransportKind::Refused)]);
            client.get(&[busy]);
            client.rest(7);
            client.send(Mode::Watch, &[busy]);
            client.send(Mode::Stream, &[OK]);
        },
        |history| told(history, |told| *told == Told::Status(500)) == 5,
    )
}

/// Calls are cancelled wherever they wait.
fn calls_are_cancelled() -> Scenario<Client> {
    Scenario::new(
        "calls_are_cancelled",
        "calls are cancelled in a pause, before their turn, or while no answer comes",
        |world| {
            let client = Shared::new(world);
            client.make(Carries::Made);
            for mode in MODES {
                client.cancelled(mode, &[later(5)], 1);
                client.cancelled(mode, &[OK], 0);
                client.cancelled(mode, &[OK], 1);
                client.get(&[OK]);
                client.cancelled(mode, &[Act::Hangs], 3);
                client.cancelled(mode, &[later(2), Act::Hangs], 2);
            }
            client.begin(Pace::Slow);
            client.make(Carries::Made);
            client.get(&[OK]);
            client.cancelled(Mode::Whole, &[OK], 2);
            client.get(&[fails(TransportKind::Eof), OK]);
            client.cancelled(Mode::Watch, &[fails(TransportKind::Eof), OK], 2);
            client.get(&[OK]);
        },
        |history| told(history, |told| *told == Told::Cancelled) >= 14,
    )
}

/// Two threads send the requests of one client.
fn two_send() -> Scenario<Client> {
    Scenario::new(
        "two_send",
        "one thread sends the requests of a client, and another makes a new request",
        |world| {
            let client = Shared::new(world);
            let other = caller(world, "other", &client, |client| client.make(Carries::Reader));
            client.get(&[later(1)]);
            client.get(&[later(1), later(0)]);
            world.join(other);
            client.get(&[OK]);
        },
        in_turns,
    )
}
