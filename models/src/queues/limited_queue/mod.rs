//! The page of the rate-limiting queue.
//!
//! It is a delaying queue to which failed items are added after the delay of a limiter. So all
//! promises of the delaying queue are judged here too, by its own invariants. They see a history in
//! which every failure is replaced by the delay that a correct limiter gives (`as_delaying`).

mod as_delaying;
mod conformance;
mod invariants;
mod mutants;
mod op;
mod scenarios;
mod spec;
pub(crate) mod tests;

use std::time::Duration;

use seatrial_core::limited_queue::{AddRateLimited, Op as Call, Ret, Settle};
use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::delaying_queue::DelayingQueue;
use crate::single_step::Behind;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
};

pub use op::{Op, Ours, check, check_on, decode, machine};
pub use spec::Spec;

/// The rate-limiting queue, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct LimitedQueue;

type Event = EventOf<LimitedQueue>;
type History = HistoryOf<LimitedQueue>;

/// Returns the delay after this many earlier failures: it doubles with each (`workqueue:RL-2`).
fn delay_after(failures: u32) -> Duration {
    (0..failures).fold(op::BASE, |delay, _| delay.saturating_mul(2).min(op::MAX)).min(op::MAX)
}

impl Component for LimitedQueue {
    type Machine = Ours;

    const NAME: &'static str = "limited_queue";
    const SAYS: &'static str =
        "the work queue whose failed items come back after a limiter's delay";

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
            "never_early",
            "as in the inner queue, an item that is handed out early has not been added yet, so \
             `stingy` breaks as well; this invariant names the time",
        )]
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match (op, outcome) {
            (Call::AddRateLimited(AddRateLimited { key: Some(key), .. }), _) => {
                format!("{key} failed")
            }
            (Call::Forget(forget), _) => format!("forget {}", forget.key),
            (Call::NumRequeues(ask), Step::Done(Ret::NumRequeues(count))) => {
                format!("failures of {} -> {count}", ask.key)
            }
            (Call::Settle(Settle { outcome, .. }), Step::Done(Ret::Settle(finished))) => {
                format!("{outcome:?} -> {finished:?}")
            }
            _ => match (as_delaying::call(op), as_delaying::outcome(outcome)) {
                (Some(op), Some(outcome)) => DelayingQueue::describe(&op, &outcome),
                _ => format!("{op:?} -> {outcome:?}"),
            },
        }
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance::conformance()]
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
