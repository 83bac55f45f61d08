//! The priority queue's bugs: one changed rule or one changed wake each.

use std::time::Duration;

use seatrial_core::machine::{Step, Wakes};
use seatrial_core::priority_queue::{GETTERS, Op};
use seatrial_core::queue::Finished;

use super::machine::OneList;
use super::op::machine;
use super::{PriorityQueue, Ret};
use crate::queues::fixtures::shells::{shells_are_unaware, shells_forget};
use crate::shared::Mistakes;
use crate::trial::{MachineOf, Mutant, Told, at_most, mutants};

pub(super) fn all() -> Vec<Mutant<PriorityQueue>> {
    let rules = [order(), times(), items(), answers(), counts(), figures()].concat();
    [rules, wakes(), of_shells(), equivalents()].concat()
}

/// Tells whether a mutant is the machine that ships with its wakes edited.
pub(super) fn is_of_waking(mutant: &Mutant<PriorityQueue>) -> bool {
    [wakes(), of_shells(), equivalents()].concat().iter().any(|edited| edited.name == mutant.name)
}

/// The rules over the list without any mistake.
pub(super) fn without_mistake() -> OneList {
    OneList::with(&[])
}

/// The rules over the plain list, with mistakes.
fn mistaken(mistakes: Mistakes) -> MachineOf<PriorityQueue> {
    Box::new(OneList::with(mistakes))
}

fn answers() -> Vec<Mutant<PriorityQueue>> {
    mutants! { Retold(machine()):
        Seeded "stale_done_says_ended" from "own: done always reports that it ended a delivery":
            (|step, _| if let Step::Done(Ret::Done(told @ Finished::NotInProcessing)) = step {
                *told = Finished::Ended(None);
            }) breaks ["done_ends_its_own_delivery"];
        Seeded "done_is_denied" from "own: done always reports that it ended no delivery":
            (|step, _| if let Step::Done(Ret::Done(told)) = step {
                *told = Finished::NotInProcessing;
            }) breaks ["done_ends_its_own_delivery"];
        Seeded "done_all_is_denied" from "own: done_all always reports that it ended no delivery":
            (|step, _| if let Step::Done(Ret::DoneAll(told)) = step {
                told.fill(Finished::NotInProcessing);
            }) breaks ["done_ends_its_own_delivery"];
        Seeded "settling_is_denied" from "own: settle always reports that it ended no delivery":
            (|step, _| if let Step::Done(Ret::Settle(told)) = step {
                *told = Finished::NotInProcessing;
            }) breaks ["done_ends_its_own_delivery"];
        Seeded "shutdown_is_denied" from "own: the shutdown flag is reported inverted":
            (|step, _| if let Step::Done(Ret::ShuttingDown(says)) = step {
                *says = !*says;
            }) breaks ["shutdown_is_final"];
    }
}

fn order() -> Vec<Mutant<PriorityQueue>> {
    mutants! { mistaken:
        Seeded "lowest_first" from "own: the order of priorities is inverted"
            breaks ["highest_first"];
        Seeded "batch_lowest_first"
            from "own: each item of a batch is pushed in front of those before it"
            breaks ["highest_first"];
        Seeded "first_in_first_out" from "own: hand-out ignores the priorities"
            breaks ["highest_first"];
        Seeded "raise_keeps_place" from "museum P5" breaks ["equals_in_order"];
        Seeded "add_moves_back" from "museum P5" breaks ["equals_in_order"];
        Seeded "due_keeps_place" from "museum H6" breaks ["equals_in_order"];
        Seeded "ready_moves_back" from "museum H6" breaks ["equals_in_order"];
        Seeded "order_of_adds" from "workqueue:PQ-18" breaks ["equals_in_order"];
        Seeded "hands_out_of_a_part"
            from "own: a step that is bounded hands out the best of the items that it has moved"
            breaks ["highest_first"];
        Seeded "last_priority_counts" from "workqueue:PQ-11" breaks ["keeps_the_highest_priority"];
        Seeded "first_priority_counts" from "workqueue:PQ-11"
            breaks ["keeps_the_highest_priority"];
        Seeded "priority_is_not_told" from "workqueue:PQ-30" breaks ["keeps_the_highest_priority"];
        Seeded "retry_loses_priority" from "workqueue:PQ-42" breaks ["keeps_the_highest_priority"];
        Seeded "requeue_loses_priority" from "workqueue:PQ-42"
            breaks ["keeps_the_highest_priority"];
    }
}

