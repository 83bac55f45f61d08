//! The queue's bugs: one changed rule or one changed wake each.

use seatrial_core::machine::{Passed, Step};
use seatrial_core::queue::{DRAINS, Fifo, Finished, GETTERS, Op, Queue as Rules, Ret};

use super::Queue;
use super::plain::Plain;
use crate::queues::fixtures::listener::metrics;
use crate::shared::Mistakes;
use crate::trial::{MachineOf, Mutant, Telling, Told, at_most, mutants};

pub(super) fn all() -> Vec<Mutant<Queue>> {
    [exhibits(), rules(), answers(), figures(), wakes(), of_shells(), equivalents()].concat()
}

/// Tells whether a mutant keeps the rules that ship, and changes only wakes or the shell.
pub(super) fn is_of_waking(mutant: &Mutant<Queue>) -> bool {
    [wakes(), of_shells(), equivalents()].concat().iter().any(|edited| edited.name == mutant.name)
}

/// The plain queue with mistakes.
fn mistaken(mistakes: Mistakes) -> MachineOf<Queue> {
    Box::new(Plain::<u8>::with(mistakes))
}

fn exhibits() -> Vec<Mutant<Queue>> {
    mutants! { mistaken:
        Exhibit "single_waiter_signal" from "museum O1" breaks ["drains_return"];
        Exhibit "new_drain_undoes_release" from "museum O4" breaks ["shutdown_releases_drains"];
        Exhibit "lost_retake" from "museum W1" breaks ["shutdown_releases_drains"];
        Exhibit "done_queues_twice" from "workqueue:WQ-21, original"
            breaks ["stingy", "never_concurrent"];
    }
}

fn rules() -> Vec<Mutant<Queue>> {
    mutants! { mistaken:
        Seeded "shutdown_ends_consumers" from "museum W14" breaks ["nothing_lost"];
        Seeded "queue_while_processing"
            from "own: add does not check whether the item is in processing"
            breaks ["never_concurrent"];
        Seeded "lost_requeue" from "own: done does not check whether the item is dirty"
            breaks ["dirty_is_requeued"];
        Seeded "clean_at_done" from "workqueue:SE-3" breaks ["stingy"];
        Seeded "no_deduplication" from "own: add does not check whether the item is already dirty"
            breaks ["stingy"];
        Seeded "no_requeue_in_shutdown"
            from "own: done queues no item again once shutdown has begun"
            breaks ["dirty_is_requeued"];
        Seeded "discard_at_shutdown" from "own: shutdown clears the queue" breaks ["nothing_lost"];
        Seeded "accept_after_shutdown"
            from "own: add does not check whether the queue is shut down"
            breaks ["shutdown_is_final"];
        Seeded "empty_is_shut_down"
            from "own: a consumer that finds no item ends as if the queue were shut down"
            breaks ["shutdown_is_final"];
        Seeded "last_in_first_out" from "own: items are popped at the wrong end" breaks ["fair"];
        Seeded "requeue_in_front" from "own: done queues an item at the wrong end" breaks ["fair"];
        Seeded "len_counts_processing" from "own: len also counts the items in processing"
            breaks ["len_counts_waiting"];
        Seeded "drain_looks_at_waiting_only" from "workqueue:SE-7" breaks ["drain_waits"];
        Seeded "strict_drain_ignores_waiting" from "museum O2" breaks ["drain_waits"];
        Seeded "strict_drain_misses_returning" from "museum O2" breaks ["drain_waits"];
        Seeded "drain_hides_shutdown"
            from "own: a drain sets the shutdown flag only after its wait"
            breaks ["shutdown_is_final", "shutdown_wakes_consumers"];
        Seeded "shutdown_waits_for_items" from "workqueue:SE-6" breaks ["terminates"];
        Seeded "done_by_value" from "workqueue:WQ-22" breaks ["done_ends_its_own_delivery"];
        Seeded "add_all_stops_at_known"
            from "own: the early return of add ends the loop of a batch" breaks ["nothing_lost"];
        Seeded "done_all_forgets_dirty" from "own: done_all does not check which items are dirty"
            breaks ["dirty_is_requeued"];
        Seeded "batch_takes_all"
            from "own: a batch takes all waiting items, and returns only the requested number"
            breaks ["nothing_lost"];
    }
}

fn answers() -> Vec<Mutant<Queue>> {
    mutants! { Retold(Rules::<u8>::default()):
        Seeded "stale_done_says_ended" from "own: done always reports that it ended a delivery":
            (|step, _| if let Step::Done(Ret::Done(told @ Finished::NotInProcessing)) = step {
                *told = Finished::Ended(None);
            }) breaks ["done_ends_its_own_delivery"];
        Seeded "stale_name_says_ended"
            from "own: done by name always reports that it ended a delivery":
            (|step, _| if let Step::Done(Ret::DoneKey(told @ Finished::NotInProcessing)) = step {
                *told = Finished::Ended(None);
            }) breaks ["done_ends_its_own_delivery"];
        Seeded "done_is_denied" from "own: done always reports that it ended no delivery":
            (|step, _| if let Step::Done(Ret::Done(told)) = step {
                *told = Finished::NotInProcessing;
            }) breaks ["done_ends_its_own_delivery"];
    }
}

