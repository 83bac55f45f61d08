//! The rules of a call, stated a second time: what follows from the outcome of an attempt.

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

/// The header of a server that says when to come again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// There is no header.
    Silent,
    /// A date, which is ignored.
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

/// The consequence of an outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Another attempt follows, after at least this long.
    Again(Duration),
    /// The call ends with the answer.
    Answer,
    /// The call ends with the failure.
    Failure,
    /// The result is a watch that has ended.
    EndedWatch,
}

/// Every kind of failure, with two flags that tell whether another attempt may help: for reads that
/// want the whole answer, and for watches (`election:RQ-66`).
pub const FAILURES: [(TransportKind, bool, bool); 8] = [
    (TransportKind::Refused, false, false),
    (TransportKind::Reset, true, true),
    (TransportKind::Eof, true, true),
    (TransportKind::ConnectionLost, true, false),
    (TransportKind::Timeout, false, true),
    (TransportKind::Untrusted, false, false),
    (TransportKind::Other, false, false),
    // In fact for every verb and mode: the server has certainly not processed it.
    (TransportKind::Unprocessed, true, true),
];

/// Returns the pause after an attempt that was not processed: none at first, then 1, 2, 4 seconds
/// and so on, up to 32.
pub(super) fn unprocessed(attempts: u32) -> Duration {
    let seconds = [0, 1, 2, 4, 8, 16, 32];
    Duration::from_secs(seconds[attempts.saturating_sub(1).min(6) as usize])
}

/// Returns what follows (`election:RQ-64`, `RQ-101`); `attempts` includes the attempt that ended
/// so.
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
            let is_fresh = kind == TransportKind::Unprocessed;
            let helps = match way.mode {
                _ if is_fresh => true,
                Mode::Whole => way.reads && *reads,
                Mode::Watch => *watches,
                _ => false,
            };
            match (way.mode, kind) {
                _ if helps && left && is_fresh => Verdict::Again(unprocessed(attempts)),
                _ if helps && left => Verdict::Again(Duration::from_secs(1)),
                (
                    Mode::Watch,
                    TransportKind::Eof
                    | TransportKind::Reset
                    | TransportKind::Timeout
                    | TransportKind::Unprocessed,
                ) => Verdict::EndedWatch,
                _ => Verdict::Failure,
            }
        }
    }
}

/// The failures of a call: of the last attempt, and of an earlier one (`election:RQ-68`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Failed {
    /// The failure of the last attempt, unless it was answered.
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

    /// Returns the earlier failure that is reported beside the last one, if it is of another kind. A
    /// stream reports only the last one.
    pub fn previous(&self, mode: Mode) -> Option<TransportKind> {
        self.earlier.filter(|earlier| mode != Mode::Stream && Some(*earlier) != self.last)
    }
}
