//! Calls as states: they take their turns at one limiter, servers answer in every order, and other
//! callers cancel. In every state the rules of a call hold, and no call waits for ever.

mod exchange;
pub(crate) mod tests;

use seatrial_core::machine::Step;
use seatrial_core::request::{Mode, TransportKind};

use self::exchange::{Cancel, Do as Calls, Done, Exchange, Serve, Slip, Turn};
use super::Request;
use super::rule::{After, Outcome, Way};
use crate::engine::state::{Bytes, Explored, Moment, Place, Programs, Rules as May, Wrong};
use crate::shared::Mistake;
use crate::single_step::hash;
use crate::trial::{Simulation, States};

/// One instruction of a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Do {
    /// Takes turns until a call is over.
    Turns(usize),
    /// Lets the next attempt of a call end with this outcome.
    Serves(usize, Outcome),
    /// Answers every attempt of a call.
    Answers(usize),
    /// Cancels a call at this second.
    Cancels(usize, u64),
}

/// A call: how it is made, the answers of each of its servers in order, and the second at which it
/// is cancelled.
struct Tried<'a> {
    way: Way,
    servers: &'a [&'a [Outcome]],
    cancelled_at: Option<u64>,
}

/// Calls, their servers, and the callers that cancel.
#[derive(Clone, Debug)]
struct AtServers {
    programs: Programs<Do>,
    ways: Vec<Way>,
    reaches: fn(&Exchange) -> bool,
    mistake: Mistake,
    slip: Option<Slip>,
}

impl AtServers {
    fn new(calls: &[Tried<'_>], reaches: fn(&Exchange) -> bool) -> Self {
        let mut programs = Vec::new();
        for (number, call) in calls.iter().enumerate() {
            programs.push(vec![Do::Turns(number)]);
            for says in call.servers {
                let serves = says.iter().map(|outcome| Do::Serves(number, *outcome));
                programs.push(serves.chain([Do::Answers(number)]).collect());
            }
            programs.extend(call.cancelled_at.map(|second| vec![Do::Cancels(number, second)]));
        }
        let programs: Vec<_> = programs.iter().map(Vec::as_slice).collect();
        let ways = calls.iter().map(|call| call.way).collect();
        Self { programs: Programs::new(&programs), ways, reaches, mistake: "", slip: None }
    }
}

const READ: Way = Way { mode: Mode::Whole, reads: true, max: 2 };
const WRITE: Way = Way { reads: false, ..READ };
const STREAM: Way = Way { mode: Mode::Stream, ..READ };
const WATCH: Way = Way { mode: Mode::Watch, ..READ };

const OK: Outcome = Outcome::Status(200, After::Silent);

const fn busy(status: u16, seconds: i8) -> Outcome {
    Outcome::Status(status, After::Seconds(seconds))
}

const fn refused(status: u16, after: After) -> Outcome {
    Outcome::Status(status, after)
}

const fn fails(kind: TransportKind) -> Outcome {
    Outcome::Fails(kind)
}

const EOF: Outcome = fails(TransportKind::Eof);

/// The cancellation comes in the middle of a pause, or after the call is over.
fn answers() -> AtServers {
    let says: &[&[Outcome]] = &[
        &[busy(429, 2), busy(503, 3)],
        &[busy(500, -3), refused(503, After::Date)],
        &[busy(404, 1)],
    ];
    let call = Tried { way: READ, servers: says, cancelled_at: Some(4) };
    AtServers::new(&[call], |it| it.attempts() == 3)
}

/// Every kind of failure comes while attempts are left, and also after other failures.
fn failures() -> AtServers {
    use TransportKind::{ConnectionLost, Refused, Reset, Timeout, Untrusted};
    let says: &[&[Outcome]] = &[
        &[EOF, fails(Refused)],
        &[fails(Reset), EOF],
        &[fails(ConnectionLost), fails(Timeout)],
        &[busy(503, 1), fails(Untrusted)],
    ];
    let read = Tried { way: READ, servers: says, cancelled_at: None };
    AtServers::new(&[read], |it| it.attempts() == 3)
}

/// The same for a watch, in a model of its own: every further server multiplies the states.
fn watches() -> AtServers {
    use TransportKind::{ConnectionLost, Refused, Reset, Timeout};
    let says: &[&[Outcome]] = &[
        &[EOF, EOF, EOF],
        &[fails(Timeout), fails(Refused)],
        &[fails(Reset), fails(ConnectionLost)],
        &[busy(429, 0)],
    ];
    let watch = Tried { way: WATCH, servers: says, cancelled_at: None };
    AtServers::new(&[watch], |it| it.attempts() == 3)
}

fn writes() -> AtServers {
    let says: &[&[Outcome]] = &[&[busy(429, 1), EOF], &[refused(500, After::Silent)]];
    let write = Tried { way: WRITE, servers: says, cancelled_at: Some(3) };
    let stream = Tried { way: STREAM, servers: &[&[busy(503, 2), EOF]], cancelled_at: None };
    AtServers::new(&[write, stream], |it| it.attempts() == 4)
}

fn turns() -> AtServers {
    let late = fails(TransportKind::Timeout);
    let read = Tried { way: READ, servers: &[&[busy(429, 0)]], cancelled_at: Some(1) };
    let write = Tried { way: WRITE, servers: &[&[]], cancelled_at: Some(0) };
    let watch = Tried { way: WATCH, servers: &[&[late]], cancelled_at: None };
    AtServers::new(&[read, write, watch], Exchange::gives_up_a_turn)
}

/// The calls are cancelled after the second one has had its turn.
fn silence() -> AtServers {
    let call = |way| Tried { way, servers: &[], cancelled_at: Some(1) };
    AtServers::new(&[READ, STREAM, WATCH].map(call), |it| it.attempts() == 3)
}

/// A model: its name, a description, and its constructor.
type Named = (&'static str, &'static str, fn() -> AtServers);

const MODELS: [Named; 6] = [
    (
        "states_of_answers",
        "two servers of a read answer in every order, and it is cancelled",
        answers,
    ),
    ("states_of_failures", "attempts at a read fail in every way and order", failures),
    ("states_of_watches", "attempts at a watch fail in every way and order", watches),
    ("states_of_writes", "a write and a stream meet busy servers and broken connections", writes),
    ("states_of_turns", "three calls take turns at a limiter, and two are cancelled", turns),
    ("states_of_silence", "servers say nothing, and every call is cancelled", silence),
];

const JUDGES: &[&str] = &[
    "attempts_are_bounded",
    "writes_are_sent_once",
    "repeats_what_may_help",
    "pauses_are_kept",
    "turns_are_taken",
    "the_limiter_keeps_its_rate",
    "the_last_counts",
    "retries_say_why",
    "nothing_after_the_end",
    "answers_are_closed",
];

/// The clock stands still while a caller can move, so every caller acts exactly when it is due.
const RULES: May = May { symmetric: false, ..MAY };
const MAY: May = May {
    symmetric: true,
    jumps: crate::engine::state::Jumps::AtStandstill,
    wake_ups: crate::engine::state::WakeUps::Any,
    spurious: 0,
};

/// Lists the models.
pub(super) fn all() -> Vec<Box<dyn Simulation<Request>>> {
    let model = |(name, says, subject)| {
        let model = States { name, says, judges: JUDGES, subject, rules: RULES };
        Box::new(model) as Box<dyn Simulation<_>>
    };
    MODELS.into_iter().map(model).collect()
}

impl Explored for AtServers {
    type Machine = Exchange;
    type Caller = Place;

