//! The indexed store's page.
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | index and objects agree whenever they are read | `index_agrees` | `value_added_beside_readers` | `indexed_afterwards`, `index_key_by_key` |
//! | refused objects are never seen | `refused_writes_are_not_seen` | `refused_beside_readers` | `stored_before_indexed` |
//! | every call is one step | `one_moment` | all | `cleared_first`, `index_is_filled_afterwards` |

pub mod book;
mod conformance;
mod invariants;
mod moments;
mod mutants;
mod op;
mod reference;
mod scenarios;
mod sequential;
mod spec;
mod stage;
#[cfg(test)]
mod tests;

use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::trial::{
    Component, DynScenario, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf, component_tests,
};
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

    fn scenarios() -> Vec<Box<dyn DynScenario<Self>>> {
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
        Some(|bytes| check(&decode(bytes)))
    }
}

component_tests! {
    IndexedStore;
    scenarios:
        value_added_beside_readers,
        moved_beside_readers,
        moved_from_many_beside_reader,
        deleted_beside_readers,
        index_added_beside_writer,
        index_added_beside_list,
        list_beside_transaction,
        list_beside_readers,
        refused_beside_readers,
        snapshot_beside_writer;
    also: mutants, conformance, fuzz
}
