//! The delaying queue's bugs: one changed rule or one changed wake each.

use seatrial_core::delaying_queue::{Delaying, Op};
use seatrial_core::queue::{DRAINS, GETTERS};

use super::DelayingQueue;
use super::two_layers::Mistake::{self, *};
use super::two_layers::TwoLayers;
use crate::queue::Queue;
use crate::trial::{Component, Edit, Edited, MachineOf, Mutant, MutantKind};

pub(super) fn all() -> Vec<Mutant<DelayingQueue>> {
    [TIMES, ITEMS, ENDS, WAKES, EQUIVALENTS].concat()
}

/// Tells whether a mutant is the machine that ships with its wakes edited.
pub(super) fn is_of_waking(mutant: &Mutant<DelayingQueue>) -> bool {
    [WAKES, EQUIVALENTS].concat().iter().any(|edited| edited.name == mutant.name)
}

/// The construction of the reference without any mistake.
#[cfg(test)]
pub(super) fn without_mistake() -> MachineOf<DelayingQueue> {
    Box::new(TwoLayers::with(&[], Queue::machine()))
}

/// A mutant of the rules: the reference's construction with mistakes.
macro_rules! mistake {
    ($name:literal, $origin:literal, [$($mistake:expr),*], [$($breaks:literal),+]) => {
        mistake!($name, $origin, [$($mistake),*], Queue::machine(), [$($breaks),+])
    };
    ($name:literal, $origin:literal, [$($mistake:expr),*], $queue:expr, [$($breaks:literal),+]) => {
        Mutant {
            name: $name,
            origin: $origin,
            breaks: &[$($breaks),+],
            kind: MutantKind::Seeded,
            make: || {
                const MISTAKES: &[Mistake] = &[$($mistake),*];
                Box::new(TwoLayers::with(MISTAKES, $queue))
            },
        }
    };
}

/// A mutant of waking: the machine that ships, its wakes edited after each step.
macro_rules! wake {
    ($kind:expr, $name:literal, $origin:literal, $edit:expr, [$($breaks:literal),*]) => {
        Mutant {
            name: $name,
            origin: $origin,
            breaks: &[$($breaks),*],
            kind: $kind,
            make: || edited($edit),
        }
    };
}

/// A mutant of the queue, for the inside of this one.
fn broken_queue(name: &str) -> MachineOf<Queue> {
    let all = Queue::mutants();
    let mutant = all.iter().find(|mutant| mutant.name == name).expect("the queue has that mutant");
    (mutant.make)()
}

fn edited(edit: Edit<Delaying<u8>>) -> MachineOf<DelayingQueue> {
    Box::new(Edited { machine: Delaying::default(), edit })
}

const TIMES: &[Mutant<DelayingQueue>] = &[
    mistake!(
        "ticks_of_ten",
        "own: times are compared after rounding",
        [TicksOfTen],
        ["never_early"]
    ),
    mistake!(
        "first_delay_counts",
        "own: the test for an earlier time forgotten",
        [FirstDelayCounts],
        ["nothing_late"]
    ),
    mistake!(
        "last_delay_counts",
        "own: the test for a later time forgotten",
        [LastDelayCounts],
        ["nothing_late"]
    ),
    mistake!("sleep_until_latest", "own: the wrong end", [SleepUntilLatest], ["nothing_late"]),
    mistake!("sleep_without_time", "museum W6", [SleepWithoutTime], ["nothing_late"]),
    mistake!(
        "earlier_time_wakes_nobody",
        "workqueue:DQ-15, the time is not recomputed",
        [EarlierTimeWakesNobody],
        ["nothing_late"]
    ),
    mistake!("retries_count_kept", "workqueue:DQ-4", [RetriesCountKept], ["retries_count_calls"]),
    mistake!(
        "zero_delay_is_not_counted",
        "workqueue:DQ-4",
        [ZeroDelayIsNotCounted],
        ["retries_count_calls"]
    ),
];

