//! The indexed store's page.
//!
//! `cargo seatrial list indexed_store` prints what is checked, and the mutants that break it.

pub mod book;
mod conformance;
mod invariants;
mod many;
mod moments;
mod mutants;
mod op;
mod reference;
mod scenarios;
mod sequential;
mod spec;
mod stage;
pub(crate) mod tests;

use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::trial::{Component, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf, Scenario};
use book::Book;

pub use op::{Labelled, Op, check, decode};
pub use reference::Mistake;
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

    fn never_alone() -> &'static [(&'static str, &'static str)] {
        const NAMES: &str = "`one_moment` detects every breach of this; this invariant names the \
                             breach";
        &[("index_agrees", NAMES), ("refused_writes_are_not_seen", NAMES)]
    }

    fn describe(entry: &OpOf<Self>, _: &Step<RetOf<Self>>) -> String {
        entry.describe("store")
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