    fn machine(&self) -> Exchange {
        Exchange::new(&self.ways, self.mistake, self.slip)
    }

    fn callers(&self) -> Vec<Place> {
        self.programs.places()
    }

    fn next(&self, at: &Place) -> Option<Calls> {
        Some(match self.programs.call(*at)? {
            Do::Turns(call) => Calls::Turn(Turn(call)),
            Do::Serves(call, outcome) => Calls::Serve(Serve(call, outcome)),
            Do::Answers(call) => Calls::Serve(Serve(call, OK)),
            Do::Cancels(call, second) => Calls::Cancel(Cancel(call, second)),
        })
    }

    fn returned(&self, at: &mut Place, ret: Done) {
        let (Done::Turn(more) | Done::Serve(more) | Done::Cancel(more)) = ret;
        let repeats = matches!(self.programs.call(*at), Some(Do::Turns(_) | Do::Answers(_)));
        if !(repeats && more) {
            at.advance();
        }
    }

    fn view(&self, machine: &Exchange, into: &mut Bytes) {
        into.number(hash(&machine.form()));
    }

    fn view_caller(&self, _: &Exchange, caller: &Place, _: Option<&Calls>, into: &mut Bytes) {
        self.programs.view(*caller, into);
    }

    fn wrong<'a>(
        &self,
        at: Moment<'_, Exchange>,
        _: impl Iterator<Item = &'a Place> + Clone,
    ) -> Option<Wrong> {
        at.machine.broken.as_ref().map(|(invariant, text)| Wrong::new(invariant, text.clone()))
    }

    fn reaches<'a>(&self, machine: &Exchange, _: impl Iterator<Item = &'a Place> + Clone) -> bool {
        (self.reaches)(machine)
    }

    fn describe(&self, call: &Calls, outcome: &Step<Done>) -> String {
        match (call, outcome) {
            (Calls::Turn(turn), Step::Wait { .. }) => format!("call {} waits", turn.0),
            (Calls::Turn(turn), Step::Done(Done::Turn(false))) => {
                format!("call {} is over", turn.0)
            }
            (Calls::Turn(turn), _) => format!("call {} goes on", turn.0),
            (Calls::Serve(serve), Step::Wait { .. }) => format!("call {} has not sent", serve.0),
            (Calls::Serve(serve), _) => format!("call {} is told {:?}", serve.0, serve.1),
            (Calls::Cancel(cancel), Step::Wait { .. }) => {
                format!("call {} is left alone until {} s", cancel.0, cancel.1)
            }
            (Calls::Cancel(cancel), _) => format!("call {} is cancelled", cancel.0),
        }
    }
}
