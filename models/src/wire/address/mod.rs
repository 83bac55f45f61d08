//! The page of addresses: the target of a request, and its name in metrics.
//!
//! Each call of the builder returns everything that follows from it: address, template, and why the
//! request may not be sent. The recorded traces of the reference are replayed on the page of
//! requests.
//!
//! `cargo seatrial list address` prints what is checked, and the mutants that break it.

mod invariants;
mod machine;
mod mutants;
mod op;
mod scenarios;
mod spec;
mod template;
pub(crate) mod tests;
mod texts;
mod words;

use seatrial_core::machine::Step;

use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
};
use crate::wire::fixtures;

pub use machine::{API, BASES, Call, Said, Ships};
pub use op::decode;
pub use spec::Spec;
pub use words::{Timeout, Uri};

/// Addresses, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Address;

type Event = EventOf<Address>;
type History = HistoryOf<Address>;

impl Component for Address {
    type Machine = Ships;

    const NAME: &'static str = "address";
    const SAYS: &'static str = "the addresses of requests, built part by part, and their templates";

    fn machine() -> MachineOf<Self> {
        Box::new(Ships::new(0, "GET"))
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
            Step::Done(Said { url, template, refused, .. })
            | Step::Held(Said { url, template, refused, .. }) => match (url, template) {
                (Ok(url), Ok(template)) => {
                    let refused = refused.iter().map(|why| format!(" ({why})")).collect::<String>();
                    format!("{call:?} -> {url} as {template}{refused}")
                }
                (Err(why), _) | (_, Err(why)) => format!("{call:?} -> {why}"),
            },
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
