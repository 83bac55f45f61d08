//! Whole runs of a simulated system: trials without threads, by an engine of their own.
//!
//! A scenario is a program that every engine schedules; a simulation has its own time, its own
//! faults and its own happenings, and its engine only says how many runs there are. What must hold
//! in it, or must not, belongs to it: a simulation may show what a rule cannot exclude. A model of
//! states is one, too: it has no threads either, and its one run is the search of all its states.

use super::component::{Component, MachineOf};
use crate::engine::Kind;
use crate::outcome::{InvariantInfo, Plan, Replayed, Trial};

/// A simulation of a component: one run, or as many random ones as the budget allows.
pub trait Simulation<C: Component>: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// What is simulated, in a sentence.
    fn says(&self) -> &'static str;

    /// Returns which engines run it.
    fn kind(&self) -> Kind {
        Kind::Simulation
    }

    /// Lists what is judged, and what is expected of it.
    fn invariants(&self) -> Vec<InvariantInfo>;

    /// Runs it, with machines that `make` makes.
    fn run(&self, make: fn() -> MachineOf<C>, plan: &Plan) -> Trial;

    /// Runs one of its runs again; `None` if it has no run of that text.
    fn replay(&self, make: fn() -> MachineOf<C>, run: &str) -> Option<Replayed>;
}
