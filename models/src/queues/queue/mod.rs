//! The page of the work queue: its scenarios, its invariants, and the mutants that break them.
//!
//! `cargo seatrial list queue` prints them.

pub(crate) mod conformance;
mod figures;
mod invariants;
mod ledger;
mod many;
mod mutants;
pub mod op;
mod pair;
mod plain;
pub(crate) mod proptest;
mod scenarios;
pub mod states;

use seatrial_core::machine::Step;
use seatrial_core::queue::{Drain, DrainUntil, Fifo, Finished, Op, Queue as Rules, Ret};

use crate::conformance::Conformance;
use crate::queues::fixtures::listener::metrics;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
    Simulation,
};

pub(in crate::queues) use figures::AT_ONCE;
pub use plain::Plain;
pub(in crate::queues) use plain::finished;

/// The work queue, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Queue;

type Event = EventOf<Queue>;
type History = HistoryOf<Queue>;

impl Component for Queue {
    type Machine = Rules<u8>;

    const NAME: &'static str = "queue";
    const SAYS: &'static str = "the de-duplicating work queue";

    fn machine() -> MachineOf<Self> {
        Box::new(Rules::<u8>::measured(Fifo::default(), &metrics()))
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        scenarios::all()
    }

    fn simulations() -> Vec<Box<dyn Simulation<Self>>> {
        states::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    fn never_alone() -> &'static [(&'static str, &'static str)] {
        &[
            (
                "never_concurrent",
                "an extra delivery also breaks `stingy`, or later `nothing_lost` if the item had \
                 been added again; this invariant names the cause",
            ),
            (
                "dirty_is_requeued",
                "`nothing_lost` checks the same moments and more items; this invariant names the \
                 missing requeue",
            ),
        ]
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        let waits = matches!(outcome, Step::Wait { .. });
        match (op, outcome) {
            (Op::Add(add), _) => {
                format!("add {}", add.key.map_or("nothing".to_owned(), |key| key.to_string()))
            }
            (Op::Get(_), Step::Done(Ret::Get(Some((_, key))))) => format!("get -> {key}"),
            (Op::Get(_), Step::Done(_)) => "get -> shut down".to_owned(),
            (Op::Get(_), _) => "get sleeps".to_owned(),
            (_, Step::Done(Ret::Done(Finished::NotInProcessing))) => "done: no effect".to_owned(),
            (Op::AddAll(all), _) => {
                let keys: Vec<_> = all.0.iter().filter_map(|add| add.key).collect();
                format!("add all of {keys:?}")
            }
            (Op::GetBatch(_), Step::Done(Ret::GetBatch(taken))) if !taken.is_empty() => {
                let keys: Vec<_> = taken.iter().map(|(_, key)| key).collect();
                format!("get a batch -> {keys:?}")
            }
            (Op::GetBatch(_), Step::Done(_)) => "get a batch -> shut down".to_owned(),
            (Op::GetBatch(_), _) => "get a batch sleeps".to_owned(),
            (Op::DoneAll(all), _) => {
                let deliveries: Vec<_> = all.0.iter().map(|done| done.0.delivery()).collect();
                format!("done, deliveries {deliveries:?}")
            }
            (Op::Done(done), _) => format!("done, delivery {}", done.0.delivery()),
            (Op::DoneKey(done), _) => format!("done {}", done.key),
            (Op::ShutDown(_), _) => "shut down".to_owned(),
            (Op::Drain(Drain { until, .. }), _) => {
                let strict = *until == DrainUntil::AllWorkDone;
                let kind = if strict { "strict drain" } else { "drain" };
                format!("{kind} {}", if waits { "sleeps" } else { "returns" })
            }
            (Op::Len(_), Step::Done(Ret::Len(len))) => format!("len -> {len}"),
            (Op::ShuttingDown(_), Step::Done(Ret::ShuttingDown(says))) => {
                format!("shutting down -> {says}")
            }
            (op, outcome) => format!("{op:?} -> {outcome:?}"),
        }
    }

    fn conformance() -> Vec<Conformance> {
        conformance::all()
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(op::check_bytes)
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        Some(Box::new(move |bytes| op::check_on(&op::decode(bytes), make())))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }
}
