//! One attempt to acquire or renew the lease (`election:LE-16` to `LE-30`, `LC-10` to `LC-16`).

use std::time::Duration;

use crate::machine::Cx;
use crate::runtime::Instant;

use super::fence::Fence;
use super::lock::{StoreError, Stored};
use super::record::{Name, Record, Timestamp};
use super::state::Election;
use super::turn::{Io, Next, Turn};

/// An attempt that waits for an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Attempt {
    /// The time of the attempt (`now` in the rules): read once, before the first call.
    began: Instant,
    /// The record to write.
    desired: Record,
    pending: Pending,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pending {
    FastUpdate,
    Get,
    Create,
    Update,
}

impl Election {
    pub(super) fn begin_attempt(&mut self, cx: &mut Cx<'_>) -> Turn {
        let began = cx.now();
        self.wrote = false;
        let mut attempt = Attempt { began, desired: self.fresh_record(cx), pending: Pending::Get };
        if self.may_update_unread(began, cx) {
            if self.remembered.is_some() {
                attempt.pending = Pending::FastUpdate;
            }
            attempt.desired.acquire_time = self.observed.record.acquire_time;
            attempt.desired.transitions = self.observed.record.transitions;
        }
        self.send(attempt, cx)
    }

    /// A record of a new term (`election:LE-17`).
    fn fresh_record(&self, cx: &Cx<'_>) -> Record {
        let wall = Some(Timestamp::from(cx.wall()));
        Record {
            holder: self.config.identity.clone(),
            duration_seconds: seconds(self.config.timing.stored_lease()),
            acquire_time: wall,
            renew_time: wall,
            transitions: 0,
            strategy: Name::EMPTY,
            preferred_holder: Name::EMPTY,
        }
    }

    /// Tells whether the fast path applies (`election:LE-18`): only to renew the current term, so
    /// that a record of an earlier life is always read first.
    fn may_update_unread(&mut self, now: Instant, cx: &mut Cx<'_>) -> bool {
        !self.config.coordinated
            && self.is_holder()
            && self.lease_valid(now)
            && self.term_is_live(cx)
    }

    /// Sends the pending call of an attempt. If its time is up, it makes no call, because the call
    /// would fail at once.
    fn send(&mut self, attempt: Attempt, cx: &mut Cx<'_>) -> Turn {
        if self.token_is_done(cx) {
            return self.attempt_over(false, cx);
        }
        let io = match attempt.pending {
            Pending::Get => Io::Get,
            Pending::Create => Io::Create(attempt.desired.clone()),
            Pending::FastUpdate | Pending::Update => {
                let version = self.remembered.clone();
                match version.filter(|version| !version.is_empty()) {
                    Some(version) => Io::Update(attempt.desired.clone(), version),
                    None => return self.attempt_over(false, cx), // election:LK-2, LK-4
                }
            }
        };
        if attempt.pending != Pending::Get {
            self.wrote = true;
            let transitions = Some(attempt.desired.transitions);
            if self.written_transitions != transitions {
                self.written_transitions = transitions;
                self.own_until = attempt.began + self.acting;
            }
            if self.last_write.0 < attempt.desired.renew_time {
                self.last_write = (attempt.desired.renew_time, attempt.began + self.acting);
            }
        }
        self.attempt = Some(attempt);
        let deadline = self.call_deadline();
        self.turn(Next::Call { io, deadline, releases: false })
    }

    pub(super) fn attempt_replied(
        &mut self,
        mut attempt: Attempt,
        reply: Result<Stored, StoreError>,
        cx: &mut Cx<'_>,
    ) -> Turn {
        if let (true, Err(why)) = (attempt.pending != Pending::Get, &reply) {
            self.observe_refusal(why);
        }
        match (attempt.pending, reply) {
            (Pending::Get, Ok(stored)) => self.fetched(attempt, &stored, cx),
            (Pending::Get, Err(StoreError::NotFound)) => self.not_found(attempt, cx),
            (_, Ok(stored)) => self.written(attempt, &stored, cx),
            (Pending::FastUpdate, Err(_)) => {
                attempt.pending = Pending::Get; // the copied fields stay (LE-18)
                self.send(attempt, cx)
            }
            (_, Err(_)) => self.attempt_over(false, cx),
        }
    }

