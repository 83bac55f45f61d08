//! The delaying queue's bugs: one changed rule or one changed wake each.

use std::time::Duration;

use seatrial_core::delaying_queue::{Delaying, Op, Ret};
use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::queue::{DRAINS, Fifo, GETTERS};

use super::{DelayingQueue, Plain};
use crate::queues::fixtures::listener::metrics;
use crate::queues::fixtures::shells::{shells_are_unaware, shells_forget};
use crate::queues::queue::AT_ONCE;
use crate::shared::Mistakes;
use crate::trial::{MachineOf, Mutant, Told, at_most, mutants};

pub(super) fn all() -> Vec<Mutant<DelayingQueue>> {
    let of_rules = [times(), items(), ends(), figures(), of_batches(), of_the_queue()].concat();
    [of_rules, wakes(), of_shells(), equivalents()].concat()
}

/// Tells whether a mutant is the machine that ships with its wakes edited.
pub(super) fn is_of_waking(mutant: &Mutant<DelayingQueue>) -> bool {
    [wakes(), of_shells(), equivalents()].concat().iter().any(|edited| edited.name == mutant.name)
}

/// The plain queue with mistakes.
fn mistaken(mistakes: Mistakes) -> MachineOf<DelayingQueue> {
    Box::new(Plain::with(mistakes))
}

fn times() -> Vec<Mutant<DelayingQueue>> {
    mutants! { mistaken:
        Seeded "ticks_of_ten"
            from "own: times are rounded to ticks of ten milliseconds before they are compared"
            breaks ["never_early"];
        Seeded "first_delay_counts"
            from "own: a waiting item keeps its first time, even if an earlier one is given"
            breaks ["nothing_late"];
        Seeded "last_delay_counts"
            from "own: a waiting item takes its last time, even if that is later"
            breaks ["nothing_late"];
        Seeded "sleep_until_latest"
            from "own: a consumer sleeps until the latest time, not the earliest"
            breaks ["nothing_late"];
        Seeded "sleep_without_time" from "museum W6" breaks ["nothing_late"];
        Seeded "batch_sleeps_without_time"
            from "own: a caller that wants a batch sleeps without a deadline"
            breaks ["nothing_late"];
        Seeded "batch_takes_early" from "own: a batch also takes the items that are not due yet"
            breaks ["never_early"];
        Seeded "earlier_time_wakes_nobody" from "workqueue:DQ-15, an earlier time wakes no sleeper"
            breaks ["nothing_late"];
        Seeded "retries_count_kept" from "workqueue:DQ-4" breaks ["retries_count_calls"];
        Seeded "zero_delay_is_not_counted" from "workqueue:DQ-4" breaks ["retries_count_calls"];
    }
}

fn items() -> Vec<Mutant<DelayingQueue>> {
    mutants! { mistaken:
        Seeded "add_cancels_delay" from "museum O6" breaks ["nothing_lost"];
        Seeded "one_entry_per_call" from "museum O6" breaks ["stingy"];
        Seeded "due_is_not_removed" from "workqueue:DQ-10" breaks ["stingy"];
        Seeded "order_of_calls" from "workqueue:DQ-13" breaks ["fair"];
        Seeded "done_forgets_due" from "own: done does not look for due items" breaks ["fair"];
        Seeded "add_forgets_due" from "own: add does not look for due items" breaks ["fair"];
        Seeded "len_forgets_due" from "own: len does not look for due items"
            breaks ["len_counts_waiting"];
        Seeded "len_counts_delayed" from "workqueue:DQ-12" breaks ["len_counts_waiting"];
        Seeded "due_lost_while_processing" from "own: a due item that is in processing is dropped"
            breaks ["dirty_is_requeued"];
    }
}

