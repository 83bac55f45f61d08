//! The page of reading one's own writes: a client waits until a store shows a version that the
//! client knows, or its own writes.
//!
//! The code that reads and waits is the shipped one, with the rules behind their lock. The store is
//! a plain one with its own lock, so a list can come between a look at the rules and a read.
//!
//! `cargo seatrial list own_writes` prints what is checked, and the mutants that break it.

mod book;
mod invariants;
mod mutants;
mod scenarios;
mod shelf;
mod stage;

use seatrial_core::machine::Step;

use crate::engine::Engine;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf, Scenario,
};

pub use shelf::{Note, Op, Ret, Shelf, Thing, Wish};

/// Reading one's own writes, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct OwnWrites;

type Event = EventOf<OwnWrites>;
type History = HistoryOf<OwnWrites>;

impl Component for OwnWrites {
    type Machine = Shelf;

    const NAME: &'static str = "own_writes";
    const SAYS: &'static str = "reads that wait for a version, or for one's own writes";

    fn machine() -> MachineOf<Self> {
        Box::new(Shelf::default())
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        scenarios::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    /// Some mutants need three preemptions, which is more than loom's bound; others show only in
    /// scenarios with too many traces.
    fn shows_mutant(engine: Engine, mutant: &str) -> bool {
        const OF_MANY_PREEMPTIONS: &[&str] = &[
            "who_reads_does_not_look_back",
            "notes_are_forgotten_although_a_list_goes_back",
            "who_reads_beside_an_older_list_looks_back_too_early",
            "who_reads_beside_an_older_list_looks_once",
        ];
        const OF_MANY_TRACES: &[&str] = &[
            "a_deletion_is_forgotten_before_its_version_is_told",
            "a_deletion_is_forgotten_before_an_older_list_is_stored",
        ];
        match engine {
            Engine::Loom => !OF_MANY_PREEMPTIONS.contains(&mutant),
            Engine::Trace => !OF_MANY_TRACES.contains(&mutant),
            _ => true,
        }
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }

    fn describe(call: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match (call, outcome) {
            (Op::Note(note), _) => format!("{note:?}"),
            (Op::Fresh(call), Step::Wait { .. }) => format!("{call:?} sleeps"),
            (Op::Fresh(call), Step::Done(Ret::Fresh(ret))) => format!("{call:?} -> {ret:?}"),
            (call, outcome) => format!("{call:?} -> {outcome:?}"),
        }
    }
}
