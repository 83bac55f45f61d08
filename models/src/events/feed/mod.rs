//! The page of subscriptions: the changes of a store on their way to one reader.
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | every change once, in order, from the beginning on | `told_in_order` | `reader_comes_late`, `task_gives_up` | `told_backwards`, `one_of_two_is_lost` |
//! | a reader that lags is told so | `lagging_is_said` | `slow_reader` | `no_limit`, `the_first_list_makes_room` |
//! | an end is told, and nothing after it | `an_end_is_said` | `ended_anywhere` | `told_behind_the_end` |
//! | changes that no reader gets are returned | `what_is_not_told_comes_back` | `ended_anywhere`, `slow_reader` | `end_drops_under_the_lock`, `what_comes_back_is_mixed_up` |
//! | synced not early | `synced_not_early` | `first_list_is_looked_at` | `synced_when_taken` |
//! | and not stuck | `synced_not_stuck` | `empty_list`, `ended_anywhere` | `finish_wakes_one`, `waits_for_sync_behind_the_end` |
//! | readers wake | `readers_wake` | all | `push_wakes_nobody` |

mod book;
mod invariants;
mod mutants;
mod op;
mod scenarios;
#[cfg(test)]
mod tests;

use seatrial_core::informer::feed::{Feed as Rules, Op as Call, Ret};
use seatrial_core::machine::Step;

use crate::trial::{
    Component, DynScenario, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property,
    RetOf, component_tests,
};

pub use op::{Op, check, check_on, decode};

/// A subscription, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Feed;

type Event = EventOf<Feed>;
type History = HistoryOf<Feed>;

/// How many changes may wait in addition to the first list.
const LIMIT: usize = 3;

/// The rules that ship, for a reader that subscribes before there are objects.
fn rules() -> Rules<u8> {
    Rules::new(Vec::new(), false, LIMIT)
}

impl Component for Feed {
    type Machine = Rules<u8>;

    const NAME: &'static str = "feed";
    const SAYS: &'static str = "subscriptions: queues of changes for one reader each";

    fn machine() -> MachineOf<Self> {
        Box::new(rules())
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
        match (call, outcome) {
            (Call::Push(push), Step::Done(Ret::Push(lost))) => {
                let changes: Vec<_> = push.0.iter().map(|told| told.change).collect();
                format!("push {changes:?}, {} are lost", lost.len())
            }
            (Call::Next(_), Step::Done(Ret::Next(Ok(told)))) => format!("next -> {}", told.change),
            (Call::Next(_), Step::Done(Ret::Next(Err(over)))) => format!("next -> {over}"),
            (Call::Next(_), _) => "next sleeps".to_owned(),
            (Call::Finish(_), _) => "a change was looked at".to_owned(),
            (Call::Complete(_), _) => "the first list is complete".to_owned(),
            (Call::End(_), _) => "it ends".to_owned(),
            (call, outcome) => format!("{call:?} -> {outcome:?}"),
        }
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        Some(Box::new(move |bytes| check_on(&decode(bytes), make())))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }
}

component_tests! {
    Feed;
    scenarios:
        reader_comes_late,
        slow_reader,
        ended_anywhere,
        first_list_is_looked_at,
        empty_list,
        task_gives_up;
    also: mutants, fuzz
}
