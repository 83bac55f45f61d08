//! One attempt to acquire or renew the lease.

use seatrial_core::elector::{Fence, Io, Name, Next, Record, StoreError, Stored, Turn};
use seatrial_core::machine::Cx;
use seatrial_core::runtime::Instant;

use super::{Plain, Stage};

/// An attempt and what it waits for.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    began: Instant,
    desired: Record,
    awaits: Awaits,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Awaits {
    FastUpdate,
    Get,
    Create,
    Update,
}

impl Plain {
    /// LE-17, LE-18. In a coordinated election it always reads first.
    pub(super) fn begin_attempt(&mut self, cx: &mut Cx<'_>) -> Turn {
        let (began, wall) = (cx.now(), Self::wall(cx));
        self.wrote = false;
        let mut desired = Record::default()
            .holder(self.config.identity.clone())
            .duration_seconds(self.config.timing.lease.as_secs() as i64)
            .acquire_time(wall)
            .renew_time(wall)
            .transitions(0)
            .strategy(Name::EMPTY)
            .preferred_holder(Name::EMPTY);
        let fast = !self.config.coordinated
            && self.is_holder()
            && self.lease_is_valid(began)
            && (self.term_is_live(cx) || self.makes("fast_path_in_another_run"));
        if fast {
            desired.transitions = self.observed.record.transitions;
            desired.acquire_time = self.observed.record.acquire_time;
        }
        let awaits = if fast && self.version.is_some() { Awaits::FastUpdate } else { Awaits::Get };
        self.send(Attempt { began, desired, awaits }, cx)
    }

    fn send(&mut self, attempt: Attempt, cx: &mut Cx<'_>) -> Turn {
        if self.token_is_done(cx) {
            return self.attempt_over(false, cx);
        }
        let desired = attempt.desired.clone();
        let io = match attempt.awaits {
            Awaits::Get => Io::Get,
            Awaits::Create => Io::Create(desired.clone()),
            Awaits::FastUpdate | Awaits::Update => {
                match self.version.clone().filter(|version| !version.is_empty()) {
                    Some(version) => Io::Update(desired.clone(), version),
                    None => return self.attempt_over(false, cx),
                }
            }
        };
        if io != Io::Get {
            self.wrote = true;
            if self.written != Some(desired.transitions) {
                self.own_until = attempt.began + self.config.acting();
            }
            self.written = Some(desired.transitions);
            if desired.renew_time > self.last.0 {
                self.last = (desired.renew_time, attempt.began + self.config.acting());
            }
            if self.makes("leads_before_the_reply") {
                self.observed.record = desired;
            }
        }
        self.attempt = Some(attempt);
        let deadline = self.call_deadline();
        self.turn(Next::Call { io, deadline, releases: false })
    }

    pub(super) fn replied(
        &mut self,
        answer: Option<Result<Stored, StoreError>>,
        cx: &mut Cx<'_>,
    ) -> Turn {
        let Some(answer) = answer else { return self.turn(Next::Refused) };
        match (self.attempt.take(), self.stage) {
            (Some(attempt), _) => self.attempt_replied(attempt, answer, cx),
            (None, Stage::Release(release)) => self.release_replied(release, answer, cx),
            (None, _) => self.turn(Next::Refused),
        }
    }

    fn attempt_replied(
        &mut self,
        mut attempt: Attempt,
        answer: Result<Stored, StoreError>,
        cx: &mut Cx<'_>,
    ) -> Turn {
        match (attempt.awaits, answer) {
            (Awaits::Get, Ok(stored)) => self.fetched(attempt, &stored, cx),
            (Awaits::Get, Err(StoreError::NotFound)) => {
                if self.term.live && !self.makes("trusts_its_name") {
                    self.revoke(cx); // LE-38
                    return self.attempt_over(false, cx);
                }
                if self.config.coordinated {
                    return self.attempt_over(false, cx); // LC-12: the server creates it
                }
                self.see(None, cx.now());
                let was_own = self.is_holder() && attempt.began < self.term.valid_until;
                let may = was_own || self.may_take(attempt.began);
                if !may && !self.makes("creates_at_once") {
                    return self.attempt_over(false, cx);
                }
                attempt.awaits = Awaits::Create; // LE-20
                self.send(attempt, cx)
            }
            (Awaits::Get, Err(_)) => self.attempt_over(false, cx),
            (_, Ok(stored)) => self.succeeded(attempt, &stored, cx),
            (awaits, Err(why)) => {
                self.refused(&why);
                if awaits == Awaits::Create && self.makes("forgets_at_create") {
                    self.version = None;
                }
                if awaits != Awaits::FastUpdate {
                    return self.attempt_over(false, cx);
                }
                attempt.awaits = Awaits::Get;
                self.send(attempt, cx)
            }
        }
    }

