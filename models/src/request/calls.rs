//! The state of the calls of a history; each call is made by a thread of its own.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::request::{Mode, TransportKind};
use seatrial_core::runtime::Instant;

use super::rule::{After, FAILURES, Failed, Outcome, Verdict, Way, verdict};
use super::{Event, Request};
use crate::trial::{self, What};

/// The first and the longest delay of a host that is overloaded.
pub(super) const BACKOFF: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(3));

/// A call, as described by the note of its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Begun {
    /// The number that other notes use for it.
    pub(super) number: u8,
    pub(super) way: Way,
    /// Whether it takes turns at a limiter.
    pub(super) takes_turns: bool,
    /// Whether its client leaves an overloaded host alone.
    pub(super) backs_off: bool,
    /// The number of seconds within which it must be over; zero means no limit.
    pub(super) timeout: u8,
}

impl Begun {
    pub(super) fn pack(self) -> u64 {
        let mode = match self.way.mode {
            Mode::Whole => 0,
            Mode::Stream => 1,
            _ => 2,
        };
        let flags = u64::from(self.way.reads)
            | u64::from(self.takes_turns) << 1
            | u64::from(self.backs_off) << 2;
        u64::from(self.number)
            | mode << 8
            | flags << 16
            | u64::from(self.timeout) << 24
            | u64::from(self.way.max) << 32
    }

    fn unpack(value: u64) -> Self {
        let byte = |at: u32| (value >> at) as u8;
        let mode = match byte(8) {
            0 => Mode::Whole,
            1 => Mode::Stream,
            _ => Mode::Watch,
        };
        let flag = |bit: u32| byte(16) >> bit & 1 == 1;
        Self {
            number: byte(0),
            way: Way { mode, reads: flag(0), max: (value >> 32) as u32 },
            takes_turns: flag(1),
            backs_off: flag(2),
            timeout: byte(24),
        }
    }
}

fn index(kind: TransportKind) -> u64 {
    FAILURES.iter().position(|row| row.0 == kind).expect("it is in the table") as u64
}

/// Packs an outcome into the number of a note.
pub(super) fn pack(outcome: Outcome) -> u64 {
    match outcome {
        Outcome::Fails(kind) => 1 << 32 | index(kind),
        Outcome::Status(status, after) => {
            let after = match after {
                After::Silent => 0,
                After::Date => 1,
                After::Seconds(seconds) => 2 | u64::from(seconds.cast_unsigned()) << 2,
            };
            u64::from(status) | after << 16
        }
    }
}

fn unpack(value: u64) -> Outcome {
    if value >> 32 == 1 {
        return Outcome::Fails(FAILURES[(value & 0xFF) as usize].0);
    }
    let after = match value >> 16 & 3 {
        0 => After::Silent,
        1 => After::Date,
        _ => After::Seconds(((value >> 18) as u8).cast_signed()),
    };
    Outcome::Status(value as u16, after)
}

/// The result that a call gives its caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Result {
    Status(u16),
    Failed(TransportKind, Option<TransportKind>),
    Cancelled,
    TimeIsOver,
    EndedWatch,
    Other,
}

impl Result {
    pub(super) fn pack(self) -> u64 {
        match self {
            Self::Status(status) => u64::from(status) << 8,
            Self::Failed(last, previous) => {
                1 | index(last) << 8 | previous.map_or(0, |it| index(it) + 1) << 16
            }
            Self::Cancelled => 2,
            Self::TimeIsOver => 3,
            Self::EndedWatch => 4,
            Self::Other => 5,
        }
    }
}

/// The state of a call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) begun: Begun,
    pub(super) at: Instant,
    pub(super) attempts: u32,
    pub(super) last: Option<(Outcome, Verdict)>,
    failed: Failed,
    /// When the next attempt is due, by the pauses alone.
    pub(super) due: Instant,
    /// Its turns at the limiter since the last attempt, and the time of the latest.
    pub(super) turns: u32,
    pub(super) turn_at: Instant,
    /// How often the observer was told of another attempt since the last one.
    pub(super) said: u32,
    /// The hash of the last attempt; all attempts must look alike.
    pub(super) print: Option<u64>,
    pub(super) open: i64,
    pub(super) hangs: bool,
}

