//! Giving up the lease (`election:LE-40` to `LE-45`).

use crate::machine::Cx;
use crate::runtime::Instant;

use super::lock::{StoreError, Stored, Version};
use super::record::{Name, Record, Timestamp};
use super::run::{Phase, fraction};
use super::state::Election;
use super::turn::{Io, Next, Turn};

/// A release that is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Release {
    pub(super) deadline: Instant,
    pub(super) stage: Stage,
    /// The run that ends with the release; `None` for a release outside of a run.
    run: Option<EndingRun>,
}

/// The event that a release waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// The answer to a read.
    Read,
    /// The answer to a write.
    Write,
    /// The next try, at `due`.
    Pause { due: Instant },
}

/// The run that a release is part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct EndingRun {
    led: bool,
}

impl Release {
    /// Tells whether a run ends with this release.
    pub(super) fn ends_a_run(&self) -> bool {
        self.run.is_some()
    }

    /// Tells whether it ends a term that a run has led.
    pub(super) fn ends_a_term(&self) -> bool {
        self.run.is_some_and(|run| run.led)
    }
}

impl Election {
    /// Begins the release of a run that ends.
    pub(super) fn begin_release(&mut self, led: bool, cx: &mut Cx<'_>) -> Turn {
        self.start_release(Some(EndingRun { led }), cx)
    }

    /// Begins a release outside of a run.
    pub(super) fn release_once(&mut self, cx: &mut Cx<'_>) -> Turn {
        if self.phase != Phase::Idle {
            return self.turn(Next::Refused);
        }
        self.revoke(cx); // LE-42: nothing works under a lease that is given away
        self.start_release(None, cx)
    }

    fn start_release(&mut self, run: Option<EndingRun>, cx: &mut Cx<'_>) -> Turn {
        let now = cx.now();
        let deadline = now + self.config.timing.renew; // a fresh token (LE-40)
        self.phase = Phase::Release(Release { deadline, stage: Stage::Read, run });
        self.try_release(cx)
    }

    /// Reads the lock: every try of a release begins so.
    pub(super) fn try_release(&mut self, cx: &mut Cx<'_>) -> Turn {
        self.send_release(Io::Get, cx)
    }

    fn send_release(&mut self, io: Io, cx: &mut Cx<'_>) -> Turn {
        if self.token_is_done(cx) {
            return self.release_over(false, cx);
        }
        if let Phase::Release(release) = &mut self.phase {
            release.stage = if io == Io::Get { Stage::Read } else { Stage::Write };
        }
        let deadline = self.call_deadline();
        self.turn(Next::Call { io, deadline, releases: true })
    }

    pub(super) fn release_replied(
        &mut self,
        release: Release,
        reply: Result<Stored, StoreError>,
        cx: &mut Cx<'_>,
    ) -> Turn {
        match (release.stage, reply) {
            (Stage::Pause { .. }, _) => self.turn(Next::Refused),
            (Stage::Read, Ok(stored)) => self.release_fetched(&stored, cx),
            (Stage::Write, Ok(stored)) => {
                self.observe_own(stored.record.clone(), &stored, cx.now());
                self.release_over(true, cx)
            }
            (Stage::Write, Err(why)) => {
                self.observe_refusal(&why);
                let again = why == StoreError::Conflict;
                if again { self.release_conflicted(cx) } else { self.release_over(false, cx) }
            }
            (Stage::Read, Err(_)) => self.release_over(false, cx),
        }
    }

    fn release_fetched(&mut self, stored: &Stored, cx: &mut Cx<'_>) -> Turn {
        // LE-42: observe the record just read. Otherwise a later run could overwrite it (CX-15).
        let ours = self.observe(stored, cx.now())
            && stored.record.holder == self.config.identity
            && self.written_transitions == Some(stored.record.transitions);
        if !ours {
            return self.release_over(true, cx);
        }
        let record = self.released_record(stored.record.transitions, cx);
        let version: Version = stored.version.clone();
        self.send_release(Io::Update(record, version), cx)
    }

    /// Returns a record that anyone may take at once. Its duration is not zero, because a server
    /// refuses that (`election:LE-43`).
    fn released_record(&self, transitions: i64, cx: &Cx<'_>) -> Record {
        let wall = Some(Timestamp::from(cx.wall()));
        Record {
            holder: Name::EMPTY,
            duration_seconds: 1,
            acquire_time: wall,
            renew_time: wall,
            transitions,
            strategy: Name::EMPTY,
            preferred_holder: Name::EMPTY,
        }
    }

    /// Tries again after a twentieth to a tenth of the retry period.
    fn release_conflicted(&mut self, cx: &mut Cx<'_>) -> Turn {
        let pause = self.config.timing.retry.mul_f64((1.0 + fraction(cx.entropy())) / 20.0);
        if let Phase::Release(release) = &mut self.phase {
            release.stage = Stage::Pause { due: (cx.now() + pause).min(release.deadline) };
        }
        self.turn(Next::Rest)
    }

    fn release_over(&mut self, success: bool, cx: &mut Cx<'_>) -> Turn {
        let run = match self.phase {
            Phase::Release(release) => release.run,
            _ => None,
        };
        match run {
            Some(EndingRun { led }) => self.end_run(led, cx),
            None => {
                self.phase = Phase::Idle;
                self.turn(Next::Done(success))
            }
        }
    }
}
