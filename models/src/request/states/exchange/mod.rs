//! Calls, their limiter and their server as one machine. A turn of a call does what its rules want,
//! as the client does it. The promises are judged by the second statement of the rules (`rule.rs`).

mod judged;

use std::time::Duration;

use seatrial_core::limiter::{FOREVER, Rate, Reservation, TokenBucket};
use seatrial_core::machine::{Channel, Cx, Machine, Operation, Step};
use seatrial_core::request::steps::{Begin, Op as Asks, Paused, Ret as Says, Throttled};
use seatrial_core::request::{Execution, Want};
use seatrial_core::runtime::Instant;

use crate::request::mistaken::Mistaken;
use crate::request::op::{told, want};
use crate::request::rule::{Failed, Outcome, Verdict, Way, verdict};
use crate::shared::Mistake;

/// Turns per second at the limiter, and turns at once.
const RATE: f64 = 1.0;
const BURST: u64 = 1;

/// A mistake that a client may make outside its rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slip {
    /// A wait that is cancelled keeps its turn.
    KeepsTheTurn,
    /// A cancelled wait gives its turn back twice more.
    GivesBackTwice,
    /// A call goes on at once, whenever its turn is.
    TakesNoReservation,
    /// A call does not check its token before it sends.
    SendsAfterTheEnd,
    /// A pause goes on to its end.
    SleepsOn,
    /// A cancelled call still waits for its answer.
    WaitsForTheAnswer,
    /// All calls use the rules of the first call.
    SharesItsRules,
    /// An answer stays open while its call is repeated.
    LeavesAnswersOpen,
}

/// The rules of a call: the shipped ones, or rules with a mistake.
#[derive(Clone, Debug)]
enum Rules {
    Ship(Execution),
    Mistaken(Mistaken),
}

impl Rules {
    fn ask(&mut self, mut op: Asks, cx: &mut Cx<'_>) -> Says {
        let step = match self {
            Self::Ship(rules) => rules.step(&mut op, cx),
            Self::Mistaken(rules) => rules.step(&mut op, cx),
        };
        match step {
            Step::Done(says) | Step::Held(says) => says,
            Step::Wait { .. } => unreachable!("the rules of a call wait for nobody"),
        }
    }

    fn want(&mut self, op: Asks, cx: &mut Cx<'_>) -> Want {
        want(&self.ask(op, cx)).expect("it was told something").clone()
    }
}

/// The position of a call.
#[derive(Clone, Debug)]
enum At {
    Wants(Want),
    /// It has reserved a turn; the bucket is the limiter before that.
    Waits(Reservation, Box<TokenBucket>),
    Pauses(Instant),
    HasSent,
    Over,
}

/// One call and its state. The call and its servers sleep on the channel of its number.
#[derive(Clone, Debug)]
struct Call {
    way: Way,
    at: At,
    cancelled: Option<Instant>,
    attempts: u32,
    last: Option<(Outcome, Verdict)>,
    failed: Failed,
    /// When the next attempt is due.
    due: Instant,
    /// Its turns since the last attempt.
    turns: u32,
    open: bool,
}

/// The broken invariant, and a description.
type Broken = (&'static str, String);

type Checked = Result<(), Broken>;

fn check(holds: bool, invariant: &'static str, text: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err((invariant, text())) }
}

/// Does one thing that a call wants; tells whether there is more to do.
#[derive(Clone, Debug)]
pub(super) struct Turn(pub(super) usize);

/// Lets an attempt of a call end; a call that is over has no attempts left.
#[derive(Clone, Debug)]
pub(super) struct Serve(pub(super) usize, pub(super) Outcome);

/// Cancels a call at this second.
#[derive(Clone, Debug)]
pub(super) struct Cancel(pub(super) usize, pub(super) u64);

seatrial_core::operations! {
    [] Exchange: Do, Done {
        Turn(Turn) -> bool,
        Serve(Serve) -> bool,
        Cancel(Cancel) -> bool,
    }
}

/// Calls, their limiter and their server.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    rules: Vec<Rules>,
    calls: Vec<Call>,
    limiter: TokenBucket,
    turns: Vec<Instant>,
    pub(super) broken: Option<Broken>,
    slip: Option<Slip>,
}

