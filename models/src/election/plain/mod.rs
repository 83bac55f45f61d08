//! The rules of the elector in plain code: for readers, as the specification, and as the place
//! where mistakes are made. Without a mistake it decides at every step like the machine that ships.
//! With the mistakes of the reference it is the exhibit that replays the recorded traces.
//!
//! Not included: ordered versions.

mod attempt;
mod release;
mod run;
mod set_up;

use std::time::Duration;

use seatrial_core::elector::{
    Config, ConfigError, Fence, Name, Next, Notes, Observed, Op, RUN, Record, Reply, Ret,
    StoreError, Stored, TERM, Timestamp, Turn, Version, Versions, validate_nanos,
};
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::Instant;

use crate::shared::Mistake;
use attempt::Attempt;
use release::Release;

pub(crate) use set_up::rules;
pub use set_up::{by_reference, elector, is_reference, reference, validate};

/// The rules of an elector: the shipped ones, or others.
pub(crate) type Rules = Box<dyn Machine<Op = Op, Ret = Ret>>;

/// The stage of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Idle,
    /// A single attempt.
    Once,
    /// The next attempt to acquire is due at this time.
    Acquire(Instant),
    /// The work is being started.
    Lead,
    Round(Round),
    /// The next round is due at this time.
    Between(Instant),
    /// The work winds down, until this time at most.
    Drain(Instant),
    Release(Release),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Round {
    began: Instant,
    deadline: Instant,
    tick: Instant,
}

/// The current term, or the last one after it is over.
#[derive(Clone, Debug)]
struct Term {
    number: u64,
    live: bool,
    valid_until: Instant,
    fence: Option<Fence>,
    ended_at: Instant,
    working: bool,
}

/// A state of the lock; `None` if there is no lock object.
type State = Option<(Name, Version, Record)>;

/// A state, when it was first seen, and whether it can follow the one seen before it.
type Sighting = (State, Instant, bool);

/// An elector, in plain code.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    mistakes: &'static [Mistake],
    config: Config,
    observed: Observed,
    /// The last few states of the lock, and when one was last seen for the first time.
    sightings: Vec<Sighting>,
    newest: Instant,
    /// The record whose text was new last (`compares_the_text`).
    text: Option<Record>,
    /// Nothing newer was seen than the state that was read last.
    current: bool,
    /// There has been a state since the last read, which was not read.
    overtaken: bool,
    /// The version that an update names.
    version: Option<Version>,
    reported: Name,
    stage: Stage,
    attempt: Option<Attempt>,
    /// Whether the last attempt has sent a write.
    wrote: bool,
    /// The count of transitions in the last write.
    written: Option<i64>,
    /// Until when nobody else can hold a lease that this elector wrote.
    own_until: Instant,
    /// The same for the last write alone, by its renew time.
    last: (Option<Timestamp>, Instant),
    /// The number of its runs.
    runs: u64,
    cancelled: bool,
    term: Term,
    notes: Notes,
    /// The time of an observation that is not written yet (`time_written_later`).
    unwritten: Option<Instant>,
}

impl Plain {
    /// Makes the rules for a set-up, or refuses it.
    pub(crate) fn rules(
        mistakes: &'static [Mistake],
        config: Config,
    ) -> Result<Rules, ConfigError> {
        let makes = |mistake| mistakes.contains(&mistake);
        if makes("fractional_leases") && config.timing.lease.subsec_nanos() != 0 {
            let nanos = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
            let timing = config.timing;
            validate_nanos(nanos(timing.lease), nanos(timing.renew), nanos(timing.retry))?;
        } else if !makes("no_validation") {
            validate(&config)?;
        }
        Ok(Self::unchecked(mistakes, config))
    }

    /// Makes the rules for a set-up; a set-up that is not included here gets the rules that ship.
    pub(crate) fn unchecked(mistakes: &'static [Mistake], config: Config) -> Rules {
        if is_reference(&config) || config.versions == Versions::Ordered {
            return rules(config);
        }
        Box::new(Self::new(mistakes, config))
    }

