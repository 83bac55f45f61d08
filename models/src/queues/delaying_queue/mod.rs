//! The page of the delaying queue.
//!
//! It is a queue to which items are also added when their time comes. So all promises of the queue
//! are judged here too, by the queue's own invariants. They see a history in which every such
//! moment is an add (`as_queue`).
//!
//! `cargo seatrial list delaying_queue` prints what is checked, and the mutants that break it.

mod as_queue;
mod conformance;
mod invariants;
mod mutants;
mod op;
mod plain;
mod scenarios;
pub(crate) mod states;
pub(crate) mod tests;

use seatrial_core::delaying_queue::{AddAfter, Delaying, Op as Call, Ret};
use seatrial_core::machine::Step;
use seatrial_core::queue::{self as core, Fifo};

use crate::conformance::Conformance;
use crate::queue::Queue;
use crate::queues::fixtures::listener::metrics;
use crate::single_step::Behind;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
    Simulation,
};

pub use conformance::conformance;
pub(in crate::queues) use conformance::make_step;
pub(crate) use op::HasDelays;
pub use op::{Op, check, check_on, decode};
pub use plain::Plain;

/// The delaying queue, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct DelayingQueue;

type Event = EventOf<DelayingQueue>;
type History = HistoryOf<DelayingQueue>;

impl Component for DelayingQueue {
    type Machine = Delaying<u8>;

    const NAME: &'static str = "delaying_queue";
    const SAYS: &'static str = "the work queue whose items can be added after a delay";

    fn machine() -> MachineOf<Self> {
        Box::new(Delaying::<u8>::measured(Fifo::default(), &metrics()))
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
                "never_early",
                "an item that is handed out early has not been added yet, so `stingy` breaks as \
                 well; this invariant names the time",
            ),
            (
                "never_concurrent",
                "as in the inner queue, an extra delivery also breaks `stingy`; this invariant \
                 names the cause",
            ),
            (
                "dirty_is_requeued",
                "as in the inner queue, `nothing_lost` checks the same moments and more items; \
                 this invariant names the missing requeue",
            ),
            (
                "shutdown_is_final",
                "an item that is handed out although shutdown ruled it out was never added, so \
                 `stingy` breaks as well; this invariant names the shutdown",
            ),
        ]
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match (op, outcome) {
            (Call::AddAfter(AddAfter { key: Some(key), delay, .. }), _) => {
                format!("add {key} in {delay:?}")
            }
            (Call::Get(_), Step::Wait { until: Some(until), .. }) => {
                format!("get sleeps until {until:?}")
            }
            (_, Step::Done(Ret::Retries(retries))) => format!("retries -> {retries}"),
            _ => match (as_queue::call(op), as_queue::outcome(outcome)) {
                (Some(op), Some(outcome)) => Queue::describe(&op, &outcome),
                _ => format!("{op:?} -> {outcome:?}"),
            },
        }
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        // The sequential object has no steps, so it cannot tell how much one of them does. And a
        // lone caller cannot come between two steps of a drain.
        if mutant.breaks.contains(&"steps_are_bounded") || mutant.name == "drain_begins_late" {
            return None;
        }
        let make = mutant.make;
        Some(Box::new(move |bytes| check_on(&decode(bytes), Behind(make()))))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }
}
