//! The indexed store's page.
//!
//! `cargo seatrial list indexed_store` prints what is checked, and the mutants that break it.

pub mod book;
mod conformance;
mod invariants;
mod many;
mod mutants;
mod op;
mod reference;
mod scenarios;
pub(crate) mod sequential;
mod spec;
mod stage;

use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::stores::fixtures;
use crate::trial::{Component, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf, Scenario};
use book::Book;

pub use op::{Labelled, Op, check, decode};
pub use spec::Spec;

/// The indexed store, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct IndexedStore;

type History = HistoryOf<IndexedStore>;

impl Component for IndexedStore {
    type Machine = Book;

    const NAME: &'static str = "indexed_store";
    const SAYS: &'static str = "the store with views by value";

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
        fixtures::describe(entry.as_ref(), "store")
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance::conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| {
            check(&decode(bytes));
            many::check_bytes(bytes);
        })
    }
}
