//! The delaying queue's bugs: one changed rule or one changed wake each.

use seatrial_core::delaying_queue::{Delaying, Op};
use seatrial_core::queue::{DRAINS, GETTERS};

use super::DelayingQueue;
use super::two_layers::Mistake::{self, *};
use super::two_layers::TwoLayers;
use crate::queue::Queue;
use crate::trial::{Component, Edit, Edited, MachineOf, Mutant, at_most, mutants};

pub(super) fn all() -> Vec<Mutant<DelayingQueue>> {
    [times(), items(), ends(), of_the_queue(), wakes(), equivalents()].concat()
}

/// Tells whether a mutant is the machine that ships with its wakes edited.
pub(super) fn is_of_waking(mutant: &Mutant<DelayingQueue>) -> bool {
    [wakes(), equivalents()].concat().iter().any(|edited| edited.name == mutant.name)
}

/// The construction of the reference without any mistake.
#[cfg(test)]
pub(super) fn without_mistake() -> MachineOf<DelayingQueue> {
    mistaken(&[])
}

/// The construction of the reference with mistakes.
fn mistaken(mistakes: &'static [Mistake]) -> MachineOf<DelayingQueue> {
    Box::new(TwoLayers::with(mistakes, Queue::machine()))
}

/// As [`mistaken`], around a mutant of the queue.
fn around_broken(name: &str, mistakes: &'static [Mistake]) -> MachineOf<DelayingQueue> {
    let all = Queue::mutants();
    let mutant = all.iter().find(|mutant| mutant.name == name).expect("the queue has that mutant");
    Box::new(TwoLayers::with(mistakes, (mutant.make)()))
}

/// The machine that ships, its wakes edited after each step.
fn edited(edit: Edit<Delaying<u8>>) -> MachineOf<DelayingQueue> {
    Box::new(Edited { machine: Delaying::default(), edit })
}

fn times() -> Vec<Mutant<DelayingQueue>> {
    mutants! { mistaken:
        Seeded "ticks_of_ten" from "own: times are compared after rounding":
            (&[TicksOfTen]) breaks ["never_early"];
        Seeded "first_delay_counts" from "own: the test for an earlier time forgotten":
            (&[FirstDelayCounts]) breaks ["nothing_late"];
        Seeded "last_delay_counts" from "own: the test for a later time forgotten":
            (&[LastDelayCounts]) breaks ["nothing_late"];
        Seeded "sleep_until_latest" from "own: the wrong end":
            (&[SleepUntilLatest]) breaks ["nothing_late"];
        Seeded "sleep_without_time" from "museum W6":
            (&[SleepWithoutTime]) breaks ["nothing_late"];
        Seeded "batch_sleeps_without_time" from "own: the time is forgotten around the loop":
            (&[BatchSleepsWithoutTime]) breaks ["nothing_late"];
        Seeded "batch_takes_early" from "own: a batch empties both layers":
            (&[BatchTakesEarly]) breaks ["never_early"];
        Seeded "earlier_time_wakes_nobody" from "workqueue:DQ-15, the time is not recomputed":
            (&[EarlierTimeWakesNobody]) breaks ["nothing_late"];
        Seeded "retries_count_kept" from "workqueue:DQ-4":
            (&[RetriesCountKept]) breaks ["retries_count_calls"];
        Seeded "zero_delay_is_not_counted" from "workqueue:DQ-4":
            (&[ZeroDelayIsNotCounted]) breaks ["retries_count_calls"];
    }
}

fn items() -> Vec<Mutant<DelayingQueue>> {
    mutants! { mistaken:
        Seeded "add_cancels_delay" from "museum O6":
            (&[AddCancelsDelay]) breaks ["nothing_lost"];
        Seeded "one_entry_per_call" from "museum O6":
            (&[OneEntryPerCall]) breaks ["stingy"];
        Seeded "due_is_not_removed" from "workqueue:DQ-10":
            (&[DueIsNotRemoved]) breaks ["stingy"];
        Seeded "order_of_calls" from "workqueue:DQ-13":
            (&[OrderOfCalls]) breaks ["fair"];
        Seeded "done_forgets_due" from "own: done looks at no time":
            (&[DoneForgetsDue]) breaks ["fair"];
        Seeded "add_forgets_due" from "own: add looks at no time":
            (&[AddForgetsDue]) breaks ["fair"];
        Seeded "len_forgets_due" from "own: len looks at no time":
            (&[LenForgetsDue]) breaks ["len_counts_waiting"];
        Seeded "len_counts_delayed" from "workqueue:DQ-12":
            (&[LenCountsDelayed]) breaks ["len_counts_waiting"];
        Seeded "due_lost_while_processing" from "own: due items in processing are skipped":
            (&[DueLostWhileProcessing]) breaks ["dirty_is_requeued"];
    }
}

