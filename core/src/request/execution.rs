//! When an attempt is made and when it is repeated: the rules alone (`election:RQ-60` to `RQ-69`).
//!
//! An [`Execution`] returns its next step and takes the result of it. It has no clock, no socket
//! and no lock; [`Client`](super::Client) carries out the steps.

use std::fmt;
use std::time::Duration;

use super::transport::{TransportError, TransportKind};

/// The longest pause after attempts that were not processed, in seconds, as a power of two.
const LONGEST_PAUSE: u32 = 5;

/// How a call is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Mode {
    /// The whole answer is read.
    Whole,
    /// The body is handed out as it comes in.
    Stream,
    /// The body is a sequence of events without an end.
    Watch,
}

/// The next step of an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Want {
    /// Take a token of the rate limiter, then call [`Execution::throttled`].
    Throttle(Option<Retry>),
    /// Sleep for the back-off of the server's host, but at least for this time; then call
    /// [`Execution::paused`].
    Pause(Duration),
    /// Send an attempt, then call [`Execution::answered`] or [`Execution::failed`].
    Send,
    /// The last answer is the result.
    Answer,
    /// There is no answer: the last failure is the result ([`Execution::failures`]).
    Failure,
    /// The result is a watch that has ended already; the caller watches again (`election:RQ-101`).
    EndedWatch,
}

/// Why an attempt is repeated (`election:RQ-67`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Retry {
    /// How many attempts were made before.
    pub count: u32,
    /// How long the server asks clients to wait.
    pub after: Duration,
    /// Why the attempt failed.
    pub cause: RetryCause,
}

/// Why an attempt is repeated.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RetryCause {
    /// The server answered with this code.
    Status(u16),
    /// There was no answer: the text of the error.
    Failure(String),
}

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "retry {} after {} s: ", self.count, self.after.as_secs())?;
        match &self.cause {
            RetryCause::Status(429) => f.write_str("the server throttles"),
            RetryCause::Status(code) => write!(f, "status {code}"),
            RetryCause::Failure(why) => f.write_str(why),
        }
    }
}

/// One call, from its first attempt to its last.
#[derive(Clone, Debug)]
pub struct Execution {
    mode: Mode,
    reads: bool,
    max_retries: u32,
    attempts: u32,
    retry: Option<Retry>,
    failure: Option<TransportError>,
    previous: Option<TransportError>,
}

impl Execution {
    /// Makes a call before its first attempt. `reads` tells whether its verb is GET.
    #[must_use]
    pub const fn new(mode: Mode, reads: bool, max_retries: u32) -> Self {
        let (retry, failure, previous) = (None, None, None);
        Self { mode, reads, max_retries, attempts: 0, retry, failure, previous }
    }

    /// Returns the first step. The first attempt of a watch takes no token (`election:RQ-43`).
    #[must_use]
    pub const fn begin(&self) -> Want {
        match self.mode {
            Mode::Whole | Mode::Stream => Want::Throttle(None),
            Mode::Watch => Want::Pause(Duration::ZERO),
        }
    }

    /// The limiter let the call go on.
    #[must_use]
    pub const fn throttled(&self) -> Want {
        if self.attempts == 0 { Want::Pause(Duration::ZERO) } else { Want::Send }
    }

    /// The pause is over.
    #[must_use]
    pub fn paused(&self) -> Want {
        match &self.retry {
            None => Want::Send,
            Some(retry) => Want::Throttle(Some(retry.clone())),
        }
    }

    /// The server answered; `retry_after` is the header of that name.
    #[must_use]
    pub fn answered(&mut self, status: u16, retry_after: Option<&str>) -> Want {
        self.ended(None);
        let after = retry_after.and_then(seconds).filter(|_| status == 429 || status >= 500);
        match after {
            Some(after) if self.may_repeat() => self.repeat(after, RetryCause::Status(status)),
            _ => Want::Answer,
        }
    }

    /// There was no answer.
    #[must_use]
    pub fn failed(&mut self, failure: TransportError) -> Want {
        let (kind, text) = (failure.kind(), failure.to_string());
        self.ended(Some(failure));
        if self.is_retryable(kind) && self.may_repeat() {
            return self.repeat(self.delay(kind), RetryCause::Failure(text));
        }
        use TransportKind::{Eof, Reset, Timeout, Unprocessed};
        match (self.mode, kind) {
            (Mode::Watch, Eof | Reset | Timeout | Unprocessed) => Want::EndedWatch,
            _ => Want::Failure,
        }
    }

    /// Returns how the last attempt failed, and how an earlier one failed if its text differs
    /// (`election:RQ-68`). A stream reports only the last one.
    #[must_use]
    pub fn failures(&self) -> Option<(TransportError, Option<TransportError>)> {
        let last = self.failure.clone()?;
        let wraps = self.mode != Mode::Stream;
        let previous = self
            .previous
            .clone()
            .filter(|previous| wraps && previous.to_string() != last.to_string());
        Some((last, previous))
    }

    /// Returns how many attempts have ended.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    fn ended(&mut self, failure: Option<TransportError>) {
        self.attempts += 1;
        self.retry = None;
        if let Some(earlier) = self.failure.take() {
            self.previous = Some(earlier);
        }
        self.failure = failure;
    }

    const fn may_repeat(&self) -> bool {
        self.attempts <= self.max_retries
    }

    fn repeat(&mut self, after: Duration, cause: RetryCause) -> Want {
        self.retry = Some(Retry { count: self.attempts, after, cause });
        Want::Pause(after)
    }

    /// Returns the pause after a failure. A server that does not process a request is asked again at
    /// once, since another one may have taken its place; after that the pause grows.
    fn delay(&self, kind: TransportKind) -> Duration {
        match (kind, self.attempts) {
            (TransportKind::Unprocessed, 0 | 1) => Duration::ZERO,
            (TransportKind::Unprocessed, attempts) => {
                Duration::from_secs(1 << (attempts - 2).min(LONGEST_PAUSE))
            }
            _ => Duration::from_secs(1),
        }
    }

    /// Tells which failures are worth another attempt. What was not processed is, in any mode and for
    /// any verb. A refused connection never is: the delay
    /// would only keep callers from another server.
    const fn is_retryable(&self, kind: TransportKind) -> bool {
        use TransportKind::{ConnectionLost, Eof, Reset, Timeout, Unprocessed};
        match self.mode {
            _ if matches!(kind, Unprocessed) => true,
            Mode::Whole => self.reads && matches!(kind, Reset | Eof | ConnectionLost),
            Mode::Watch => matches!(kind, Eof | Reset | Timeout),
            Mode::Stream => false,
        }
    }
}

/// Returns the pause that a `Retry-After` asks for, if it is longer than `limit`.
pub(super) fn beyond(limit: Duration, retry_after: &str) -> Option<Duration> {
    seconds(retry_after).filter(|asked| *asked > limit)
}

/// Reads `Retry-After` as whole seconds. A negative number counts as zero; a date is not accepted.
fn seconds(text: &str) -> Option<Duration> {
    let seconds: i64 = text.trim().parse().ok()?;
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}
