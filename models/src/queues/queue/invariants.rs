//! The promises of the queue, as checks of a history.

use std::collections::BTreeMap;

use seatrial_core::machine::Step;
use seatrial_core::queue::{Done, DoneKey, Drain, Finished, Op, Ret};

use super::figures::Known;
use super::ledger::{QueueLedger, token_number};
use super::{Event, History, Queue};
use crate::trial::figures::{self, Books as _};
use crate::trial::{Invariant, Ledger as _, Violation, What};

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<Queue>> {
    let lists = [deliveries(), answers(), figures(), liveness()];
    lists.into_iter().flatten().collect()
}

fn deliveries() -> Vec<Invariant<Queue>> {
    vec![
        Invariant::at_every_event(
            "never_concurrent",
            "an item is never processed by two consumers at a time",
            &["workqueue:WQ-8", "workqueue:INV-4", "workqueue:CL-5"],
            never_concurrent,
        ),
        Invariant::at_every_event(
            "dirty_is_requeued",
            "an item added while it is processed is delivered once more after done",
            &[
                "workqueue:WQ-6",
                "workqueue:WQ-16",
                "workqueue:WQ-17",
                "workqueue:INV-5",
                "workqueue:WQ-20",
            ],
            dirty_is_requeued,
        ),
        Invariant::at_every_event(
            "nothing_lost",
            "no consumer sleeps or leaves while an accepted item waits",
            &[
                "workqueue:WQ-10",
                "workqueue:WQ-12",
                "workqueue:WQ-26",
                "workqueue:INV-5",
                "workqueue:WQ-13",
            ],
            nothing_lost,
        ),
        Invariant::at_every_event(
            "stingy",
            "an item is delivered no more often than it became dirty",
            &["workqueue:WQ-5", "workqueue:WQ-7", "workqueue:INV-6", "workqueue:WQ-11"],
            stingy,
        ),
        Invariant::at_every_event(
            "fair",
            "items are handed out in the order in which they were queued",
            &["workqueue:WQ-14", "workqueue:INV-7"],
            fair,
        ),
    ]
}

fn answers() -> Vec<Invariant<Queue>> {
    vec![
        Invariant::at_every_event(
            "len_counts_waiting",
            "len is the number of waiting items",
            &["workqueue:WQ-23", "workqueue:INV-3"],
            len_counts_waiting,
        ),
        Invariant::always(
            "shutdown_is_final",
            "once shutdown has begun, the queue says so and delivers each item at most once more",
            &["workqueue:WQ-24", "workqueue:WQ-31", "workqueue:INV-8", "workqueue:INV-9"],
            shutdown_is_final,
        ),
        Invariant::at_every_event(
            "done_ends_its_own_delivery",
            "done ends the delivery that it names and no other",
            &["workqueue:WQ-21", "workqueue:WQ-22"],
            done_ends_its_own_delivery,
        ),
        Invariant::at_every_event(
            "drain_waits",
            "a drain returns only after its condition was met or shut_down was called",
            &[
                "workqueue:WQ-30",
                "workqueue:WQ-33",
                "workqueue:INV-11",
                "workqueue:WQ-32",
                "workqueue:WQ-37",
            ],
            drain_waits,
        ),
    ]
}

fn figures() -> Vec<Invariant<Queue>> {
    vec![
        Invariant::always(
            "depth_is_told",
            "the reported depth always counts the items that wait or were added while processed",
            &["workqueue:MX-5", "workqueue:MX-6", "workqueue:MX-8", "workqueue:INV-10"],
            |history| Known::compare(history, figures::depth),
        ),
        Invariant::always(
            "latency_is_told",
            "the reported latency is the time from the add that made an item dirty to its hand-out",
            &["workqueue:MX-6", "workqueue:MX-9", "workqueue:INV-10"],
            |history| Known::compare(history, figures::latency),
        ),
        Invariant::always(
            "work_is_told",
            "the reported work time runs from hand-out to done, and is unfinished work until then",
            &["workqueue:MX-7", "workqueue:MX-10", "workqueue:MX-14", "workqueue:INV-10"],
            |history| Known::compare(history, figures::work),
        ),
    ]
}