fn figures() -> Vec<Mutant<Queue>> {
    mutants! { Mistold(Rules::<u8>::measured(Fifo::default(), &metrics())):
        Seeded "duplicate_is_counted" from "workqueue:SE-1":
            (|step| if matches!(step.op, Op::Add(_)) && step.told.is_empty()
                && !step.machine.is_shutting_down() {
                step.told.extend([Told::Added, Told::Depth(None, 1)]);
            }) breaks ["depth_is_told"];
        Seeded "dirty_is_not_counted" from "workqueue:MX-8, an item counts only once it is queued":
            (|step| if matches!(step.op, Op::Add(_)) && step.machine.is_empty() {
                step.told.clear();
            }) breaks ["depth_is_told"];
        Seeded "time_is_not_renewed"
            from "own: the time of the first add is kept for all later adds":
            (|step| match (step.op, step.outcome) {
                (Op::Add(add), _) if !step.told.is_empty() => {
                    let key = add.key.expect("a call to add carries its item");
                    step.notes.moments.entry(key).or_insert(step.at);
                }
                (_, Step::Done(Ret::Get(Some((_, key))))) => retime(step, *key),
                _ => {}
            }) breaks ["latency_is_told"];
        Seeded "done_renews_the_time"
            from "workqueue:MX-9, the latency counts from the requeue at done":
            (|step| {
                let waits = step.machine.waiting().last().copied();
                let more = step.machine.len() > step.notes.count;
                step.notes.count = step.machine.len();
                match (waits, step.outcome) {
                    (Some(key), _) if more => _ = step.notes.moments.insert(key, step.at),
                    (_, Step::Done(Ret::Get(Some((_, key))))) => retime(step, *key),
                    _ => {}
                }
            }) breaks ["latency_is_told"];
        Seeded "work_counts_from_the_add" from "workqueue:MX-7":
            (|step| for figure in step.told.iter_mut() {
                match figure {
                    Told::Latency(waited) => {
                        step.notes.count = waited.as_nanos() as usize;
                    }
                    Told::Work(took) => {
                        *took += std::time::Duration::from_nanos(step.notes.count as u64);
                    }
                    _ => {}
                }
            }) breaks ["work_is_told"];
    }
}

/// Reports that an item has waited since the moment that was noted for it.
fn retime(step: &mut Telling<'_, Rules<u8>>, key: u8) {
    let Some(since) = step.notes.moments.get(&key) else { return };
    for figure in step.told.iter_mut() {
        if let Told::Latency(waited) = figure {
            *waited = step.at.since(*since);
        }
    }
}

fn wakes() -> Vec<Mutant<Queue>> {
    mutants! { Edited(Rules::<u8>::default()):
        Seeded "add_never_wakes" from "own: add wakes no consumer":
            (at_most!(0, GETTERS, Op::Add(_))) breaks ["no_lost_wakeup"];
        Seeded "add_wakes_if_it_was_empty"
            from "own: add wakes a consumer only if the queue was empty":
            (|op, wakes, rules| if matches!(op, Op::Add(_)) && rules.len() > 1 {
                wakes.set(GETTERS, 0);
            }) breaks ["no_lost_wakeup"];
        Seeded "requeue_without_waking"
            from "own: done wakes no consumer for an item that it queues again":
            (at_most!(0, GETTERS, Op::Done(_))) breaks ["no_lost_wakeup"];
        Seeded "shutdown_wakes_one" from "own: shutdown wakes one consumer instead of all":
            (at_most!(1, GETTERS, Op::ShutDown(_))) breaks ["shutdown_wakes_consumers"];
        Seeded "drain_wakes_no_consumer" from "own: a drain wakes no consumer":
            (at_most!(0, GETTERS, Op::Drain(_))) breaks ["shutdown_wakes_consumers"];
        Seeded "shutdown_wakes_no_drain"
            from "own: drains wait on a condition of their own, which shut_down does not wake":
            (at_most!(0, DRAINS, Op::ShutDown(_))) breaks ["shutdown_releases_drains"];
        Seeded "done_wakes_one_drain" from "workqueue:SE-4":
            (at_most!(1, DRAINS, Op::Done(_))) breaks ["drains_return"];
        Seeded "done_wakes_no_drain" from "own: done wakes no drain":
            (at_most!(0, DRAINS, Op::Done(_))) breaks ["drains_return"];
        Seeded "add_all_wakes_one" from "own: add_all wakes one consumer, as add does":
            (at_most!(1, GETTERS, Op::AddAll(_))) breaks ["no_lost_wakeup"];
        Seeded "done_all_wakes_nobody"
            from "own: done_all wakes no consumer for the items that it queues again":
            (at_most!(0, GETTERS, Op::DoneAll(_))) breaks ["no_lost_wakeup"];
    }
}

/// The machine that ships, under a shell that forgets something.
pub(super) fn of_shells() -> Vec<Mutant<Queue>> {
    mutants! { Forgetful(Rules::<u8>::default()):
        Seeded "dropped_getter_swallows_wake"
            from "museum P1, a getter that leaves without passing its wake-up on":
            (Passed::WakeUp) breaks ["no_lost_wakeup"];
    }
}

fn equivalents() -> Vec<Mutant<Queue>> {
    mutants! { Edited(Rules::<u8>::default()):
        Equivalent("a woken consumer checks again before it returns; an extra wake-up costs time")
        "add_wakes_everybody" from "own: add wakes all consumers where one is enough":
            (|op, wakes, _| if matches!(op, Op::Add(_)) && wakes.get(GETTERS) > 0 {
                wakes.all(GETTERS);
            }) breaks [];
        Equivalent("a woken drain checks its condition again before it returns")
        "every_done_wakes_drains"
            from "own: every done wakes the drains, even while items are in processing":
            (|op, wakes, _| if matches!(op, Op::Done(_)) { wakes.all(DRAINS) }) breaks [];
    }
}
