//! The page of the registry: the informers of a program, one of each kind, which start, sync and
//! end together.
//!
//! The registry is the one that ships. It holds members instead of informers: they do only the
//! things that a registry can notice, so that all schedules can be searched. Informers have a page
//! of their own. The invariants judge what a user sees and what members do. The bugs are those of a
//! straightforward first version of a registry (`reference`).
//!
//! `cargo seatrial list registry` prints what is checked, and the mutants that break it.

mod book;
mod invariants;
mod ledger;
mod member;
mod mutants;
mod reference;
mod scenarios;
mod stage;

use seatrial_core::machine::Step;

use crate::engine::Engine;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf, Scenario,
};

pub use book::{Book, Entry, Name, Number};

/// A registry of informers, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Registry;

type Event = EventOf<Registry>;
type History = HistoryOf<Registry>;

impl Component for Registry {
    type Machine = Book;

    const NAME: &'static str = "registry";
    const SAYS: &'static str = "the informers of a program, one of a kind";

    fn machine() -> MachineOf<Self> {
        Box::new(Book::of(None))
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

    /// Two mutants need many traces.
    fn shows_mutant(engine: Engine, mutant: &str) -> bool {
        const OF_MANY_TRACES: &[&str] = &["synced_when_one_is", "one_shut_down_waits"];
        engine != Engine::Trace || !OF_MANY_TRACES.contains(&mutant)
    }

    fn describe(entry: &OpOf<Self>, _: &Step<RetOf<Self>>) -> String {
        entry.as_ref().map_or("Which".to_owned(), |it| format!("{it:?}"))
    }
}
