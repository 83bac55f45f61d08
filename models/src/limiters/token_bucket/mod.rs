//! The page of the token bucket.
//!
//! The bucket agrees with the one in whole numbers on random calls (`op.rs`). On this page, threads
//! share it, and its bugs are convicted.
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | no more tokens are granted than there are | `grants_no_more` | `two_threads_reserve`, `clocks_read_early` | `allow_borrows`, `time_runs_backwards` |
//! | all available tokens are granted | `grants_what_there_is` | `two_threads_reserve`, `odd_rates` | `starts_empty`, `unlimited_counts` |
//! | no caller goes on before the tokens come | `nobody_goes_early` | `two_threads_reserve` | `no_debt` |
//! | nor later | `nobody_goes_late` | `cancelled_in_any_order` | `gives_nothing_back` |
//! | the balance is right | `balance_is_told` | `cancelled_in_any_order`, `settings_change` | `gives_all_back`, `rate_of_now` |

mod conformance;
mod invariants;
mod machine;
mod mutants;
mod op;
mod scenarios;
mod spec;
#[cfg(test)]
mod tests;

use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::trial::{
    Component, DynScenario, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf,
    component_tests,
};

pub use conformance::conformance;
pub(crate) use conformance::{number, whole};
pub use machine::{Ask, Call, Said, Ships};
pub use op::{Op, Setup, check, decode};
pub use spec::{Rate, Reserved, Spec};

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
            Step::Done(said) => format!("{:?} -> {said:?}", call.ask),
            _ => format!("{:?}", call.ask),
        }
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance::conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| {
            let (setup, ops) = decode(bytes);
            check(setup, &ops);
        })
    }
}

component_tests! {
    Bucket;
    scenarios:
        two_threads_reserve,
        cancelled_in_any_order,
        clocks_read_early,
        settings_change,
        odd_rates;
    also: mutants, conformance, fuzz
}
