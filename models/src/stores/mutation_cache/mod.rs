//! The page of the mutation cache and of the mutation detector.
//!
//! `cargo seatrial list mutation_cache` prints what is checked, and the mutants that break it.

pub mod book;
mod invariants;
mod mutants;
mod op;
mod reference;
mod scenarios;
mod stage;
pub(crate) mod tests;

use seatrial_core::machine::Step;

use crate::trial::{
    Component, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
};
use book::Book;

pub use op::{Op, check, decode};
pub use reference::Mistake;

/// The mutation cache, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct MutationCache;

type History = HistoryOf<MutationCache>;

impl Component for MutationCache {
    type Machine = Book;

    const NAME: &'static str = "mutation_cache";
    const SAYS: &'static str =
        "a cache of a client's own writes, in front of a store that does not show them yet";

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

    fn describe(entry: &OpOf<Self>, _: &Step<RetOf<Self>>) -> String {
        entry.describe("cache")
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let mistakes = mutants::of_rules_named(mutant.name)?;
        Some(Box::new(move |bytes| op::check_model(&decode(bytes), mistakes)))
    }
}