fn liveness() -> Vec<Invariant<Queue>> {
    vec![
        Invariant::when_quiet(
            "no_lost_wakeup",
            "no consumer sleeps for ever while an item waits",
            &["workqueue:LIV-1", "workqueue:WQ-9"],
            no_lost_wakeup,
        ),
        Invariant::when_quiet(
            "shutdown_wakes_consumers",
            "no consumer sleeps for ever after shutdown began",
            &["workqueue:WQ-25", "workqueue:LIV-2"],
            shutdown_wakes_consumers,
        ),
        Invariant::when_quiet(
            "drains_return",
            "no drain sleeps for ever once nothing is in flight",
            &["workqueue:WQ-18", "workqueue:WQ-38", "workqueue:LIV-4", "workqueue:WQ-39"],
            drains_return,
        ),
        Invariant::when_quiet(
            "shutdown_releases_drains",
            "shut_down releases every drain that began before it, whatever drain starts then",
            &["workqueue:WQ-35", "workqueue:WQ-36", "workqueue:LIV-5", "workqueue:WQ-34"],
            shutdown_releases_drains,
        ),
    ]
}

fn got(event: &Event) -> Option<u8> {
    match event.returned() {
        Some((Op::Get(_), Ret::Get(Some((_, key))))) => Some(*key),
        _ => None,
    }
}

fn never_concurrent(before: &QueueLedger, event: &Event) -> Result<(), String> {
    match got(event) {
        Some(key) if before.in_processing(key) => {
            Err(format!("item {key} is handed out while it is processed"))
        }
        _ => Ok(()),
    }
}

/// Tells whether `get` found the queue empty here: it sleeps, or it reports the end.
fn found_nothing(event: &Event) -> bool {
    matches!(
        &event.what,
        What::Step { op: Op::Get(_), outcome: Step::Wait { .. } | Step::Done(Ret::Get(None)), .. }
    )
}

/// Looks only at items that were delivered before, because those need a further delivery.
fn dirty_is_requeued(before: &QueueLedger, event: &Event) -> Result<(), String> {
    let forgotten = before.spec.waiting.iter().find(|key| before.gets.contains_key(key)).copied();
    match forgotten {
        Some(key) if found_nothing(event) => Err(format!(
            "item {key} was added while it was processed, is done, and is not queued again"
        )),
        _ => Ok(()),
    }
}

fn nothing_lost(before: &QueueLedger, event: &Event) -> Result<(), String> {
    match before.spec.waiting.front() {
        Some(key) if found_nothing(event) => {
            Err(format!("a consumer finds nothing although item {key} waits"))
        }
        _ => Ok(()),
    }
}

fn stingy(before: &QueueLedger, event: &Event) -> Result<(), String> {
    let Some(key) = got(event) else { return Ok(()) };
    let count = |of: &BTreeMap<u8, u32>| of.get(&key).copied().unwrap_or(0);
    let (gets, needs) = (count(&before.gets) + 1, count(&before.needs));
    if gets > needs {
        return Err(format!("delivery {gets} of item {key}, which became dirty {needs} times"));
    }
    Ok(())
}

fn fair(before: &QueueLedger, event: &Event) -> Result<(), String> {
    match (got(event), before.spec.waiting.front()) {
        (Some(key), Some(first)) if key != *first => {
            Err(format!("item {key} is handed out before item {first}, which was queued earlier"))
        }
        _ => Ok(()),
    }
}

fn len_counts_waiting(before: &QueueLedger, event: &Event) -> Result<(), String> {
    match event.returned() {
        Some((Op::Len(_), Ret::Len(len))) if *len != before.spec.waiting.len() => {
            Err(format!("len says {len}, and {} items wait", before.spec.waiting.len()))
        }
        _ => Ok(()),
    }
}

