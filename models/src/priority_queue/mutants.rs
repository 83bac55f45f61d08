//! The priority queue's bugs: one changed rule or one changed wake each.

use seatrial_core::machine::Wakes;
use seatrial_core::priority_queue::{GETTERS, Op};

use super::PriorityQueue;
use super::one_list::Mistake::{self, *};
use super::one_list::OneList;
use super::op::{Ours, machine};
use crate::trial::{Edit, Edited, MachineOf, Mutant, MutantKind};

pub(super) fn all() -> Vec<Mutant<PriorityQueue>> {
    [ORDER, TIMES, ITEMS, COUNTS, WAKES, EQUIVALENTS].concat()
}

/// Tells whether a mutant is the machine that ships with its wakes edited.
pub(super) fn is_of_waking(mutant: &Mutant<PriorityQueue>) -> bool {
    [WAKES, EQUIVALENTS].concat().iter().any(|edited| edited.name == mutant.name)
}

/// The rules over the list without any mistake.
#[cfg(test)]
pub(super) fn without_mistake() -> OneList {
    OneList::with(&[])
}

/// A mutant of the rules, over the plain list.
macro_rules! mistake {
    ($name:literal, $origin:literal, $mistake:expr, [$($breaks:literal),+]) => {
        Mutant {
            name: $name,
            origin: $origin,
            breaks: &[$($breaks),+],
            kind: MutantKind::Seeded,
            make: || {
                const MISTAKES: &[Mistake] = &[$mistake];
                Box::new(OneList::with(MISTAKES))
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

fn edited(edit: Edit<Ours>) -> MachineOf<PriorityQueue> {
    Box::new(Edited { machine: machine(), edit })
}

const ORDER: &[Mutant<PriorityQueue>] = &[
    mistake!("lowest_first", "own: the order upside down", LowestFirst, ["highest_first"]),
    mistake!(
        "first_in_first_out",
        "own: priorities forgotten at hand-out",
        FirstInFirstOut,
        ["highest_first"]
    ),
    mistake!("raise_keeps_place", "museum P5", RaiseKeepsPlace, ["equals_in_order"]),
    mistake!("add_moves_back", "museum P5", AddMovesBack, ["equals_in_order"]),
    mistake!("due_keeps_place", "museum H6", DueKeepsPlace, ["equals_in_order"]),
    mistake!("ready_moves_back", "museum H6", ReadyMovesBack, ["equals_in_order"]),
    mistake!("order_of_adds", "workqueue:PQ-18", OrderOfAdds, ["equals_in_order"]),
    mistake!(
        "last_priority_counts",
        "workqueue:PQ-11",
        LastPriorityCounts,
        ["keeps_the_highest_priority"]
    ),
    mistake!(
        "first_priority_counts",
        "workqueue:PQ-11",
        FirstPriorityCounts,
        ["keeps_the_highest_priority"]
    ),
    mistake!(
        "priority_is_not_told",
        "workqueue:PQ-30",
        PriorityIsNotTold,
        ["keeps_the_highest_priority"]
    ),
    mistake!(
        "retry_loses_priority",
        "workqueue:PQ-42",
        RetryLosesPriority,
        ["keeps_the_highest_priority"]
    ),
];

const TIMES: &[Mutant<PriorityQueue>] = &[
    mistake!("delay_leaks", "museum P7", DelayLeaks, ["never_early"]),
    mistake!("ticks_of_ten", "own: times are compared with a slack", TicksOfTen, ["never_early"]),
    mistake!("first_delay_counts", "workqueue:PQ-10", FirstDelayCounts, ["nothing_late"]),
    mistake!("last_delay_counts", "workqueue:PQ-10", LastDelayCounts, ["nothing_late"]),
    mistake!("sleep_without_time", "museum P11", SleepWithoutTime, ["nothing_late"]),
    mistake!("ready_waits_again", "workqueue:PQ-10", ReadyWaitsAgain, ["nothing_lost"]),
];

const ITEMS: &[Mutant<PriorityQueue>] = &[
    mistake!("held_is_handed_out", "workqueue:PQ-22", HeldIsHandedOut, ["never_concurrent"]),
    mistake!("held_blocks", "workqueue:PQ-25", HeldBlocks, ["nothing_lost"]),
    mistake!("held_is_not_added", "workqueue:PQ-15", HeldIsNotAdded, ["nothing_lost"]),
    mistake!("held_does_not_ripen", "workqueue:PQ-20", HeldDoesNotRipen, ["len_counts_ready"]),
    mistake!("one_entry_per_add", "workqueue:PQ-9", OneEntryPerAdd, ["stingy"]),
    mistake!(
        "done_by_value",
        "own: done finds the delivery by its item",
        DoneByValue,
        ["done_ends_its_own_delivery"]
    ),
    mistake!("forget_removes", "workqueue:RQ-2", ForgetRemoves, ["nothing_lost"]),
    mistake!("shutdown_drains", "workqueue:PQ-31", ShutdownDrains, ["shutdown_is_final"]),
];

const COUNTS: &[Mutant<PriorityQueue>] = &[
    mistake!("len_counts_waiting", "museum P11", LenCountsWaiting, ["len_counts_ready"]),
    mistake!("len_skips_held", "workqueue:PQ-29", LenSkipsHeld, ["len_counts_ready"]),
    mistake!("queued_does_not_fail", "workqueue:PQ-7", QueuedDoesNotFail, ["failures_are_counted"]),
    mistake!(
        "fails_after_shutdown",
        "workqueue:PQ-2",
        FailsAfterShutdown,
        ["failures_are_counted"]
    ),
    mistake!("retry_forgets", "workqueue:CL-3", RetryForgets, ["failures_are_counted"]),
    mistake!(
        "zero_delay_is_counted",
        "workqueue:PQ-8",
        ZeroDelayIsCounted,
        ["retries_count_delays"]
    ),
];

use MutantKind::{Equivalent, Seeded};

const WAKES: &[Mutant<PriorityQueue>] = &[
    wake!(
        Seeded,
        "earlier_time_wakes_one",
        "own: one consumer is told of the new earliest time, and may be off with another item",
        |op, wakes, _| if matches!(op, Op::Add(_)) && wakes.get(GETTERS) == Wakes::ALL {
            wakes.set(GETTERS, 1);
        },
        ["nothing_late"]
    ),
    wake!(
        Seeded,
        "add_never_wakes",
        "museum P11",
        |op, wakes, _| if matches!(op, Op::Add(_) | Op::AddBatch(_)) {
            wakes.set(GETTERS, 0);
        },
        ["no_lost_wakeup"]
    ),
    wake!(
        Seeded,
        "done_never_wakes",
        "museum P11",
        |op, wakes, _| if matches!(op, Op::Done(_)) {
            wakes.set(GETTERS, 0);
        },
        ["no_lost_wakeup"]
    ),
    wake!(
        Seeded,
        "batch_wakes_one",
        "own: one signal for a whole batch",
        |op, wakes, _| if matches!(op, Op::AddBatch(_)) && wakes.any() {
            wakes.set(GETTERS, 1);
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
];

const EQUIVALENTS: &[Mutant<PriorityQueue>] = &[wake!(
    Equivalent("a woken consumer looks again before it sleeps on"),
    "add_wakes_everybody",
    "own: broadcast where one is enough",
    |op, wakes, _| if matches!(op, Op::Add(_)) && wakes.any() {
        wakes.all(GETTERS);
    },
    []
)];
