//! The promises of the priority queue, as checks of a history.

use seatrial_core::machine::Step;
use seatrial_core::priority_queue::Settle;
use seatrial_core::queue::{Done, DoneKey, Finished};
use seatrial_core::runtime::Instant;

use super::figures::Known;
use super::ledger::{PriorityLedger, before_time_passes, moment, numbers};
use super::scenarios::answers::{ANSWER, ANSWERS};
use super::{Call, Event, History, PriorityQueue, Ret};
use crate::trial::figures::{self, Books as _};
use crate::trial::{Invariant, Violation, What};

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<PriorityQueue>> {
    let lists = [deliveries(), answers(), figures(), ends()];
    lists.into_iter().flatten().collect()
}

fn deliveries() -> Vec<Invariant<PriorityQueue>> {
    vec![
        Invariant::at_every_event(
            "highest_first",
            "the next item has the highest priority of all ready items that are not held",
            &[
                "workqueue:PQ-22",
                "workqueue:PQ-23",
                "workqueue:PQ-25",
                "workqueue:INV-19",
                "workqueue:PQ-28",
            ],
            highest_first,
        ),
        Invariant::at_every_event(
            "equals_in_order",
            "among equal priorities, the item that became ready or rose first is handed out first",
            &["workqueue:PQ-12", "workqueue:PQ-13", "workqueue:PQ-18"],
            equals_in_order,
        ),
        Invariant::at_every_event(
            "keeps_the_highest_priority",
            "an item is handed out with the highest priority that it was added with",
            &["workqueue:PQ-11", "workqueue:PQ-15", "workqueue:PQ-30", "workqueue:PQ-42"],
            keeps_the_highest_priority,
        ),
        Invariant::at_every_event(
            "never_early",
            "an item that waits for its time is not handed out before that time",
            &["workqueue:PQ-6", "workqueue:PQ-10"],
            never_early,
        ),
        Invariant::always(
            "nothing_late",
            "no consumer sleeps through the time of an item",
            &["workqueue:PQ-10", "workqueue:PQ-20", "workqueue:PQ-21"],
            nothing_late,
        ),
        Invariant::at_every_event(
            "never_concurrent",
            "an item is never handed out while a consumer holds it",
            &["workqueue:PQ-15", "workqueue:PQ-22", "workqueue:INV-19"],
            never_concurrent,
        ),
        Invariant::at_every_event(
            "nothing_lost",
            "no consumer goes to sleep while a ready item is not held",
            &["workqueue:PQ-3", "workqueue:PQ-20", "workqueue:PQ-25"],
            nothing_lost,
        ),
        Invariant::at_every_event(
            "stingy",
            "an item is handed out again only if it was added again",
            &["workqueue:PQ-9", "workqueue:PQ-24"],
            stingy,
        ),
    ]
}

fn answers() -> Vec<Invariant<PriorityQueue>> {
    vec![
        Invariant::at_every_event(
            "done_ends_its_own_delivery",
            "done ends the delivery that it names and no other",
            &["workqueue:PQ-26"],
            done_ends_its_own_delivery,
        ),
        Invariant::always(
            "workers_do_as_asked",
            "a worker settles an item as its answer says, with the priority that it had or is given",
            &["workqueue:PQ-42"],
            workers_do_as_asked,
        ),
        Invariant::at_every_event(
            "len_counts_ready",
            "len is the number of ready entries, including those of held items",
            &["workqueue:PQ-29"],
            len_counts_ready,
        ),
        Invariant::at_every_event(
            "failures_are_counted",
            "every failure of an item counts until it is forgotten, whether it is queued or held",
            &["workqueue:PQ-2", "workqueue:PQ-7", "workqueue:PQ-17", "workqueue:CL-3"],
            failures_are_counted,
        ),
        Invariant::at_every_event(
            "retries_count_delays",
            "every delay of more than zero is counted",
            &["workqueue:PQ-8"],
            retries_count_delays,
        ),
    ]
}

