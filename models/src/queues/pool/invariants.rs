//! The promises of workers, as checks of a history.

use seatrial_core::limited_queue::{Op, Outcome, Ret};

use super::ledger::PoolLedger;
use super::{Event, History, Pool};
use crate::trial::{Invariant, Ledger as _, Violation, What};

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<Pool>> {
    vec![
        Invariant::at_every_event(
            "never_concurrent",
            "a key is never reconciled by two workers at a time",
            &["workqueue:CL-5"],
            never_concurrent,
        ),
        Invariant::at_every_event(
            "backs_off",
            "a key that failed is not tried again before its back-off has passed",
            &["workqueue:CL-1", "workqueue:CL-6"],
            backs_off,
        ),
        Invariant::eventually(
            "failed_is_tried_again",
            "a key whose work failed or panicked is tried again",
            &["workqueue:CL-2"],
            failed_is_tried_again,
        ),
        Invariant::at_every_event(
            "failures_are_counted",
            "success resets the failures of a key, and a further failure does not",
            &["workqueue:CL-3"],
            failures_are_counted,
        ),
        Invariant::always(
            "given_up_is_given_up",
            "a key that failed for good, or too often, is not tried again until it is added again",
            &["workqueue:CL-1"],
            given_up_is_given_up,
        ),
        Invariant::always(
            "ends_as_it_says",
            "a shutdown ends by its deadline, and counts the busy workers and the waiting keys; a \
             pool that is dropped leaves no worker asleep",
            &["workqueue:CL-7"],
            ends_as_it_says,
        ),
    ]
}

fn got(event: &Event) -> Option<u8> {
    match event.returned() {
        Some((_, Ret::Get(Some((_, key))))) => Some(*key),
        _ => None,
    }
}

fn never_concurrent(before: &PoolLedger, event: &Event) -> Result<(), String> {
    match got(event) {
        Some(key) if before.is_reconciled(key) => {
            Err(format!("key {key} is handed out while it is reconciled"))
        }
        _ => Ok(()),
    }
}

fn backs_off(before: &PoolLedger, event: &Event) -> Result<(), String> {
    let Some((key, earliest)) = got(event).and_then(|key| before.owed.get_key_value(&key)) else {
        return Ok(());
    };
    if event.at < *earliest {
        return Err(format!(
            "key {key} is tried again at {:?}, and its back-off ends at {earliest:?}",
            event.at
        ));
    }
    Ok(())
}

fn failed_is_tried_again(history: &History) -> Checked {
    PoolLedger::at_every_event(history, |before, event| match before.owed.keys().next() {
        Some(key) if matches!(event.what, What::Quiet) => {
            Err(format!("key {key} failed, and nobody will try it again"))
        }
        _ => Ok(()),
    })
}

fn failures_are_counted(before: &PoolLedger, event: &Event) -> Result<(), String> {
    match event.returned() {
        Some((Op::NumRequeues(asked), Ret::NumRequeues(count))) => {
            let expected = before.failures.get(&asked.key).copied().unwrap_or(0);
            if *count == expected {
                return Ok(());
            }
            Err(format!("{count} failures of key {}, which failed {expected} times", asked.key))
        }
        _ => Ok(()),
    }
}

/// A note before an answer that says that the key failed for good.
pub(super) const ANSWERS_TERMINAL: &str = "answers that it failed for good";
/// A note that says how often a key may be tried.
pub(super) const ALLOWED: &str = "attempts allowed";

fn given_up_is_given_up(history: &History) -> Checked {
    let allowed = history.notes(ALLOWED).next().unwrap_or(u64::MAX);
    let (mut attempts, mut terminal) = (0, false);
    PoolLedger::at_every_event(history, |before, event| {
        let Some(key) = got(event) else { return Ok(()) };
        match before.given_up.contains(&key) {
            true => Err(format!("key {key} is tried again, and was given up")),
            false => Ok(()),
        }
    })?;
    for (number, event) in history.events.iter().enumerate() {
        attempts += u64::from(got(event).is_some());
        if attempts > allowed {
            return Err(Violation::at(number, format!("attempt {attempts} of {allowed} allowed")));
        }
        terminal |= event.noted(ANSWERS_TERMINAL).is_some();
        if let What::Step { op: Op::Settle(settle), .. } = &event.what
            && std::mem::take(&mut terminal)
            && settle.outcome != Outcome::GiveUp
        {
            let because = format!("it failed for good, and is settled as {:?}", settle.outcome);
            return Err(Violation::at(number, because));
        }
    }
    Ok(())
}

/// A note that the pool was dropped.
pub(super) const DROPPED: &str = "the pool was dropped";

/// A scenario notes the deadline, and later the numbers of the end. In such a scenario every key is
/// added once, and waits until it is handed out. In real time an end may be as late as the machine is.
fn ends_as_it_says(history: &History) -> Checked {
    let is_virtual = history.events.iter().any(|event| matches!(event.what, What::Quiet));
    let deadline = history.notes("deadline").next().filter(|_| is_virtual).unwrap_or(u64::MAX);
    let count = |wanted: fn(&Event) -> bool| {
        history.events.iter().filter(|event| wanted(event)).count() as u64
    };
    let added = count(|event| matches!(event.returned(), Some((Op::Add(_), _))));
    let taken = count(|event| got(event).is_some());
    let dropped = history.events.iter().position(|event| event.noted(DROPPED).is_some());
    let dropped = dropped.map(|at| history.events[at].at);
    PoolLedger::at_every_event(history, |before, event| {
        let is_over = dropped.is_some_and(|dropped| event.at > dropped);
        if is_over && matches!(event.what, What::Quiet) && !before.asleep.is_empty() {
            return Err("the pool was dropped, and a worker sleeps on".to_owned());
        }
        if event.noted("running").is_some() && event.at.as_nanos() > deadline {
            return Err(format!("the end comes at {:?} only", event.at));
        }
        let running = before.deliveries.len() as u64;
        match (event.noted("running"), event.noted("waiting")) {
            (Some(says), _) if says != running => {
                Err(format!("{says} workers are said to run, and {running} keys are reconciled"))
            }
            (_, Some(says)) if says != added.saturating_sub(taken) => {
                Err(format!("{says} keys are said to wait; {added} came, {taken} were taken"))
            }
            _ => Ok(()),
        }
    })
}
