//! The rules of the elector: the states it has seen, whether it leads, and until when.
//!
//! ```text
//!        Begin             won                  round begins          renewed
//!  idle -------> acquire -------> lead (callback) -------> round -----------------> between
//!   ^               |                                       |  ^---- retry period ----|
//!   |               | cancelled                             | deadline, cancelled, loss seen
//!   |               v                                       v
//!   +---------------+------------- release <------ drain ---+
//! ```
//!
//! One attempt is in `attempt.rs`, the loops are in `run.rs`, the release is in `release.rs`.

use std::cmp::Ordering;
use std::time::Duration;

use crate::machine::{Channel, Cx};
use crate::runtime::Instant;

use super::attempt::Attempt;
use super::config::{Config, ConfigError, Versions};
use super::fence::Fence;
use super::lock::{StoreError, Stored, Version};
use super::record::{Name, Record, Timestamp};
use super::run::Phase;
use super::sighting::{Observed, Sightings};
use super::turn::{Next, Notes, Turn};

/// The run sleeps here.
pub const RUN: Channel = 0;
/// The watchdog and the protected work wait here for the end of the term.
pub const TERM: Channel = 1;

/// One term of leadership.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Term {
    /// The number of the term; kept when the term is over.
    pub(super) number: u64,
    pub(super) live: bool,
    /// When the term ends unless it is renewed (`election:SF-11`).
    pub(super) valid_until: Instant,
    pub(super) fence: Option<Fence>,
    /// When the term was revoked.
    pub(super) ended_at: Instant,
    /// Whether the protected work was started and has not reported its end.
    pub(super) working: bool,
}

/// The state of an elector, without lock, clock or connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Election {
    pub(super) config: Config,
    /// A: how long a leader may act after the start of its last success.
    pub(super) acting: Duration,
    pub(super) observed: Observed,
    pub(super) sightings: Sightings,
    /// The newest version seen, if versions are ordered.
    pub(super) newest: Option<Version>,
    /// The version of the lock object when it was last received (`election:LK-2`).
    pub(super) remembered: Option<Version>,
    pub(super) reported: Name,
    pub(super) phase: Phase,
    pub(super) attempt: Option<Attempt>,
    /// Whether the last attempt sent a write.
    pub(super) wrote: bool,
    /// The transitions in the last write sent. A record with a different number is not this
    /// elector's.
    pub(super) written_transitions: Option<i64>,
    /// Until when nobody else can hold the lease of a record that this elector wrote. Without a limit
    /// before its first write (`election:SF-16`).
    pub(super) own_until: Instant,
    /// The renew time of the last write sent, and until when nobody else can hold the lease of the record
    /// with that time. An earlier write may have had the same transitions.
    pub(super) last_write: (Option<Timestamp>, Instant),
    /// How many runs were begun.
    pub(super) runs: u64,
    /// Whether the current run was cancelled.
    pub(super) cancelled: bool,
    pub(super) term: Term,
    pub(super) notes: Notes,
}

