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

use seatrial_core::machine::Step;

use crate::stores::fixtures;
use crate::trial::{
    Component, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
};
use book::Book;

pub(crate) use op::check_mistaken;
pub use op::{Op, check, decode};

/// The mutation cache, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct MutationCache;

type History = HistoryOf<MutationCache>;

/// The mistake that makes other callers wait: a lone caller cannot see it.
const OF_THE_LOCK: &str = "add_waits_for_the_comparison";

/// A mistake of no mutant: in every scenario the cache includes what the store lacks.
pub(crate) const OTHER: &str = "added_is_always_included";

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
        fixtures::describe(entry.as_ref(), "cache")
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let name = mutant.name;
        (name != OF_THE_LOCK)
            .then(|| Box::new(move |bytes: &[u8]| check_mistaken(bytes, name)) as _)
    }
}
