//! The loops around the attempts.

use std::time::Duration;

use seatrial_core::elector::{JITTER, Next, Notes, RUN, TERM, Turn, WorkEnded};
use seatrial_core::machine::{Cx, Step};
use seatrial_core::runtime::Instant;

use super::{Plain, Release, Round, Stage, fraction};

impl Plain {
    pub(super) fn begin(&mut self, cancelled: bool, cx: &mut Cx<'_>) -> Turn {
        if self.stage != Stage::Idle {
            return self.turn(Next::Refused);
        }
        self.runs += 1;
        self.cancelled = cancelled;
        self.revoke(cx);
        self.wrote = false;
        self.stage = Stage::Acquire(cx.now());
        if self.cancelled { self.end_run(false, cx) } else { self.begin_attempt(cx) }
    }

    pub(super) fn cancel(&mut self, run: u64, cx: &mut Cx<'_>) {
        let is_running = match self.stage {
            Stage::Idle | Stage::Once => false,
            Stage::Release(release) => release.run.is_some(),
            _ => true,
        };
        if self.runs == run && is_running {
            self.cancelled = true;
            self.revoke(cx);
            cx.wakes.all(RUN);
        }
    }

    /// LE-48: work that has ended ends its run.
    pub(super) fn work_ended(&mut self, work: &WorkEnded, cx: &mut Cx<'_>) -> bool {
        if work.term != self.term.number && !self.makes("any_work_ends_the_term") {
            return false;
        }
        self.term.working = false;
        cx.wakes.all(RUN);
        let panicked = work.panicked && !self.makes("panic_is_a_return");
        let ends = self.term.live && (panicked || self.config.work_ends_term);
        if ends && !self.makes("leads_idly") {
            self.cancel(self.runs, cx);
        }
        ends && !self.makes("leads_idly")
    }

    pub(super) fn begin_once(&mut self, cx: &mut Cx<'_>) -> Turn {
        if self.stage != Stage::Idle {
            return self.turn(Next::Refused);
        }
        self.stage = Stage::Once;
        self.begin_attempt(cx)
    }

    /// Tells whether its token would refuse a call that is made now.
    pub(super) fn token_is_done(&self, cx: &mut Cx<'_>) -> bool {
        let cancelled = self.cancelled && !self.makes("cancel_waits_for_the_attempt");
        match self.stage {
            Stage::Idle | Stage::Once => false,
            Stage::Release(release) => cx.now() >= release.deadline,
            Stage::Round(round) => {
                cancelled || cx.now() >= round.deadline.min(self.term.valid_until)
            }
            _ => cancelled,
        }
    }

    pub(super) fn call_deadline(&self) -> Option<Instant> {
        match self.stage {
            Stage::Release(_) if self.makes("release_without_deadline") => None,
            Stage::Release(Release { run: None, .. })
                if self.makes("single_release_without_deadline") =>
            {
                None
            }
            Stage::Release(release) => Some(release.deadline),
            Stage::Round(_) if self.makes("round_without_deadline") => None,
            Stage::Round(round) => Some(round.deadline.min(self.term.valid_until)),
            _ => None,
        }
    }

    pub(super) fn attempt_over(&mut self, success: bool, cx: &mut Cx<'_>) -> Turn {
        match self.stage {
            Stage::Acquire(_) => self.acquire_over(success, cx),
            Stage::Round(_) => self.round_over(success, cx),
            _ => {
                self.stage = Stage::Idle;
                if self.makes("reports_with_the_attempt") {
                    self.report();
                }
                self.turn(Next::Done(success))
            }
        }
    }

    /// LE-31, LE-32.
    fn acquire_over(&mut self, success: bool, cx: &mut Cx<'_>) -> Turn {
        self.report();
        if !success && self.cancelled {
            return self.acquire_gave_up(cx);
        }
        if !success {
            let retry = self.config.timing.retry;
            let pause = retry + retry.mul_f64(JITTER * fraction(cx.entropy()));
            self.stage = Stage::Acquire(cx.now() + pause);
            return self.turn(Next::Rest);
        }
        self.notes.became_leader = true;
        self.stage = Stage::Lead;
        self.term.working = true;
        if self.cancelled && !self.makes("leads_though_cancelled") {
            self.revoke(cx);
        }
        let fence = self.term.fence.clone().expect("an acquisition begins a term");
        self.turn(Next::Lead { term: self.term.number, fence })
    }

    /// LE-36, [S] LE-38.
    fn round_over(&mut self, success: bool, cx: &mut Cx<'_>) -> Turn {
        if !self.makes("acts_without_limit") && !self.term_is_live(cx) {
            return self.fail_round(cx);
        }
        if success {
            self.report();
            self.stage = Stage::Between(cx.now() + self.config.timing.retry);
        }
        self.turn(Next::Rest)
    }

    fn fail_round(&mut self, cx: &mut Cx<'_>) -> Turn {
        self.report();
        self.notes.metric_off = true;
        self.end_leading(cx)
    }