fn ends() -> Vec<Mutant<DelayingQueue>> {
    mutants! { mistaken:
        Seeded "shutdown_forgets_due" from "own: shutdown looks at no time":
            (&[ShutDownForgetsDue]) breaks ["nothing_lost"];
        Seeded "drain_forgets_due" from "own: a drain looks at no time":
            (&[DrainForgetsDue]) breaks ["nothing_lost"];
        Seeded "flush_at_shutdown" from "workqueue:DQ-19":
            (&[FlushAtShutdown]) breaks ["shutdown_is_final"];
        Seeded "delays_counted_after_shutdown" from "own: the first test forgotten in add_after":
            (&[AcceptDelaysAfterShutdown]) breaks ["retries_count_calls"];
        Seeded "drain_waits_for_delayed" from "own: a drain counts what is delayed as work":
            (&[DrainWaitsForDelayed]) breaks ["drains_return"];
    }
}

fn of_the_queue() -> Vec<Mutant<DelayingQueue>> {
    mutants! { around_broken:
        Seeded "due_passes_processing" from "own: the processing test forgotten in add":
            ("queue_while_processing", &[]) breaks ["never_concurrent"];
        Seeded "shutdown_ends_consumers" from "museum W14":
            ("shutdown_ends_consumers", &[]) breaks ["nothing_lost"];
        Seeded "accept_after_shutdown" from "own: the first test forgotten in both layers":
            ("accept_after_shutdown", &[AcceptDelaysAfterShutdown]) breaks ["shutdown_is_final"];
        Seeded "drain_looks_at_waiting_only" from "workqueue:SE-7":
            ("drain_looks_at_waiting_only", &[]) breaks ["drain_waits"];
    }
}

fn wakes() -> Vec<Mutant<DelayingQueue>> {
    mutants! { edited:
        Seeded "earlier_time_wakes_one"
            from "own: one consumer is told of the new earliest time, and may be off elsewhere":
            (at_most!(1, GETTERS, Op::AddAfter(_))) breaks ["nothing_late"];
        Seeded "add_never_wakes" from "own: the signal forgotten in add":
            (at_most!(0, GETTERS, Op::Add(_) | Op::AddAfter(_))) breaks ["no_lost_wakeup"];
        Seeded "add_all_wakes_one" from "own: a batch signals as a single add does":
            (at_most!(1, GETTERS, Op::AddAll(_))) breaks ["no_lost_wakeup"];
        Seeded "dropped_getter_swallows_wake"
            from "museum P1, a getter that leaves without passing its wake-up on":
            (|op, wakes, queue| if matches!(op, Op::Get(_)) && !queue.queue().is_empty() {
                wakes.set(GETTERS, 0);
            }) breaks ["no_lost_wakeup"];
        Seeded "shutdown_wakes_one" from "own: signalled where all must wake":
            (at_most!(1, GETTERS, Op::ShutDown(_))) breaks ["shutdown_wakes_consumers"];
        Seeded "done_wakes_one_drain" from "workqueue:SE-4":
            (at_most!(1, DRAINS, Op::Done(_))) breaks ["drains_return"];
    }
}

fn equivalents() -> Vec<Mutant<DelayingQueue>> {
    mutants! { edited:
        Equivalent("a woken consumer looks again before it sleeps on")
        "every_delay_wakes_everybody" from "own: no test for the earliest time":
            (|op, wakes, _| if matches!(op, Op::AddAfter(_)) { wakes.all(GETTERS) }) breaks [];
    }
}
