//! A second implementation of the rules, with a mistake.

use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::request::steps::{Answered, Begin, Op, Ret};
use seatrial_core::request::{Mode, Retry, RetryCause, TransportError, TransportKind, Want};

use super::rule::unprocessed;
use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub(super) enum Mistake {
        // Mistakes of the reference, past or present.
        /// Delays of earlier attempts add up.
        AddsDelays,
        /// After a lost connection, no other attempt is made.
        LostIsFinal,
        /// The earlier failure is forgotten.
        ForgetsPrevious,
        /// The earlier failure is reported as the last one.
        PreviousIsLast,

        // Mistakes in the number of attempts.
        /// One attempt too many is made.
        RetriesOnceMore,
        /// The first attempt counts as a repetition.
        RetriesOnceLess,
        /// Attempts are not counted.
        CountsNothing,

        // Mistakes about the answers after which another attempt is made.
        /// Another attempt is made even if the server does not ask for it.
        RetriesInSilence,
        /// Another attempt is made after any status.
        RetriesAnyStatus,
        /// Another attempt is made only after 429.
        OnlyTooManyRequests,
        /// Status 500 itself is left out.
        AboveFiveHundred,
        /// A date is read as "now".
        DateIsNow,
        /// A negative number of seconds is ignored.
        NegativeIsNone,

        // Mistakes about the failures after which another attempt is made.
        /// Writes are repeated as well.
        WritesAreRepeated,
        /// Streams are repeated as well.
        StreamsAreRepeated,
        /// A watch that timed out is not repeated.
        WatchTimesOut,
        /// A read that timed out is repeated.
        ReadTimesOut,
        /// A request to a server that refuses connections is repeated.
        RefusedIsRepeated,
        /// A watch over a lost connection is repeated.
        LostWatchIsRepeated,
        /// A request to an untrusted server is repeated.
        UntrustedIsRepeated,

        // Mistakes in the pauses.
        /// The server's delay is ignored.
        IgnoresDelay,
        /// Seconds are taken for milliseconds.
        Milliseconds,
        /// A negative number of seconds counts as the positive number.
        NegativeWaits,
        /// Later pauses are as long as the first one.
        KeepsFirstDelay,
        /// There is no pause after a failure.
        FailureWaitsForNothing,
        /// There is no pause before the first attempt.
        NoFirstPause,
        /// The next attempt is sent at once, before the last answer is closed.
        SendsAtOnce,
        /// Seconds are taken for days.
        Days,

        // Mistakes in the result.
        /// A watch that cannot begin counts as failed.
        WatchFails,
        /// A watch whose server refuses connections counts as ended.
        WatchHidesRefusal,
        /// The same failure is reported twice.
        SaysItTwice,
        /// A failure counts even after a later answer.
        FailureOutlivesAnswer,

        // Mistakes in the turns at the limiter.
        /// The first attempt takes no turn.
        NoFirstTurn,
        /// The first attempt of a watch takes a turn.
        WatchTakesATurn,
        /// Repetitions take no turn.
        NoTurnAgain,
        /// Repetitions take their turn before the pause.
        TurnBeforePause,

        // Mistakes in the reports.
        /// Attempts are counted from zero.
        CountsFromNothing,
        /// The first cause is reported for all attempts.
        FirstCause,
        /// Another attempt is not reported.
        SaysNothing,
        /// The delay is not reported.
        SaysNoDelay,
        /// No mistake: the rules in which the mistakes are made.
        Nothing,
    }
}

use Mistake::*;

/// The rules with a mistake.
#[derive(Clone, Debug)]
pub(super) struct Mistaken {
    mistake: Mistake,
    way: Begin,
    attempts: u32,
    retry: Option<Retry>,
    cause: Option<RetryCause>,
    waited: Option<Duration>,
    has_paused: bool,
    failures: (Option<TransportError>, Option<TransportError>),
}

impl Mistaken {
    fn makes(&self, mistake: Mistake) -> bool {
        self.mistake == mistake
    }

