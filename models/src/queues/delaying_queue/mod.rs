//! The page of the delaying queue.
//!
//! It is a queue to which items are also added when their time comes. So all promises of the queue
//! are judged here too, by the queue's own invariants. They see a history in which every such
//! moment is an add (`as_queue`).
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | nothing is handed out before its time | `never_early` | `earlier_time` | `ticks_of_ten`, `flush_at_shutdown` |
//! | no consumer sleeps through a time | `nothing_late` | `earlier_time`, `brought_forward`, `busy_executor` | `earlier_time_is_not_told`, `earlier_time_wakes_one`, `last_delay_counts` |
//! | an added item comes, even if it is added at once meanwhile | `nothing_lost` | `add_while_delayed` | `add_cancels_delay` |
//! | an item that is due when the queue ends comes too | `nothing_lost` | `ends_after_due` | `shutdown_forgets_due`, `drain_forgets_due` |
//! | an item waits for one time, and comes once for it | `stingy` | `brought_forward` | `one_entry_per_call`, `due_is_not_removed` |
//! | items come in the order of their times | `fair` | `due_together`, `done_after_due` | `order_of_calls`, `done_forgets_due` |
//! | len counts the items that could be handed out | `len_counts_waiting` | `done_after_due` | `len_counts_delayed` |
//! | every call that gives a delay is counted | `retries_count_calls` | `brought_forward` | `retries_count_kept` |
//! | the reported depth is right, even while no call is made | `depth_is_told` | `refreshed_while_due` | `refresh_moves_nothing` |
//! | latency counts from the time of an item | `latency_is_told` | `refreshed_while_due` | `due_counts_from_the_next_call` |
//! | work counts from the hand-out | `work_is_told` | `refreshed_while_due` | `work_counts_from_its_end` |
//! | no call waits until all due items are added | `steps_are_bounded` | `many_due`, `batches_of_many_due` | `one_step_adds_all`, `each_of_a_batch_adds_its_part` |
//! | an item that is not due at shutdown never comes | `shutdown_is_final` | `shut_down_while_delayed` | `accept_after_shutdown` |
//! | an item is never processed by two consumers at a time | `never_concurrent` | `due_while_processing` | `due_passes_processing` |
//! | an item that becomes due while processed comes once more | `dirty_is_requeued` | `due_while_processing` | `due_lost_while_processing` |
//! | a drain waits for its condition | `drain_waits` | `drain_while_delayed` | `drain_looks_at_waiting_only` |
//! | a drain does not wait for a time | `drains_return` | `drain_while_delayed` | `drain_waits_for_delayed` |
//! | shutdown releases every drain that waits | `shutdown_releases_drains` | `drain_released_by_shutdown` | `second_shutdown_is_nothing` |
//! | shutdown wakes every consumer | `shutdown_wakes_consumers` | `shut_down_while_delayed` | `shutdown_wakes_one` |
//! | no wake-up is lost | `no_lost_wakeup` | `dropped_getter`, `three_due`, `busy_holder` | `dropped_getter_swallows_wake`, `due_wakes_nobody`, `woken_takes_for_another` |

mod as_queue;
mod conformance;
mod invariants;
mod mutants;
mod op;
mod reference;
mod scenarios;
mod spec;
mod states;
#[cfg(test)]
mod tests;

use seatrial_core::delaying_queue::{AddAfter, Delaying, Op as Call, Ret};
use seatrial_core::machine::Step;
use seatrial_core::queue::{self as core, Fifo};

use crate::conformance::Conformance;
use crate::queue::Queue;
use crate::queues::fixtures::listener::metrics;
use crate::single_step::Behind;
use crate::trial::{
    Component, DynScenario, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property,
    RetOf, Simulation, component_tests,
};

pub use conformance::conformance;
pub(in crate::queues) use conformance::make_step;
pub use op::{Op, check, check_on, decode};
pub use spec::Spec;

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

    fn scenarios() -> Vec<Box<dyn DynScenario<Self>>> {
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
        // Made-up calls use only five items, so no step of theirs can add too many.
        if mutant.breaks.contains(&"steps_are_bounded") {
            return None;
        }
        let make = mutant.make;
        Some(Box::new(move |bytes| check_on(&decode(bytes), Behind(make()))))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }
}

component_tests! {
    DelayingQueue;
    scenarios:
        earlier_time,
        due_at_any_time,
        brought_forward,
        add_while_delayed,
        due_together,
        due_while_processing,
        done_after_due,
        due_in_batches,
        batch_for_two,
        batches_of_many_due,
        shut_down_while_delayed,
        drain_while_delayed,
        ends_after_due,
        drain_released_by_shutdown,
        refreshed_while_due,
        many_due,
        task_and_thread,
        dropped_getter,
        lone_task,
        holder_gives_up,
        busy_executor,
        busy_holder,
        three_due;
    also: mutants, conformance, fuzz
}
