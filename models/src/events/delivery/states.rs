//! The way from the server to the reconciled key as states: an informer, two workers, callers that
//! let things happen, and one caller that stops everything at rest. No caller loops for ever, and
//! at rest everything is reconciled: so under weak fairness every change is reconciled.

use seatrial_core::informer::SourceKind;
use seatrial_core::machine::{Cx, Operation as _, Step};

use super::Delivery;
use super::chain::{
    Answer, Begin, Call, Chain, Finish, Inform, Informed, Occur, StopAtRest, Take, Work,
};
use crate::engine::state::{
    Bytes, Explored, Jumps, Moment, Place, Programs, Rules as May, WakeUps, Wrong,
};
use crate::reflector::Happen::{self, Meet, Remove, Write};
use crate::reflector::Trouble::Breaks;
use crate::reflector::programs;
use crate::single_step::{HandClock, hash};
use crate::trial::{Component as _, Simulation, States};

/// One instruction of a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Do {
    /// Informs until everything stops.
    Informs,
    /// Reconciles until everything stops.
    Works,
    /// Lets something happen.
    Lets(Happen),
    /// Stops everything once this many things have happened and everything is at rest.
    Stops(u32),
}

/// A caller's position in its program, and the work that it holds.
type Caller = (Place, Option<Work>);

/// The chain, and the callers that let things happen.
#[derive(Clone, Debug)]
pub(super) struct EndToEnd {
    programs: Programs<Do>,
    begin: Begin,
    mistake: &'static str,
}

impl EndToEnd {
    fn new(begin: Begin, happen: &[&[Happen]]) -> Self {
        let others: [&[Do]; 3] = [&[Do::Informs], &[Do::Works], &[Do::Works]];
        let programs = programs(&others, happen, Do::Lets, Do::Stops);
        Self { programs, begin, mistake: "" }
    }

    /// The same with a mistake.
    pub(super) fn mistaken(self, mistake: &'static str) -> Self {
        Self { mistake, ..self }
    }
}

pub(super) fn changes() -> EndToEnd {
    let breaks = [Meet(Breaks(SourceKind::Expired))];
    EndToEnd::new(Begin(1, 0), &[&[Write(0), Remove(0)], &breaks])
}

pub(super) fn failures() -> EndToEnd {
    EndToEnd::new(Begin(2, 2), &[&[Write(0)]])
}

/// A model: its name, what happens, and how it is made.
type Named = (&'static str, &'static str, fn() -> EndToEnd);

/// Lists the models.
pub(super) fn all() -> Vec<Box<dyn Simulation<Delivery>>> {
    const RULES: May =
        May { symmetric: false, jumps: Jumps::AtStandstill, wake_ups: WakeUps::Any, spurious: 0 };
    let models: [Named; 2] = [
        (
            "states_of_changes",
            "two workers reconcile; an object changes and is deleted, and a stream breaks",
            changes,
        ),
        ("states_of_failures", "two reconciles fail, and an object changes meanwhile", failures),
    ];
    let model = |(name, says, subject)| {
        let judges = &["every_change_is_reconciled"];
        Box::new(States { name, says, judges, subject, rules: RULES }) as Box<dyn Simulation<_>>
    };
    models.into_iter().map(model).collect()
}

impl Explored for EndToEnd {
    type Machine = Chain;
    type Caller = Caller;

    fn machine(&self) -> Chain {
        let mut chain = Chain::new(self.mistake);
        let clock = HandClock::default();
        let begun = Begin(self.begin.0, self.begin.1).step(&mut chain, &mut Cx::new(&clock));
        assert!(matches!(begun, Step::Done(())), "the stage is set at once");
        chain
    }

    fn callers(&self) -> Vec<Caller> {
        self.programs.places().into_iter().map(|at| (at, None)).collect()
    }

    fn next(&self, (at, work): &Caller) -> Option<Call> {
        Some(match (self.programs.call(*at)?, work) {
            (Do::Informs, _) => Call::Inform(Inform),
            (Do::Works, None) => Call::Take(Take),
            (Do::Works, Some(work)) => Call::Finish(Finish(*work)),
            (Do::Lets(happen), _) => Call::Occur(Occur(happen)),
            (Do::Stops(count), _) => Call::StopAtRest(StopAtRest(count)),
        })
    }

    fn returned(&self, (at, work): &mut Caller, ret: Answer) {
        match ret {
            Answer::Inform(informed) if informed != Informed::Stopped => {}
            Answer::Take(Some(taken)) => *work = Some(taken),
            Answer::Finish(_) => *work = None,
            _ => at.advance(),
        }
    }

    fn view(&self, machine: &Chain, into: &mut Bytes) {
        into.number(hash(&machine.form()));
    }

    fn view_caller(&self, _: &Chain, caller: &Caller, _: Option<&Call>, into: &mut Bytes) {
        self.programs.view(caller.0, into);
        into.maybe(caller.1.map(|work| u64::from(work.key) << 32 | work.saw));
    }

    fn wrong<'a>(
        &self,
        at: Moment<'_, Chain>,
        _: impl Iterator<Item = &'a Caller> + Clone,
    ) -> Option<Wrong> {
        let differs = at.machine.is_at_rest().then(|| at.machine.differences());
        differs.filter(|keys| !keys.is_empty()).map(|keys| {
            Wrong::new("every_change_is_reconciled", format!("all rests, but for keys {keys:?}"))
        })
    }

    fn reaches<'a>(&self, machine: &Chain, _: impl Iterator<Item = &'a Caller> + Clone) -> bool {
        machine.is_at_rest()
    }

    fn describe(&self, call: &Call, outcome: &Step<Answer>) -> String {
        Delivery::describe(call, outcome)
    }
}