    fn begin(&mut self, way: &Begin) -> Want {
        self.way = way.clone();
        let turn = match self.way.mode {
            Mode::Watch => self.makes(WatchTakesATurn),
            _ => !self.makes(NoFirstTurn),
        };
        if turn { Want::Throttle(None) } else { self.first_pause() }
    }

    fn first_pause(&self) -> Want {
        if self.makes(NoFirstPause) { Want::Send } else { Want::Pause(Duration::ZERO) }
    }

    fn throttled(&self) -> Want {
        if self.attempts == 0 {
            return self.first_pause();
        }
        match &self.retry {
            Some(retry) if self.makes(TurnBeforePause) && !self.has_paused => {
                Want::Pause(retry.after)
            }
            _ => Want::Send,
        }
    }

    fn paused(&mut self) -> Want {
        self.has_paused = true;
        match &self.retry {
            None => Want::Send,
            Some(_) if self.makes(NoTurnAgain) || self.makes(TurnBeforePause) => Want::Send,
            Some(retry) => Want::Throttle((!self.makes(SaysNothing)).then(|| retry.clone())),
        }
    }

    fn delay(&self, status: u16, text: Option<&str>) -> Option<Duration> {
        let busy = match self.mistake {
            RetriesAnyStatus => true,
            OnlyTooManyRequests => status == 429,
            AboveFiveHundred => status == 429 || status > 500,
            _ => status == 429 || status > 499,
        };
        let seconds: Option<i64> = match text {
            None => self.makes(RetriesInSilence).then_some(0),
            Some(text) => text.parse().ok().or(self.makes(DateIsNow).then_some(0)),
        };
        let seconds = seconds.filter(|_| busy)?;
        if seconds < 0 && self.makes(NegativeIsNone) {
            return None;
        }
        let seconds = if self.makes(NegativeWaits) { seconds.abs() } else { seconds.max(0) };
        let unit = match self.mistake {
            Milliseconds => 1,
            Days => 86_400_000,
            _ => 1000,
        };
        Some(Duration::from_millis(seconds.unsigned_abs() * unit))
    }

    fn answered(&mut self, Answered { status, retry_after }: &Answered) -> Want {
        if !(self.makes(FailureOutlivesAnswer) && self.failures.0.is_some()) {
            self.shift(None);
        } else {
            self.attempts += 1;
        }
        match self.delay(*status, retry_after.as_deref()) {
            Some(delay) if self.is_left() => self.repeat(delay, RetryCause::Status(*status)),
            _ if self.makes(FailureOutlivesAnswer) && self.failures.0.is_some() => Want::Failure,
            _ => Want::Answer,
        }
    }

    fn helps(&self, kind: TransportKind) -> bool {
        use TransportKind::{ConnectionLost, Eof, Refused, Reset, Timeout, Untrusted};
        match (self.mistake, kind) {
            (LostIsFinal, ConnectionLost) => return false,
            (RefusedIsRepeated, Refused) | (UntrustedIsRepeated, Untrusted) => return true,
            _ => {}
        }
        match self.way.mode {
            _ if kind == TransportKind::Unprocessed => true,
            Mode::Whole => {
                let may = self.way.reads || self.makes(WritesAreRepeated);
                let late = kind == Timeout && self.makes(ReadTimesOut);
                may && (late || matches!(kind, Reset | Eof | ConnectionLost))
            }
            Mode::Watch => {
                let late = kind == Timeout && !self.makes(WatchTimesOut);
                let lost = kind == ConnectionLost && self.makes(LostWatchIsRepeated);
                late || lost || matches!(kind, Reset | Eof)
            }
            _ => self.makes(StreamsAreRepeated) && kind == Eof,
        }
    }

