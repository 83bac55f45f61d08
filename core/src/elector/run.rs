//! The loops around the attempts: acquiring, renewing, and their ends (`election:LE-31` to `LE-39`,
//! `LE-46` to `LE-51`).

use std::time::Duration;

use crate::machine::{Cx, Step};
use crate::runtime::Instant;

use super::config::JITTER;
use super::release::{Release, Stage};
use super::state::{Election, RUN};
use super::turn::{Next, Notes, Turn};

/// The phase of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Phase {
    /// No run.
    #[default]
    Idle,
    /// One attempt outside of a run.
    Once,
    /// Tries to acquire the lease; the next attempt is at `due`.
    Acquire { due: Instant },
    /// Has acquired it; the callback is being started.
    Lead,
    /// Tries to renew, until the deadline of the round.
    Round(Round),
    /// Has renewed; the next round is at `due`.
    Between { due: Instant },
    /// Waits for the protected work to end, at most until `until`.
    Drain { until: Instant },
    /// Gives up the lease.
    Release(Release),
}

/// One renewal round (`election:LE-36`, `ENV-7`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Round {
    began: Instant,
    deadline: Instant,
    /// When the ticker next allows an attempt. The first tick during an attempt is kept, later ones
    /// are dropped.
    tick: Instant,
}

impl Election {
    pub(super) fn begin_run(&mut self, cancelled: bool, cx: &mut Cx<'_>) -> Turn {
        if self.phase != Phase::Idle {
            return self.turn(Next::Refused);
        }
        self.runs += 1;
        self.cancelled = cancelled;
        self.revoke(cx); // a term of single attempts does not continue in a run
        self.wrote = false;
        self.phase = Phase::Acquire { due: cx.now() };
        if self.cancelled { self.end_run(false, cx) } else { self.begin_attempt(cx) }
    }

    /// Cancels the run from outside (`election:ENV-5`): the leading token is a child of the run's.
    /// A late cancellation of an earlier run has no effect.
    pub(super) fn cancel_run(&mut self, run: u64, cx: &mut Cx<'_>) {
        let is_running = match self.phase {
            Phase::Idle | Phase::Once => false,
            Phase::Release(release) => release.ends_a_run(),
            _ => true,
        };
        if self.runs != run || !is_running {
            return;
        }
        self.cancelled = true;
        self.revoke(cx);
        cx.wakes.all(RUN);
    }

    /// Tells whether the token would refuse a call made now.
    pub(super) fn token_is_done(&self, cx: &mut Cx<'_>) -> bool {
        match self.phase {
            Phase::Once | Phase::Idle => false,
            Phase::Release(release) => cx.now() >= release.deadline,
            Phase::Round(round) => {
                self.cancelled || cx.now() >= round.deadline.min(self.term.valid_until)
            }
            _ => self.cancelled,
        }
    }

