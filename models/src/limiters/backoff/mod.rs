//! The page of the keyed back-off.
//!
//! The table agrees with the plain one (`plain.rs`) on random calls (`op.rs`), without jitter. On this
//! page it has jitter, threads share it, and its bugs are convicted.
//!
//! `cargo seatrial list backoff` prints what is checked, and the mutants that break it.

mod conformance;
mod invariants;
mod machine;
mod mutants;
mod op;
mod plain;
mod scenarios;
pub(crate) mod tests;

use std::time::Duration;

use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf, Scenario,
};

pub use conformance::conformance;
pub use machine::{Call, Said, Ships};
pub use op::check;
pub use plain::Plain;

/// The keyed back-off, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Backoff;

type Event = EventOf<Backoff>;
type History = HistoryOf<Backoff>;

/// The first delay of a key.
const INITIAL: Duration = Duration::from_millis(100);
/// The longest delay of a key.
const MAX: Duration = Duration::from_secs(2);
/// The largest random part of a delay, as a fraction of the delay before it was doubled.
const JITTER: f64 = 0.5;

impl Component for Backoff {
    type Machine = Ships;

    const NAME: &'static str = "backoff";
    const SAYS: &'static str =
        "a delay per key that doubles with each failure and is forgotten after a time";

    fn machine() -> MachineOf<Self> {
        Box::new(Ships::new(INITIAL, MAX, JITTER))
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
            (Call::Next(key, _), Step::Done(Said::Delay(delay))) => {
                format!("{key} failed -> {delay:?}")
            }
            (Call::Get(key), Step::Done(Said::Delay(delay))) => {
                format!("delay of {key} -> {delay:?}")
            }
            (call, Step::Done(said)) => format!("{call:?} -> {said:?}"),
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