    pub(crate) fn new(mistakes: &'static [Mistake], config: Config) -> Self {
        let term = Term {
            number: 0,
            live: false,
            valid_until: Instant::ZERO,
            fence: None,
            ended_at: Instant::ZERO,
            working: false,
        };
        Self {
            mistakes,
            config,
            observed: Observed::default(),
            sightings: Vec::new(),
            newest: Instant::ZERO,
            text: None,
            current: false,
            overtaken: false,
            version: None,
            reported: Name::EMPTY,
            stage: Stage::Idle,
            attempt: None,
            wrote: false,
            written: None,
            own_until: Instant::NEVER,
            last: (None, Instant::ZERO),
            runs: 0,
            cancelled: false,
            term,
            notes: Notes::default(),
            unwritten: None,
        }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn turn(&mut self, next: Next) -> Turn {
        Turn { notes: std::mem::take(&mut self.notes), next }
    }

    fn is_holder(&self) -> bool {
        self.observed.record.holder == self.config.identity
    }

    /// election:LE-13, [S] LE-14.
    fn lease_is_valid(&self, now: Instant) -> bool {
        let own = self.config.timing.stored_lease();
        let recorded = u64::try_from(self.observed.record.duration_seconds).unwrap_or(0);
        let length = match recorded {
            0 if self.makes("no_duration_is_over") => Duration::ZERO,
            0 => own,
            seconds => Duration::from_secs(seconds),
        };
        self.observed.at + length > now
    }

    fn set_observed(&mut self, observed: Observed) {
        if self.makes("time_written_later") && self.observed.at != observed.at {
            self.unwritten = Some(observed.at);
            self.observed.record = observed.record;
        } else {
            self.observed = observed;
        }
    }

    /// LE-21, [S] election:CX-12: a lease counts from the last first sighting of any state.
    fn observe(&mut self, stored: &Stored, now: Instant) {
        if self.makes("compares_the_text") {
            if !self.text.as_ref().is_some_and(|seen| seen.same_json(&stored.record)) {
                self.text = Some(stored.record.clone());
                self.set_observed(Observed::new(stored.record.clone(), now));
            }
            return self.remember(&stored.version);
        }
        let (uid, version, record) =
            (stored.uid.clone(), stored.version.clone(), stored.record.clone());
        let first = self.see(Some((uid, version, record.clone())), now);
        let at = if self.makes("counts_from_the_old_sighting") { first } else { self.newest };
        self.set_observed(Observed::new(record, at));
        self.remember(&stored.version);
    }

    /// Notes a state, and returns when it was first seen.
    fn see(&mut self, state: State, now: Instant) -> Instant {
        const REMEMBERED: usize = 8;
        let known = self.sightings.iter().find(|it| it.0 == state).cloned();
        if let (Some((seen, first, follows)), false) = (&known, self.overtaken) {
            let is_last = self.sightings.last().is_some_and(|last| last.0 == *seen);
            self.current = is_last && *follows;
            return *first;
        }
        self.current = known.is_none()
            && match (self.sightings.last(), &state) {
                (None, None) => self.written.is_none(),
                (None, Some(_)) => true,
                (Some((None, _, follows)), _) => *follows,
                (Some((Some(_), ..)), None) => false,
                (Some((Some((uid, _, last)), ..)), Some((of, _, record))) => {
                    uid == of && last.transitions <= record.transitions
                }
            };
        self.sightings.retain(|(old, ..)| old.is_some() && *old != state);
        self.sightings.push((state, now, self.current));
        if self.sightings.len() > REMEMBERED {
            self.sightings.remove(0);
        }
        self.newest = now;
        self.overtaken = false;
        now
    }

    /// [S] CX-12: after a refusal, the store has left every state that was read. If one of them is
    /// seen again, the store has gone back.
    fn refused(&mut self, why: &StoreError) {
        use StoreError::{AlreadyExists, Conflict, NotFound};
        self.overtaken |= matches!(why, AlreadyExists | Conflict | NotFound)
            && !self.makes("refusals_are_no_news");
    }

    /// LE-22, [S] CX-12: tells whether it may write, although it does not lead. If the store may
    /// have gone back, or the lock object is gone, it waits even if nobody holds the lease.
    fn may_take(&self, began: Instant) -> bool {
        if self.current || self.makes("counts_from_the_old_sighting") {
            let held = !self.observed.record.holder.is_empty() && self.lease_is_valid(began);
            let is_last = self.observed.record.renew_time == self.last.0 && began < self.last.1;
            let is_own = began < self.own_until || is_last || self.makes("own_is_own_for_ever");
            return self.is_holder() && is_own || !held;
        }
        let recorded = u64::try_from(self.observed.record.duration_seconds).unwrap_or(0);
        let own = self.config.timing.stored_lease();
        self.newest + own.max(Duration::from_secs(recorded)) <= began
    }

    /// election:LC-14: tells whether the server wants it to go on, at the very end of the lease, too.
    fn is_chosen(&self, began: Instant) -> bool {
        let record = &self.observed.record;
        let recorded = u64::try_from(record.duration_seconds).unwrap_or(0);
        let is_over = self.observed.at + Duration::from_secs(recorded) < began;
        !is_over && self.is_holder() && record.preferred_holder.is_empty()
    }

    fn remember(&mut self, version: &Version) {
        if self.version.is_none() || !self.makes("names_the_first_version") {
            self.version = Some(version.clone());
        }
    }

    fn observe_own(&mut self, record: Record, stored: &Stored, now: Instant) {
        self.set_observed(Observed::new(record, now));
        self.remember(&stored.version);
        self.overtaken = true;
    }

    /// LE-52.
    fn report(&mut self) {
        let holder = self.observed.record.holder.clone();
        if holder != self.reported {
            self.reported = holder.clone();
            self.notes.new_leader = Some(holder);
        }
    }

    fn wall(cx: &Cx<'_>) -> Option<Timestamp> {
        Some(Timestamp::from(cx.wall()))
    }

    fn revoke(&mut self, cx: &mut Cx<'_>) {
        if self.term.live {
            self.term.live = false;
            self.term.ended_at = cx.now();
            cx.wakes.all(TERM);
            cx.wakes.all(RUN);
        }
    }

    /// election:SF-11: every look at the term ends it if its time has passed.
    fn term_is_live(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.term.live && cx.now() >= self.term.valid_until {
            self.revoke(cx);
        }
        self.term.live
    }

    fn holds(&mut self, term: u64, cx: &mut Cx<'_>) -> bool {
        (term == self.term.number || self.makes("holds_any_term")) && self.term_is_live(cx)
    }

    fn leads(&mut self, cx: &mut Cx<'_>) -> bool {
        let live = self.makes("leader_without_time") || self.term_is_live(cx);
        self.is_holder() && (live || self.makes("leads_before_the_reply"))
    }

    /// LE-55.
    fn is_healthy(&self, tolerance: Duration, now: Instant) -> bool {
        let allowed = self.config.timing.lease.saturating_add(tolerance);
        !self.is_holder() || now.since(self.observed.at) <= allowed
    }
}

/// A fraction below one.
fn fraction(entropy: u64) -> f64 {
    (entropy >> 11) as f64 / (1u64 << 53) as f64
}

impl Machine for Plain {
    type Op = Op;
    type Ret = Ret;

