//! The page of the workers at a queue: a pool at the rate-limiting queue, and workers that are
//! tasks.
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | a key is never reconciled by two workers at a time | `never_concurrent` | `added_while_reconciled` | `delivery_ends_at_once` |
//! | a failed key is tried again, no earlier than its back-off says | `backs_off` | `panicking_key` | `retry_at_once` |
//! | and at some time | `failed_is_tried_again` | `panicking_key` | `retry_gives_up` |
//! | success forgets the failures, failure does not | `failures_are_counted` | `panicking_key` | `success_keeps_failures` |
//! | a key that failed for good, or too often, is given up | `given_up_is_given_up` | `judged_errors`, `judging_task`, `gives_up` | `given_up_is_retried`, `attempts_are_not_counted` |
//! | a failure that says when to try again counts, and is tried again then | `backs_off`, `failures_are_counted` | `judged_errors` | `retry_by_the_limiter_alone`, `timed_retry_forgets` |
//! | an end with a deadline comes in time, and says what is left | `ends_as_it_says` | `stuck_at_the_deadline`, `aborted_at_the_deadline`, `panicking_key` | `shutdown_discards_waiting`, `shutdown_wakes_one` |

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
    Component, DynScenario, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf,
    component_tests,
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

    fn scenarios() -> Vec<Box<dyn DynScenario<Self>>> {
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

component_tests! {
    Pool;
    scenarios:
        panicking_key,
        added_while_reconciled,
        stuck_at_the_deadline,
        panicking_task,
        aborted_at_the_deadline,
        judged_errors,
        judging_task,
        gives_up;
    also: mutants
}