fn figures() -> Vec<Invariant<PriorityQueue>> {
    vec![
        Invariant::always(
            "depth_is_told",
            "the reported depth of a priority is always the number of its ready entries",
            &[
                "workqueue:PQ-13",
                "workqueue:PQ-19",
                "workqueue:PQ-37",
                "workqueue:PQ-38",
                "workqueue:PQ-39",
                "workqueue:INV-20",
            ],
            |history| Known::compare(history, figures::depth),
        ),
        Invariant::always(
            "latency_is_told",
            "the reported latency is the time from when an entry became ready to its hand-out",
            &["workqueue:PQ-40"],
            |history| Known::compare(history, figures::latency),
        ),
        Invariant::always(
            "work_is_told",
            "the reported work time runs from hand-out to done, and is unfinished work until then",
            &["workqueue:PQ-40", "workqueue:MX-10", "workqueue:MX-14"],
            |history| Known::compare(history, figures::work),
        ),
        Invariant::always(
            "retries_are_told",
            "every delay of more than zero is reported",
            &["workqueue:PQ-8"],
            |history| Known::compare(history, |figures| figures.retried),
        ),
    ]
}

fn ends() -> Vec<Invariant<PriorityQueue>> {
    vec![
        Invariant::at_every_event(
            "shutdown_is_final",
            "after shutdown no item is handed out, and the queue says that it is shut down",
            &["workqueue:PQ-31", "workqueue:PQ-32", "workqueue:PQ-33"],
            shutdown_is_final,
        ),
        Invariant::when_quiet(
            "no_lost_wakeup",
            "no consumer sleeps for ever while a ready item is not held",
            &["workqueue:PQ-27", "workqueue:LIV-9"],
            no_lost_wakeup,
        ),
        Invariant::when_quiet(
            "shutdown_wakes_consumers",
            "no consumer sleeps for ever after shutdown",
            &["workqueue:PQ-31", "workqueue:LIV-10"],
            shutdown_wakes_consumers,
        ),
    ]
}

fn got(event: &Event) -> Option<(u8, i32)> {
    match event.returned() {
        Some((_, Ret::Get(Some((_, key, priority))))) => Some((*key, *priority)),
        _ => None,
    }
}

/// Returns the item that was handed out, if it is ready by the rules, with its priority by the
/// rules.
fn got_ready(before: &PriorityLedger, event: &Event) -> Option<(u8, i32)> {
    let (key, _) = got(event)?;
    let entry = before.spec.entry(&key)?;
    entry.until.is_none().then_some((key, entry.priority))
}

fn highest_first(before: &PriorityLedger, event: &Event) -> Result<(), String> {
    match (got_ready(before, event), before.spec.first()) {
        (Some((key, priority)), Some(first)) if priority < first.priority => Err(format!(
            "item {key} of priority {priority} is handed out, and item {} has {}",
            first.key, first.priority
        )),
        _ => Ok(()),
    }
}

fn equals_in_order(before: &PriorityLedger, event: &Event) -> Result<(), String> {
    match (got_ready(before, event), before.spec.first()) {
        (Some((key, priority)), Some(first)) if priority == first.priority && key != first.key => {
            Err(format!("item {key} is handed out before its equal {}", first.key))
        }
        _ => Ok(()),
    }
}

fn keeps_the_highest_priority(before: &PriorityLedger, event: &Event) -> Result<(), String> {
    let Some((key, says)) = got(event) else { return Ok(()) };
    match before.spec.entry(&key) {
        Some(entry) if entry.priority != says => {
            Err(format!("item {key} comes with priority {says}, not {}", entry.priority))
        }
        _ => Ok(()),
    }
}

fn never_early(before: &PriorityLedger, event: &Event) -> Result<(), String> {
    let Some((key, _)) = got(event) else { return Ok(()) };
    match before.spec.entry(&key).and_then(|entry| entry.until) {
        Some(until) => {
            Err(format!("item {key} is handed out at {:?} of {until:?}", moment(event.at)))
        }
        None => Ok(()),
    }
}

/// Judges only histories of virtual time; only those have a quiet moment. In virtual time, time
/// passes only when every thread is blocked, so a caller that is still asleep after a due time
/// missed its wake-up.
fn nothing_late(history: &History) -> Checked {
    if !history.events.iter().any(|event| matches!(event.what, What::Quiet)) {
        return Ok(());
    }
    before_time_passes(history, |before, event| {
        let passed = before.spec.entries.iter().find(|entry| {
            !before.spec.locked.contains(&entry.key)
                && entry.until.is_some_and(|until| until < moment(event.at))
        });
        match (passed, before.getters.first()) {
            (Some(entry), Some(_)) if !before.spec.shut_down => {
                Err(format!("a consumer sleeps through the time of item {}", entry.key))
            }
            _ => Ok(()),
        }
    })
}

fn never_concurrent(before: &PriorityLedger, event: &Event) -> Result<(), String> {
    match got(event) {
        Some((key, _)) if before.is_held(key) => {
            Err(format!("item {key} is handed out while somebody holds it"))
        }
        _ => Ok(()),
    }
}