    /// Returns when a call of the current phase must be given up.
    pub(super) fn call_deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Release(release) => Some(release.deadline),
            Phase::Round(round) => Some(round.deadline.min(self.term.valid_until)),
            _ => None,
        }
    }

    /// Tells whether the run is past its acquisition.
    pub(super) fn phase_leads(&self) -> bool {
        matches!(self.phase, Phase::Lead | Phase::Round(_) | Phase::Between { .. })
    }

    /// An attempt is over; the next step depends on the loop that made it.
    pub(super) fn attempt_over(&mut self, success: bool, cx: &mut Cx<'_>) -> Turn {
        match self.phase {
            Phase::Acquire { .. } => self.acquire_over(success, cx),
            Phase::Round(_) => self.round_attempt_over(success, cx),
            _ => {
                self.phase = Phase::Idle;
                self.turn(Next::Done(success))
            }
        }
    }

    fn acquire_over(&mut self, success: bool, cx: &mut Cx<'_>) -> Turn {
        self.notes.new_leader = self.report_transition();
        if !success {
            if self.cancelled {
                return self.acquire_gave_up(cx);
            }
            self.phase = Phase::Acquire { due: cx.now() + self.jittered_retry(cx) };
            return self.turn(Next::Rest);
        }
        self.notes.became_leader = true;
        self.phase = Phase::Lead;
        self.term.working = true;
        let term = self.term.number;
        let fence = self.term.fence.clone().expect("an acquisition begins a term");
        if self.cancelled {
            self.revoke(cx); // LE-32: the work starts with a token that has ended
        }
        self.turn(Next::Lead { term, fence })
    }

    /// A random time from R to (1+J)R (`election:LE-31`, `ENV-6`).
    fn jittered_retry(&self, cx: &Cx<'_>) -> Duration {
        let retry = self.config.timing.retry;
        retry.saturating_add(retry.mul_f64(JITTER * fraction(cx.entropy())))
    }

    fn round_attempt_over(&mut self, success: bool, cx: &mut Cx<'_>) -> Turn {
        if !self.term_is_live(cx) {
            return self.fail_round(cx);
        }
        if !success {
            return self.turn(Next::Rest);
        }
        self.notes.new_leader = self.report_transition();
        self.phase = Phase::Between { due: cx.now() + self.config.timing.retry };
        self.turn(Next::Rest)
    }

    fn begin_round(&mut self, cx: &mut Cx<'_>) -> Turn {
        let began = cx.now();
        let timing = self.config.timing;
        self.phase = Phase::Round(Round {
            began,
            deadline: began + timing.renew,
            tick: began + timing.retry,
        });
        self.begin_attempt(cx)
    }

    /// The round or the term has failed.
    fn fail_round(&mut self, cx: &mut Cx<'_>) -> Turn {
        self.notes.new_leader = self.report_transition();
        self.notes.metric_off = true;
        self.end_leading(cx)
    }

    /// The renew loop is over. First the work is cancelled, then the lease is given away
    /// (`election:LE-50`).
    fn end_leading(&mut self, cx: &mut Cx<'_>) -> Turn {
        self.notes.metric_off = true;
        self.revoke(cx);
        if !self.config.release_on_cancel {
            return self.end_run(true, cx);
        }
        if !self.term.working {
            return self.begin_release(true, cx);
        }
        self.phase = Phase::Drain { until: self.term.ended_at + self.config.bounds.work };
        self.turn(Next::Rest)
    }

    /// The acquire loop was cancelled. If the last attempt may have written a record, that is taken
    /// back (`election:LE-33`).
    fn acquire_gave_up(&mut self, cx: &mut Cx<'_>) -> Turn {
        if self.config.release_on_cancel && self.wrote {
            self.begin_release(false, cx)
        } else {
            self.end_run(false, cx)
        }
    }

    pub(super) fn end_run(&mut self, led: bool, cx: &mut Cx<'_>) -> Turn {
        self.notes.stopped_leading = led;
        self.revoke(cx);
        self.phase = Phase::Idle;
        self.attempt = None;
        self.cancelled = false;
        self.turn(Next::Ended { led })
    }

    /// Drops a run whose driver failed. The end of leadership is reported in this case, too
    /// (`election:LE-35`, `LE-39`).
    pub(super) fn abort_run(&mut self, cx: &mut Cx<'_>) -> Notes {
        self.notes = Notes {
            metric_off: self.phase_leads(),
            stopped_leading: self.phase_leads() || self.ends_a_term(),
            ..Notes::default()
        };
        self.revoke(cx);
        self.phase = Phase::Idle;
        self.attempt = None;
        self.cancelled = false;
        std::mem::take(&mut self.notes)
    }

    /// Tells whether a term that a run has led is ending.
    fn ends_a_term(&self) -> bool {
        match self.phase {
            Phase::Drain { .. } => true,
            Phase::Release(release) => release.ends_a_term(),
            _ => false,
        }
    }

    /// Sleeps until the next thing is due, and starts it.
    pub(super) fn rest(&mut self, cx: &mut Cx<'_>) -> Step<Turn> {
        if self.attempt.is_some() {
            return Step::Done(self.turn(Next::Refused)); // an answer is awaited
        }
        let now = cx.now();
        let over = self.cancelled || !self.term_is_live(cx);
        match self.phase {
            Phase::Idle | Phase::Once => Step::Done(self.turn(Next::Refused)),
            Phase::Acquire { .. } if self.cancelled => Step::Done(self.acquire_gave_up(cx)),
            Phase::Acquire { due } if now < due => wait(due),
            Phase::Acquire { .. } => Step::Done(self.begin_attempt(cx)),
            Phase::Lead | Phase::Between { .. } if over => Step::Done(self.end_leading(cx)),
            Phase::Between { due } if now < due => wait(due.min(self.term.valid_until)),
            Phase::Lead | Phase::Between { .. } => Step::Done(self.begin_round(cx)),
            Phase::Round(round) => self.rest_in_round(round, cx),
            Phase::Drain { until } if self.term.working && now < until => wait(until),
            Phase::Drain { .. } => Step::Done(self.begin_release(true, cx)),
            Phase::Release(release) => match release.stage {
                Stage::Pause { due } if now < due => wait(due),
                Stage::Pause { .. } => Step::Done(self.try_release(cx)),
                Stage::Read | Stage::Write => Step::Done(self.turn(Next::Refused)),
            },
        }
    }

    /// The token is checked before the tick (`election:ENV-7`).
    fn rest_in_round(&mut self, mut round: Round, cx: &mut Cx<'_>) -> Step<Turn> {
        let now = cx.now();
        if self.token_is_done(cx) || !self.term_is_live(cx) {
            return Step::Done(self.fail_round(cx));
        }
        if now < round.tick {
            return wait(round.tick.min(round.deadline).min(self.term.valid_until));
        }
        round.tick = next_tick(round.began, self.config.timing.retry, now);
        self.phase = Phase::Round(round);
        Step::Done(self.begin_attempt(cx))
    }
}

fn wait(until: Instant) -> Step<Turn> {
    Step::Wait { on: RUN, until: Some(until) }
}

/// Returns the first tick after `now` of a ticker that began at `began`.
fn next_tick(began: Instant, period: Duration, now: Instant) -> Instant {
    let period = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).max(1);
    let elapsed = now.as_nanos().saturating_sub(began.as_nanos());
    let ticks = (elapsed / period).saturating_add(1);
    Instant::from_nanos(began.as_nanos().saturating_add(ticks.saturating_mul(period)))
}

/// Turns a random number into a fraction below one.
pub(super) fn fraction(entropy: u64) -> f64 {
    (entropy >> 11) as f64 / (1u64 << 53) as f64
}
