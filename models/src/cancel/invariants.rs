//! The promises of tokens, as checks of a history.

use seatrial_core::cancel::Op;
use seatrial_core::runtime::Instant;

use super::family::Family;
use super::{Cancel, Event, History};
use crate::trial::{Invariant, Ledger as _, Violation, What};

type Checked = Result<(), Violation>;

/// What the rules say of loops and polls; turns of limiters end with their tokens, too.
const OF_LOOPS: &[&str] = &[
    "election:ENV-5",
    "election:ENV-6",
    "election:ENV-7",
    "workqueue:WT-10",
    "workqueue:WT-11",
    "workqueue:WT-12",
    "workqueue:WT-13",
    "workqueue:WT-17",
    "workqueue:WT-20",
    "workqueue:WT-22",
    "workqueue:WT-23",
    "workqueue:WT-24",
    "workqueue:WT-25",
    "workqueue:FC-3",
    "workqueue:FC-4",
    "workqueue:FC-7",
    "workqueue:TB-15",
];

pub(super) fn all() -> Vec<Invariant<Cancel>> {
    const RULE: &[&str] = &["election:ENV-5"];
    vec![
        Invariant::at_every_event(
            "cancel_reaches_below",
            "once a cancellation has returned, its token and all tokens below it have ended",
            RULE,
            cancel_reaches_below,
        ),
        Invariant::at_every_event(
            "nobody_else_ends",
            "a token ends only at its deadline, or when it or a token above it is cancelled",
            RULE,
            nobody_else_ends,
        ),
        Invariant::at_every_event(
            "first_reason_stays",
            "a token that has ended keeps its first reason",
            RULE,
            first_reason_stays,
        ),
        Invariant::eventually(
            "sleepers_wake",
            "a waiter for a token wakes when the token ends",
            RULE,
            sleepers_wake,
        ),
        Invariant::at_every_event(
            "woken_by_the_end_alone",
            "a waiter for a token is woken only when the token is cancelled",
            RULE,
            woken_by_the_end_alone,
        ),
        Invariant::eventually(
            "hooks_run",
            "a hook runs when its token ends, unless it was taken back",
            RULE,
            hooks_run,
        ),
        Invariant::when_quiet(
            "the_dropped_leave",
            "a token forgets a dropped child that has no living descendants",
            RULE,
            the_dropped_leave,
        ),
        Invariant::at_every_event(
            "loops_keep_time",
            "loops and polls run when they are due, and end with their token",
            OF_LOOPS,
            loops_keep_time,
        ),
    ]
}

/// Returns the token and the answer, if a thread was told about a token.
fn told(event: &Event) -> Option<(u64, u64)> {
    event.noted("answers").map(|value| (value / 16, value % 16))
}

fn cancel_reaches_below(before: &Family, event: &Event) -> Result<(), String> {
    match told(event) {
        Some((token, 0)) if before.asks.get(&event.thread) == Some(&(token, true)) => {
            Err(format!("token {token} is said to go on, and has ended"))
        }
        _ => Ok(()),
    }
}

fn nobody_else_ends(before: &Family, event: &Event) -> Result<(), String> {
    match told(event) {
        Some((token, 1)) if before.may_be_cancelled(token).is_none() => {
            Err(format!("token {token} is said to be cancelled, and nobody has done so"))
        }
        Some((token, 2)) if before.deadline(token) > event.at => {
            Err(format!("the deadline of token {token} is said to have passed"))
        }
        _ => Ok(()),
    }
}

fn first_reason_stays(before: &Family, event: &Event) -> Result<(), String> {
    let Some((token, told)) = told(event).filter(|(_, told)| *told > 0) else { return Ok(()) };
    if before.told.get(&token).is_some_and(|first| *first != told) {
        return Err(format!("token {token} had another reason before"));
    }
    if told == 1 && before.expired.contains(&token) {
        return Err(format!("the deadline of token {token} came before it was cancelled"));
    }
    Ok(())
}

fn sleepers_wake(history: &History) -> Checked {
    let at = history.events.last().map(|event| event.at).unwrap_or_default();
    Family::when_quiet(history, |now| {
        let asleep = now.waits.values().find(|token| now.must_have_ended(**token, at));
        asleep.map_or(Ok(()), |token| {
            Err(format!("a thread waits for token {token}, which has ended"))
        })
    })
}

fn woken_by_the_end_alone(before: &Family, event: &Event) -> Result<(), String> {
    let What::Step { op, wakes, .. } = &event.what else { return Ok(()) };
    let ends = matches!(op, Op::Cancel(_));
    if wakes.any() && !(ends && before.may_be_cancelled(event.object.into()).is_some()) {
        return Err(format!("who waits for token {} is woken for nothing", event.object));
    }
    Ok(())
}

fn hooks_run(history: &History) -> Checked {
    Family::at_every_event(history, |before, event| {
        let rung = event.noted("rings").and_then(|hook| before.hooks.get(&hook));
        if rung.is_some_and(|hook| hook.taken_back) {
            return Err("a hook runs that was taken back".to_owned());
        }
        if rung.is_some_and(|hook| !before.may_have_ended(hook.token, event.at)) {
            return Err("a hook runs whose token goes on".to_owned());
        }
        let silent = before.hooks.iter().find(|(number, hook)| {
            !hook.gone
                && !before.rung.contains(number)
                && before.must_have_ended(hook.token, event.at)
        });
        match silent {
            Some((_, hook)) if matches!(event.what, What::Quiet) => {
                Err(format!("a hook of token {} has not run, which has ended", hook.token))
            }
            _ => Ok(()),
        }
    })
}

fn the_dropped_leave(now: &Family) -> Result<(), String> {
    let knows_the_dead = now.children.iter().find(|(token, children)| {
        !now.forgot.contains(token) && **children != now.living_children(**token)
    });
    knows_the_dead.map_or(Ok(()), |(token, children)| {
        let living = now.living_children(*token);
        Err(format!("token {token} knows {children} children, and {living} live"))
    })
}

fn loops_keep_time(_: &Family, event: &Event) -> Result<(), String> {
    let due = event.noted("runs").or(event.noted("ends"));
    match due {
        Some(due) if due != event.at.as_nanos() => {
            Err(format!("this was due at {:?}", Instant::from_nanos(due)))
        }
        _ => Ok(()),
    }
}
