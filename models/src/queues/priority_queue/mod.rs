//! The page of the priority queue.
//!
//! `cargo seatrial list priority_queue` prints what is checked, and the mutants that break it.

mod conformance;
mod figures;
mod invariants;
mod ledger;
mod machine;
mod mutants;
mod op;
mod scenarios;
mod spec;
pub(crate) mod tests;

use seatrial_core::machine::Step;
use seatrial_core::priority_queue::{AddOptions, Op as Call, Ret};
use seatrial_core::queue::Finished;

use crate::conformance::Conformance;
use crate::single_step::Behind;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
};

pub use conformance::conformance;
pub use op::{Op, Ours, check, check_on, decode, machine};

/// The priority queue, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct PriorityQueue;

type Event = EventOf<PriorityQueue>;
type History = HistoryOf<PriorityQueue>;

/// Describes in a few words how an item is added.
fn how(options: AddOptions) -> String {
    let limited = if options.rate_limited { ", failed" } else { "" };
    let after = options.after.map_or_else(String::new, |after| format!(", in {after:?}"));
    format!("priority {}{limited}{after}", options.priority)
}

impl Component for PriorityQueue {
    type Machine = Ours;

    const NAME: &'static str = "priority_queue";
    const SAYS: &'static str = "the work queue that hands out the highest priority first";

    fn machine() -> MachineOf<Self> {
        Box::new(machine())
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
            "workers_do_as_asked",
            "the workers of a pool are no machine, so no mutant is one of them; mutants of the queue \
             that lose a priority also break `keeps_the_highest_priority`",
        )]
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match (op, outcome) {
            (Call::Add(add), _) => {
                let key = add.key.map_or("nothing".to_owned(), |key| key.to_string());
                format!("add {key}, {}", how(add.options))
            }
            (Call::AddBatch(batch), _) => {
                let keys: Vec<u8> = batch.items.iter().filter_map(|(key, _)| *key).collect();
                format!("add {keys:?}, {}", how(batch.options))
            }
            (_, Step::Done(Ret::Get(Some((_, key, priority))))) => {
                format!("get -> {key} of priority {priority}")
            }
            (_, Step::Done(Ret::Get(None))) => "get -> shut down".to_owned(),
            (Call::Get(_), Step::Wait { until: Some(until), .. }) => {
                format!("get sleeps until {until:?}")
            }
            (Call::Get(_), _) => "get sleeps".to_owned(),
            (_, Step::Done(Ret::Done(Finished::NotInProcessing))) => "done: no effect".to_owned(),
            (Call::Done(done), _) => format!("done, delivery {}", done.0.delivery()),
            (Call::Settle(settle), _) => {
                format!("{:?}, delivery {}", settle.outcome, settle.token.delivery())
            }
            (Call::ShutDown(_), _) => "shut down".to_owned(),
            (Call::Len(_), Step::Done(Ret::Len(len))) => format!("len -> {len}"),
            (op, outcome) => format!("{op:?} -> {outcome:?}"),
        }
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        Some(Box::new(move |bytes| check_on(&decode(bytes), Behind(make()))))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }
}
