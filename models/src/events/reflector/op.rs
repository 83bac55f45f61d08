//! Generated plans of changes at a server. Each is carried out to its end and judged by every
//! promise.

use std::time::Duration;

use seatrial_core::informer::SourceKind;
use seatrial_core::informer::reflector::Config;
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::Ambient as _;

use super::follower::{Answer, Begin, Call, Happen, Setting, Stop, Turn, ships};
use super::server::Trouble;
use super::turn::Reply;
use super::{Event, History, Reflector};
use crate::engine::End;
use crate::single_step::{HandClock, each_call, judge_all};
use crate::trial::What;

/// A step of a plan.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// Something happens at the server.
    Happen(Happen),
    /// The reflector takes this number of turns, if it can.
    Turns(u8),
    /// This number of tenths of a second passes.
    Advance(u16),
}

/// A setting, and the steps in it.
pub type Plan = (Setting, Vec<Op>);

/// Reads a plan; every sequence of bytes is one.
pub fn decode(bytes: &[u8]) -> Plan {
    let mut bytes = bytes.iter().copied();
    let mut next = || bytes.next();
    let [first, second] = [next().unwrap_or(0), next().unwrap_or(0)];
    let config = Config::default()
        .stream_lists(first & 1 == 0)
        .page_size(u32::from(first >> 1 & 3))
        .resync(Duration::from_secs([0, 7][usize::from(first >> 3 & 1)]))
        .retry_internal(Duration::from_secs([0, 30][usize::from(first >> 4 & 1)]));
    let setting = Setting {
        objects: second & 3,
        says_it_streams: first & 0xC0 != 0,
        streams: first & 0x80 != 0,
        ends_late: first & 0x20 != 0,
        random: u64::from(second).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        config,
    };
    let mut ops = Vec::new();
    while let Some(byte) = next() {
        ops.push(match byte & 7 {
            0 | 1 => Op::Happen(Happen::Write(byte >> 3 & 3)),
            2 => Op::Happen(Happen::Remove(byte >> 3 & 3)),
            3 if byte >> 3 == 0 => Op::Happen(Happen::Compact),
            3 | 4 => Op::Happen(Happen::Meet(trouble(byte >> 3))),
            5 => Op::Advance(u16::from(byte >> 3) * u16::from(byte >> 3)),
            _ => Op::Turns(byte >> 3),
        });
    }
    (setting, ops)
}

fn trouble(which: u8) -> Trouble {
    use SourceKind::{Eof, Expired, Internal, Invalid, Other, Refused, TooLarge, TooManyRequests};
    const KINDS: [SourceKind; 7] =
        [Refused, TooManyRequests, Internal, Eof, Other, Expired, TooLarge];
    match which {
        0..=6 => Trouble::Fails(KINDS[usize::from(which)], 0),
        7 => Trouble::Fails(TooManyRequests, 9),
        8..=14 => Trouble::Breaks(KINDS[usize::from(which - 8)]),
        15..=17 => Trouble::Ends,
        18 => Trouble::Versionless,
        19 => Trouble::PageExpires,
        20 => Trouble::IsSlow,
        21 => Trouble::Foreign,
        22 => Trouble::Unnamed,
        23 | 24 => Trouble::Bookmark(which - 23),
        25 | 26 => Trouble::FalseEnd,
        27 => Trouble::Lags,
        28 => Trouble::PageRepeats,
        29 => Trouble::Garbled,
        31 => Trouble::Fails(Invalid, 0),
        _ => Trouble::ListIsRefused,
    }
}

/// Carries out a plan with the reflector that ships, and judges the result.
///
/// # Panics
/// If a promise is broken.
pub fn check(plan: &Plan) {
    check_on(plan, ships());
}

/// As [`check`], on the given machine.
///
/// # Panics
/// As [`check`].
pub fn check_on(plan: &Plan, machine: Box<dyn Machine<Op = Call, Ret = Answer>>) {
    let history = carried_out(plan, machine);
    judge_all::<Reflector>(&history, plan);
}

/// The most turns from one trouble to the next: a stream is refused, a list comes page by page,
/// another stream is opened and read, and a pause ends.
const ROUND: usize = 16;

/// The only thread; it does the steps of a plan.
struct Carrier {
    machine: Box<dyn Machine<Op = Call, Ret = Answer>>,
    clock: HandClock,
    events: Vec<Event>,
}

impl Carrier {
    fn step(&mut self, mut op: Call) -> Step<Answer> {
        let called = op.clone();
        let mut cx = Cx::new(&self.clock);
        let outcome = self.machine.step(&mut op, &mut cx);
        let what = What::Step { op: called, outcome: outcome.clone(), wakes: cx.wakes };
        let at = self.clock.now();
        self.events.push(Event { thread: 0, at, object: 0, what, told: None });
        outcome
    }

    /// Lets the reflector take turns until it sleeps.
    fn turns(&mut self, most: u8) {
        for _ in 0..most {
            if let Step::Wait { .. } = self.step(Call::Turn(Turn)) {
                return;
            }
        }
    }

    /// Lets time pass until the reflector is at rest: it waits for a change, or two resyncs come
    /// with no other reply between them. False if it is not at rest after this number of turns.
    fn rests(&mut self, most: usize) -> bool {
        let mut resyncs = 0;
        for _ in 0..most {
            match self.step(Call::Turn(Turn)) {
                Step::Wait { until: Some(until), .. } => {
                    self.clock.advance(until.since(self.clock.now()));
                }
                Step::Wait { .. } => return true,
                Step::Done(Answer::Turn(Some(turn))) if turn.reply == Reply::ResyncDue => {
                    resyncs += 1;
                }
                Step::Done(_) | Step::Held(_) => resyncs = 0,
            }
            if resyncs == 2 {
                return true;
            }
        }
        false
    }
}

/// Carries out a plan, and returns the history.
fn carried_out(
    (setting, ops): &Plan,
    machine: Box<dyn Machine<Op = Call, Ret = Answer>>,
) -> History {
    let mut carrier = Carrier { machine, clock: HandClock::default(), events: Vec::new() };
    carrier.step(Call::Begin(Begin(setting.clone())));
    for op in each_call(ops) {
        match op {
            Op::Happen(happen) => drop(carrier.step(Call::Happen(*happen))),
            Op::Turns(turns) => carrier.turns(*turns),
            Op::Advance(tenths) => {
                carrier.clock.advance(Duration::from_millis(u64::from(*tenths) * 100));
            }
        }
    }
    // No trouble is added from here on. Each trouble that is left is met now, in a round of its
    // own.
    let most = ROUND * (ops.len() + 2);
    assert!(carrier.rests(most), "it never comes to rest: {setting:?} {ops:?}");
    let at = carrier.clock.now();
    carrier.events.push(Event { thread: 0, at, object: 0, what: What::Quiet, told: None });
    carrier.step(Call::Stop(Stop));
    carrier.turns(1);
    History { events: carrier.events, end: End::Finished }
}
