//! The controller as states: every order in which users, crashes, informers and a worker can take
//! their steps. No caller loops for ever, and at rest the wanted pods are there: so under weak
//! fairness that state is always reached.

use seatrial_core::machine::Step;

use super::ReplicaSet;
use super::invariants::{orphan, unwanted};
use super::server::Happen::{self, *};
use super::server::{Kind, STRANGER};
use super::stage::{Act, Acted, Answer, Call, Inform, Occur, Stage, StopAtRest, Take};
use crate::engine::state::{
    Bytes, Explored, Jumps, Moment, Place, Programs, Rules as May, WakeUps, Wrong,
};
use crate::single_step::hash;
use crate::trial::{Component as _, Simulation, States};

/// One instruction of a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Do {
    /// Follows the server until everything stops.
    Informs(Kind),
    /// Reconciles until everything stops.
    Works,
    /// Lets something happen.
    Lets(Happen),
    /// Stops everything once this many things have happened and everything is at rest.
    Stops(u32),
}

/// A caller's position in its program, and the process for which it makes requests.
type Caller = (Place, Option<u32>);

/// The controller with its server, and the callers that let things happen.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    programs: Programs<Do>,
    mistake: &'static str,
}

impl Whole {
    fn new(happen: &[&[Happen]]) -> Self {
        let informs = [Kind::Sets, Kind::Pods].map(|kind| vec![Do::Informs(kind)]);
        let count: usize = happen.iter().map(|it| it.len()).sum();
        let stops = vec![Do::Stops(u32::try_from(count).expect("little happens"))];
        let lets = happen.iter().map(|it| it.iter().map(|it| Do::Lets(*it)).collect());
        let all: Vec<Vec<Do>> =
            informs.into_iter().chain([vec![Do::Works], stops]).chain(lets).collect();
        let all: Vec<&[Do]> = all.iter().map(Vec::as_slice).collect();
        Self { programs: Programs::new(&all), mistake: "" }
    }

    /// The same with a mistake.
    pub(super) fn mistaken(self, mistake: &'static str) -> Self {
        Self { mistake, ..self }
    }

    /// The largest number of pods that is ever wanted.
    fn most(&self) -> usize {
        let wanted = self.programs.all().map(|call| match call {
            Do::Lets(Wants(wanted)) => wanted,
            _ => 0,
        });
        wanted.max().unwrap_or(0)
    }
}

pub(super) fn crashes() -> Whole {
    Whole::new(&[&[Wants(2), Wants(1)], &[Crashes, Kills]])
}

pub(super) fn deletions() -> Whole {
    Whole::new(&[&[Wants(1), Deletes, Wants(1)], &[Crashes, Loses]])
}

/// A model: its name, what happens, and how it is made.
type Named = (&'static str, &'static str, fn() -> Whole);

/// Lists the models.
pub(super) fn all() -> Vec<Box<dyn Simulation<ReplicaSet>>> {
    const RULES: May =
        May { symmetric: false, jumps: Jumps::AtStandstill, wake_ups: WakeUps::Any, spurious: 0 };
    let models: [Named; 2] = [
        (
            "states_of_crashes",
            "a set is scaled, and a pod and the controller die at any time",
            crashes,
        ),
        (
            "states_of_deletions",
            "a set is deleted and made anew, and a pod and the controller die",
            deletions,
        ),
    ];
    let model = |(name, says, subject)| {
        let judges = &[
            "comes_to_what_is_wanted",
            "never_more_than_wanted",
            "deletes_only_its_own",
            "no_pod_outlives_its_set",
        ];
        Box::new(States { name, says, judges, subject, rules: RULES }) as Box<dyn Simulation<_>>
    };
    models.into_iter().map(model).collect()
}

impl Explored for Whole {
    type Machine = Stage;
    type Caller = Caller;

    fn machine(&self) -> Stage {
        Stage::new(self.mistake)
    }

    fn callers(&self) -> Vec<Caller> {
        self.programs.places().into_iter().map(|at| (at, None)).collect()
    }

    fn next(&self, (at, process): &Caller) -> Option<Call> {
        Some(match (self.programs.call(*at)?, process) {
            (Do::Informs(kind), _) => Call::Inform(Inform(kind)),
            (Do::Works, None) => Call::Take(Take),
            (Do::Works, Some(process)) => Call::Act(Act(*process)),
            (Do::Lets(happen), _) => Call::Occur(Occur(happen)),
            (Do::Stops(count), _) => Call::StopAtRest(StopAtRest(count)),
        })
    }

    fn returned(&self, (at, process): &mut Caller, ret: Answer) {
        match ret {
            Answer::Inform(true) => {}
            Answer::Take(Some(work)) => {
                *process = Some(work.process).filter(|_| !work.todo.is_empty());
            }
            Answer::Act(Acted::Did(.., left)) if left > 0 => {}
            Answer::Act(_) => *process = None,
            _ => at.advance(),
        }
    }

    fn view(&self, machine: &Stage, into: &mut Bytes) {
        into.number(hash(&format!("{machine:?}")));
    }

    fn view_caller(&self, _: &Stage, caller: &Caller, _: Option<&Call>, into: &mut Bytes) {
        self.programs.view(caller.0, into);
        into.maybe(caller.1.map(u64::from));
    }

    fn wrong<'a>(
        &self,
        at: Moment<'_, Stage>,
        _: impl Iterator<Item = &'a Caller> + Clone,
    ) -> Option<Wrong> {
        let truth = at.machine.truth();
        if !at.machine.has_pod(STRANGER) {
            return Some(Wrong::new("deletes_only_its_own", "the pod of somebody else is gone"));
        }
        if truth.pods.len() > self.most() {
            let because = format!("{:?} are more than were ever wanted", truth.pods);
            return Some(Wrong::new("never_more_than_wanted", because));
        }
        if let Some(because) = orphan(&truth) {
            return Some(Wrong::new("no_pod_outlives_its_set", because));
        }
        let because = at.machine.is_at_rest().then(|| unwanted(&truth))??;
        Some(Wrong::new("comes_to_what_is_wanted", because))
    }

    fn reaches<'a>(&self, machine: &Stage, _: impl Iterator<Item = &'a Caller> + Clone) -> bool {
        machine.is_at_rest()
    }

    fn describe(&self, call: &Call, outcome: &Step<Answer>) -> String {
        ReplicaSet::describe(call, outcome)
    }
}
