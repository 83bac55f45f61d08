//! The promises of the rate-limiting queue, as checks of a history.

use seatrial_core::limited_queue::{Op as Call, Ret};
use seatrial_core::queue::Finished;

use super::as_delaying::{Failures, judged};
use super::{Event, LimitedQueue};
use crate::trial::Invariant;

pub(super) fn all() -> Vec<Invariant<LimitedQueue>> {
    let mut all = vec![
        Invariant::at_every_event(
            "failures_are_counted",
            "the failures of an item are counted since it was last forgotten",
            &["workqueue:RQ-2", "workqueue:RQ-6", "workqueue:CL-3"],
            failures_are_counted,
        ),
        Invariant::at_every_event(
            "a_delivery_is_settled_once",
            "the outcome of a delivery counts only if the delivery has not ended yet",
            &["workqueue:CL-1", "workqueue:CL-9"],
            a_delivery_is_settled_once,
        ),
    ];
    all.extend(inside());
    all.extend(figures_inside());
    all
}

/// The promises of the queue inside, which are judged here, too.
fn inside() -> Vec<Invariant<LimitedQueue>> {
    vec![
        Invariant::always(
            "never_early",
            "a failed item is not handed out before its limiter's delay, which doubles, has passed",
            &["workqueue:RQ-1", "workqueue:RL-2", "workqueue:CL-6"],
            |history| judged(history, "never_early"),
        ),
        Invariant::always(
            "nothing_late",
            "no consumer sleeps through the time of a failed item",
            &["workqueue:RQ-1", "workqueue:RL-5"],
            |history| judged(history, "nothing_late"),
        ),
        Invariant::always(
            "retries_count_calls",
            "every failure and every delay is counted and reported, until shutdown begins",
            &["workqueue:RQ-1"],
            |history| judged(history, "retries_count_calls"),
        ),
        Invariant::always(
            "nothing_lost",
            "no consumer sleeps or leaves while an item waits that was added or became due",
            &["workqueue:RQ-1", "workqueue:CL-2"],
            |history| judged(history, "nothing_lost"),
        ),
        Invariant::always(
            "stingy",
            "a failed item waits for one time, and is handed out once for it",
            &["workqueue:RQ-1", "workqueue:CL-1"],
            |history| judged(history, "stingy"),
        ),
        Invariant::always(
            "shutdown_is_final",
            "an item that fails after shutdown is never handed out",
            &["workqueue:RQ-1"],
            |history| judged(history, "shutdown_is_final"),
        ),
    ]
}

/// Those of its figures and its wake-ups.
fn figures_inside() -> Vec<Invariant<LimitedQueue>> {
    vec![
        Invariant::always(
            "depth_is_told",
            "the reported depth is always right, also for failed items that became due",
            &["workqueue:MX-8"],
            |history| judged(history, "depth_is_told"),
        ),
        Invariant::always(
            "latency_is_told",
            "the reported latency counts from the moment at which an item became due",
            &["workqueue:MX-6"],
            |history| judged(history, "latency_is_told"),
        ),
        Invariant::always(
            "work_is_told",
            "the reported work time runs from hand-out to the end of a delivery, however it ends",
            &["workqueue:MX-7"],
            |history| judged(history, "work_is_told"),
        ),
        Invariant::eventually(
            "no_lost_wakeup",
            "no consumer sleeps for ever while an item could be handed out",
            &["workqueue:RQ-1"],
            |history| judged(history, "no_lost_wakeup"),
        ),
        Invariant::eventually(
            "shutdown_wakes_consumers",
            "no consumer sleeps for ever after shutdown began, whatever time it waited for",
            &["workqueue:RQ-1"],
            |history| judged(history, "shutdown_wakes_consumers"),
        ),
    ]
}

fn failures_are_counted(before: &Failures, event: &Event) -> Result<(), String> {
    match event.returned() {
        Some((Call::NumRequeues(ask), Ret::NumRequeues(says))) => {
            let right = before.failures.get(&ask.key).copied().unwrap_or_default();
            if *says == right {
                return Ok(());
            }
            Err(format!("item {} failed {right} times, and {says} are told", ask.key))
        }
        _ => Ok(()),
    }
}

fn a_delivery_is_settled_once(before: &Failures, event: &Event) -> Result<(), String> {
    match event.returned() {
        Some((Call::Settle(settle), Ret::Settle(finished))) => {
            let held = before.held(settle.token).is_some();
            if held != matches!(finished, Finished::NotInProcessing) {
                return Ok(());
            }
            Err(format!("a delivery is settled, held: {held}, and {finished:?} is told"))
        }
        _ => Ok(()),
    }
}
