//! The page of a watch: the meaning of its bytes, however they are cut.
//!
//! A client reads a watch over a connection that a scenario feeds, on a clock that is moved by
//! hand. So the code that cuts lines out of bytes, the code that reads events, and the code that
//! waits are tried together. The sequential object reads all bytes anew each time (`spec.rs`).
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | no event is lost, doubled or changed | `events_come_whole_and_once` | `events_in_pieces` | `parts_are_lost`, `text_of_each_piece` |
//! | nothing is dropped silently | `nonsense_is_told` | `servers_say_nonsense` | `nonsense_is_dropped` |
//! | an error comes last | `errors_are_told_and_the_last` | `servers_say_nonsense` | `goes_on_after_errors` |
//! | memory is bounded | `lines_are_bounded` | `lines_at_the_limit` | `only_whole_lines` |
//! | it ends when it should, and not before | `ends_when_it_should` | `a_server_is_silent` | `idle_from_the_start`, `idle_from_the_wait` |
//! | it tells nothing after the end | `nothing_after_the_end` | `cancelled_while_events_come` | `tells_after_cancel` |
//! | and closes its connection | `open_until_the_end` | `connections_end` | `closes_too_early`, `stays_open` |

mod invariants;
mod machine;
mod mistaken;
mod mutants;
mod op;
mod pieces;
mod scenarios;
mod spec;
#[cfg(test)]
mod tests;

use seatrial_core::machine::{Boxed, Step};

use crate::trial::{
    Component, DynScenario, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf,
    component_tests,
};

pub use machine::{Call, IDLE, LONGEST, Said, Ships, Told};
pub use op::{check, check_on, decode};
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
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let call = match call {
            Call::Bytes(bytes) => format!("\"{}\"", text(bytes)),
            Call::Cancel(bytes) => format!("\"{}\" and cancelled", text(bytes)),
            call => format!("{call:?}"),
        };
        match outcome {
            Step::Done(said) | Step::Held(said) => {
                let open = if said.open { "" } else { ", closed" };
                format!("{call} -> {:?}{open}", said.told)
            }
            Step::Wait { .. } => format!("{call} waits"),
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
    Watch;
    scenarios:
        events_in_pieces,
        servers_say_nonsense,
        lines_at_the_limit,
        a_server_is_silent,
        connections_end,
        cancelled_while_events_come;
    also: mutants, fuzz
}
