//! Small programs with a client, each named by the case that it must reach.

use seatrial_core::request::{Mode, TransportKind};
use seatrial_core::runtime::Runtime;

use super::machine::{Call, IDLE, Pace, Sending, Told};
use super::server::{Act, OK, Seen};
use super::spec::Carries;
use super::{Client, History};
use crate::queues::fixtures::{caller, in_turns};
use crate::request::{After, Outcome};
use crate::shared::Shared;
use crate::trial::{DynScenario, Scenario, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Client>>> {
    vec![
        Box::new(RequestsAreSentAgain),
        Box::new(BodiesBreak),
        Box::new(BodiesAreLong),
        Box::new(AnswersAreLate),
        Box::new(AHostHasTooMuchToDo),
        Box::new(CallsAreCancelled),
        Box::new(TwoSend),
    ]
}

const MODES: [Mode; 3] = [Mode::Whole, Mode::Stream, Mode::Watch];

impl<R: Runtime> Shared<R, Client> {
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
struct RequestsAreSentAgain;

impl Scenario<Client> for RequestsAreSentAgain {
    const NAME: &'static str = "requests_are_sent_again";
    const SAYS: &'static str =
        "requests with every kind of body are retried, and sent a second time, in every mode";

    fn run<R: Runtime>(&self, world: &World<R, Client>) {
        let client = Shared::new(world);
        for carries in [Carries::Nothing, Carries::Bytes, Carries::Made, Carries::Reader] {
            for mode in MODES {
                client.make(carries);
                client.send(mode, &[later(1), OK]);
                client.send(mode, &[later(1), later(0), OK]);
            }
        }
    }

    fn reaches(history: &History) -> bool {
        let seen = history.events.iter().filter_map(|event| Some(&event.returned()?.1.seen));
        let sent = seen.flatten().filter(|seen| matches!(seen, Seen::Sent(..))).count();
        sent > 40 && told(history, |told| matches!(told, Told::NoBody(_))) == 6
    }
}

/// Answers break off, bodies cannot be made, and a limiter refuses.
struct BodiesBreak;

impl Scenario<Client> for BodiesBreak {
    const NAME: &'static str = "bodies_break";
    const SAYS: &'static str =
        "answers break off or never come, bodies cannot be made, and a limiter refuses";

    fn run<R: Runtime>(&self, world: &World<R, Client>) {
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
    }

    fn reaches(history: &History) -> bool {
        let half = told(history, |told| matches!(told, Told::Half(_)));
        let refused = told(history, |told| matches!(told, Told::Refused(_)));
        (half, refused) == (2, 3)
    }
}

/// Answers come in few pieces, in as many as the client accepts, and in more.
struct BodiesAreLong;

impl Scenario<Client> for BodiesAreLong {
    const NAME: &'static str = "bodies_are_long";
    const SAYS: &'static str =
        "answers come in small pieces, which are together longer than is accepted";

    fn run<R: Runtime>(&self, world: &World<R, Client>) {
        let client = Shared::new(world);
        for mode in MODES {
            [0, 4, 5].iter().for_each(|pieces| client.send(mode, &[Act::Pieces(*pieces)]));
        }
        client.get(&[OK]);
    }

    fn reaches(history: &History) -> bool {
        told(history, |told| *told == Told::TooLong) == 1
    }
}

/// Answers come late: while the client waits, in its last second, and too late.
struct AnswersAreLate;

impl Scenario<Client> for AnswersAreLate {
    const NAME: &'static str = "answers_are_late";
    const SAYS: &'static str =
        "answers come while the client waits, in the moment at which it gives up, and later";

    fn run<R: Runtime>(&self, world: &World<R, Client>) {
        let client = Shared::new(world);
        for mode in MODES {
            [IDLE - 1, IDLE, IDLE + 1]
                .iter()
                .for_each(|late| client.send(mode, &[Act::Later(*late)]));
        }
    }

    fn reaches(history: &History) -> bool {
        told(history, |told| matches!(told, Told::Status(_) | Told::Open)) >= 6
    }
}

/// A host is busy, for several requests.
struct AHostHasTooMuchToDo;

impl Scenario<Client> for AHostHasTooMuchToDo {
    const NAME: &'static str = "a_host_has_too_much_to_do";
    const SAYS: &'static str =
        "a host is overloaded for several requests, and then fails or answers";

    fn run<R: Runtime>(&self, world: &World<R, Client>) {
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
    }

    fn reaches(history: &History) -> bool {
        told(history, |told| *told == Told::Status(500)) == 5
    }
}

/// Calls are cancelled wherever they wait.
struct CallsAreCancelled;

impl Scenario<Client> for CallsAreCancelled {
    const NAME: &'static str = "calls_are_cancelled";
    const SAYS: &'static str =
        "calls are cancelled in a pause, before their turn, or while no answer comes";

    fn run<R: Runtime>(&self, world: &World<R, Client>) {
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
    }

    fn reaches(history: &History) -> bool {
        told(history, |told| *told == Told::Cancelled) >= 14
    }
}

/// Two threads send the requests of one client.
struct TwoSend;

impl Scenario<Client> for TwoSend {
    const NAME: &'static str = "two_send";
    const SAYS: &'static str =
        "one thread sends the requests of a client, and another makes a new request";

    fn run<R: Runtime>(&self, world: &World<R, Client>) {
        let client = Shared::new(world);
        let other = caller(world, "other", &client, |client| client.make(Carries::Reader));
        client.get(&[later(1)]);
        client.get(&[later(1), later(0)]);
        world.join(other);
        client.get(&[OK]);
    }

    fn reaches(history: &History) -> bool {
        in_turns(history)
    }
}