    /// Handles that the lock does not exist (`election:LE-20`, `LC-12`).
    fn not_found(&mut self, mut attempt: Attempt, cx: &mut Cx<'_>) -> Turn {
        if self.term.live {
            self.revoke(cx); // LE-38: the lease of this term is gone
            return self.attempt_over(false, cx);
        }
        if self.config.coordinated {
            return self.attempt_over(false, cx);
        }
        self.sightings.see_none(self.written_transitions.is_some(), cx.now());
        // The last holder may not know yet, unless it was this elector.
        let was_own = self.is_holder() && attempt.began < self.term.valid_until;
        if !was_own && !self.may_take(attempt.began) {
            return self.attempt_over(false, cx);
        }
        attempt.pending = Pending::Create;
        self.send(attempt, cx)
    }

    /// Handles the lock that was read (`election:LE-21` to `LE-23`).
    fn fetched(&mut self, mut attempt: Attempt, stored: &Stored, cx: &mut Cx<'_>) -> Turn {
        if !self.observe(stored, cx.now()) {
            return self.attempt_over(false, cx); // CX-12: a lagging read
        }
        let renews = self.term_is_live(cx);
        if renews && !self.is_of_this_term(stored) {
            self.revoke(cx); // LE-38: seen to be lost
            return self.attempt_over(false, cx);
        }
        let allowed = if self.config.coordinated {
            self.may_renew_coordinated(&attempt, stored)
        } else {
            renews || self.may_take(attempt.began)
        };
        if !allowed {
            return self.attempt_over(false, cx);
        }
        self.fill_in(&mut attempt.desired, &stored.record, renews);
        attempt.pending = Pending::Update;
        self.send(attempt, cx)
    }

    /// Completes the record to write from the one that was read. A renewal keeps the term, any
    /// other write begins one (`election:LE-23`, `LC-15`, `LE-26`).
    fn fill_in(&mut self, desired: &mut Record, read: &Record, renews: bool) {
        if self.config.coordinated {
            desired.strategy = read.strategy.clone();
        }
        if renews {
            desired.acquire_time = read.acquire_time;
            desired.transitions = read.transitions;
            self.notes.slow_path = true;
            return;
        }
        desired.transitions = read.transitions.saturating_add(1);
        desired.acquire_time = desired.renew_time;
    }

    /// Tells whether this elector wrote the record that was read in its current term.
    fn is_of_this_term(&self, stored: &Stored) -> bool {
        stored.record.holder == self.config.identity
            && self.term.fence.as_ref().is_some_and(|fence| {
                stored.record.transitions == fence.transitions && stored.uid == fence.uid
            })
    }

    /// Tells whether the server wants this elector to go on (`election:LC-14`). Unlike
    /// [`lease_valid`](Self::lease_valid) this includes the last moment of the lease.
    fn may_renew_coordinated(&self, attempt: &Attempt, stored: &Stored) -> bool {
        let length = u64::try_from(stored.record.duration_seconds).unwrap_or(0);
        let expired = self.observed.at + Duration::from_secs(length) < attempt.began;
        !expired && self.is_holder() && stored.record.preferred_holder.is_empty()
    }

    /// The store accepted a write (`election:LE-24`). The attempt has succeeded, unless it is
    /// already too late to act on it.
    fn written(&mut self, attempt: Attempt, stored: &Stored, cx: &mut Cx<'_>) -> Turn {
        let now = cx.now();
        let transitions = attempt.desired.transitions;
        self.observe_own(attempt.desired, stored, now);
        let valid_until = attempt.began + self.acting;
        self.own_until = valid_until;
        let was_live = self.term.live;
        if self.term_is_live(cx) {
            self.term.valid_until = valid_until;
        } else if was_live || valid_until <= now || self.phase_leads() {
            return self.attempt_over(false, cx); // SF-11, LE-51: too late to act on it
        } else {
            let (uid, version) = (stored.uid.clone(), stored.version.clone());
            self.begin_term(Fence { uid, transitions, version }, valid_until);
        }
        self.attempt_over(true, cx)
    }
}

pub(super) fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}
