//! The page of the client: its work around the rules of a call, as its server and its caller see
//! it.
//!
//! The rules have their own page, `request`. Here a client sends its requests one after the other,
//! to a server that follows a script, on a clock that is moved by hand. The invariants judge the
//! bodies that come, when they come, which answers are closed, and the final result for the caller.
//!
//! `cargo seatrial list client` prints what is checked, and the mutants that break it.

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

pub use machine::{Call, Pace, Said, Sending, Ships, Told};
pub use op::decode;
pub use server::{Act, Seen};
pub use spec::{Carries, Spec};

/// The client, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Client;

type History = HistoryOf<Client>;

impl Component for Client {
    type Machine = Ships;

    const NAME: &'static str = "client";
    const SAYS: &'static str = "calls of a client, as its server and its caller see them";

    fn machine() -> MachineOf<Self> {
        Box::new(Ships::new(Pace::Free))
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
        &[(
            "calls_begin_anew",
            "a call with other attempts also returns another result, or at another time, so \
             another invariant breaks as well",
        )]
    }

    fn describe(call: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match outcome {
            Step::Done(Said { seen, told: Some(told), at })
            | Step::Held(Said { seen, told: Some(told), at }) => {
                format!("{call:?} {seen:?} -> {told:?} after {at} s")
            }
            Step::Done(_) | Step::Held(_) => format!("{call:?}"),
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
