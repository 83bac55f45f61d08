//! A trial: scenario, machine, engine, history, invariants, verdict.

mod budget;
mod case;
mod component;
pub(crate) mod component_tests;
#[cfg(test)]
mod determinism;
mod edited;
mod finding;
mod fuzzing;
mod history;
mod invariant;
mod judge;
mod ledger;
#[cfg(feature = "loom")]
mod looming;
#[cfg(feature = "shuttle")]
mod minimise;
mod mutant;
mod recorder;
mod scenario;
#[cfg(feature = "shuttle")]
mod shuttling;
mod simulation;
mod states;
mod subject;
mod tally;
mod witness;
mod world;

use std::convert::Infallible;

use seatrial_core::machine::{Cx, Machine, Step};

pub use budget::Budget;
pub(crate) use case::Case;
pub use case::{Plan, Replayed, Trial};
pub use component::{Component, EventOf, HistoryOf, MachineOf, OpOf, Property, RetOf};
pub(crate) use component_tests::component_tests;
pub(crate) use edited::{Edit, Edited, Retell, Retold, at_most, keep_at_most};
pub use finding::{Finding, Line, transcript};
pub use fuzzing::MADE_UP_CALLS;
pub use history::{Event, History, What};
pub use invariant::{
    AGREES, Expect, Invariant, Kind, NEVER_PANICS, REACHES_ITS_CASE, TERMINATES, Violation,
};
pub use judge::{StopAt, Violated};
pub(crate) use ledger::Ledger;
pub use mutant::{Mutant, MutantKind};
pub(crate) use mutant::{mistakes, mutants};
pub use recorder::DynMachine;
pub use scenario::{DynScenario, Scenario};
pub use simulation::Simulation;
pub use states::States;
pub use subject::{InvariantInfo, MutantInfo, ScenarioInfo, Subject, subject};
pub use tally::Left;
#[cfg(all(test, feature = "shuttle"))]
pub(crate) use tally::Tally;
pub use witness::{VERSION, Witness, WitnessError, digest};
pub use world::{Observed, World};

/// The machine of a component that has none of its own: its scenarios say everything by notes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoMachine;

impl Machine for NoMachine {
    type Op = Infallible;
    type Ret = Infallible;

    fn step(&mut self, op: &mut Infallible, _: &mut Cx<'_>) -> Step<Infallible> {
        match *op {}
    }
}