fn shutdown_is_final(history: &History) -> Checked {
    QueueLedger::at_every_event(history, |before, event| {
        if let Some((Op::ShuttingDown(_), Ret::ShuttingDown(says))) = event.returned() {
            let began = before.allowed_after_shutdown.is_some();
            if *says != began {
                return Err(format!("shutting_down says {says} where {began} is right"));
            }
        }
        match event.returned() {
            Some((_, Ret::Get(None))) if before.allowed_after_shutdown.is_none() => {
                Err("get reports the end of a queue that is not shut down".to_owned())
            }
            Some((_, Ret::GetBatch(batch)))
                if batch.is_empty() && before.allowed_after_shutdown.is_none() =>
            {
                Err("a batch reports the end of a queue that is not shut down".to_owned())
            }
            _ => Ok(()),
        }
    })?;
    let mut left = None;
    let mut ledger = QueueLedger::default();
    for (number, event) in history.events.iter().enumerate() {
        for event in QueueLedger::parts(event).iter() {
            if let (Some(key), Some(left)) = (got(event), left.as_mut()) {
                owed(left, key).map_err(|because| Violation::at(number, because))?;
            }
            ledger.apply(event);
            if left.is_none() {
                left.clone_from(&ledger.allowed_after_shutdown);
            }
        }
    }
    Ok(())
}

/// Subtracts one delivery from those that an item was owed at shutdown.
fn owed(left: &mut BTreeMap<u8, u32>, key: u8) -> Result<(), String> {
    match left.get_mut(&key) {
        Some(count) if *count > 0 => *count -= 1,
        _ => return Err(format!("item {key} is delivered, which was not owed at shutdown")),
    }
    Ok(())
}

fn done_ends_its_own_delivery(before: &QueueLedger, event: &Event) -> Result<(), String> {
    let (named, ended) = match event.returned() {
        Some((Op::Done(Done(token)), Ret::Done(finished))) => {
            let delivery = (event.object, token_number(*token));
            (before.deliveries.contains_key(&delivery), finished)
        }
        Some((Op::DoneKey(DoneKey { key, .. }), Ret::DoneKey(finished))) => {
            (before.in_processing(*key), finished)
        }
        _ => return Ok(()),
    };
    match (named, ended) {
        (true, Finished::NotInProcessing) => Err("done did not end its delivery".to_owned()),
        (false, Finished::Ended(_)) => {
            Err("done ended a delivery that is not the one it names".to_owned())
        }
        _ => Ok(()),
    }
}

fn drain_waits(before: &QueueLedger, event: &Event) -> Result<(), String> {
    match event.returned() {
        Some((Op::Drain(Drain { until, .. }), _)) if !before.may_return(event.thread, *until) => {
            let in_flight: Vec<_> = before.deliveries.values().collect();
            Err(format!("a drain returns with items {in_flight:?} in flight, nobody released it"))
        }
        _ => Ok(()),
    }
}

fn no_lost_wakeup(now: &QueueLedger) -> Result<(), String> {
    match (now.getters.first(), now.spec.waiting.front()) {
        (Some(_), Some(key)) => Err(format!("a consumer sleeps although item {key} waits")),
        _ => Ok(()),
    }
}

fn shutdown_wakes_consumers(now: &QueueLedger) -> Result<(), String> {
    if now.allowed_after_shutdown.is_some() && !now.getters.is_empty() {
        return Err("a consumer sleeps although the queue is shut down".to_owned());
    }
    Ok(())
}

fn drains_return(now: &QueueLedger) -> Result<(), String> {
    let stuck = now.drains.values().any(|drain| drain.was_satisfied && !drain.was_released);
    if stuck && now.deliveries.is_empty() {
        return Err("a drain sleeps although nothing is in flight".to_owned());
    }
    Ok(())
}

fn shutdown_releases_drains(now: &QueueLedger) -> Result<(), String> {
    if now.drains.values().any(|drain| drain.was_released) {
        return Err("a drain sleeps although shut_down was called after it began".to_owned());
    }
    Ok(())
}
