//! The ordered FIFO's page.

mod by_hand;
mod conformance;
mod invariants;
mod mutants;
mod plain;
mod queue;
mod scenarios;
pub(crate) mod tests;

use std::sync::Arc;

use seatrial_core::machine::Step;
use seatrial_core::ordered_fifo::{self as core, Options};
use seatrial_core::store::{IndexedStore, Intake};

use crate::conformance::Conformance;
use crate::events::fixtures::{
    self, NAMES, OF_THE_SHELL, Object, Objects, TAKEN_BACK, Tried, check_many, itself,
};
use crate::trial::{Component, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario};

pub(crate) use mutants::OTHERS;
pub use plain::{EventList, REFERENCE};
pub use queue::View;

/// The ordered FIFO, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct OrderedFifo;

type Happened = core::Event<u8, Object>;
type Led = fixtures::Led<OrderedFifo>;
type Over<'a> = fixtures::Over<'a, OrderedFifo>;

/// Checks the calls that a fuzzer's bytes decode to.
///
/// # Panics
/// If the queue that ships and the plain one disagree.
pub fn check(bytes: &[u8]) {
    let (config, ops) = OrderedFifo::decode(bytes);
    fixtures::check::<OrderedFifo>(&config, &ops);
}

impl Component for OrderedFifo {
    type Machine = Tried<OrderedFifo>;

    const NAME: &'static str = "ordered_fifo";
    const SAYS: &'static str = "the queue of events in their order of arrival";

    fn machine() -> MachineOf<Self> {
        fixtures::machine()
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
        &[
            ("transformed_once", OF_THE_SHELL),
            ("nothing_is_lost", NAMES),
            ("synced_for_good", TAKEN_BACK),
        ]
    }

    fn describe(call: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        fixtures::describe::<Self>(call, outcome)
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance::conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| {
            check(bytes);
            check_many(bytes, |system| {
                let known = Arc::new(IndexedStore::new(system, itself));
                let intake = Intake::new(system, itself);
                core::OrderedFifo::with_options(system, intake, Options::plain(known))
            });
        })
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        (!mutants::is_of_the_lock(mutant)).then(|| fixtures::fuzz_mutant(mutant))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::of_wakes().iter().any(|edited| edited.name == mutant.name)
    }
}