fn ends() -> Vec<Mutant<DelayingQueue>> {
    mutants! { mistaken:
        Seeded "shutdown_forgets_due" from "own: shutdown does not look for due items"
            breaks ["nothing_lost"];
        Seeded "shutdown_adds_a_part"
            from "own: a shutdown adds as many due items as one step may, and discards the others"
            breaks ["nothing_lost"];
        Seeded "second_shutdown_is_nothing" from "workqueue:DQ-22"
            breaks ["shutdown_releases_drains"];
        Seeded "drain_forgets_due" from "own: a drain does not look for due items"
            breaks ["nothing_lost"];
        Seeded "drain_begins_late"
            from "own: a drain that takes several steps forgets a shutdown between two of them"
            breaks ["shutdown_releases_drains"];
        Seeded "flush_at_shutdown" from "workqueue:DQ-19" breaks ["shutdown_is_final"];
        Seeded "delays_counted_after_shutdown"
            from "own: add_after does not check whether the queue is shut down"
            breaks ["retries_count_calls"];
        Seeded "drain_waits_for_delayed" from "own: a drain also waits for delayed items"
            breaks ["drains_return"];
    }
}

fn figures() -> Vec<Mutant<DelayingQueue>> {
    mutants! { Mistold(Delaying::<u8>::measured(Fifo::default(), &metrics())):
        Seeded "due_counts_from_the_next_call"
            from "own: the latency of a due item counts from the next call":
            (|step| {
                let waiting: Vec<u8> = step.machine.queue().waiting().copied().collect();
                let moments = &mut step.notes.moments;
                for key in waiting {
                    moments.entry(key).or_insert(step.at);
                }
                if let Step::Done(Ret::Get(Some((_, key)))) = step.outcome {
                    let found = moments.remove(key).unwrap_or(step.at);
                    for figure in step.told.iter_mut() {
                        if let Told::Latency(waited) = figure {
                            *waited = step.at.since(found);
                        }
                    }
                }
            }) breaks ["latency_is_told"];
        Seeded "refresh_moves_nothing"
            from "own: a refresh reports unfinished work only, and adds no due items":
            (|step| if matches!(step.op, Op::Refresh(_)) {
                step.notes.late.append(step.told);
            } else {
                step.told.append(&mut step.notes.late);
            }) breaks ["depth_is_told"];
        Seeded "one_step_adds_all" from "own: one step adds all due items":
            (|step| {
                let added = step.told.iter().filter(|figure| **figure == Told::Added).count();
                if added == AT_ONCE {
                    step.notes.late.append(step.told);
                } else {
                    step.told.append(&mut step.notes.late);
                }
            }) breaks ["steps_are_bounded"];
        Seeded "done_moves_nothing" from "own: done reports its work only, and adds no due items":
            (|step| if matches!(step.op, Op::Done(_) | Op::DoneKey(_)) {
                let is_work = |figure: &Told| matches!(figure, Told::Work(_));
                step.notes.late.extend(step.told.extract_if(.., |figure| !is_work(figure)));
            } else {
                step.told.append(&mut step.notes.late);
            }) breaks ["depth_is_told"];
        Seeded "retries_are_not_told" from "own: retries are counted, but not reported":
            (|step| step.told.retain(|figure| *figure != Told::Retried))
            breaks ["retries_count_calls"];
        Seeded "work_counts_from_its_end" from "workqueue:MX-7":
            (|step| for figure in step.told.iter_mut() {
                if let Told::Work(took) = figure {
                    *took = Duration::ZERO;
                }
            }) breaks ["work_is_told"];
    }
}

/// The machine that ships, with a new step for each call of a batch, all in one critical section.
#[derive(Debug)]
struct EachAnew(Delaying<u8>);

impl Machine for EachAnew {
    type Op = Op<u8>;
    type Ret = Ret<u8>;

    fn step(&mut self, op: &mut Op<u8>, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        let Op::AddAll(all) = op else { return Machine::step(&mut self.0, op, cx) };
        for add in all.0.iter_mut() {
            let mut anew = Cx::new(cx.ambient());
            Machine::step(&mut self.0, &mut Op::Add(add.clone()), &mut anew);
            cx.wakes = cx.wakes.and(anew.wakes);
        }
        Step::Done(Ret::AddAll(vec![(); all.0.len()]))
    }