impl Call {
    /// Returns the result that the last outcome gives the call, if it gives one.
    pub(super) fn result(&self) -> Option<Result> {
        Some(match self.last? {
            (_, Verdict::Again(_)) => return None,
            (Outcome::Status(status, _), _) => Result::Status(status),
            (_, Verdict::EndedWatch) => Result::EndedWatch,
            (Outcome::Fails(kind), _) => {
                Result::Failed(kind, self.failed.previous(self.begun.way.mode))
            }
        })
    }
}

/// The state before an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    /// The calls that have not returned, by thread.
    pub(super) of: BTreeMap<u8, Call>,
    /// The numbers of calls whose token has ended, and when it did.
    pub(super) ended: Vec<(u64, Instant)>,
    /// How long the host is left alone.
    backoff: Duration,
    /// When calls had their turn.
    pub(super) turns: Vec<Instant>,
}

impl Calls {
    pub(super) fn cancelled_at(&self, call: &Call) -> Option<Instant> {
        let wanted = u64::from(call.begun.number);
        self.ended.iter().find(|(number, _)| *number == wanted).map(|(_, at)| *at)
    }

    pub(super) fn is_cancelled(&self, call: &Call) -> bool {
        self.cancelled_at(call).is_some()
    }

    fn outcome(&mut self, event: &Event, outcome: Outcome) {
        self.backoff = match outcome {
            Outcome::Status(429 | 500.., _) if self.backoff.is_zero() => BACKOFF.0,
            Outcome::Status(429 | 500.., _) => (self.backoff * 2).min(BACKOFF.1),
            _ => Duration::ZERO,
        };
        let backoff = self.backoff;
        let Some(call) = self.of.get_mut(&event.thread) else { return };
        let verdict = verdict(call.begun.way, call.attempts, outcome);
        call.last = Some((outcome, verdict));
        call.failed.take(outcome);
        (call.turns, call.said, call.hangs) = (0, 0, false);
        if let Verdict::Again(after) = verdict {
            let backoff = if call.begun.backs_off { backoff } else { Duration::ZERO };
            call.due = event.at + after.max(backoff);
        }
    }

    fn note(&mut self, event: &Event, label: &str, value: u64) {
        if label == "begins" {
            let begun = Begun::unpack(value);
            let backoff = if begun.backs_off { self.backoff } else { Duration::ZERO };
            let call = Call {
                begun,
                at: event.at,
                attempts: 0,
                last: None,
                failed: Failed::default(),
                due: event.at + backoff,
                turns: 0,
                turn_at: Instant::ZERO,
                said: 0,
                print: None,
                open: 0,
                hangs: false,
            };
            self.of.insert(event.thread, call);
            return;
        }
        if label == "cancelled" {
            self.ended.push((value, event.at));
        }
        if label == "turn" {
            self.turns.push(event.at);
        }
        if matches!(label, "answers" | "fails") {
            self.outcome(event, unpack(value));
        }
        let Some(call) = self.of.get_mut(&event.thread) else { return };
        match label {
            "sends" => {
                call.attempts += 1;
                call.print = Some(value);
                call.hangs = true;
            }
            "turn" => {
                call.turns += 1;
                call.turn_at = event.at;
                if call.attempts == 0 {
                    call.due = call.due.max(event.at); // the first pause comes after the turn
                }
            }
            "retries" => call.said += 1,
            "opens" => call.open += 1,
            "closes" => call.open -= 1,
            "returns" => drop(self.of.remove(&event.thread)),
            _ => {}
        }
    }
}

impl trial::Ledger<Request> for Calls {
    fn apply(&mut self, event: &Event) {
        if let What::Note { label, value } = &event.what {
            self.note(event, label, *value);
        }
    }
}
