//! Promises about answers: to questions, to set-ups, and to callbacks.

use std::collections::BTreeMap;
use std::mem::discriminant;
use std::time::Duration;

use seatrial_core::elector::{
    Bounds, Config, ConfigError, JITTER, Name, Observed, Op, Ret, Timing,
};
use seatrial_core::machine::Step;

use super::{Checked, at_every_step};
use crate::elector::asked::{Asked, is_strict};
use crate::elector::ledger::{Elector as Known, ElectorLedger};
use crate::elector::part::{Answer, Ask, Call};
use crate::elector::scene::{IS_HEALTHY, IS_TOLD, IS_WEDGED, told};
use crate::elector::{Elector, Event, History};
use crate::engine::End;
use crate::trial::{Invariant, Moment, Violation, What};

pub(super) fn all() -> Vec<Invariant<Elector>> {
    vec![
        at_every_step(
            "leader_is_in_the_record",
            "an elector says that it leads only if the last record that it knows names it",
            &["election:LE-12", "election:INV-24", "election:LE-15"],
            leader_is_in_the_record,
        ),
        at_every_step(
            "observed_is_a_pair",
            "the observed record and its time are read together, as they were written",
            &["election:LE-9", "election:INV-16", "election:LE-8"],
            observed_is_a_pair,
        ),
        at_every_step(
            "health_check_tells",
            "only a leader that has not renewed for longer than its lease is unhealthy",
            &["election:LE-55", "election:LE-57", "election:INV-29"],
            health_check_tells,
        ),
        Invariant::always(
            "checks_are_answered_at_once",
            "a check returns what the elector answered in a single step",
            &["election:LE-9", "election:LE-55"],
            checks_are_answered_at_once,
        ),
        Invariant::along(
            "reports_in_order",
            "the new-leader callback gets the observed leaders in the order of observation",
            &["election:LE-52", "election:INV-20"],
            reports_in_order,
        ),
        Invariant::at_every_event(
            "unsafe_set_ups_are_refused",
            "a set-up that cannot work or is not safe is refused, with the first reason",
            &["election:LE-2", "election:LE-4", "election:LE-1", "election:LE-5"],
            unsafe_set_ups_are_refused,
        ),
    ]
}

fn leader_is_in_the_record(before: &Known, asked: &Asked<'_>, _: &Event) -> Checked {
    let known = before.learned.last();
    let named = known.is_some_and(|(stored, _)| stored.record.holder == before.config.identity);
    if matches!(asked.outcome, Some(Ret::IsLeader(true))) && !named {
        let who = &before.config.identity;
        return Err(format!("{who} says that it leads, and no record that it knows does"));
    }
    Ok(())
}

fn observed_is_a_pair(before: &Known, asked: &Asked<'_>, _: &Event) -> Checked {
    match asked.outcome {
        Some(Ret::Look(observed)) if !before.pairs.contains(observed) => {
            let Observed { record, at, .. } = observed;
            Err(format!("the record {record:?} was not observed at {at:?}"))
        }
        _ => Ok(()),
    }
}

/// Judges strict electors only. Classic ones may take two states of the lock for the same state,
/// and then count from the first (`election:LK-13`).
fn health_check_tells(before: &Known, asked: &Asked<'_>, event: &Event) -> Checked {
    let (Op::Check(check), Some(Ret::Check(healthy))) = (asked.op, asked.outcome) else {
        return Ok(());
    };
    let allowed = before.config.timing.lease.saturating_add(check.tolerance);
    let wedged = before.newest().is_some_and(|(record, since)| {
        record.holder == before.config.identity && event.at.since(since) > allowed
    });
    if before.is_strict() && *healthy == wedged {
        let word = if *healthy { "healthy" } else { "wedged" };
        return Err(format!("{} is said to be {word}", before.config.identity));
    }
    Ok(())
}

/// A check never waits. The last step of a thread before the answer is the check itself, and has
/// the same answer.
fn checks_are_answered_at_once(history: &History) -> Result<(), Violation> {
    let mut answers = BTreeMap::new();
    for (number, event) in history.events.iter().enumerate() {
        let says = match &event.what {
            What::Step { op: Call::Ask(Ask(Op::Check(_))), outcome: Step::Wait { .. }, .. } => {
                return Err(Violation::at(number, "a check waits"));
            }
            What::Step { op: Call::Ask(_), outcome, .. } => {
                match outcome {
                    Step::Done(Answer::Ask(Ret::Check(healthy))) => {
                        answers.insert(event.thread, *healthy)
                    }
                    _ => answers.remove(&event.thread),
                };
                continue;
            }
            What::Note { label, .. } if *label == IS_HEALTHY => true,
            What::Note { label, .. } if *label == IS_WEDGED => false,
            _ => continue,
        };
        if answers.remove(&event.thread) != Some(says) {
            return Err(Violation::at(number, "a check answers what the elector has not said"));
        }
    }
    Ok(())
}

