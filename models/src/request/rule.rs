//! The rules of a call, said once more: what an attempt's outcome means for it.

use std::time::Duration;

use seatrial_core::request::{Mode, TransportKind};

/// How a call is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// How its answer is read.
    pub mode: Mode,
    /// Whether its verb is GET.
    pub reads: bool,
    /// How often it may be repeated.
    pub max: u32,
}

/// What a server says about when to come again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// Nothing.
    Silent,
    /// A date, which is not understood.
    Date,
    /// A number of seconds, perhaps negative.
    Seconds(i8),
}

impl After {
    /// Returns the header.
    pub fn text(self) -> Option<String> {
        match self {
            Self::Silent => None,
            Self::Date => Some("Fri, 31 Dec 1999 23:59:59 GMT".to_owned()),
            Self::Seconds(seconds) => Some(seconds.to_string()),
        }
    }
}

/// How an attempt ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// An answer with a status.
    Status(u16, After),
    /// No answer.
    Fails(TransportKind),
}

/// What follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Another attempt, after so long at least.
    Again(Duration),
    /// The answer counts.
    Answer,
    /// The failure counts.
    Failure,
    /// The result is a watch that has ended.
    EndedWatch,
}

/// Every kind of failure, with the modes in which another attempt may help: of reads that want the
/// whole answer, and of watches (`election:RQ-66`).
pub const FAILURES: [(TransportKind, bool, bool); 7] = [
    (TransportKind::Refused, false, false),
    (TransportKind::Reset, true, true),
    (TransportKind::Eof, true, true),
    (TransportKind::ConnectionLost, true, false),
    (TransportKind::Timeout, false, true),
    (TransportKind::Untrusted, false, false),
    (TransportKind::Other, false, false),
];

/// Decides (`election:RQ-64`, `RQ-101`); `attempts` counts the one that ended so.
pub fn verdict(way: Way, attempts: u32, outcome: Outcome) -> Verdict {
    let left = attempts <= way.max;
    match outcome {
        Outcome::Status(429 | 500.., After::Seconds(seconds)) if left => {
            Verdict::Again(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
        }
        Outcome::Status(..) => Verdict::Answer,
        Outcome::Fails(kind) => {
            let row = FAILURES.iter().find(|row| row.0 == kind);
            let (_, reads, watches) = row.expect("it is in the table");
            let helps = match way.mode {
                Mode::Whole => way.reads && *reads,
                Mode::Watch => *watches,
                _ => false,
            };
            match (way.mode, kind) {
                _ if helps && left => Verdict::Again(Duration::from_secs(1)),
                (
                    Mode::Watch,
                    TransportKind::Eof | TransportKind::Reset | TransportKind::Timeout,
                ) => Verdict::EndedWatch,
                _ => Verdict::Failure,
            }
        }
    }
}

/// What failed in a call: the last attempt, and one before (`election:RQ-68`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Failed {
    /// How the last attempt failed, unless it was answered.
    pub last: Option<TransportKind>,
    earlier: Option<TransportKind>,
}

impl Failed {
    /// Takes note of an attempt.
    pub fn take(&mut self, outcome: Outcome) {
        self.earlier = self.last.or(self.earlier);
        self.last = match outcome {
            Outcome::Status(..) => None,
            Outcome::Fails(kind) => Some(kind),
        };
    }

    /// Returns what is told beside the last failure: an earlier one that is another.
    pub fn previous(&self) -> Option<TransportKind> {
        self.earlier.filter(|earlier| Some(*earlier) != self.last)
    }
}
