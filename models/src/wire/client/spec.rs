//! A client and its calls as a sequential object, optionally with a mistake.

use std::io;

use seatrial_core::cancel::Reason;
use seatrial_core::limiter::WaitError;
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::request::{Mode, TransportKind};

use super::machine::{BACKOFF, BODY, Call, IDLE, Pace, REPEATS, Said, Sending, TURN, Told};
use super::server::{Act, OK, PIECE, Seen};
use crate::request::{After, Failed, Outcome, Verdict, Way, verdict};
use crate::shared::Mistake;

/// The body of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carries {
    /// No body.
    Nothing,
    /// Bytes.
    Bytes,
    /// A body that is made anew for each attempt.
    Made,
    /// A body from a reader that can be read only once.
    Reader,
}

/// A client, the state of its host, and its request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    mistake: Mistake,
    now: u64,
    pace: Pace,
    /// When the next turn is free.
    free_at: u64,
    /// The back-off of the host, and when it was set.
    backoff: Option<(u64, u64)>,
    /// The last second before the timeout of the call.
    timeout: Option<u64>,
    carries: Carries,
    is_used_up: bool,
    /// How many attempts of the call have ended.
    attempts: u32,
    open: u32,
    seen: Vec<Seen>,
}

impl Default for Spec {
    fn default() -> Self {
        Self::with("")
    }
}

/// The result of a call that is over.
type Over = Told;

impl Spec {
    pub(super) const fn with(mistake: Mistake) -> Self {
        Self {
            mistake,
            now: 0,
            pace: Pace::Free,
            free_at: 0,
            backoff: None,
            timeout: None,
            carries: Carries::Bytes,
            is_used_up: false,
            attempts: 0,
            open: 0,
            seen: Vec::new(),
        }
    }

    /// The body of the request.
    pub(super) const fn carries(&self) -> Carries {
        self.carries
    }

    /// Carries out a step, and returns its result.
    pub fn call(&mut self, call: &Call) -> Said {
        let mut told = None;
        match call {
            Call::Begin(pace) => *self = Self { pace: *pace, ..Self::with(self.mistake) },
            Call::Make(carries) => {
                (self.carries, self.is_used_up, self.attempts) = (*carries, false, 0);
                if self.mistake == "memory_is_of_a_request" {
                    self.backoff = None;
                }
            }
            Call::Rest(count) => self.now += u64::from(*count),
            Call::Send(sending) => {
                told = Some(self.send(sending).unwrap_or_else(|over| over));
                (0..std::mem::take(&mut self.open)).for_each(|_| self.seen.push(Seen::Closed));
            }
        }
        Said { seen: std::mem::take(&mut self.seen), told, at: self.now }
    }

    fn send(&mut self, sending: &Sending) -> Result<Told, Over> {
        let end = sending.cancelled.map(|after| self.now + u64::from(after));
        let way = Way { mode: sending.mode, reads: true, max: REPEATS };
        if self.mistake != "attempts_pile_up" {
            self.attempts = 0;
        }
        if self.mistake == "made_before_its_turn" && self.carries == Carries::Made {
            self.seen.push(Seen::Made);
        }
        self.timeout = None;
        if way.mode != Mode::Watch {
            self.turn(end)?;
        }
        // The first wait for the limiter is outside the timeout (`election:RQ-41`).
        let limit = sending.timeout.filter(|_| way.mode == Mode::Whole);
        self.timeout = limit.map(|after| self.now + u64::from(after));
        self.pause(0, end)?;
        let mut failed = Failed::default();
        let rest = std::iter::repeat(OK);
        for (number, act) in sending.acts.iter().copied().chain(rest).enumerate() {
            let outcome = self.attempt(number == 0, way.mode, act, end)?;
            failed.take(outcome);
            match verdict(way, self.attempts, outcome) {
                Verdict::Again(after) => self.again(after.as_secs(), end)?,
                Verdict::Answer => return Ok(self.answer(way.mode, outcome, act)),
                Verdict::EndedWatch => return Ok(Told::EndedWatch),
                Verdict::Failure => {
                    let last = failed.last.expect("it has failed");
                    return Ok(Told::Failed(last, failed.previous(way.mode)));
                }
            }
        }
        unreachable!("there are acts without end")
    }

