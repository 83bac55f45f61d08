//! Promises about answers: to questions, to set-ups, and to callbacks.

use std::collections::BTreeMap;
use std::mem::discriminant;
use std::time::Duration;

use seatrial_core::elector::{
    Bounds, Config, ConfigError, JITTER, Name, Observed, Op, Profile, Ret, Timing,
};
use seatrial_core::machine::Step;

use super::Checked;
use crate::elector::ledger::{ElectorLedger, at_every_step, at_the_end, says_it_leads};
use crate::elector::part::{Answer, Ask, Call};
use crate::elector::scene::{IS_HEALTHY, IS_TOLD, IS_WEDGED, told};
use crate::elector::{Elector, History};
use crate::engine::End;
use crate::trial::{Invariant, Ledger as _, Violation, What};

pub(super) fn all() -> Vec<Invariant<Elector>> {
    vec![
        Invariant::always(
            "leader_is_in_the_record",
            "an elector says that it leads only if the last record that it knows names it",
            &["election:LE-12", "election:INV-24", "election:LE-15"],
            leader_is_in_the_record,
        ),
        Invariant::always(
            "observed_is_a_pair",
            "the observed record and its time are read together, as they were written",
            &["election:LE-9", "election:INV-16", "election:LE-8"],
            observed_is_a_pair,
        ),
        Invariant::always(
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
        Invariant::always(
            "reports_in_order",
            "the new-leader callback gets the observed leaders in the order of observation",
            &["election:LE-52", "election:INV-20"],
            reports_in_order,
        ),
        Invariant::always(
            "unsafe_set_ups_are_refused",
            "a set-up that cannot work or is not safe is refused, with the first reason",
            &["election:LE-2", "election:LE-4", "election:LE-1", "election:LE-5"],
            unsafe_set_ups_are_refused,
        ),
    ]
}

fn leader_is_in_the_record(history: &History) -> Checked {
    at_every_step(history, |before, asked, _| {
        let known = before.learned.last();
        let named = known.is_some_and(|(stored, _)| stored.record.holder == before.config.identity);
        if says_it_leads(asked) && !named {
            let who = &before.config.identity;
            return Err(format!("{who} says that it leads, and no record that it knows does"));
        }
        Ok(())
    })
}

fn observed_is_a_pair(history: &History) -> Checked {
    at_every_step(history, |before, asked, _| match asked.outcome {
        Some(Ret::Look(observed)) if !before.pairs.contains(observed) => {
            let Observed { record, at, .. } = observed;
            Err(format!("the record {record:?} was not observed at {at:?}"))
        }
        _ => Ok(()),
    })
}

/// Judges strict electors only. Classic ones may take two states of the lock for the same state,
/// and then count from the first (`election:LK-13`).
fn health_check_tells(history: &History) -> Checked {
    at_every_step(history, |before, asked, event| {
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
    })
}

/// A check never waits. The last step of a thread before the answer is the check itself, and has
/// the same answer.
fn checks_are_answered_at_once(history: &History) -> Checked {
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

/// A step reports only the holder in the last record that its elector has read or written.
fn reports_are_observed(history: &History) -> Checked {
    let reported = |before: &ElectorLedger, event| {
        let (_, asked) = before.asked(event)?;
        let reported = asked.turn()?.notes.new_leader.clone()?;
        Some((asked.number, reported))
    };
    ElectorLedger::after_events(history, reported, |after, (number, reported)| {
        let elector = &after.electors[usize::from(number)];
        let observed = elector.pairs.last().map(|pair| &pair.record.holder);
        if observed == Some(&reported) {
            return Ok(());
        }
        let who = &elector.config.identity;
        Err(format!("{who} reports {reported} where it has observed {observed:?}"))
    })
}

/// In the classic profile callbacks run side by side, in any order.
fn reports_in_order(history: &History) -> Checked {
    reports_are_observed(history)?;
    ElectorLedger::at_every_event(history, |before, event| {
        let Some(value) = event.noted(IS_TOLD) else { return Ok(()) };
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
    })?;
    if history.end != End::Finished {
        return Ok(());
    }
    let ledger = at_the_end(history);
    let listens = |count: usize, reports: usize| count > 0 && count < reports;
    match ledger.electors.iter().find(|one| listens(one.told.len(), one.reports.len())) {
        Some(elector) => {
            let who = &elector.config.identity;
            Err(Violation::overall(format!("{who} was never told of the last leader that it saw")))
        }
        None => Ok(()),
    }
}

fn unsafe_set_ups_are_refused(history: &History) -> Checked {
    ElectorLedger::at_every_event(history, |_, event| {
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
    })
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
    match (broken, config.profile) {
        (None, Profile::Strict(bounds)) => strict_refusal(lease, jittered, &bounds),
        (broken, _) => broken,
    }
}

/// `A/(1-ρ) + ε + γ ≤ L/(1+ρ)`, and A leaves enough time to renew (`election:LE-4`).
fn strict_refusal(lease: Duration, jittered: Duration, bounds: &Bounds) -> Option<ConfigError> {
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
