//! A second implementation of the rules, with a mistake.

use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::request::steps::{Answered, Begin, Op, Ret};
use seatrial_core::request::{Mode, Retry, RetryCause, TransportError, TransportKind, Want};

use super::rule::unprocessed;
use crate::shared::Mistake;

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
    fn begin(&mut self, way: &Begin) -> Want {
        self.way = way.clone();
        let turn = match self.way.mode {
            Mode::Watch => self.mistake == "watch_takes_a_turn",
            _ => self.mistake != "no_first_turn",
        };
        if turn { Want::Throttle(None) } else { self.first_pause() }
    }

    fn first_pause(&self) -> Want {
        if self.mistake == "no_first_pause" { Want::Send } else { Want::Pause(Duration::ZERO) }
    }

    fn throttled(&self) -> Want {
        if self.attempts == 0 {
            return self.first_pause();
        }
        match &self.retry {
            Some(retry) if self.mistake == "turn_before_pause" && !self.has_paused => {
                Want::Pause(retry.after)
            }
            _ => Want::Send,
        }
    }

    fn paused(&mut self) -> Want {
        self.has_paused = true;
        match &self.retry {
            None => Want::Send,
            Some(_) if self.mistake == "no_turn_again" || self.mistake == "turn_before_pause" => {
                Want::Send
            }
            Some(retry) => Want::Throttle((self.mistake != "says_nothing").then(|| retry.clone())),
        }
    }

    fn delay(&self, status: u16, text: Option<&str>) -> Option<Duration> {
        let busy = match self.mistake {
            "retries_any_status" => true,
            "only_too_many_requests" => status == 429,
            "above_five_hundred" => status == 429 || status > 500,
            _ => status == 429 || status > 499,
        };
        let seconds: Option<i64> = match text {
            None => (self.mistake == "retries_in_silence").then_some(0),
            Some(text) => text.parse().ok().or((self.mistake == "date_is_now").then_some(0)),
        };
        let seconds = seconds.filter(|_| busy)?;
        if seconds < 0 && self.mistake == "negative_is_none" {
            return None;
        }
        let seconds = if self.mistake == "negative_waits" { seconds.abs() } else { seconds.max(0) };
        let unit = match self.mistake {
            "milliseconds" => 1,
            "days" => 86_400_000,
            _ => 1000,
        };
        Some(Duration::from_millis(seconds.unsigned_abs() * unit))
    }

    fn answered(&mut self, Answered { status, retry_after }: &Answered) -> Want {
        if !(self.mistake == "failure_outlives_answer" && self.failures.0.is_some()) {
            self.shift(None);
        } else {
            self.attempts += 1;
        }
        match self.delay(*status, retry_after.as_deref()) {
            Some(delay) if self.is_left() => self.repeat(delay, RetryCause::Status(*status)),
            _ if self.mistake == "failure_outlives_answer" && self.failures.0.is_some() => {
                Want::Failure
            }
            _ => Want::Answer,
        }
    }

    fn helps(&self, kind: TransportKind) -> bool {
        use TransportKind::{ConnectionLost, Eof, Refused, Reset, Timeout, Untrusted};
        match (self.mistake, kind) {
            ("lost_is_final", ConnectionLost) => return false,
            ("refused_is_repeated", Refused) | ("untrusted_is_repeated", Untrusted) => return true,
            _ => {}
        }
        match self.way.mode {
            _ if kind == TransportKind::Unprocessed => true,
            Mode::Whole => {
                let may = self.way.reads || self.mistake == "writes_are_repeated";
                let late = kind == Timeout && self.mistake == "read_times_out";
                may && (late || matches!(kind, Reset | Eof | ConnectionLost))
            }
            Mode::Watch => {
                let late = kind == Timeout && self.mistake != "watch_times_out";
                let lost = kind == ConnectionLost && self.mistake == "lost_watch_is_repeated";
                late || lost || matches!(kind, Reset | Eof)
            }
            _ => self.mistake == "streams_are_repeated" && kind == Eof,
        }
    }

    fn failed(&mut self, error: TransportError) -> Want {
        let (kind, text) = (error.kind(), error.to_string());
        self.shift(Some(error));
        if self.helps(kind) && self.is_left() {
            let delay = match kind {
                _ if self.mistake == "failure_waits_for_nothing" => Duration::ZERO,
                TransportKind::Unprocessed => unprocessed(self.attempts),
                _ => Duration::from_secs(1),
            };
            return self.repeat(delay, RetryCause::Failure(text));
        }
        let ends = match kind {
            TransportKind::Eof
            | TransportKind::Reset
            | TransportKind::Timeout
            | TransportKind::Unprocessed => self.mistake != "watch_fails",
            TransportKind::Refused => self.mistake == "watch_hides_refusal",
            _ => false,
        };
        if self.way.mode == Mode::Watch && ends { Want::EndedWatch } else { Want::Failure }
    }

    fn shift(&mut self, failure: Option<TransportError>) {
        self.attempts += 1;
        self.retry = None;
        let last = self.failures.0.take();
        if last.is_some() && self.mistake != "forgets_previous" {
            self.failures.1 = last;
        }
        self.failures.0 = failure;
    }

    fn is_left(&self) -> bool {
        let most = self.way.max_retries;
        match self.mistake {
            "retries_once_more" => self.attempts <= most + 1,
            "retries_once_less" => self.attempts < most,
            "counts_nothing" => self.attempts < 40,
            _ => self.attempts <= most,
        }
    }

    fn repeat(&mut self, after: Duration, cause: RetryCause) -> Want {
        let pause = match self.mistake {
            "ignores_delay" => Duration::ZERO,
            "adds_delays" => self.waited.unwrap_or_default() + after,
            "keeps_first_delay" => self.waited.unwrap_or(after),
            _ => after,
        };
        self.waited = Some(pause);
        let first = self.cause.get_or_insert_with(|| cause.clone()).clone();
        let cause = if self.mistake == "first_cause" { first } else { cause };
        let count = self.attempts - u32::from(self.mistake == "counts_from_nothing");
        let told = if self.mistake == "says_no_delay" { Duration::ZERO } else { after };
        self.retry = Some(Retry { count, after: told, cause });
        self.has_paused = false;
        if self.mistake == "sends_at_once" {
            return Want::Send;
        }
        if self.mistake == "turn_before_pause" {
            return Want::Throttle(self.retry.clone());
        }
        Want::Pause(pause)
    }

    fn told(&self) -> Option<(TransportError, Option<TransportError>)> {
        let (last, previous) = (self.failures.0.clone()?, self.failures.1.clone());
        match previous {
            Some(previous) if self.mistake == "previous_is_last" => Some((previous, Some(last))),
            Some(previous) if self.mistake == "says_it_twice" => Some((last, Some(previous))),
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
