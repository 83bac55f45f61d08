//! The page of a watch: the meaning of its bytes, however they are cut.
//!
//! A client reads a watch over a connection that a scenario feeds, on a clock that is moved by
//! hand. So the code that cuts lines out of bytes, the code that reads events, and the code that
//! waits are tried together. The sequential object also makes the mistakes (`spec.rs`).
//!
//! `cargo seatrial list watch` prints what is checked, and the mutants that break it.

mod invariants;
mod machine;
mod mutants;
mod op;
mod pieces;
mod scenarios;
mod spec;
pub(crate) mod tests;

use seatrial_core::machine::Step;

use crate::trial::{
    Component, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
};
use crate::wire::fixtures;

pub use machine::{Call, IDLE, LONGEST, Said, Ships, Told};
pub use op::decode;
pub use spec::Spec;

/// A watch, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Watch;

type History = HistoryOf<Watch>;

impl Component for Watch {
    type Machine = Ships;

    const NAME: &'static str = "watch";
    const SAYS: &'static str =
        "the events of a watch, parsed from the bytes of a server until the stream ends";

    fn machine() -> MachineOf<Self> {
        Box::new(Ships::new())
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

    fn describe(call: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match outcome {
            Step::Done(said) | Step::Held(said) => {
                let open = if said.open { "" } else { ", closed" };
                format!("{call:?} -> {:?}{open}", said.told)
            }
            Step::Wait { .. } => format!("{call:?} waits"),
        }
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| fixtures::check::<Self, Spec>(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        fixtures::tries::<Self, Spec>(mutant, decode)
    }
}