impl Election {
    /// Makes an elector that has seen nothing.
    ///
    /// # Errors
    /// [`Config::validate`] refused the settings.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self::unchecked(config))
    }

    /// As [`new`](Self::new), for studies of settings that would be refused.
    #[must_use]
    pub fn unchecked(config: Config) -> Self {
        Self {
            acting: config.acting(),
            config,
            observed: Observed::default(),
            sightings: Sightings::default(),
            newest: None,
            remembered: None,
            reported: Name::EMPTY,
            phase: Phase::Idle,
            attempt: None,
            wrote: false,
            written_transitions: None,
            own_until: Instant::NEVER,
            last_write: (None, Instant::ZERO),
            runs: 0,
            cancelled: false,
            term: Term::default(),
            notes: Notes::default(),
        }
    }

    /// Returns the settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the record that the elector relies on, with the time from which it counts.
    #[must_use]
    pub fn observed(&self) -> &Observed {
        &self.observed
    }

    /// Returns the version that the next update would send.
    #[must_use]
    pub fn remembered(&self) -> Option<&Version> {
        self.remembered.as_ref()
    }

    /// Returns when the current term ends unless it is renewed; `None` without a live term.
    #[must_use]
    pub fn valid_until(&self) -> Option<Instant> {
        self.term.live.then_some(self.term.valid_until)
    }

    /// Tells whether the observed record names this elector; it says nothing about time
    /// (`election:LE-12`).
    pub(super) fn is_holder(&self) -> bool {
        self.observed.record.holder == self.config.identity
    }

    /// Tells whether the observed lease is still running (`election:LE-13`, `LE-14`).
    pub(super) fn lease_valid(&self, now: Instant) -> bool {
        let lease = match u64::try_from(self.observed.record.duration_seconds) {
            Ok(seconds @ 1..) => Duration::from_secs(seconds),
            _ => self.config.timing.stored_lease(),
        };
        self.observed.at + lease > now
    }

    /// Tells whether a participant that does not lead may write, by what it has seen of the lock
    /// (`election:LE-22`, `CX-12`). If the store may have gone back, or the lock object is gone,
    /// it waits even if nobody or this participant holds the lease by that state. It also waits for a
    /// lease of its own whose time is over, since another may have held it meanwhile.
    pub(super) fn may_take(&self, began: Instant) -> bool {
        let record = &self.observed.record;
        let (renewed, until) = self.last_write;
        let is_last = record.renew_time == renewed && began < until;
        let is_own = self.is_holder() && (began < self.own_until || is_last);
        if self.sightings.is_current() && (record.holder.is_empty() || is_own) {
            return true;
        }
        let recorded = Duration::from_secs(u64::try_from(record.duration_seconds).unwrap_or(0));
        let own = self.config.timing.stored_lease();
        let is_known = self.sightings.is_current() && !recorded.is_zero();
        let lease = if is_known { recorded } else { recorded.max(own) };
        self.sightings.newest() + lease <= began
    }

    /// Notes a fetched state of the lock (`election:LE-21`). If it is older than one seen before,
    /// changes nothing and returns false.
    pub(super) fn observe(&mut self, stored: &Stored, now: Instant) -> bool {
        if self.config.versions == Versions::Ordered && !self.advance(&stored.version) {
            return false;
        }
        self.sightings.see(stored, now);
        let at = self.sightings.newest();
        if self.observed.at != at || self.observed.record != stored.record {
            self.observed = Observed { record: stored.record.clone(), at };
        }
        self.remembered = Some(stored.version.clone());
        true
    }

    /// Moves the newest version forward; false if the given one is older.
    pub(super) fn advance(&mut self, version: &Version) -> bool {
        let order = self.newest.as_ref().and_then(|newest| version.compare(newest));
        if order == Some(Ordering::Less) {
            return false;
        }
        self.newest = Some(version.clone());
        true
    }

    /// Notes this elector's own write that the store has accepted.
    pub(super) fn observe_own(&mut self, record: Record, stored: &Stored, now: Instant) {
        self.observed = Observed { record, at: now };
        self.remembered = Some(stored.version.clone());
        self.sightings.was_overtaken();
        if self.config.versions == Versions::Ordered {
            self.advance(&stored.version);
        }
    }

    /// Notes why the store has not accepted this elector's own write.
    pub(super) fn observe_refusal(&mut self, why: &StoreError) {
        use StoreError::{AlreadyExists, Conflict, NotFound};
        if matches!(why, AlreadyExists | Conflict | NotFound) {
            self.sightings.was_overtaken();
        }
    }

    /// Returns the current leader if it differs from the last reported one (`election:LE-52`).
    pub(super) fn report_transition(&mut self) -> Option<Name> {
        if self.observed.record.holder == self.reported {
            return None;
        }
        self.reported = self.observed.record.holder.clone();
        Some(self.reported.clone())
    }

    pub(super) fn begin_term(&mut self, fence: Fence, valid_until: Instant) {
        self.term = Term {
            number: self.term.number + 1,
            live: true,
            valid_until,
            fence: Some(fence),
            ended_at: Instant::ZERO,
            working: false,
        };
    }

    /// Ends the term, if one is live, and wakes the callers that wait for its end.
    pub(super) fn revoke(&mut self, cx: &mut Cx<'_>) {
        if self.term.live {
            self.term.live = false;
            self.term.ended_at = cx.now();
            cx.wakes.all(TERM);
            cx.wakes.all(RUN);
        }
    }

    /// Tells whether the term is live now, and ends it if its time has passed. The first call after
    /// that time does the work of the watchdog (`election:SF-11`).
    pub(super) fn term_is_live(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.term.live && cx.now() >= self.term.valid_until {
            self.revoke(cx);
        }
        self.term.live
    }

    /// As [`term_is_live`](Self::term_is_live), for the term of that number.
    pub(super) fn holds(&mut self, term: u64, cx: &mut Cx<'_>) -> bool {
        self.term.number == term && self.term_is_live(cx)
    }

    /// The work of a term is over. A term without work would only keep others from working, so its
    /// run ends, too. The end of an earlier term's work has no effect.
    pub(super) fn work_ended(&mut self, term: u64, panicked: bool, cx: &mut Cx<'_>) -> bool {
        if self.term.number != term {
            return false;
        }
        self.term.working = false;
        cx.wakes.all(RUN);
        let ends_the_run = self.term.live && (panicked || self.config.work_ends_term);
        if ends_the_run {
            self.cancel_run(self.runs, cx);
        }
        ends_the_run
    }

    /// Tells whether this elector leads, for users (`election:LE-12`).
    pub(super) fn leads(&mut self, cx: &mut Cx<'_>) -> bool {
        self.is_holder() && self.term_is_live(cx)
    }

    /// Tells whether the leader's own lease has long run out, which means that the leader neither
    /// renews nor stops (`election:LE-55`).
    pub(super) fn is_wedged(&self, tolerance: Duration, now: Instant) -> bool {
        let allowed = self.config.timing.lease.saturating_add(tolerance);
        self.is_holder() && now.since(self.observed.at) > allowed
    }

    pub(super) fn turn(&mut self, next: Next) -> Turn {
        Turn { notes: std::mem::take(&mut self.notes), next }
    }

    /// Checks the invariants of the state.
    pub(super) fn check(&self) {
        let in_call = self.attempt.is_some() || matches!(self.phase, Phase::Release(_));
        assert!(!(in_call && self.phase == Phase::Idle), "a call is part of a run or an attempt");
        assert!(!(self.cancelled && self.term.live), "cancelling a run revokes its leadership");
        if self.term.live {
            let fence = self.term.fence.as_ref().expect("a live term has a fencing token");
            assert!(
                self.written_transitions.is_some_and(|written| written >= fence.transitions),
                "the holder of a term has written its token"
            );
        }
    }
}
