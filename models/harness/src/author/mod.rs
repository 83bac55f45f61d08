//! The parts that an author writes for a check (a component, its scenarios, its invariants and its
//! mutants), and the record of an execution.

mod along;
mod component;
mod edited;
pub mod figures;
mod history;
mod invariant;
mod ledger;
mod mutant;
mod no_machine;
mod recorder;
mod scenario;
pub(crate) mod shown;
mod simulation;
pub mod told;
mod world;

pub use along::Moment;
pub use component::{Component, EventOf, HistoryOf, MachineOf, OpOf, Property, RetOf};
pub use edited::{Edit, Edited, Forgetful, Retell, Retold, Unaware, at_most, keep_at_most};
pub use history::{Event, History, What};
pub(crate) use invariant::judge;
pub use invariant::{AGREES, Invariant, Kind, REACHES_ITS_CASE};
pub use ledger::Ledger;
pub use mutant::{Mutant, MutantKind, mistakes, mutants};
pub use no_machine::NoMachine;
pub(crate) use recorder::Log;
pub use recorder::{Alone, DynMachine};
pub(crate) use scenario::RUNS_NO_SCENARIO;
pub use scenario::{Scenario, has_many_traces, needs_exact_time, sleeps};
pub use simulation::Simulation;
pub use told::{Mistold, Telling, Told};
pub(crate) use world::MachineMaker;
pub use world::{Join, World};