    /// [S] LE-46: first the work is cancelled, then the lease is given away.
    fn end_leading(&mut self, cx: &mut Cx<'_>) -> Turn {
        self.notes.metric_off |= !self.makes("metric_stays_on");
        if self.makes("leads_twice_a_run") && !self.cancelled {
            self.revoke(cx);
            self.stage = Stage::Acquire(cx.now() + self.config.timing.retry);
            return self.turn(Next::Rest);
        }
        if self.makes("work_outlives_the_lease") && self.config.release_on_cancel {
            return self.begin_release(Some(true), cx);
        }
        self.revoke(cx);
        if !self.config.release_on_cancel {
            return self.end_run(true, cx);
        }
        if !self.term.working || self.makes("releases_beside_the_work") {
            return self.begin_release(Some(true), cx);
        }
        let patience = if self.makes("waits_for_the_work_for_ever") {
            Duration::MAX
        } else {
            self.config.bounds.work
        };
        self.stage = Stage::Drain(self.term.ended_at + patience);
        self.turn(Next::Rest)
    }

    /// [S] LE-33.
    fn acquire_gave_up(&mut self, cx: &mut Cx<'_>) -> Turn {
        let looks = self.wrote && !self.makes("abandons_an_acquisition");
        if self.config.release_on_cancel && looks {
            self.begin_release(Some(false), cx)
        } else {
            self.end_run(false, cx)
        }
    }

    pub(super) fn end_run(&mut self, led: bool, cx: &mut Cx<'_>) -> Turn {
        self.notes.stopped_leading = led;
        self.revoke(cx);
        self.stage = Stage::Idle;
        self.attempt = None;
        self.cancelled = false;
        self.turn(Next::Ended { led })
    }

    pub(super) fn abort(&mut self, cx: &mut Cx<'_>) -> Notes {
        let leads = matches!(self.stage, Stage::Lead | Stage::Round(_) | Stage::Between(_));
        let winds_up = match self.stage {
            Stage::Drain(_) => true,
            Stage::Release(release) => release.run == Some(true),
            _ => false,
        };
        if !self.makes("breaks_and_forgets") {
            self.revoke(cx);
        }
        self.stage = Stage::Idle;
        self.attempt = None;
        self.cancelled = false;
        self.notes = Notes::default();
        Notes {
            metric_off: leads && !self.makes("metric_stays_on"),
            stopped_leading: leads || winds_up,
            ..Notes::default()
        }
    }

    pub(super) fn rest(&mut self, cx: &mut Cx<'_>) -> Step<Turn> {
        if self.attempt.is_some() {
            return Step::Done(self.turn(Next::Refused));
        }
        let now = cx.now();
        let over = !self.term_is_live(cx) || self.cancelled;
        Step::Done(match self.stage {
            Stage::Idle | Stage::Once => self.turn(Next::Refused),
            Stage::Acquire(_) if self.cancelled && self.makes("abandons_between_attempts") => {
                self.end_run(false, cx)
            }
            Stage::Acquire(_) if self.cancelled => self.acquire_gave_up(cx),
            Stage::Acquire(due) if now < due => return wait(due),
            Stage::Acquire(_) => self.begin_attempt(cx),
            Stage::Lead | Stage::Between(_) if over => self.end_leading(cx),
            Stage::Between(due) if now < due => return wait(due.min(self.term.valid_until)),
            Stage::Lead | Stage::Between(_) => self.begin_round(cx),
            Stage::Round(round) => return self.rest_in_round(round, cx),
            Stage::Drain(_) if self.term.working && self.makes("waits_where_nobody_calls") => {
                return Step::Wait { on: TERM, until: None };
            }
            Stage::Drain(until) if self.term.working && now < until => return wait(until),
            Stage::Drain(_) => self.begin_release(Some(true), cx),
            Stage::Release(release) => match release.pause {
                Some(due) if now < due => return wait(due),
                Some(_) => self.read_for_release(cx),
                None => self.turn(Next::Refused),
            },
        })
    }

    fn begin_round(&mut self, cx: &mut Cx<'_>) -> Turn {
        let (began, timing) = (cx.now(), self.config.timing);
        let deadline = began + timing.renew;
        self.stage = Stage::Round(Round { began, deadline, tick: began + self.period() });
        self.begin_attempt(cx)
    }

    fn period(&self) -> Duration {
        let retry = self.config.timing.retry;
        if self.makes("polls_twice_as_often") { retry / 2 } else { retry }
    }

    /// election:ENV-7: the token is checked first, then the tick; ticks that came during an attempt count as
    /// one.
    fn rest_in_round(&mut self, mut round: Round, cx: &mut Cx<'_>) -> Step<Turn> {
        let now = cx.now();
        if self.token_is_done(cx) || self.cancelled || !self.term_is_live(cx) {
            return Step::Done(self.fail_round(cx));
        }
        if now < round.tick {
            return wait(round.tick.min(round.deadline).min(self.term.valid_until));
        }
        while round.tick <= now {
            round.tick = round.tick + self.period();
        }
        self.stage = Stage::Round(round);
        Step::Done(self.begin_attempt(cx))
    }
}

fn wait(until: Instant) -> Step<Turn> {
    Step::Wait { on: RUN, until: Some(until) }
}
