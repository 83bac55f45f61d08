//! The page of addresses: the target of a request, and its name in metrics.
//!
//! Each call of the builder returns everything that follows from it: address, template, and why the
//! request may not be sent. The recorded traces of the reference are replayed on the page of
//! requests.
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | the first mistake sticks | `first_mistake_is_told` | `mistakes_are_made` | `last_mistake_counts`, `tells_the_resource` |
//! | a part adds only its own segments | `parts_stay_segments` | `mistakes_are_made` | `slashes_pass` |
//! | paths are those of the reference | `paths_are_right` | `paths_are_joined` | `dots_stay`, `forgets_the_base` |
//! | and so are parameters | `parameters_are_right` | `parameters_come_together` | `timeout_is_added` |
//! | metrics contain no names | `templates_name_nobody` | `paths_of_all_shapes` | `base_is_counted` |
//! | reading changes nothing | `telling_changes_nothing` | `paths_of_all_shapes` | `changes_the_request` |
//! | one object has a namespace | `one_object_has_its_namespace` | `namespaces_are_empty` | `patch_is_refused` |

mod invariants;
mod machine;
mod mistake;
mod mutants;
mod op;
mod scenarios;
mod spec;
mod template;
#[cfg(test)]
mod tests;
mod texts;
mod words;

use seatrial_core::machine::{Boxed, Step};

use crate::trial::{
    Component, DynScenario, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property,
    RetOf, component_tests,
};

pub use machine::{API, BASES, Call, Said, Ships};
pub use op::{check, check_on, decode};
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
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        Some(Box::new(move |bytes| check_on(&decode(bytes), Boxed(make()))))
    }
}

component_tests! {
    Address;
    scenarios:
        parts_are_set,
        mistakes_are_made,
        paths_are_joined,
        parameters_come_together,
        paths_of_all_shapes,
        namespaces_are_empty,
        two_threads_build;
    also: mutants, fuzz
}