impl Exchange {
    pub(super) fn new(ways: &[Way], mistake: Mistake, slip: Option<Slip>) -> Self {
        let rules = |way: &Way| match mistake {
            "" => Rules::Ship(Execution::new(way.mode, way.reads, way.max)),
            mistake => Rules::Mistaken(Mistaken::new(mistake)),
        };
        let begin = |way: &Way| Begin { mode: way.mode, reads: way.reads, max_retries: way.max };
        let clock = crate::single_step::HandClock::default();
        let mut rules: Vec<_> = ways.iter().map(rules).collect();
        let mut call = |(number, way): (usize, &Way)| Call {
            way: *way,
            at: At::Wants(rules[number].want(Asks::Begin(begin(way)), &mut Cx::new(&clock))),
            cancelled: None,
            attempts: 0,
            last: None,
            failed: Failed::default(),
            due: Instant::ZERO,
            turns: 0,
            open: false,
        };
        let calls = ways.iter().enumerate().map(&mut call).collect();
        let limiter = TokenBucket::new(Rate::per_second(RATE), BURST);
        let (turns, broken) = (Vec::new(), None);
        Self { rules, calls, limiter, turns, broken, slip }
    }

    /// The complete state, as text.
    pub(super) fn form(&self) -> String {
        format!("{self:?}")
    }

    /// Returns how many attempts were made.
    pub(super) fn attempts(&self) -> u32 {
        self.calls.iter().map(|call| call.attempts).sum()
    }

    /// Tells whether a call was cancelled while it waited for its turn.
    pub(super) fn gives_up_a_turn(&self) -> bool {
        self.calls.iter().any(|it| it.cancelled.is_some() && matches!(it.at, At::Waits(..)))
    }

    fn slips(&self, slip: Slip) -> bool {
        self.slip == Some(slip)
    }

    fn rules(&mut self, call: usize) -> &mut Rules {
        let of = if self.slips(Slip::SharesItsRules) { 0 } else { call };
        &mut self.rules[of]
    }

    fn want(&mut self, call: usize, op: Asks, cx: &mut Cx<'_>) {
        self.calls[call].at = At::Wants(self.rules(call).want(op, cx));
    }

    fn over(&mut self, number: usize, cx: &mut Cx<'_>) {
        self.calls[number].at = At::Over;
        cx.wakes.all(number as Channel);
    }

    /// Does one thing; `Err` is the time until which to sleep before it can be done.
    fn turn(&mut self, number: usize, cx: &mut Cx<'_>) -> Result<Checked, Option<Instant>> {
        let (now, call) = (cx.now(), &self.calls[number]);
        let ended = call.cancelled.is_some();
        let late = call.cancelled.is_some_and(|at| at < now);
        if late {
            let text = format!("call {number} goes on after it was cancelled");
            return Ok(Err(("nothing_after_the_end", text)));
        }
        match call.at.clone() {
            At::Over => Ok(Ok(())),
            At::Wants(want) => Ok(self.wanted(number, want, cx)),
            At::Waits(turn, before) => {
                if now < turn.act() && !ended {
                    return Err(Some(turn.act()));
                }
                Ok(self.waited(number, &turn, &before, cx))
            }
            At::Pauses(until) => {
                if now < until && (!ended || self.slips(Slip::SleepsOn)) {
                    return Err(Some(until));
                }
                self.want(number, Asks::Paused(Paused), cx);
                Ok(Ok(()))
            }
            At::HasSent => {
                if !ended || self.slips(Slip::WaitsForTheAnswer) {
                    return Err(None);
                }
                self.over(number, cx);
                Ok(Ok(()))
            }
        }
    }

    fn wanted(&mut self, number: usize, want: Want, cx: &mut Cx<'_>) -> Checked {
        let now = cx.now();
        let ended = self.calls[number].cancelled.is_some();
        match want {
            Want::Throttle(retry) => {
                self.says_why(number, retry.as_ref())?;
                if ended {
                    self.over(number, cx);
                    return Ok(());
                }
                self.may_take_a_turn(number, now)?;
                let before = Box::new(self.limiter.clone());
                let mut turn = self.limiter.reserve(now, 1, FOREVER);
                if self.slips(Slip::TakesNoReservation) {
                    turn = TokenBucket::new(Rate::per_second(RATE), 1).reserve(now, 1, FOREVER);
                }
                self.calls[number].at = At::Waits(turn, before);
            }
            Want::Pause(at_least) => {
                let call = &mut self.calls[number];
                call.open &= self.slip == Some(Slip::LeavesAnswersOpen);
                if ended {
                    self.over(number, cx);
                } else {
                    call.at = At::Pauses(now + at_least);
                }
            }
            Want::Send if ended && !self.slips(Slip::SendsAfterTheEnd) => self.over(number, cx),
            Want::Send => {
                self.may_send(number, now)?;
                let call = &mut self.calls[number];
                (call.at, call.turns) = (At::HasSent, 0);
                call.attempts += 1;
                cx.wakes.all(number as Channel);
            }
            end => {
                self.is_right_end(number, &end, cx)?;
                self.over(number, cx);
            }
        }
        Ok(())
    }

