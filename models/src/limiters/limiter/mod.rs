//! The page of the limiters.
//!
//! Every limiter agrees with the plain one (`plain.rs`) on random calls (`op.rs`). On this page, threads
//! share the limiter that controllers use: a delay for each item and a pace for all items, and the
//! longer one counts. Its bugs are convicted.
//!
//! `cargo seatrial list limiter` prints what is checked, and the mutants that break it.

mod conformance;
mod invariants;
mod machine;
mod mutants;
mod op;
mod plain;
mod scenarios;
pub(crate) mod tests;

use std::time::Duration;

use seatrial_core::limiter::Limiter as Asked;
use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::token_bucket::Rate;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf, Scenario,
};

pub(crate) use conformance::limiter_of;
pub use machine::{Alone, Call, Said};
pub use op::{check, limiter};
pub use plain::{Plain, Shape};

/// The limiters, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Limiter;

type Event = EventOf<Limiter>;
type History = HistoryOf<Limiter>;

/// The first delay of an item.
const BASE: Duration = Duration::from_millis(5);
/// The longest delay of an item.
const MAX: Duration = Duration::from_secs(1_000);

/// A delay per item.
fn per_item() -> Shape {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).expect("a short time");
    Shape::Exponential { base: nanos(BASE), max: nanos(MAX) }
}

/// A pace for all items.
fn paced() -> Shape {
    Shape::Bucket { rate: Rate::PerSecond(10), burst: 3 }
}

/// The limiter that controllers use: the longer one of both delays.
fn shape() -> Shape {
    Shape::MaxOf(vec![per_item(), paced()])
}

impl Component for Limiter {
    type Machine = Alone<Box<dyn Asked<u8>>>;

    const NAME: &'static str = "limiter";
    const SAYS: &'static str = "delays after failures, per item and shared by all items";

    fn machine() -> MachineOf<Self> {
        Box::new(Alone(limiter(&shape())))
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
            (Call::When(key), Step::Done(Said::Delay(delay))) => {
                format!("{key} failed -> {delay:?}")
            }
            (Call::NumRequeues(key), Step::Done(Said::Count(count))) => {
                format!("failures of {key} -> {count}")
            }
            (call, _) => format!("{call:?}"),
        }
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance::conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(check)
    }
}