/// By the reference's rules callbacks run side by side, in any order.
fn reports_in_order(known: &ElectorLedger, moment: Moment<'_, Elector>) -> Checked {
    match moment {
        Moment::Before(event) => match event.noted(IS_TOLD) {
            Some(value) => is_in_turn(known, value),
            None => Ok(()),
        },
        Moment::After(event) => {
            known.asked(event).map_or(Ok(()), |(after, asked)| is_observed(after, &asked))
        }
        Moment::End(history) if history.end == End::Finished => {
            let misses = |one: &&Known| !one.told.is_empty() && one.told.len() < one.reports.len();
            known.electors.iter().find(misses).map_or(Ok(()), |elector| {
                let who = &elector.config.identity;
                Err(format!("{who} was never told of the last leader that it saw"))
            })
        }
        Moment::End(_) => Ok(()),
    }
}

fn is_in_turn(before: &ElectorLedger, value: u64) -> Checked {
    let number = (value >> 8) as u8;
    let Some(elector) = before.electors.get(usize::from(number)) else { return Ok(()) };
    let decided = |report: &Name| told(number, report) == value;
    let right = if elector.is_strict() {
        elector.reports.get(elector.told.len()).is_some_and(decided)
    } else {
        elector.reports.iter().any(decided)
    };
    if right {
        return Ok(());
    }
    Err(format!("{} is told of a leader out of turn", elector.config.identity))
}

/// A step reports only the holder in the last record that its elector has read or written.
fn is_observed(after: &Known, asked: &Asked<'_>) -> Checked {
    let reported = asked.turn().and_then(|turn| turn.notes.new_leader.as_ref());
    let observed = after.pairs.last().map(|pair| &pair.record.holder);
    match reported {
        Some(reported) if observed != Some(reported) => {
            let who = &after.config.identity;
            Err(format!("{who} reports {reported} where it has observed {observed:?}"))
        }
        _ => Ok(()),
    }
}

fn unsafe_set_ups_are_refused(_: &ElectorLedger, event: &Event) -> Checked {
    let What::Step { op: Call::SetUp(set_up), outcome, .. } = &event.what else {
        return Ok(());
    };
    let Step::Done(Answer::SetUp(taken)) = outcome else { return Ok(()) };
    let expected = refusal(&set_up.config);
    let kind = |error: ConfigError| discriminant(&error);
    if taken.err().map(kind) != expected.map(kind) {
        return Err(format!("a set-up was answered {taken:?} where {expected:?} is right"));
    }
    Ok(())
}

/// Returns the reason why a set-up is refused, by the table of the rules.
fn refusal(config: &Config) -> Option<ConfigError> {
    let Timing { lease, renew, retry } = config.timing;
    let jittered = Duration::from_nanos((JITTER * retry.as_nanos() as f64) as u64);
    let table = [
        (lease <= renew, ConfigError::LeaseNotGreaterThanRenew),
        (renew <= jittered, ConfigError::RenewNotGreaterThanJitteredRetry),
        (lease.is_zero(), ConfigError::LeaseNotPositive),
        (renew.is_zero(), ConfigError::RenewNotPositive),
        (retry.is_zero(), ConfigError::RetryNotPositive),
        (config.identity.is_empty(), ConfigError::EmptyIdentity),
    ];
    let broken = table.into_iter().find(|(broken, _)| *broken).map(|(_, error)| error);
    match broken {
        None if is_strict(config) => unsafe_timing(lease, jittered, &config.bounds),
        broken => broken,
    }
}

/// `A/(1-ρ) + ε + γ ≤ L/(1+ρ)`, and A leaves enough time to renew (`election:LE-4`).
fn unsafe_timing(lease: Duration, jittered: Duration, bounds: &Bounds) -> Option<ConfigError> {
    if lease.as_secs() == 0 || lease.subsec_nanos() != 0 {
        return Some(ConfigError::LeaseNotWholeSeconds);
    }
    let drift = f64::from(bounds.drift_ppm) / 1e6;
    let given = lease.as_secs_f64() / (1.0 + drift);
    let lost = (bounds.work + bounds.scheduling).as_secs_f64();
    let longest = (given - lost) * (1.0 - drift);
    let acting = bounds.acting.map_or(longest, |acting| acting.as_secs_f64());
    let needed = acting / (1.0 - drift) + lost;
    let safe = longest > 0.0 && needed <= given + 1e-9 && acting > jittered.as_secs_f64();
    let sides = [needed, given].map(|side| Duration::try_from_secs_f64(side).unwrap_or_default());
    (!safe).then_some(ConfigError::UnsafeTiming { needed: sides[0], given: sides[1] })
}
