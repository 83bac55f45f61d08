//! The DeltaFIFO's page.

mod conformance;
mod invariants;
mod mutants;
mod plain;
mod queue;
mod scenarios;
pub(crate) mod states;
pub(crate) mod tests;
mod view;

use seatrial_core::delta_fifo as core;
use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::events::fixtures::{
    self, NAMES, OF_THE_SHELL, Object, Objects, TAKEN_BACK, Tried, check_many, itself,
};
use crate::trial::{
    Component, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario, Simulation,
};

pub use plain::{MapAndKeys, REFERENCE};
pub use view::View;

/// The DeltaFIFO, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct DeltaFifo;

type Change = core::Delta<u8, Object>;
type Led = fixtures::Led<DeltaFifo>;
type Over<'a> = fixtures::Over<'a, DeltaFifo>;

/// Checks the calls that a fuzzer's bytes decode to.
///
/// # Panics
/// If the queue that ships and the plain one disagree.
pub fn check(bytes: &[u8]) {
    let (config, ops) = DeltaFifo::decode(bytes);
    fixtures::check::<DeltaFifo>(&config, &ops);
}

impl Component for DeltaFifo {
    type Machine = Tried<DeltaFifo>;

    const NAME: &'static str = "delta_fifo";
    const SAYS: &'static str = "the queue of changes, one entry per object";

    fn machine() -> MachineOf<Self> {
        fixtures::machine()
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        scenarios::all()
    }

    fn simulations() -> Vec<Box<dyn Simulation<Self>>> {
        states::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    fn never_alone() -> &'static [(&'static str, &'static str)] {
        &[
            ("deletions_are_deduplicated", NAMES),
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
            check_many(bytes, |system| core::DeltaFifo::new(system, itself));
        })
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        Some(fixtures::fuzz_mutant(mutant))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::of_wakes().iter().any(|edited| edited.name == mutant.name)
    }
}
