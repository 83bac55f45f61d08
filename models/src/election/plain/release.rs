//! Giving up the lease.

use seatrial_core::elector::{Io, Name, Next, Record, StoreError, Stored, Turn};
use seatrial_core::machine::Cx;
use seatrial_core::runtime::Instant;

use super::{Plain, Stage, fraction};

/// A release under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Release {
    pub(super) deadline: Instant,
    /// Whether the answer to a write is awaited.
    writes: bool,
    /// The time of the next try, between two of them.
    pub(super) pause: Option<Instant>,
    /// Whether the run that ends with the release has led; `None` outside of a run.
    pub(super) run: Option<bool>,
}

impl Plain {
    pub(super) fn release_once(&mut self, cx: &mut Cx<'_>) -> Turn {
        if self.stage != Stage::Idle {
            return self.turn(Next::Refused);
        }
        self.revoke(cx);
        self.begin_release(None, cx)
    }

    pub(super) fn begin_release(&mut self, run: Option<bool>, cx: &mut Cx<'_>) -> Turn {
        let deadline = cx.now() + self.config.timing.renew;
        self.stage = Stage::Release(Release { deadline, writes: false, pause: None, run });
        self.read_for_release(cx)
    }

    pub(super) fn read_for_release(&mut self, cx: &mut Cx<'_>) -> Turn {
        self.call_for_release(Io::Get, cx)
    }

    fn call_for_release(&mut self, io: Io, cx: &mut Cx<'_>) -> Turn {
        if self.token_is_done(cx) {
            return self.release_over(false, cx);
        }
        if let Stage::Release(release) = &mut self.stage {
            release.writes = io != Io::Get;
            release.pause = None;
        }
        let deadline = self.call_deadline();
        self.turn(Next::Call { io, deadline, releases: true })
    }

    pub(super) fn release_replied(
        &mut self,
        release: Release,
        answer: Result<Stored, StoreError>,
        cx: &mut Cx<'_>,
    ) -> Turn {
        match answer {
            _ if release.pause.is_some() => self.turn(Next::Refused),
            Ok(stored) if !release.writes => self.release_fetched(&stored, cx),
            Ok(stored) => {
                self.observe_own(stored.record.clone(), &stored, cx.now());
                self.release_over(true, cx)
            }
            Err(why) if release.writes => {
                self.refused(&why);
                match why {
                    StoreError::Conflict => self.release_conflicted(cx),
                    _ => self.release_over(false, cx),
                }
            }
            Err(_) => self.release_over(false, cx),
        }
    }

    /// [S] LE-42: only a record that this elector wrote is freed.
    fn release_fetched(&mut self, stored: &Stored, cx: &mut Cx<'_>) -> Turn {
        if self.makes("release_does_not_observe") {
            self.remember(&stored.version);
        } else {
            self.observe(stored, cx.now());
        }
        let ours = if self.makes("releases_by_memory") {
            self.is_holder()
        } else {
            stored.record.holder == self.config.identity
                && (self.written == Some(stored.record.transitions)
                    || self.makes("frees_a_namesakes"))
        };
        if !ours {
            return self.release_over(true, cx);
        }
        let wall = Self::wall(cx);
        let record = Record::default()
            .holder(Name::EMPTY)
            .duration_seconds(1)
            .acquire_time(wall)
            .renew_time(wall)
            .transitions(stored.record.transitions)
            .strategy(Name::EMPTY)
            .preferred_holder(Name::EMPTY);
        self.call_for_release(Io::Update(record, stored.version.clone()), cx)
    }

    fn release_conflicted(&mut self, cx: &mut Cx<'_>) -> Turn {
        if self.makes("release_retries_at_once") {
            return self.read_for_release(cx);
        }
        if self.makes("release_gives_up") {
            return self.release_over(false, cx);
        }
        let retry = self.config.timing.retry;
        let pause = retry.mul_f64((1.0 + fraction(cx.entropy())) / 20.0);
        let due = cx.now() + pause;
        if let Stage::Release(release) = &mut self.stage {
            release.pause = Some(due.min(release.deadline));
        }
        self.turn(Next::Rest)
    }

    fn release_over(&mut self, success: bool, cx: &mut Cx<'_>) -> Turn {
        match self.stage {
            Stage::Release(Release { run: Some(led), .. }) => self.end_run(led, cx),
            _ => {
                self.stage = Stage::Idle;
                self.turn(Next::Done(success))
            }
        }
    }
}
