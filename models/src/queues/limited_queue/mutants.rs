//! The bugs: one changed answer of the limiter, one changed call or one changed wake each.

use std::time::Duration;

use seatrial_core::limited_queue::{Limited, Op, Outcome, Ret};
use seatrial_core::limiter::{Exponential, Item, Limiter};
use seatrial_core::machine::{Step, Wakes};
use seatrial_core::queue::{Fifo, Finished, GETTERS};
use seatrial_core::runtime::Instant;

use super::op::{BASE, MAX, machine};
use super::{LimitedQueue, delay_after};
use crate::shared::Mistakes;
use crate::single_step::Changed;
use crate::trial::{MachineOf, Mutant, Told, at_most, mutants};

pub(super) fn all() -> Vec<Mutant<LimitedQueue>> {
    [of_limiters(), of_calls(), of_answers(), of_figures(), of_waking()].concat()
}

/// Tells whether a mutant is the machine that ships with its wakes edited.
pub(super) fn is_of_waking(mutant: &Mutant<LimitedQueue>) -> bool {
    of_waking().iter().any(|edited| edited.name == mutant.name)
}

/// A limiter with a mistake.
struct Mistaken {
    inner: Exponential<u8>,
    wrong: &'static str,
}

impl Mistaken {
    fn item<'a>(&self, item: Item<'a, u8>) -> Item<'a, u8> {
        if self.wrong == "one_for_all_items" { Item::new(&1, 0) } else { item }
    }
}

impl Limiter<u8> for Mistaken {
    fn when(&mut self, item: Item<'_, u8>, now: Instant) -> Duration {
        let item = self.item(item);
        let before = self.inner.num_requeues(item);
        let delay = self.inner.when(item, now);
        match self.wrong {
            "forgets_when_asked" => self.inner.forget(item, &mut Vec::new()),
            "delays_grow_tenfold" => {
                return BASE.saturating_mul(10_u32.saturating_pow(before)).min(MAX);
            }
            "delays_do_not_grow" => return BASE,
            "counted_before_it_is_asked" => return delay_after(before + 1),
            "half_the_delay" => return delay / 2,
            _ => {}
        }
        delay
    }

    fn forget(&mut self, item: Item<'_, u8>, left: &mut Vec<u8>) {
        if self.wrong != "never_forgets" {
            self.inner.forget(self.item(item), left);
        }
    }

    fn num_requeues(&self, item: Item<'_, u8>) -> u32 {
        self.inner.num_requeues(self.item(item))
    }

    fn reads_time(&self) -> bool {
        false
    }
}

/// The queue that ships, around a limiter with a mistake.
fn limited_by(mistakes: Mistakes) -> MachineOf<LimitedQueue> {
    let limiter = Mistaken { inner: Exponential::new(BASE, MAX), wrong: mistakes[0] };
    Box::new(Limited::<u8, Mistaken>::new(limiter, Fifo::default()))
}

/// The queue that ships; its calls are changed on the way.
fn called(call: fn(&mut Op<u8>)) -> MachineOf<LimitedQueue> {
    Box::new(Changed { machine: machine(), call, answer: |answer| answer })
}

fn of_limiters() -> Vec<Mutant<LimitedQueue>> {
    mutants! { limited_by:
        Seeded "never_forgets" from "workqueue:RQ-2" breaks ["failures_are_counted"];
        Seeded "forgets_when_asked" from "workqueue:RL-2"
            breaks ["failures_are_counted", "never_early"];
        Seeded "one_for_all_items" from "workqueue:RL-2" breaks ["failures_are_counted"];
        Seeded "delays_grow_tenfold" from "museum W12" breaks ["nothing_late"];
        Seeded "delays_do_not_grow" from "workqueue:RL-2" breaks ["never_early"];
        Seeded "counted_before_it_is_asked" from "workqueue:RL-3" breaks ["nothing_late"];
        Seeded "half_the_delay" from "workqueue:RL-2" breaks ["never_early"];
    }
}

/// Changes the outcome of a delivery.
macro_rules! outcome {
    ($from:pat => $to:expr) => {
        |op| {
            if let Op::Settle(settle) = op
                && matches!(settle.outcome, $from)
            {
                settle.outcome = $to;
            }
        }
    };
}