    /// LE-21 to LE-23, [S] LE-26, LE-38.
    fn fetched(&mut self, mut attempt: Attempt, stored: &Stored, cx: &mut Cx<'_>) -> Turn {
        if self.makes("needs_times") {
            let _both = stored.record.acquire_time.zip(stored.record.renew_time).expect("times");
        }
        self.observe(stored, cx.now());
        let own_name = stored.record.holder == self.config.identity;
        let of_this_term = own_name
            && self.term.fence.as_ref().is_some_and(|fence| {
                fence.uid == stored.uid && fence.transitions == stored.record.transitions
            });
        let by_name = self.makes("trusts_its_name");
        if self.term_is_live(cx) && !of_this_term && !by_name {
            if !self.makes("loss_ends_the_attempt_alone") {
                self.revoke(cx);
            }
            if !self.makes("takes_back_what_it_lost") {
                return self.attempt_over(false, cx);
            }
        }
        let renews = if by_name { self.is_holder() } else { self.term_is_live(cx) };
        let may = if self.config.coordinated {
            self.is_chosen(attempt.began)
        } else {
            renews || self.may_take(attempt.began) || self.makes("no_wait")
        };
        if !may {
            return self.attempt_over(false, cx);
        }
        if self.config.coordinated {
            attempt.desired.strategy = stored.record.strategy.clone(); // LC-15
        }
        if renews {
            attempt.desired.transitions = stored.record.transitions;
            attempt.desired.acquire_time = stored.record.acquire_time;
            self.notes.slow_path = true;
        } else {
            attempt.desired.transitions = stored.record.transitions.saturating_add(1);
            if !by_name {
                attempt.desired.acquire_time = attempt.desired.renew_time;
            }
        }
        attempt.awaits = Awaits::Update;
        self.send(attempt, cx)
    }

    /// LE-24, [S] SF-11, LE-51.
    fn succeeded(&mut self, attempt: Attempt, stored: &Stored, cx: &mut Cx<'_>) -> Turn {
        let now = cx.now();
        let read = self.version.clone();
        let transitions = attempt.desired.transitions;
        self.observe_own(attempt.desired, stored, now);
        if self.makes("acts_without_limit") {
            if matches!(self.stage, Stage::Acquire(_)) {
                let version = stored.version.clone();
                self.begin_term(
                    Fence::new(stored.uid.clone(), transitions, version),
                    Instant::NEVER,
                );
            }
            return self.attempt_over(true, cx);
        }
        let valid_until = attempt.began + self.config.acting();
        self.own_until = valid_until;
        let was_live = self.term.live;
        if self.makes("late_renewal_prolongs") && was_live || self.term_is_live(cx) {
            self.term.valid_until = valid_until;
            return self.attempt_over(true, cx);
        }
        let leads = matches!(self.stage, Stage::Lead | Stage::Round(_) | Stage::Between(_));
        let late = valid_until <= now && !self.makes("leads_too_late");
        if was_live || late || leads {
            return self.attempt_over(false, cx);
        }
        let version = match read {
            Some(read) if self.makes("token_of_the_read") => read,
            _ => stored.version.clone(),
        };
        self.begin_term(Fence::new(stored.uid.clone(), transitions, version), valid_until);
        self.attempt_over(true, cx)
    }

    fn begin_term(&mut self, fence: Fence, valid_until: Instant) {
        self.term.number += 1;
        self.term.live = true;
        self.term.valid_until = valid_until;
        self.term.fence = Some(fence);
        self.term.working = false;
    }
}
