//! A component under trial: its machine, its promises, and the ways to break it.

use std::fmt::Debug;

use seatrial_core::machine::{Machine, Step};

use super::history::{Event, History};
use super::invariant::Invariant;
use super::mutant::Mutant;
use super::recorder::DynMachine;
use super::scenario::Scenario;
use super::simulation::Simulation;
use crate::conformance::Conformance;
use crate::engine::Engine;
use crate::outcome::Picture;

/// The calls of a component, as data.
pub type OpOf<C> = <<C as Component>::Machine as Machine>::Op;
/// The results of a component's calls, as data.
pub type RetOf<C> = <<C as Component>::Machine as Machine>::Ret;
/// An event of a component.
pub type EventOf<C> = Event<OpOf<C>, RetOf<C>>;
/// An execution of a component.
pub type HistoryOf<C> = History<OpOf<C>, RetOf<C>>;
/// A component's machine behind a pointer: the real one or a mutant.
pub type MachineOf<C> = DynMachine<OpOf<C>, RetOf<C>>;

/// Checks the calls that any bytes decode to. It panics on a failure.
pub type Property = Box<dyn Fn(&[u8])>;

/// A part under trial: one value that lists everything known about it.
pub trait Component: Sized + Send + Sync + 'static {
    /// The part's machine. One that has none says [`NoMachine`](super::NoMachine).
    type Machine: Machine<Op: Clone + Debug, Ret: Clone + Debug>;

    /// Its name in reports and patterns.
    const NAME: &'static str;
    /// A description of the component, in one line.
    const SAYS: &'static str;

    /// Makes the machine that ships.
    fn machine() -> MachineOf<Self>;

    /// Lists the concurrent programs that are run on it.
    fn scenarios() -> Vec<Scenario<Self>>;

    /// Lists the simulations of it.
    fn simulations() -> Vec<Box<dyn Simulation<Self>>> {
        Vec::new()
    }

    /// Lists what must hold in every execution of every scenario.
    fn invariants() -> Vec<Invariant<Self>>;

    /// Lists the broken variants that the invariants must convict.
    fn mutants() -> Vec<Mutant<Self>> {
        Vec::new()
    }

    /// Whether this engine must find mutants of this component: false for one that hardly can.
    fn shows_mutants(_engine: Engine) -> bool {
        true
    }

    /// Whether this engine must find this mutant.
    fn shows_mutant(_engine: Engine, _mutant: &str) -> bool {
        true
    }

    /// Draws pictures of the results of its simulations, for the report.
    fn pictures() -> Vec<Picture> {
        Vec::new()
    }

    /// Lists the invariants that convict no mutant of their own, each with the reason why they are
    /// worth stating nevertheless.
    fn never_alone() -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Tells in a few words what a step did, for pictures and histories.
    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match outcome {
            Step::Done(ret) | Step::Held(ret) => format!("{op:?} -> {ret:?}"),
            Step::Wait { .. } => format!("{op:?} waits"),
        }
    }

    /// Lists how recorded traces of the reference are replayed on it.
    fn conformance() -> Vec<Conformance> {
        Vec::new()
    }

    /// Returns the property that fuzzers feed with bytes, if there is one. It panics on a failure.
    fn fuzz() -> Option<fn(&[u8])> {
        None
    }

    /// Returns the same property of a mutant, if it can take the place of the machine that ships.
    fn fuzz_mutant(_mutant: &Mutant<Self>) -> Option<Property> {
        None
    }

    /// Tells whether a mutant is broken only in whom it wakes: calls that come one after another
    /// cannot show that.
    fn is_of_waking(_mutant: &Mutant<Self>) -> bool {
        false
    }
}