    fn assert_valid(&self) {
        self.0.assert_valid();
    }
}

fn of_batches() -> Vec<Mutant<DelayingQueue>> {
    fn anew() -> MachineOf<DelayingQueue> {
        Box::new(EachAnew(Delaying::measured(Fifo::default(), &metrics())))
    }
    mutants! { anew:
        Seeded "each_of_a_batch_adds_its_part"
            from "own: the bound of a step applies to each call of a batch":
            () breaks ["steps_are_bounded"];
    }
}

/// Mistakes of the queue inside.
fn of_the_queue() -> Vec<Mutant<DelayingQueue>> {
    mutants! { mistaken:
        Seeded "due_passes_processing"
            from "own: add does not check whether the item is in processing":
            (&["queue_while_processing"]) breaks ["never_concurrent"];
        Seeded "shutdown_ends_consumers" from "museum W14":
            (&["shutdown_ends_consumers"]) breaks ["nothing_lost"];
        Seeded "accept_after_shutdown"
            from "own: neither add nor add_after checks whether the queue is shut down":
            (&["accept_after_shutdown", "delays_counted_after_shutdown"])
            breaks ["shutdown_is_final"];
        Seeded "drain_looks_at_waiting_only" from "workqueue:SE-7":
            (&["drain_looks_at_waiting_only"]) breaks ["drain_waits"];
    }
}

fn wakes() -> Vec<Mutant<DelayingQueue>> {
    mutants! { Edited(Delaying::<u8>::default()):
        Seeded "earlier_time_is_not_told" from "own: an earlier time wakes no sleeper":
            (|op, wakes, _| if matches!(op, Op::AddAfter(_)) && wakes.get(GETTERS) == Wakes::ALL {
                wakes.set(GETTERS, 0);
            }) breaks ["nothing_late"];
        Seeded "earlier_time_wakes_one"
            from "own: an earlier time wakes only one consumer, perhaps a task that runs late":
            (at_most!(1, GETTERS, Op::AddAfter(_))) breaks ["nothing_late"];
        Seeded "add_never_wakes" from "own: add wakes no consumer":
            (at_most!(0, GETTERS, Op::Add(_) | Op::AddAfter(_))) breaks ["no_lost_wakeup"];
        Seeded "add_all_wakes_one" from "own: add_all wakes one consumer, as add does":
            (at_most!(1, GETTERS, Op::AddAll(_))) breaks ["no_lost_wakeup"];
        Seeded "due_wakes_nobody"
            from "own: a getter that takes one of several due items wakes no other getter":
            (at_most!(0, GETTERS, Op::Get(_))) breaks ["no_lost_wakeup"];
        Seeded "shutdown_wakes_one" from "own: shutdown wakes one consumer instead of all":
            (at_most!(1, GETTERS, Op::ShutDown(_))) breaks ["shutdown_wakes_consumers"];
        Seeded "done_wakes_one_drain" from "workqueue:SE-4":
            (at_most!(1, DRAINS, Op::Done(_))) breaks ["drains_return"];
    }
}

fn of_shells() -> Vec<Mutant<DelayingQueue>> {
    [shells_forget!(Delaying::<u8>::default()), shells_are_unaware!(Delaying::<u8>::default())]
        .concat()
}

fn equivalents() -> Vec<Mutant<DelayingQueue>> {
    mutants! { Edited(Delaying::<u8>::default()):
        Equivalent("a woken consumer checks again and goes back to sleep")
        "every_delay_wakes_everybody"
            from "own: every delay wakes all consumers, even if it is not the earliest":
            (|op, wakes, _| if matches!(op, Op::AddAfter(_)) { wakes.all(GETTERS) }) breaks [];
    }
}
