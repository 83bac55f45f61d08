//! The page of the workers at a queue: a pool at the rate-limiting queue, and workers that are
//! tasks.
//!
//! `cargo seatrial list pool` prints what is checked, and the mutants that break it.

mod invariants;
mod ledger;
mod mutants;
mod scenarios;

use std::time::Duration;

use seatrial_core::limited_queue::{Limited, Op, Ret, Settle};
use seatrial_core::limiter::Exponential;
use seatrial_core::machine::Step;
use seatrial_core::queue::{Done, Fifo};

use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf, Scenario,
};

/// Workers at a queue, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Pool;

type Rules = Limited<u8, Exponential<u8>>;
type Event = EventOf<Pool>;
type History = HistoryOf<Pool>;

/// The delay after the first failure of a key; each further failure doubles it.
const BASE: Duration = Duration::from_millis(10);

fn rules() -> Rules {
    Limited::new(Exponential::new(BASE, Duration::from_secs(1)), Fifo::default())
}

impl Component for Pool {
    type Machine = Rules;

    const NAME: &'static str = "pool";
    const SAYS: &'static str = "workers that take keys from a rate-limiting queue";

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

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match (op, outcome) {
            (Op::Add(add), _) => {
                format!("add {}", add.key.map_or("nothing".to_owned(), |key| key.to_string()))
            }
            (Op::Get(_), Step::Done(Ret::Get(Some((_, key))))) => format!("get -> {key}"),
            (Op::Get(_), Step::Done(_)) => "get -> shut down".to_owned(),
            (Op::Get(_), Step::Wait { until: Some(until), .. }) => {
                format!("get sleeps until {until:?}")
            }
            (Op::Get(_), _) => "get sleeps".to_owned(),
            (Op::Settle(Settle { token, outcome, .. }), _) => {
                format!("settle delivery {}: {outcome:?}", token.delivery())
            }
            (Op::Done(Done(token)), _) => format!("release delivery {}", token.delivery()),
            (Op::NumRequeues(asked), Step::Done(Ret::NumRequeues(count))) => {
                format!("failures of {} -> {count}", asked.key)
            }
            (Op::Len(_), Step::Done(Ret::Len(len))) => format!("len -> {len}"),
            (Op::ShutDown(_), _) => "shut down".to_owned(),
            (op, outcome) => format!("{op:?} -> {outcome:?}"),
        }
    }
}
