//! The page of the token bucket.
//!
//! The bucket agrees with the one in whole numbers (`plain.rs`) on random calls (`op.rs`). On this
//! page, threads share it, and its bugs are convicted.
//!
//! `cargo seatrial list token_bucket` prints what is checked, and the mutants that break it.

mod conformance;
mod invariants;
mod machine;
mod mutants;
mod op;
mod plain;
mod scenarios;
pub(crate) mod tests;

use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf, Scenario,
};

pub use conformance::conformance;
pub(crate) use conformance::{number, whole};
pub(in crate::limiters) use machine::our_rate;
pub use machine::{Ask, Call, Said, Ships};
pub use op::check;
pub use plain::{Plain, Rate};

/// The token bucket, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Bucket;

type Event = EventOf<Bucket>;
type History = HistoryOf<Bucket>;

/// The rate at which the tokens of a scenario come, and the number that fits.
const RATE: Rate = Rate::PerSecond(2);
const BURST: u8 = 3;

impl Component for Bucket {
    type Machine = Ships;

    const NAME: &'static str = "token_bucket";
    const SAYS: &'static str = "a token bucket: a rate of events per second, and a burst";

    fn machine() -> MachineOf<Self> {
        Box::new(Ships::new(RATE, BURST))
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
        match outcome {
            Step::Done(said) => format!("{:?} -> {said:?}", call.ask),
            _ => format!("{:?}", call.ask),
        }
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance::conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(check)
    }
}
