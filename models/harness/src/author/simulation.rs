//! Whole runs of a simulated system: trials without threads, by an engine of their own.
//!
//! Every engine schedules a scenario, which is a program of threads. A simulation has its own time,
//! its own faults and its own events, and its engine only says how many runs there are. It brings
//! its own invariants and says which of them must be violated: a simulation may show what a rule
//! cannot exclude. A model of states is a simulation, too: it has no threads either, and its one
//! run is the search of all its states.

use super::component::{Component, MachineOf};
use crate::engine::Kind;
use crate::outcome::{InvariantInfo, Plan, Replayed, Trial};

/// A simulation of a component: one run, or as many random ones as the budget allows.
pub trait Simulation<C: Component>: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// A description of the simulated system, in one sentence.
    fn says(&self) -> &'static str;

    /// Returns the kind of program, which decides on the engines that run it.
    fn kind(&self) -> Kind {
        Kind::Simulation
    }

    /// Lists the invariants, and the verdict that is expected of each.
    fn invariants(&self) -> Vec<InvariantInfo>;

    /// Runs it, with machines that `make` makes.
    fn run(&self, make: fn() -> MachineOf<C>, plan: &Plan) -> Trial;

    /// Runs one of its runs again; `None` if it has no run of that text.
    fn replay(&self, make: fn() -> MachineOf<C>, run: &str) -> Option<Replayed>;
}