fn of_calls() -> Vec<Mutant<LimitedQueue>> {
    mutants! { called:
        Seeded "retry_forgets" from "workqueue:CL-3":
            (outcome!(Outcome::Retry => Outcome::RequeueAfter(BASE)))
            breaks ["failures_are_counted", "never_early"];
        Seeded "giving_up_tries_again" from "workqueue:CL-1":
            (outcome!(Outcome::GiveUp => Outcome::Retry)) breaks ["stingy"];
        Seeded "success_tries_again" from "workqueue:CL-1":
            (outcome!(Outcome::Success => Outcome::RequeueAfter(BASE)))
            breaks ["stingy", "retries_count_calls"];
        Seeded "again_is_not_later" from "workqueue:CL-9":
            (outcome!(Outcome::RequeueAfter(_) => Outcome::RequeueAfter(Duration::ZERO)))
            breaks ["never_early"];
        Seeded "done_all_leaves_the_last" from "own: done_all leaves the last delivery open":
            (|op| if let Op::DoneAll(all) = op {
                all.0.pop();
            }) breaks ["a_delivery_is_settled_once"];
        Seeded "again_is_never" from "workqueue:CL-9":
            (outcome!(Outcome::RequeueAfter(_) => Outcome::Success))
            breaks ["nothing_late"];
        Seeded "retry_is_given_up" from "workqueue:CL-1":
            (outcome!(Outcome::Retry => Outcome::GiveUp))
            breaks ["failures_are_counted", "nothing_late"];
    }
}

fn of_answers() -> Vec<Mutant<LimitedQueue>> {
    mutants! { Retold(machine()):
        Seeded "settling_is_denied" from "workqueue:CL-1":
            (|step, _| if let Step::Done(Ret::Settle(finished)) = step {
                *finished = Finished::NotInProcessing;
            }) breaks ["a_delivery_is_settled_once"];
        Seeded "stale_settling_says_ended"
            from "own: settle always reports that it ended a delivery":
            (|step, _| if let Step::Done(Ret::Settle(told @ Finished::NotInProcessing)) = step {
                *told = Finished::Ended(None);
            }) breaks ["a_delivery_is_settled_once"];
        Seeded "shutdown_is_denied" from "own: the shutdown flag is reported inverted":
            (|step, _| if let Step::Done(Ret::ShuttingDown(says)) = step {
                *says = !*says;
            }) breaks ["shutdown_is_final"];
        Seeded "first_retry_is_not_counted"
            from "workqueue:DQ-4, the latest retry is not counted yet":
            (|step, _| if let Step::Done(Ret::Retries(says)) = step {
                *says = says.saturating_sub(1);
            }) breaks ["retries_count_calls"];
        Seeded "consumers_are_sent_home" from "own: an item is taken, but not handed out":
            (|step, _| if let Step::Done(Ret::Get(taken)) = step {
                *taken = None;
            }) breaks ["nothing_lost"];
        Seeded "batches_are_sent_home" from "own: a batch is taken, but not handed out":
            (|step, _| if let Step::Done(Ret::GetBatch(taken)) = step {
                taken.clear();
            }) breaks ["nothing_lost"];
    }
}

fn of_figures() -> Vec<Mutant<LimitedQueue>> {
    mutants! { Mistold(machine()):
        Seeded "settled_retries_are_not_told"
            from "own: retries are reported by calls to add only, not by settle":
            (|step| if matches!(step.op, Op::Settle(_)) {
                step.told.retain(|figure| *figure != Told::Retried);
            }) breaks ["retries_count_calls"];
        Seeded "settling_ends_no_work" from "own: work is reported by done only, not by settle":
            (|step| if matches!(step.op, Op::Settle(_)) {
                step.told.retain(|figure| !matches!(figure, Told::Work(_)));
            }) breaks ["work_is_told"];
        Seeded "due_counts_from_the_next_call"
            from "own: the latency of a due item counts from the next call":
            (|step| if step.told.contains(&Told::Added) {
                for figure in step.told.iter_mut() {
                    if let Told::Latency(waited) = figure {
                        *waited = Duration::ZERO;
                    }
                }
            }) breaks ["latency_is_told"];
        Seeded "failures_are_depth"
            from "own: a failed item counts as depth when it fails, not when it becomes due":
            (|step| if matches!(step.op, Op::AddRateLimited(_)) {
                step.told.push(Told::Depth(None, 1));
            }) breaks ["depth_is_told"];
    }
}

fn of_waking() -> Vec<Mutant<LimitedQueue>> {
    mutants! { Edited(machine()):
        Seeded "failure_never_wakes" from "own: a failure with an earlier time wakes no sleeper":
            (at_most!(0, GETTERS, Op::AddRateLimited(_))) breaks ["nothing_late"];
        Seeded "earlier_time_is_not_told" from "own: an earlier time wakes no sleeper":
            (|op, wakes, _| if matches!(op, Op::AddAfter(_)) && wakes.get(GETTERS) == Wakes::ALL {
                wakes.set(GETTERS, 0);
            }) breaks ["nothing_late"];
        Seeded "add_never_wakes" from "own: add wakes no consumer":
            (at_most!(0, GETTERS, Op::Add(_))) breaks ["no_lost_wakeup"];
        Seeded "settling_never_wakes" from "own: settle wakes no consumer":
            (at_most!(0, GETTERS, Op::Settle(_))) breaks ["no_lost_wakeup"];
        Seeded "shutdown_wakes_one" from "own: shutdown wakes one consumer instead of all":
            (at_most!(1, GETTERS, Op::ShutDown(_))) breaks ["shutdown_wakes_consumers"];
    }
}