    fn failed(&mut self, error: TransportError) -> Want {
        let (kind, text) = (error.kind(), error.to_string());
        self.shift(Some(error));
        if self.helps(kind) && self.is_left() {
            let delay = match kind {
                _ if self.makes(FailureWaitsForNothing) => Duration::ZERO,
                TransportKind::Unprocessed => unprocessed(self.attempts),
                _ => Duration::from_secs(1),
            };
            return self.repeat(delay, RetryCause::Failure(text));
        }
        let ends = match kind {
            TransportKind::Eof
            | TransportKind::Reset
            | TransportKind::Timeout
            | TransportKind::Unprocessed => !self.makes(WatchFails),
            TransportKind::Refused => self.makes(WatchHidesRefusal),
            _ => false,
        };
        if self.way.mode == Mode::Watch && ends { Want::EndedWatch } else { Want::Failure }
    }

    fn shift(&mut self, failure: Option<TransportError>) {
        self.attempts += 1;
        self.retry = None;
        let last = self.failures.0.take();
        if last.is_some() && !self.makes(ForgetsPrevious) {
            self.failures.1 = last;
        }
        self.failures.0 = failure;
    }

    fn is_left(&self) -> bool {
        let most = self.way.max_retries;
        match self.mistake {
            RetriesOnceMore => self.attempts <= most + 1,
            RetriesOnceLess => self.attempts < most,
            CountsNothing => self.attempts < 40,
            _ => self.attempts <= most,
        }
    }

    fn repeat(&mut self, after: Duration, cause: RetryCause) -> Want {
        let pause = match self.mistake {
            IgnoresDelay => Duration::ZERO,
            AddsDelays => self.waited.unwrap_or_default() + after,
            KeepsFirstDelay => self.waited.unwrap_or(after),
            _ => after,
        };
        self.waited = Some(pause);
        let first = self.cause.get_or_insert_with(|| cause.clone()).clone();
        let cause = if self.makes(FirstCause) { first } else { cause };
        let count = self.attempts - u32::from(self.makes(CountsFromNothing));
        let told = if self.makes(SaysNoDelay) { Duration::ZERO } else { after };
        self.retry = Some(Retry { count, after: told, cause });
        self.has_paused = false;
        if self.makes(SendsAtOnce) {
            return Want::Send;
        }
        if self.makes(TurnBeforePause) {
            return Want::Throttle(self.retry.clone());
        }
        Want::Pause(pause)
    }

    fn told(&self) -> Option<(TransportError, Option<TransportError>)> {
        let (last, previous) = (self.failures.0.clone()?, self.failures.1.clone());
        match previous {
            Some(previous) if self.makes(PreviousIsLast) => Some((previous, Some(last))),
            Some(previous) if self.makes(SaysItTwice) => Some((last, Some(previous))),
            previous => {
                let differs = |it: &TransportError| it.to_string() != last.to_string();
                let previous = previous.filter(differs).filter(|_| self.way.mode != Mode::Stream);
                Some((last, previous))
            }
        }
    }
}

impl Machine for Mistaken {
    type Op = Op;
    type Ret = Ret;

    fn step(&mut self, op: &mut Op, _: &mut Cx<'_>) -> Step<Ret> {
        Step::Done(match op {
            Op::Begin(way) => {
                *self = Self::new(self.mistake);
                Ret::Begin(self.begin(way))
            }
            Op::Throttled(_) => Ret::Throttled(self.throttled()),
            Op::Paused(_) => Ret::Paused(self.paused()),
            Op::Answered(answered) => Ret::Answered(self.answered(answered)),
            Op::Failed(failed) => Ret::Failed(self.failed(failed.0.clone())),
            Op::Failures(_) => Ret::Failures(self.told()),
        })
    }
}

impl Mistaken {
    pub(super) const fn new(mistake: Mistake) -> Self {
        let way = Begin { mode: Mode::Whole, reads: true, max_retries: 0 };
        let (retry, cause, waited, failures) = (None, None, None, (None, None));
        Self { mistake, way, attempts: 0, retry, cause, waited, has_paused: false, failures }
    }
}
