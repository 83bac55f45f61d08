//! The page of Leases over requests: the requests of a lock, and its reaction to the answers.
//!
//! A lock of an election writes one Lease through a client, to a server that other clients use as
//! well; its clock is moved by hand. The elector itself has its own page.
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | data of others is kept | `others_keep_what_is_theirs` | `others_write_as_well` | `whole_is_new`, `labels_are_new` |
//! | no write of others is undone | `updates_name_their_version` | `others_write_as_well` | `names_no_version` |
//! | servers can read the record | `records_are_written_as_they_are` | `others_write_as_well` | `writes_nanos` |
//! | only the elector repeats a call | `each_is_sent_once` | `requests_are_refused` | `repeats_refused`, `takes_turns` |
//! | it gets an answer in time | `calls_are_bounded` | `requests_are_lost` | `waits_for_ever` |
//! | and the right one | `tells_what_became_of_it` | `requests_are_lost` | `lost_is_known` |

mod invariants;
mod machine;
mod mistake;
mod mutants;
mod op;
mod scenarios;
mod server;
mod spec;
#[cfg(test)]
mod tests;

use seatrial_core::machine::{Boxed, Step};

use crate::trial::{
    Component, DynScenario, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf,
    component_tests,
};

pub use machine::{Call, Said, Ships};
pub use op::{check, check_on, decode};
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

    fn scenarios() -> Vec<Box<dyn DynScenario<Self>>> {
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
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        Some(Box::new(move |bytes| check_on(&decode(bytes), Boxed(make()))))
    }
}

component_tests! {
    Leases;
    scenarios:
        others_write_as_well,
        requests_are_refused,
        requests_are_lost,
        two_write;
    also: mutants, fuzz
}