fn times() -> Vec<Mutant<PriorityQueue>> {
    mutants! { mistaken:
        Seeded "delay_leaks" from "museum P7" breaks ["never_early"];
        Seeded "ticks_of_ten" from "own: times are compared in ticks of ten milliseconds"
            breaks ["never_early"];
        Seeded "first_delay_counts" from "workqueue:PQ-10" breaks ["nothing_late"];
        Seeded "last_delay_counts" from "workqueue:PQ-10" breaks ["nothing_late"];
        Seeded "sleep_without_time" from "museum P11" breaks ["nothing_late"];
        Seeded "given_priority_hurries"
            from "own: an answer that names a priority and no time requeues at once"
            breaks ["never_early"];
        Seeded "ready_waits_again" from "workqueue:PQ-10" breaks ["nothing_lost"];
    }
}

fn items() -> Vec<Mutant<PriorityQueue>> {
    mutants! { mistaken:
        Seeded "held_is_handed_out" from "workqueue:PQ-22" breaks ["never_concurrent"];
        Seeded "held_blocks" from "workqueue:PQ-25" breaks ["nothing_lost"];
        Seeded "held_is_not_added" from "workqueue:PQ-15" breaks ["nothing_lost"];
        Seeded "held_does_not_ripen" from "workqueue:PQ-20" breaks ["len_counts_ready"];
        Seeded "one_entry_per_add" from "workqueue:PQ-9" breaks ["stingy"];
        Seeded "done_by_value" from "own: done ends any delivery of its item"
            breaks ["done_ends_its_own_delivery"];
        Seeded "done_key_says_ended"
            from "own: done by name always reports that it ended a delivery"
            breaks ["done_ends_its_own_delivery"];
        Seeded "done_key_says_nothing"
            from "own: done by name always reports that it ended no delivery"
            breaks ["done_ends_its_own_delivery"];
        Seeded "empty_is_shut_down"
            from "own: a consumer that finds no item ends as if the queue were shut down"
            breaks ["shutdown_is_final"];
        Seeded "forget_removes" from "workqueue:RQ-2" breaks ["nothing_lost"];
        Exhibit "second_shutdown_panics" from "workqueue:PQ-33, original" breaks ["never_panics"];
        Seeded "shutdown_drains" from "workqueue:PQ-31" breaks ["shutdown_is_final"];
    }
}

fn counts() -> Vec<Mutant<PriorityQueue>> {
    mutants! { mistaken:
        Seeded "len_counts_waiting" from "museum P11" breaks ["len_counts_ready"];
        Seeded "len_skips_held" from "workqueue:PQ-29" breaks ["len_counts_ready"];
        Seeded "queued_does_not_fail" from "workqueue:PQ-7" breaks ["failures_are_counted"];
        Seeded "fails_after_shutdown" from "workqueue:PQ-2" breaks ["failures_are_counted"];
        Seeded "settled_after_shutdown_fails"
            from "workqueue:PQ-2, for a failure that names the time of the next try"
            breaks ["failures_are_counted"];
        Seeded "retry_forgets" from "workqueue:CL-3" breaks ["failures_are_counted"];
        Seeded "requeue_at_once_remembers" from "workqueue:CL-9" breaks ["failures_are_counted"];
        Seeded "zero_delay_is_counted" from "workqueue:PQ-8" breaks ["retries_count_delays"];
    }
}

/// Tells whether a step adds an item.
fn adds(op: &Op<u8>) -> bool {
    matches!(op, Op::Add(_) | Op::AddBatch(_) | Op::Settle(_))
}

