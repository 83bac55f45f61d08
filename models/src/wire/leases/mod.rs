//! The page of Leases over requests: the requests of a lock, and its reaction to the answers.
//!
//! A lock of an election writes one Lease through a client, to a server that other clients use as
//! well; its clock is moved by hand. The elector itself has its own page.
//!
//! `cargo seatrial list leases` prints what is checked, and the mutants that break it.

mod invariants;
mod machine;
mod mutants;
mod op;
mod scenarios;
mod server;
mod spec;
pub(crate) mod tests;

use seatrial_core::machine::Step;

use crate::trial::{
    Component, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
};
use crate::wire::fixtures;

pub use machine::{Call, Said, Ships};
pub use op::decode;
pub use server::{Change, Trouble};
pub use spec::Spec;

/// A lock in a Lease over requests, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Leases;

type History = HistoryOf<Leases>;

impl Component for Leases {
    type Machine = Ships;

    const NAME: &'static str = "leases";
    const SAYS: &'static str = "election locks that are stored as Leases of a server";

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
                let lines = said.sent.iter().map(|(line, body)| match body {
                    Some(body) => format!(" {line} {body}"),
                    None => format!(" {line}"),
                });
                format!("{call:?}{} -> {}", lines.collect::<String>(), said.told)
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
