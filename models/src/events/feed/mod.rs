//! The page of subscriptions: the changes of a store on their way to one reader.
//!
//! `cargo seatrial list feed` prints what is checked, and the mutants that break it.

mod book;
mod invariants;
mod mutants;
mod op;
mod scenarios;

use seatrial_core::informer::feed::{Feed as Rules, Op as Call, Ret};
use seatrial_core::machine::Step;

use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
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