fn nothing_lost(before: &PriorityLedger, event: &Event) -> Result<(), String> {
    // A call that waits until the beginning of time goes on at once, behind the other callers.
    let sleeps = match &event.what {
        What::Step { op: Call::Get(_), outcome: Step::Wait { until, .. }, .. } => {
            *until != Some(Instant::ZERO)
        }
        _ => false,
    };
    match before.spec.first() {
        Some(first) if sleeps => {
            Err(format!("a consumer goes to sleep although item {} is ready", first.key))
        }
        _ => Ok(()),
    }
}

fn stingy(before: &PriorityLedger, event: &Event) -> Result<(), String> {
    match got(event) {
        Some((key, _)) if before.spec.entry(&key).is_none() => {
            Err(format!("item {key} is handed out, which nobody added again"))
        }
        _ => Ok(()),
    }
}

fn done_ends_its_own_delivery(before: &PriorityLedger, event: &Event) -> Result<(), String> {
    let (named, finished) = match event.returned() {
        Some((Call::Done(Done(token)), Ret::Done(finished)))
        | Some((Call::Settle(Settle { token, .. }), Ret::Settle(finished))) => {
            (before.deliveries.contains_key(&numbers(*token)), finished)
        }
        Some((Call::DoneKey(DoneKey { key, .. }), Ret::DoneKey(finished))) => {
            (before.is_held(*key), finished)
        }
        _ => return Ok(()),
    };
    match (named, *finished != Finished::NotInProcessing) {
        (true, false) => Err("done did not end its delivery".to_owned()),
        (false, true) => Err("done ended a delivery that it does not name".to_owned()),
        _ => Ok(()),
    }
}

fn workers_do_as_asked(history: &History) -> Checked {
    let mut answer = None;
    for (number, event) in history.events.iter().enumerate() {
        answer = event.noted(ANSWER).or(answer);
        let Some(Call::Settle(Settle { outcome, priority, .. })) = event.call() else { continue };
        let Some(given) = answer.take() else { continue };
        let (given, asked, of) = ANSWERS[given as usize];
        if (*outcome, *priority) != (asked, of) {
            let because = format!("{given:?} is settled as {outcome:?} of priority {priority}");
            return Err(Violation::at(number, because));
        }
    }
    Ok(())
}

fn len_counts_ready(before: &PriorityLedger, event: &Event) -> Result<(), String> {
    match event.returned() {
        Some((_, Ret::Len(says))) if *says != before.spec.len() => {
            Err(format!("len says {says}, and {} entries are ready", before.spec.len()))
        }
        _ => Ok(()),
    }
}

fn failures_are_counted(before: &PriorityLedger, event: &Event) -> Result<(), String> {
    let Some((Call::NumRequeues(asked), Ret::NumRequeues(says))) = event.returned() else {
        return Ok(());
    };
    let failed = before.spec.failures.get(&asked.key).copied().unwrap_or(0);
    if *says != failed {
        return Err(format!("item {} failed {failed} times, not {says}", asked.key));
    }
    Ok(())
}

fn retries_count_delays(before: &PriorityLedger, event: &Event) -> Result<(), String> {
    match event.returned() {
        Some((_, Ret::Retries(says))) if *says != before.spec.retries => {
            Err(format!("retries says {says}, and {} delays were given", before.spec.retries))
        }
        _ => Ok(()),
    }
}

fn shutdown_is_final(before: &PriorityLedger, event: &Event) -> Result<(), String> {
    match event.returned() {
        Some((_, Ret::Get(Some((_, key, _))))) if before.spec.shut_down => {
            Err(format!("item {key} is handed out after shutdown"))
        }
        Some((_, Ret::Get(None))) if !before.spec.shut_down => {
            Err("get reports the end of a queue that is not shut down".to_owned())
        }
        Some((_, Ret::ShuttingDown(says))) if *says != before.spec.shut_down => {
            Err(format!("shutting_down says {says}"))
        }
        _ => Ok(()),
    }
}

fn no_lost_wakeup(now: &PriorityLedger) -> Result<(), String> {
    match (now.getters.first(), now.spec.first()) {
        (Some(_), Some(first)) => Err(format!("a consumer sleeps beside item {}", first.key)),
        _ => Ok(()),
    }
}

fn shutdown_wakes_consumers(now: &PriorityLedger) -> Result<(), String> {
    if now.spec.shut_down && !now.getters.is_empty() {
        return Err("a consumer sleeps after shutdown".to_owned());
    }
    Ok(())
}
