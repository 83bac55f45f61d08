//! The promises of calls, as checks of a history.

use seatrial_core::request::Mode;
use seatrial_core::runtime::Instant;

use super::calls::{Call, Calls, Result as Returned};
use super::rule::{Outcome, Verdict};
use super::scenarios::{BURST, RATE};
use super::{Event, History, Request};
use crate::trial::{Invariant, Ledger as _, Violation};

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<Request>> {
    of_attempts().into_iter().chain(of_the_end()).collect()
}

fn of_attempts() -> Vec<Invariant<Request>> {
    vec![
        Invariant::always(
            "attempts_are_bounded",
            "a call makes at most one attempt more than it has retries",
            &["election:RINV-1", "election:RQ-65", "election:RINV-11", "election:RQ-46"],
            attempts_are_bounded,
        ),
        Invariant::always(
            "attempts_are_equal",
            "all attempts of a call have the same headers, address and body",
            &["election:RINV-2", "election:RQ-28"],
            attempts_are_equal,
        ),
        Invariant::always(
            "writes_are_sent_once",
            "a write is not sent again after an attempt without an answer",
            &["election:RINV-4", "election:RQ-66"],
            writes_are_sent_once,
        ),
        Invariant::always(
            "repeats_what_may_help",
            "a call is retried if and only if another attempt may help",
            &["election:RQ-64", "election:RQ-66", "election:RQ-69"],
            repeats_what_may_help,
        ),
        Invariant::always(
            "pauses_are_kept",
            "before the next attempt, a call waits for the server's delay or for the back-off of \
             its host, whichever is longer, and no longer",
            &[
                "election:RINV-7",
                "election:RQ-62",
                "election:RQ-72",
                "election:RQ-63",
                "election:RQ-71",
            ],
            pauses_are_kept,
        ),
        Invariant::always(
            "turns_are_taken",
            "every attempt but the first of a watch takes one turn at the limiter, after the pause",
            &["election:RQ-41", "election:RQ-43", "election:RQ-62", "election:RQ-42"],
            turns_are_taken,
        ),
        Invariant::at_every_event(
            "the_limiter_keeps_its_rate",
            "in no window of time does the limiter grant more turns than burst and rate allow",
            &["election:RINV-6", "election:RQ-50"],
            the_limiter_keeps_its_rate,
        ),
    ]
}

fn of_the_end() -> Vec<Invariant<Request>> {
    vec![
        Invariant::always(
            "the_last_counts",
            "a call returns the last answer, or the last failure and an earlier different one",
            &["election:RQ-68", "election:RQ-69", "election:RQ-101"],
            the_last_counts,
        ),
        Invariant::always(
            "retries_say_why",
            "each retry is reported once, with the number of the failed attempt, its failure and \
             the delay that the server asked for",
            &["election:RQ-67"],
            retries_say_why,
        ),
        Invariant::always(
            "nothing_after_the_end",
            "a call whose token has ended makes no attempt, and returns the token's reason",
            &["election:RINV-5", "election:RQ-52"],
            nothing_after_the_end,
        ),
        Invariant::always(
            "answers_are_closed",
            "an answer that is not handed out is closed before the next attempt and at the end",
            &["election:RINV-3", "election:RQ-60"],
            answers_are_closed,
        ),
        Invariant::when_quiet(
            "calls_return",
            "a call returns unless the server leaves it without an answer",
            &["election:RINV-5", "election:RQ-51", "election:RQ-70"],
            calls_return,
        ),
    ]
}

/// Checks a note of a call.
fn at(
    history: &History,
    label: &str,
    check: impl Fn(&Call, u64, &Event) -> Result<(), String>,
) -> Checked {
    Calls::at_every_event(history, |before, event| {
        match (event.noted(label), before.of.get(&event.thread)) {
            (Some(value), Some(call)) => check(call, value, event),
            _ => Ok(()),
        }
    })
}

fn attempts_are_bounded(history: &History) -> Checked {
    at(history, "sends", |call, _, _| {
        let most = 1 + call.begun.way.max;
        if call.attempts >= most { Err(format!("more than {most} attempts")) } else { Ok(()) }
    })
}

fn attempts_are_equal(history: &History) -> Checked {
    at(history, "sends", |call, print, _| match call.print {
        Some(first) if first != print => Err("an attempt differs from the one before".to_owned()),
        _ => Ok(()),
    })
}

fn writes_are_sent_once(history: &History) -> Checked {
    at(history, "sends", |call, _, _| match call.last {
        Some((Outcome::Fails(kind), _))
            if call.begun.way.mode == Mode::Whole && !call.begun.way.reads =>
        {
            Err(format!("a write is sent again after {kind:?}"))
        }
        _ => Ok(()),
    })
}

