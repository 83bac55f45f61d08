//! The elector's page.

pub mod conformance;
mod describe;
pub mod hunt;
mod invariants;
mod ledger;
pub mod mutants;
pub mod op;
mod part;
mod road;
mod scenarios;
mod scene;
pub mod spec;
mod store;
mod timeline;

#[cfg(test)]
mod tests;

use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::trial::{Component, DynScenario, EventOf, HistoryOf, Invariant, MachineOf, OpOf, RetOf};

pub use part::{Answer, Ask, Call, Edit, Part, Request, Serve, SetUp};
pub use store::{Served, Store};

/// The elector, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Elector;

type Event = EventOf<Elector>;
type History = HistoryOf<Elector>;

impl Component for Elector {
    type Machine = Part;

    const NAME: &'static str = "elector";
    const SAYS: &'static str = "leader election over a lease in a versioned store";

    fn machine() -> MachineOf<Self> {
        Part::shipped()
    }

    fn scenarios() -> Vec<Box<dyn DynScenario<Self>>> {
        scenarios::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        describe::describe(op, outcome)
    }

    fn conformance() -> Vec<Conformance> {
        conformance::all()
    }
}