    /// Waits until the next attempt may be made.
    fn again(&mut self, after: u64, end: Option<u64>) -> Result<(), Over> {
        if self.mistake == "made_while_it_is_read" && self.carries == Carries::Made {
            self.seen.push(Seen::Made);
        }
        if self.mistake != "answers_stay_open" {
            self.close();
        }
        let paused = self.pause(after, end);
        // A limiter that never gives a turn refuses even a call whose token has ended.
        if self.pace != Pace::Never {
            paused?;
        }
        self.turn(end)
    }

    fn close(&mut self) {
        if self.open > 0 {
            self.open -= 1;
            self.seen.push(Seen::Closed);
        }
    }

    /// Waits until a time, or until the token has ended, or the timeout has passed.
    fn until(&mut self, due: u64, end: Option<u64>, is_deaf: bool) -> Result<(), Over> {
        let is_cancelled = |end: &u64| self.timeout.is_none_or(|timeout| *end <= timeout);
        let over = match (end.filter(is_cancelled), self.timeout) {
            (Some(end), _) => Some((end, end, Told::Cancelled)),
            // It passes half a second later, which shows at the next second.
            (None, timeout) => timeout.map(|last| (last, last + 1, Told::TimedOut)),
        };
        match over.filter(|(last, ..)| *last < due) {
            Some((_, at, told)) => {
                self.now = if is_deaf { due } else { at };
                Err(told)
            }
            None => {
                self.now = due;
                Ok(())
            }
        }
    }

    fn pause(&mut self, after: u64, end: Option<u64>) -> Result<(), Over> {
        let backoff = self.backoff.map_or(0, |(delay, _)| delay);
        let deaf =
            if backoff > after { "back_off_cannot_be_ended" } else { "pause_cannot_be_ended" };
        let paused = self.until(self.now + after.max(backoff), end, self.mistake == deaf);
        if self.mistake == "goes_on_after_the_end" { Ok(()) } else { paused }
    }

    /// Waits for a turn at the limiter; a cancelled call gives its turn back.
    fn turn(&mut self, end: Option<u64>) -> Result<(), Over> {
        match self.pace {
            Pace::Free => return Ok(()),
            Pace::Never if self.mistake == "turn_is_words" => return Err(Told::Words),
            Pace::Never => return Err(Told::Refused(WaitError::ExceedsBurst)),
            Pace::Slow => {}
        }
        let (before, due) = (self.free_at, self.free_at.max(self.now));
        if self.timeout.is_some_and(|timeout| due > timeout) {
            return Err(Told::Refused(WaitError::WouldExceedDeadline));
        }
        self.free_at = due + u64::from(TURN);
        let waited = self.until(due, end, self.mistake == "turn_cannot_be_ended");
        if waited.is_err() && self.mistake != "keeps_a_turn" {
            self.free_at = before;
        }
        waited.map_err(|told| match self.mistake {
            "end_is_a_refusal" => Told::Refused(WaitError::Ended(Reason::Cancelled)),
            _ => told,
        })
    }

    fn attempt(
        &mut self,
        is_first: bool,
        mode: Mode,
        act: Act,
        end: Option<u64>,
    ) -> Result<Outcome, Over> {
        let body = self.body(is_first, mode)?;
        self.seen.push(Seen::Sent(self.now, body));
        let outcome = match act {
            Act::Ends(outcome) => outcome,
            Act::Half(_) | Act::Pieces(_) => Outcome::Status(200, After::Silent),
            Act::Hangs if self.mistake == "waits_for_ever" && end.is_none() => {
                return Err(Told::Hangs);
            }
            Act::Later(after) if self.is_in_time(after) => {
                let due = self.now + u64::from(after);
                // A timeout within the last second is seen together with the answer, which counts.
                self.timeout = self.timeout.filter(|last| last + 1 != due);
                self.until(due, end, self.mistake == "silence_cannot_be_ended")?;
                Outcome::Status(200, After::Silent)
            }
            Act::Hangs | Act::Later(_) => {
                let due = self.now + u64::from(IDLE);
                self.until(due, end, self.mistake == "silence_cannot_be_ended")?;
                Outcome::Fails(TransportKind::Timeout)
            }
        };
        self.attempts += 1;
        self.learn(outcome);
        if let Outcome::Status(status, _) = outcome {
            self.open += 1;
            self.seen.push(Seen::Answered(status));
        }
        Ok(outcome)
    }