fn figures() -> Vec<Mutant<PriorityQueue>> {
    mutants! { Mistold(machine()):
        Seeded "ready_by_add_is_not_told" from "workqueue:PQ-13, the metric is not updated":
            (|step| {
                let fewer_wait = step.machine.waiting() < step.notes.count;
                step.notes.count = step.machine.waiting();
                if adds(step.op) && fewer_wait {
                    step.told.retain(|figure| !matches!(figure, Told::Added | Told::Depth(..)));
                }
            }) breaks ["depth_is_told"];
        Seeded "raise_is_not_told" from "workqueue:PQ-38":
            (|step| if adds(step.op) && !step.told.contains(&Told::Added) {
                step.told.retain(|figure| !matches!(figure, Told::Depth(..)));
            }) breaks ["depth_is_told"];
        Seeded "refresh_moves_nothing"
            from "own: a refresh reports unfinished work only, and adds no due items":
            (|step| if matches!(step.op, Op::Refresh(_)) {
                step.notes.late.append(step.told);
            } else {
                step.told.append(&mut step.notes.late);
            }) breaks ["depth_is_told"];
        Seeded "due_counts_from_the_next_call"
            from "own: the latency of a due item counts from the next call":
            (|step| {
                if step.told.contains(&Told::Added) {
                    step.notes.moments.insert(0, step.at);
                }
                let found = step.notes.moments.get(&0).copied().unwrap_or(step.at);
                for figure in step.told.iter_mut() {
                    if let Told::Latency(waited) = figure {
                        *waited = step.at.since(found);
                    }
                }
            }) breaks ["latency_is_told"];
        Seeded "retries_are_not_told" from "own: retries are counted, but not reported":
            (|step| step.told.retain(|figure| *figure != Told::Retried))
            breaks ["retries_are_told"];
        Seeded "work_counts_from_its_end" from "workqueue:PQ-40":
            (|step| for figure in step.told.iter_mut() {
                if let Told::Work(took) = figure {
                    *took = Duration::ZERO;
                }
            }) breaks ["work_is_told"];
    }
}

fn wakes() -> Vec<Mutant<PriorityQueue>> {
    mutants! { Edited(machine()):
        Seeded "earlier_time_is_not_told" from "own: an earlier time wakes no sleeper":
            (|op, wakes, _| if matches!(op, Op::Add(_)) && wakes.get(GETTERS) == Wakes::ALL {
                wakes.set(GETTERS, 0);
            }) breaks ["nothing_late"];
        Seeded "earlier_time_wakes_one"
            from "own: an earlier time wakes only one consumer, perhaps a task that runs late":
            (at_most!(1, GETTERS, Op::Add(_))) breaks ["nothing_late"];
        Seeded "add_never_wakes" from "museum P11":
            (at_most!(0, GETTERS, Op::Add(_) | Op::AddBatch(_))) breaks ["no_lost_wakeup"];
        Seeded "done_never_wakes" from "museum P11":
            (at_most!(0, GETTERS, Op::Done(_))) breaks ["no_lost_wakeup"];
        Seeded "batch_wakes_one" from "own: a batch wakes only one consumer":
            (at_most!(1, GETTERS, Op::AddBatch(_))) breaks ["no_lost_wakeup"];
        Seeded "due_wakes_nobody"
            from "own: a getter that takes one of several due items wakes no other getter":
            (at_most!(0, GETTERS, Op::Get(_))) breaks ["no_lost_wakeup"];
        Seeded "shutdown_wakes_one" from "own: shutdown wakes one consumer instead of all":
            (at_most!(1, GETTERS, Op::ShutDown(_))) breaks ["shutdown_wakes_consumers"];
    }
}

fn of_shells() -> Vec<Mutant<PriorityQueue>> {
    [shells_forget!(machine()), shells_are_unaware!(machine())].concat()
}

fn equivalents() -> Vec<Mutant<PriorityQueue>> {
    mutants! { Edited(machine()):
        Equivalent("a woken consumer checks again and goes back to sleep")
        "add_wakes_everybody" from "own: add wakes all consumers where one is enough":
            (|op, wakes, _| if matches!(op, Op::Add(_)) && wakes.any() {
                wakes.all(GETTERS);
            }) breaks [];
    }
}