    /// Its turn has come, or it was cancelled before.
    fn waited(
        &mut self,
        number: usize,
        turn: &Reservation,
        before: &TokenBucket,
        cx: &mut Cx<'_>,
    ) -> Checked {
        let now = cx.now();
        if now >= turn.act() {
            self.turns.push(now);
            self.calls[number].turns += 1;
            let call = &mut self.calls[number];
            if call.attempts == 0 {
                call.due = now;
            }
            call.due = call.due.max(now);
            self.want(number, Asks::Throttled(Throttled), cx);
            return self.keeps_its_rate(now);
        }
        if !self.slips(Slip::KeepsTheTurn) {
            self.limiter.cancel(now, turn);
        }
        if self.slips(Slip::GivesBackTwice) {
            self.limiter.cancel(now, turn);
            self.limiter.cancel(now, turn);
        }
        let next = |bucket: &TokenBucket| bucket.clone().reserve(now, 1, FOREVER).act();
        let (left, right) = (next(&self.limiter), next(before));
        // The turns that others have reserved since then stay reserved.
        let is_newest = !self.calls.iter().enumerate().any(|(other, call)| {
            let later = |it: &Reservation| it.act() > turn.act();
            other != number && matches!(&call.at, At::Waits(it, _) if later(it))
        });
        self.over(number, cx);
        let nothing_since = self.turns.iter().all(|at| *at <= turn.act()) && is_newest;
        check(!nothing_since || left <= right, "the_limiter_keeps_its_rate", || {
            format!("call {number} has used no turn, and the next is at {left:?}, not {right:?}")
        })
    }

    /// An attempt ends with this outcome.
    fn ends(&mut self, number: usize, outcome: Outcome, cx: &mut Cx<'_>) {
        let now = cx.now();
        let call = &mut self.calls[number];
        let verdict = verdict(call.way, call.attempts, outcome);
        call.last = Some((outcome, verdict));
        call.failed.take(outcome);
        if let Verdict::Again(after) = verdict {
            call.due = now + after;
        }
        call.open = matches!(outcome, Outcome::Status(..));
        self.want(number, told(outcome), cx);
        cx.wakes.all(number as Channel);
    }
}

impl Operation<Exchange> for Turn {
    fn step(&mut self, exchange: &mut Exchange, cx: &mut Cx<'_>) -> Step<bool> {
        match exchange.turn(self.0, cx) {
            Err(until) => Step::Wait { on: self.0 as Channel, until },
            Ok(checked) => {
                exchange.broken = checked.err();
                Step::Done(!matches!(exchange.calls[self.0].at, At::Over))
            }
        }
    }
}

impl Operation<Exchange> for Serve {
    fn step(&mut self, exchange: &mut Exchange, cx: &mut Cx<'_>) -> Step<bool> {
        match exchange.calls[self.0].at {
            At::Over => Step::Done(false),
            At::HasSent => {
                exchange.ends(self.0, self.1, cx);
                Step::Done(true)
            }
            _ => Step::Wait { on: self.0 as Channel, until: None },
        }
    }
}

impl Operation<Exchange> for Cancel {
    fn step(&mut self, exchange: &mut Exchange, cx: &mut Cx<'_>) -> Step<bool> {
        let due = Instant::ZERO + Duration::from_secs(self.1);
        if cx.now() < due {
            // The channel after those of the calls, which is never woken.
            return Step::Wait { on: exchange.calls.len() as Channel, until: Some(due) };
        }
        exchange.calls[self.0].cancelled = Some(cx.now());
        cx.wakes.all(self.0 as Channel);
        Step::Done(true)
    }
}