    /// Tells whether an answer after this many seconds is accepted: also in the very last moment.
    fn is_in_time(&self, after: u8) -> bool {
        after < IDLE || after == IDLE && self.mistake != "last_moment_is_too_late"
    }

    fn body(&mut self, is_first: bool, mode: Mode) -> Result<Option<String>, Over> {
        let is_left_out = match self.mistake {
            "body_goes_once" => !is_first,
            "stream_has_no_body" => mode == Mode::Stream,
            "watch_has_no_body" => mode == Mode::Watch,
            _ => false,
        };
        if is_left_out {
            return Ok(None);
        }
        let text = match self.carries {
            Carries::Nothing => return Ok(None),
            Carries::Bytes => "bytes",
            Carries::Made => {
                let is_there = match self.mistake {
                    "made_while_it_is_read" | "made_once" => !is_first,
                    "made_before_its_turn" => is_first,
                    _ => false,
                };
                self.seen.extend((!is_there).then_some(Seen::Made));
                "made"
            }
            Carries::Reader => {
                self.seen.push(Seen::Made);
                match (std::mem::replace(&mut self.is_used_up, true), self.mistake) {
                    (false, _) => "read",
                    (true, "used_up_is_empty") => "",
                    (true, "no_body_is_words") => return Err(Told::Words),
                    (true, _) => return Err(Told::NoBody(io::ErrorKind::UnexpectedEof)),
                }
            }
        };
        Ok(Some(text.to_owned()))
    }

    /// Updates the back-off of the host after an attempt.
    fn learn(&mut self, outcome: Outcome) {
        let (first, most) = (u64::from(BACKOFF.0), u64::from(BACKOFF.1));
        let is_busy = match outcome {
            Outcome::Status(status, _) => status == 429 || status >= 500,
            Outcome::Fails(_) if self.mistake == "failures_are_remembered" => return,
            Outcome::Fails(_) => self.mistake == "failures_count",
        };
        if is_busy {
            let known = self.backoff.filter(|(_, at)| self.now - at <= 2 * most);
            let delay = known.map_or(first, |(delay, _)| (2 * delay).min(most));
            self.backoff = Some((delay, self.now));
        } else if self.mistake != "backs_off_for_ever" {
            self.backoff = None;
        }
    }

    /// Hands an answer out, or reads it to its end.
    fn answer(&mut self, mode: Mode, outcome: Outcome, act: Act) -> Told {
        let Outcome::Status(status, _) = outcome else { unreachable!("it is an answer") };
        let is_handed_out = match mode {
            Mode::Whole => false,
            Mode::Stream => matches!(status, 200..=299),
            _ => status == 200,
        };
        match act {
            _ if is_handed_out => Told::Open,
            Act::Pieces(count) => {
                let bytes = PIECE.len() * usize::from(count);
                if bytes > BODY && self.mistake != "pieces_are_measured_alone" {
                    Told::TooLong
                } else {
                    Told::Status(status)
                }
            }
            Act::Half(kind) => {
                self.open -= u32::from(self.mistake == "half_stays_open");
                match self.mistake {
                    "half_is_words" => Told::Words,
                    "half_is_an_answer" => Told::Status(status),
                    _ => Told::Half(kind),
                }
            }
            _ => Told::Status(status),
        }
    }
}

impl Machine for Spec {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, _: &mut Cx<'_>) -> Step<Said> {
        Step::Done(self.call(call))
    }
}
