//! The page of the workers at a queue: a pool at the rate-limiting queue, and workers that are
//! tasks.
//!
//! `cargo seatrial list pool` prints what is checked, and the mutants that break it.

mod invariants;
mod ledger;
mod mutants;
mod scenarios;

use std::time::Duration;

use seatrial_core::limited_queue::Limited;
use seatrial_core::limiter::Exponential;
use seatrial_core::machine::Step;
use seatrial_core::queue::Fifo;

use crate::limited_queue::LimitedQueue;
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
        LimitedQueue::describe(op, outcome)
    }
}