    fn step(&mut self, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        if let (Op::Begin(_) | Op::Rest(_) | Op::Reply(_), Some(at)) = (&op, self.unwritten) {
            self.observed.at = at;
            self.unwritten = None;
        }
        Step::Done(match op {
            Op::Begin(begin) => Ret::Begin(self.begin(begin.cancelled, cx)),
            Op::Try(_) => Ret::Try(self.begin_once(cx)),
            Op::GiveUp(_) => Ret::GiveUp(self.release_once(cx)),
            Op::Reply(Reply(answer)) => Ret::Reply(self.replied(answer.take(), cx)),
            Op::Rest(_) => return self.rest(cx).map(Ret::Rest),
            Op::Runs(_) => Ret::Runs(self.runs),
            Op::Cancel(cancel) => {
                self.cancel(cancel.run, cx);
                Ret::Cancel(())
            }
            Op::Abort(_) => Ret::Abort(self.abort(cx)),
            Op::WorkEnded(work) => Ret::WorkEnded(self.work_ended(work, cx)),
            Op::Watch(watch) if self.holds(watch.term, cx) => {
                return Step::Wait { on: TERM, until: Some(self.term.valid_until) };
            }
            Op::Watch(_) => Ret::Watch(()),
            Op::Holds(holds) => Ret::Holds(self.holds(holds.term, cx)),
            Op::IsLeader(_) => Ret::IsLeader(self.leads(cx)),
            Op::Leader(_) => Ret::Leader(self.observed.record.holder.clone()),
            Op::Look(_) => Ret::Look(self.observed.clone()),
            Op::Check(check) => Ret::Check(self.is_healthy(check.tolerance, cx.now())),
            Op::Report(_) => {
                self.report();
                Ret::Report(self.notes.new_leader.take())
            }
        })
    }
}
