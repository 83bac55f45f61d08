//! The calls on an elector. Each step of a call is one critical section.

use std::time::Duration;

use crate::machine::{Cx, Operation, Step};

use super::lock::{StoreError, Stored};
use super::record::Name;
use super::run::Phase;
use super::sighting::Observed;
use super::state::{Election, TERM};
use super::turn::{Next, Notes, Turn};

/// Begins a run.
#[derive(Clone, Debug)]
pub struct Begin {
    /// Whether its token has ended already; then the run makes no attempt.
    pub cancelled: bool,
}

/// Returns the number of runs that were begun, which is the number of the current run.
#[derive(Clone, Debug)]
pub struct Runs;

/// Makes one attempt outside of a run.
#[derive(Clone, Debug)]
pub struct Try;

/// Gives up the lease outside of a run.
#[derive(Clone, Debug)]
pub struct GiveUp;

/// Passes the lock's answer to a [`Next::Call`].
#[derive(Clone, Debug)]
pub struct Reply(pub Option<Result<Stored, StoreError>>);

/// Sleeps until the next thing is due.
#[derive(Clone, Debug)]
pub struct Rest;

/// Cancels the run of that number, if it is still under way.
#[derive(Clone, Debug)]
pub struct Cancel {
    /// The number.
    pub run: u64,
}

/// Drops the run or the attempt, because its driver has failed. Returns the notes that are still to
/// be reported.
#[derive(Clone, Debug)]
pub struct Abort;

/// Says that the protected work of a term has ended. Returns whether its run ends with it.
#[derive(Clone, Debug)]
pub struct WorkEnded {
    /// The number of the term.
    pub term: u64,
    /// Whether it panicked.
    pub panicked: bool,
}

/// Sleeps until a term is over. This is also the watchdog that ends it.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The number of the term.
    pub term: u64,
}

/// Asks whether a term is live at this moment.
#[derive(Clone, Debug)]
pub struct Holds {
    /// The number of the term.
    pub term: u64,
}

/// Asks whether the elector leads.
#[derive(Clone, Debug)]
pub struct IsLeader;

/// Asks for the current leader, as far as this elector has seen.
#[derive(Clone, Debug)]
pub struct Leader;

/// Asks for the observed record and its time.
#[derive(Clone, Debug)]
pub struct Look;

/// Asks whether the elector is healthy.
#[derive(Clone, Debug)]
pub struct Check {
    /// How long a leader may be late beyond its lease.
    pub tolerance: Duration,
}

/// Takes the new leader to report, if any, after an attempt outside of a run.
#[derive(Clone, Debug)]
pub struct Report;

crate::operations! {
    [] Election: Op, Ret {
        Begin(Begin) -> Turn,
        Runs(Runs) -> u64,
        Try(Try) -> Turn,
        GiveUp(GiveUp) -> Turn,
        Reply(Reply) -> Turn,
        Rest(Rest) -> Turn,
        Cancel(Cancel) -> (),
        Abort(Abort) -> Notes,
        WorkEnded(WorkEnded) -> bool,
        Watch(Watch) -> (),
        Holds(Holds) -> bool,
        IsLeader(IsLeader) -> bool,
        Leader(Leader) -> Name,
        Look(Look) -> Observed,
        Check(Check) -> bool,
        Report(Report) -> Option<Name>,
    } valid = Election::check
}

impl Operation<Election> for Begin {
    fn step(&mut self, election: &mut Election, cx: &mut Cx<'_>) -> Step<Turn> {
        Step::Done(election.begin_run(self.cancelled, cx))
    }
}

impl Operation<Election> for Runs {
    fn step(&mut self, election: &mut Election, _: &mut Cx<'_>) -> Step<u64> {
        Step::Done(election.runs)
    }
}

impl Operation<Election> for Try {
    #[inline]
    fn step(&mut self, election: &mut Election, cx: &mut Cx<'_>) -> Step<Turn> {
        if election.phase != Phase::Idle {
            return Step::Done(election.turn(Next::Refused));
        }
        election.phase = Phase::Once;
        Step::Done(election.begin_attempt(cx))
    }
}

impl Operation<Election> for GiveUp {
    fn step(&mut self, election: &mut Election, cx: &mut Cx<'_>) -> Step<Turn> {
        Step::Done(election.release_once(cx))
    }
}

impl Operation<Election> for Reply {
    #[inline]
    fn step(&mut self, election: &mut Election, cx: &mut Cx<'_>) -> Step<Turn> {
        let reply = self.0.take();
        Step::Done(match (reply, election.attempt.take(), election.phase) {
            (Some(reply), Some(attempt), _) => election.attempt_replied(attempt, reply, cx),
            (Some(reply), None, Phase::Release(release)) => {
                election.release_replied(release, reply, cx)
            }
            (_, attempt, _) => {
                election.attempt = attempt;
                election.turn(Next::Refused)
            }
        })
    }
}

impl Operation<Election> for Rest {
    #[inline]
    fn step(&mut self, election: &mut Election, cx: &mut Cx<'_>) -> Step<Turn> {
        election.rest(cx)
    }
}

impl Operation<Election> for Cancel {
    fn step(&mut self, election: &mut Election, cx: &mut Cx<'_>) -> Step<()> {
        election.cancel_run(self.run, cx);
        Step::Done(())
    }
}

impl Operation<Election> for Abort {
    fn step(&mut self, election: &mut Election, cx: &mut Cx<'_>) -> Step<Notes> {
        Step::Done(election.abort_run(cx))
    }
}

impl Operation<Election> for WorkEnded {
    fn step(&mut self, election: &mut Election, cx: &mut Cx<'_>) -> Step<bool> {
        Step::Done(election.work_ended(self.term, self.panicked, cx))
    }
}

impl Operation<Election> for Watch {
    fn step(&mut self, election: &mut Election, cx: &mut Cx<'_>) -> Step<()> {
        if election.holds(self.term, cx) {
            Step::Wait { on: TERM, until: Some(election.term.valid_until) }
        } else {
            Step::Done(())
        }
    }
}

impl Operation<Election> for Holds {
    fn step(&mut self, election: &mut Election, cx: &mut Cx<'_>) -> Step<bool> {
        Step::Done(election.holds(self.term, cx))
    }
}

impl Operation<Election> for IsLeader {
    fn step(&mut self, election: &mut Election, cx: &mut Cx<'_>) -> Step<bool> {
        Step::Done(election.leads(cx))
    }
}

impl Operation<Election> for Leader {
    fn step(&mut self, election: &mut Election, _: &mut Cx<'_>) -> Step<Name> {
        Step::Done(election.observed.record.holder.clone())
    }
}

impl Operation<Election> for Look {
    fn step(&mut self, election: &mut Election, _: &mut Cx<'_>) -> Step<Observed> {
        Step::Done(election.observed.clone())
    }
}

impl Operation<Election> for Check {
    fn step(&mut self, election: &mut Election, cx: &mut Cx<'_>) -> Step<bool> {
        Step::Done(!election.is_wedged(self.tolerance, cx.now()))
    }
}

impl Operation<Election> for Report {
    fn step(&mut self, election: &mut Election, _: &mut Cx<'_>) -> Step<Option<Name>> {
        Step::Done(election.report_transition())
    }
}