const ITEMS: &[Mutant<DelayingQueue>] = &[
    mistake!("add_cancels_delay", "museum O6", [AddCancelsDelay], ["nothing_lost"]),
    mistake!("one_entry_per_call", "museum O6", [OneEntryPerCall], ["stingy"]),
    mistake!("due_is_not_removed", "workqueue:DQ-10", [DueIsNotRemoved], ["stingy"]),
    mistake!("order_of_calls", "workqueue:DQ-13", [OrderOfCalls], ["fair"]),
    mistake!("done_forgets_due", "own: done looks at no time", [DoneForgetsDue], ["fair"]),
    mistake!("add_forgets_due", "own: add looks at no time", [AddForgetsDue], ["fair"]),
    mistake!(
        "len_forgets_due",
        "own: len looks at no time",
        [LenForgetsDue],
        ["len_counts_waiting"]
    ),
    mistake!("len_counts_delayed", "workqueue:DQ-12", [LenCountsDelayed], ["len_counts_waiting"]),
    mistake!(
        "due_lost_while_processing",
        "own: due items in processing are skipped",
        [DueLostWhileProcessing],
        ["dirty_is_requeued"]
    ),
    mistake!(
        "due_passes_processing",
        "own: the processing test forgotten in add",
        [],
        broken_queue("queue_while_processing"),
        ["never_concurrent"]
    ),
];

const ENDS: &[Mutant<DelayingQueue>] = &[
    mistake!("flush_at_shutdown", "workqueue:DQ-19", [FlushAtShutdown], ["shutdown_is_final"]),
    mistake!(
        "accept_after_shutdown",
        "own: the first test forgotten in both layers",
        [AcceptDelaysAfterShutdown],
        broken_queue("accept_after_shutdown"),
        ["shutdown_is_final"]
    ),
    mistake!(
        "delays_counted_after_shutdown",
        "own: the first test forgotten in add_after",
        [AcceptDelaysAfterShutdown],
        ["retries_count_calls"]
    ),
    mistake!(
        "drain_waits_for_delayed",
        "own: a drain counts what is delayed as work",
        [DrainWaitsForDelayed],
        ["drains_return"]
    ),
    mistake!(
        "drain_looks_at_waiting_only",
        "workqueue:SE-7",
        [],
        broken_queue("drain_looks_at_waiting_only"),
        ["drain_waits"]
    ),
];

use MutantKind::{Equivalent, Seeded};

const WAKES: &[Mutant<DelayingQueue>] = &[
    wake!(
        Seeded,
        "earlier_time_wakes_one",
        "own: one consumer is told of the new earliest time, and may be off with another item",
        |op, wakes, _| if matches!(op, Op::AddAfter(_)) && wakes.get(GETTERS) > 1 {
            wakes.set(GETTERS, 1);
        },
        ["nothing_late"]
    ),
    wake!(
        Seeded,
        "add_never_wakes",
        "own: the signal forgotten in add",
        |op, wakes, _| if matches!(op, Op::Add(_) | Op::AddAfter(_)) {
            wakes.set(GETTERS, 0);
        },
        ["no_lost_wakeup"]
    ),
    wake!(
        Seeded,
        "dropped_getter_swallows_wake",
        "museum P1, a getter that leaves without passing its wake-up on",
        |op, wakes, queue| if matches!(op, Op::Get(_)) && !queue.queue().is_empty() {
            wakes.set(GETTERS, 0);
        },
        ["no_lost_wakeup"]
    ),
    wake!(
        Seeded,
        "shutdown_wakes_one",
        "own: signalled where all must wake",
        |op, wakes, _| if matches!(op, Op::ShutDown(_)) {
            wakes.set(GETTERS, 1);
        },
        ["shutdown_wakes_consumers"]
    ),
    wake!(
        Seeded,
        "done_wakes_one_drain",
        "workqueue:SE-4",
        |op, wakes, _| if matches!(op, Op::Done(_)) && wakes.get(DRAINS) > 0 {
            wakes.set(DRAINS, 1);
        },
        ["drains_return"]
    ),
];

const EQUIVALENTS: &[Mutant<DelayingQueue>] = &[wake!(
    Equivalent("a woken consumer looks again before it sleeps on"),
    "every_delay_wakes_everybody",
    "own: no test for the earliest time",
    |op, wakes, _| if matches!(op, Op::AddAfter(_)) {
        wakes.all(GETTERS);
    },
    []
)];