fn repeats_what_may_help(history: &History) -> Checked {
    at(history, "sends", |call, _, _| match call.last {
        None | Some((_, Verdict::Again(_))) => Ok(()),
        Some((outcome, _)) => Err(format!("another attempt after {outcome:?}")),
    })?;
    at(history, "returns", |call, value, _| match call.last {
        Some((outcome, Verdict::Again(_))) if !is_of_the_token(value) => {
            Err(format!("no other attempt after {outcome:?}"))
        }
        _ => Ok(()),
    })
}

fn pauses_are_kept(history: &History) -> Checked {
    at(history, "sends", |call, _, event| {
        // Turns of other calls may take longer; a turn that came too early is no excuse.
        let due = if call.attempts > 0 { call.due.max(call.turn_at) } else { call.due };
        if event.at == due { Ok(()) } else { Err(format!("this was due at {due:?}")) }
    })
}

fn turns_are_taken(history: &History) -> Checked {
    at(history, "sends", |call, _, _| {
        let is_first = call.attempts == 0;
        let free = is_first && call.begun.way.mode == Mode::Watch || !call.begun.takes_turns;
        let wanted = u32::from(!free);
        if call.turns != wanted {
            return Err(format!("{} turns were taken, and {wanted} are right", call.turns));
        }
        if wanted == 1 && !is_first && call.turn_at < call.due {
            return Err("the turn was taken before the pause".to_owned());
        }
        Ok(())
    })
}

fn the_limiter_keeps_its_rate(before: &Calls, event: &Event) -> Result<(), String> {
    if event.noted("turn").is_none() {
        return Ok(());
    }
    for (number, first) in before.turns.iter().enumerate() {
        let count = before.turns.len() - number + 1;
        let window = event.at.since(*first).as_secs_f64();
        if count as f64 > BURST as f64 + window * f64::from(RATE) + 1e-6 {
            return Err(format!("{count} turns in {window} s"));
        }
    }
    Ok(())
}

/// Tells whether a call was ended by its token.
fn is_of_the_token(value: u64) -> bool {
    [Returned::Cancelled.pack(), Returned::TimeIsOver.pack()].contains(&value)
}

fn the_last_counts(history: &History) -> Checked {
    at(history, "returns", |call, value, _| match call.result() {
        Some(right) if right.pack() != value => Err(format!("{right:?} is right")),
        None if !is_of_the_token(value) => Err("nothing but its token ends it here".to_owned()),
        _ => Ok(()),
    })
}

fn retries_say_why(history: &History) -> Checked {
    at(history, "retries", |call, value, _| {
        let Some((outcome, verdict)) = call.last else {
            return Err("nothing was tried before".to_owned());
        };
        let Verdict::Again(after) = verdict else { return Ok(()) };
        let right = super::scenarios::retry(call.attempts, after, outcome);
        if value == right { Ok(()) } else { Err(format!("it was attempt {}", call.attempts)) }
    })?;
    at(history, "sends", |call, _, _| match (call.attempts, call.said) {
        (0, 0) | (1.., 1) => Ok(()),
        (_, said) => Err(format!("it was said {said} times that this attempt is made")),
    })
}

fn nothing_after_the_end(history: &History) -> Checked {
    Calls::at_every_event(history, |before, event| {
        let Some(call) = before.of.get(&event.thread) else { return Ok(()) };
        // Reading a token takes no lock: at the moment of its end, the token may still seem live.
        let is_over = before.cancelled_at(call).is_some_and(|ended| ended < event.at);
        if event.noted("sends").is_some() && is_over {
            return Err("the token has ended".to_owned());
        }
        let Some(value) = event.noted("returns") else { return Ok(()) };
        let deadline = call.at + std::time::Duration::from_secs(call.begun.timeout.into());
        if value == Returned::TimeIsOver.pack() && (call.begun.timeout == 0 || event.at != deadline)
        {
            return Err("its time is not over".to_owned());
        }
        let is_told = value == Returned::Cancelled.pack();
        if is_told && !before.is_cancelled(call) && !is_being_cancelled(history, call, event.at) {
            return Err("nobody has cancelled it".to_owned());
        }
        Ok(())
    })
}

/// Tells whether a thread has begun to cancel this call.
fn is_being_cancelled(history: &History, call: &Call, at: Instant) -> bool {
    let number = Some(u64::from(call.begun.number));
    history.events.iter().any(|event| event.noted("cancels") == number && event.at <= at)
}

fn answers_are_closed(history: &History) -> Checked {
    at(history, "sends", |call, _, _| {
        if call.open == 0 { Ok(()) } else { Err("the answer before is still open".to_owned()) }
    })?;
    at(history, "returns", |call, _, _| {
        let handed_out = call.begun.way.mode != Mode::Whole;
        if call.open == 0 || handed_out { Ok(()) } else { Err("an answer stays open".to_owned()) }
    })
}

fn calls_return(now: &Calls) -> Result<(), String> {
    let stuck = now.of.values().find(|call| !call.hangs || now.is_cancelled(call));
    stuck.map_or(Ok(()), |call| Err(format!("call {} has not returned", call.begun.number)))
}
