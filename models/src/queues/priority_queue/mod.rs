//! The page of the priority queue.
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | the highest priority comes first | `highest_first` | `raise_among_equals` | `first_in_first_out` |
//! | equals come in the order in which they became ready or rose | `equals_in_order` | `raise_among_equals`, `due_together` | `raise_keeps_place`, `due_keeps_place` |
//! | an item keeps the highest of its priorities | `keeps_the_highest_priority` | `raise_among_equals`, `tried_again` | `last_priority_counts` |
//! | nothing is handed out before its time | `never_early` | `failed_batch`, `earlier_time` | `delay_leaks` |
//! | no consumer sleeps through a time | `nothing_late` | `earlier_time`, `brought_forward`, `busy_executor` | `earlier_time_is_not_told`, `earlier_time_wakes_one` |
//! | an item that is held is not handed out | `never_concurrent` | `add_while_held` | `held_is_handed_out` |
//! | no consumer goes to sleep while an item is ready | `nothing_lost` | `add_while_held`, `due_together` | `held_blocks`, `ready_waits_again` |
//! | an item is in the queue once | `stingy` | `raise_among_equals` | `one_entry_per_add` |
//! | done ends its own delivery | `done_ends_its_own_delivery` | `stale_token`, `done_by_name` | `done_by_value`, `done_key_says_nothing` |
//! | len counts the ready items | `len_counts_ready` | `add_while_held`, `due_while_held` | `len_skips_held` |
//! | every failure counts | `failures_are_counted` | `failed_batch`, `tried_again` | `queued_does_not_fail` |
//! | every delay counts | `retries_count_delays` | `brought_forward` | `zero_delay_is_counted` |
//! | the reported depth is the number of ready items, by priority | `depth_is_told` | `refreshed_while_due` | `ready_by_add_is_not_told` |
//! | latency counts from when an entry became ready | `latency_is_told` | `refreshed_while_due` | `due_counts_from_the_next_call` |
//! | work counts from the hand-out | `work_is_told` | `refreshed_while_due` | `work_counts_from_its_end` |
//! | every delay is reported | `retries_are_told` | `brought_forward` | `retries_are_not_told` |
//! | shutdown is final | `shutdown_is_final` | `shut_down_while_ready` | `shutdown_drains`, `empty_is_shut_down` |
//! | no wake-up is lost | `no_lost_wakeup` | `batch_for_two`, `add_while_held`, `busy_holder` | `batch_wakes_one`, `done_never_wakes`, `woken_takes_for_another` |
//! | shutdown wakes every consumer | `shutdown_wakes_consumers` | `shut_down_while_ready` | `shutdown_wakes_one` |

mod conformance;
mod figures;
mod invariants;
mod ledger;
mod mutants;
mod op;
mod reference;
mod scenarios;
mod spec;
#[cfg(test)]
mod tests;

use seatrial_core::machine::Step;
use seatrial_core::priority_queue::{AddOptions, Op as Call, Ret};
use seatrial_core::queue::Finished;

use crate::conformance::Conformance;
use crate::single_step::Behind;
use crate::trial::{
    Component, DynScenario, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property,
    RetOf, component_tests,
};

pub use conformance::conformance;
pub use op::{Op, Ours, check, check_on, decode, machine};
pub use spec::{Entry, Spec};

/// The priority queue, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct PriorityQueue;

type Event = EventOf<PriorityQueue>;
type History = HistoryOf<PriorityQueue>;

/// Describes in a few words how an item is added.
fn how(options: AddOptions) -> String {
    let limited = if options.rate_limited { ", failed" } else { "" };
    let after = options.after.map_or_else(String::new, |after| format!(", in {after:?}"));
    format!("priority {}{limited}{after}", options.priority)
}

impl Component for PriorityQueue {
    type Machine = Ours;

    const NAME: &'static str = "priority_queue";
    const SAYS: &'static str = "the work queue that hands out the highest priority first";

    fn machine() -> MachineOf<Self> {
        Box::new(machine())
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
            (Call::Add(add), _) => {
                let key = add.key.map_or("nothing".to_owned(), |key| key.to_string());
                format!("add {key}, {}", how(add.options))
            }
            (Call::AddBatch(batch), _) => {
                let keys: Vec<u8> = batch.items.iter().filter_map(|(key, _)| *key).collect();
                format!("add {keys:?}, {}", how(batch.options))
            }
            (_, Step::Done(Ret::Get(Some((_, key, priority))))) => {
                format!("get -> {key} of priority {priority}")
            }
            (_, Step::Done(Ret::Get(None))) => "get -> shut down".to_owned(),
            (Call::Get(_), Step::Wait { until: Some(until), .. }) => {
                format!("get sleeps until {until:?}")
            }
            (Call::Get(_), _) => "get sleeps".to_owned(),
            (_, Step::Done(Ret::Done(Finished::NotInProcessing))) => "done: no effect".to_owned(),
            (Call::Done(done), _) => format!("done, delivery {}", done.0.delivery()),
            (Call::Settle(settle), _) => {
                format!("{:?}, delivery {}", settle.outcome, settle.token.delivery())
            }
            (Call::ShutDown(_), _) => "shut down".to_owned(),
            (Call::Len(_), Step::Done(Ret::Len(len))) => format!("len -> {len}"),
            (op, outcome) => format!("{op:?} -> {outcome:?}"),
        }
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance()]
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

component_tests! {
    PriorityQueue;
    scenarios:
        raise_among_equals,
        add_while_held,
        batch_for_two,
        taken_together,
        earlier_time,
        brought_forward,
        due_together,
        due_while_held,
        refreshed_while_due,
        failed_batch,
        tried_again,
        requeued_after,
        stale_token,
        done_by_name,
        shut_down_while_ready,
        shut_down_twice,
        failed_at_the_end,
        task_and_thread,
        dropped_getter,
        busy_executor,
        busy_holder,
        three_due;
    also: mutants, conformance, fuzz
}
