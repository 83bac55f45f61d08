//! The page of the client: its work around the rules of a call, as its server and its caller see
//! it.
//!
//! The rules have their own page, `request`. Here a client sends its requests one after the other,
//! to a server that follows a script, on a clock that is moved by hand. The invariants judge the
//! bodies that come, when they come, which answers are closed, and the final result for the caller.
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | each attempt has the whole body | `bodies_go_whole` | `requests_are_sent_again` | `body_goes_once`, `used_up_is_empty` |
//! | it is made in time for that attempt | `bodies_are_made_in_time` | `requests_are_sent_again` | `made_while_it_is_read` |
//! | calls of one request share nothing | `calls_begin_anew` | `requests_are_sent_again` | `attempts_pile_up` |
//! | pauses and turns are kept | `attempts_come_when_due` | `a_host_has_too_much_to_do` | `memory_is_of_a_request`, `keeps_a_turn` |
//! | a cancelled call is over at once | `ends_at_once` | `calls_are_cancelled` | `pause_cannot_be_ended` |
//! | callers can test for the cause | `causes_are_kept` | `bodies_break` | `half_is_words`, `turn_is_words` |
//! | answers are closed | `answers_are_closed` | `requests_are_sent_again` | `answers_stay_open` |

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

pub use machine::{Call, Pace, Said, Sending, Ships, Told};
pub use op::{check, check_on, decode};
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
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        Some(Box::new(move |bytes| check_on(&decode(bytes), Boxed(make()))))
    }
}

component_tests! {
    Client;
    scenarios:
        requests_are_sent_again,
        bodies_break,
        a_host_has_too_much_to_do,
        calls_are_cancelled,
        two_send;
    also: mutants, fuzz
}
