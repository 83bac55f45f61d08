//! Promises about the calls of the electors, and their times.

use super::leaders::claims;
use seatrial_core::elector::Versions;

use super::{Found, Terms, nanos};
use crate::cluster::run::{Answer, Happening, Run, Verb, What};

/// Follows each process separately: its happenings in order, starting from the default state.
fn per_process<S: Default>(
    run: &Run,
    mut step: impl FnMut(&mut S, &Happening) -> Result<(), String>,
) -> Found {
    let mut states: Vec<S> = Vec::new();
    states.resize_with(run.processes.len(), S::default);
    for happening in &run.happenings {
        if let Some(state) = states.get_mut(usize::from(happening.process)) {
            step(state, happening).map_err(|because| (happening.at, because))?;
        }
    }
    Ok(())
}

pub(super) fn updates_name_what_was_received(run: &Run, terms: &Terms) -> Found {
    // The reference does not order versions.
    let ordered = terms.is_strict() && terms.config.versions == Versions::Ordered;
    per_process(run, |received: &mut u64, happening| {
        match happening.what {
            What::Learns { answer: Answer::Version(version), .. } => {
                // A lagging read changes nothing where versions are ordered.
                *received = if ordered { version.max(*received) } else { version };
            }
            What::Calls { verb: Verb::Update { version, .. }, .. } if version != *received => {
                return Err(format!("an update names {version}, and {received} was received last"));
            }
            _ => {}
        }
        Ok(())
    })
}

pub(super) fn one_call_at_a_time(run: &Run, _: &Terms) -> Found {
    #[derive(Default)]
    struct State {
        pending: Option<u32>,
        idle: bool,
    }
    per_process(run, |state: &mut State, happening| {
        match happening.what {
            What::Begins => state.idle = false,
            What::Ended { .. } if state.pending.is_some() => {
                return Err("a run ended with a call in flight".to_owned());
            }
            What::Ended { .. } => state.idle = true,
            What::Calls { .. } if state.idle => {
                return Err("a call was made after the run had ended".to_owned());
            }
            What::Calls { call, .. } => {
                if let Some(other) = state.pending.replace(call) {
                    return Err(format!("calls {other} and {call} are in flight together"));
                }
            }
            What::Learns { call, .. } if state.pending.take() != Some(call) => {
                return Err(format!("call {call} was answered twice"));
            }
            _ => {}
        }
        Ok(())
    })
}

pub(super) fn no_attempt_after_cancellation(run: &Run, terms: &Terms) -> Found {
    let releases = terms.config.release_on_cancel;
    per_process(run, |cancelled: &mut bool, happening| {
        match happening.what {
            What::Begins => *cancelled = false,
            What::Cancelled => *cancelled = true,
            What::Calls { verb, .. } if *cancelled && (claims(verb) || !releases) => {
                return Err(format!("a cancelled run calls {verb:?}"));
            }
            _ => {}
        }
        Ok(())
    })
}

/// If a run that waits for no answer is cancelled, it goes on to its end or its release at once;
/// only its work may take longer.
pub(super) fn cancellation_is_prompt(run: &Run, terms: &Terms) -> Found {
    #[derive(Default)]
    struct State {
        calls: bool,
        /// The latest time for the next step of the run.
        due: Option<u64>,
    }
    let bounds = &terms.config.bounds;
    let patience = match terms.is_strict() {
        true => nanos(bounds.work.saturating_add(bounds.scheduling)),
        false => 0,
    };
    per_process(run, |state: &mut State, happening| {
        let late = state.due.is_some_and(|due| happening.at > due);
        match happening.what {
            What::Cancelled if !state.calls => {
                state.due = Some(happening.at.saturating_add(patience));
            }
            What::Calls { .. } => state.calls = true,
            What::Learns { .. } => state.calls = false,
            What::Ended { .. } | What::Crashed => {}
            _ => return Ok(()),
        }
        if late {
            return Err("a cancelled run slept on".to_owned());
        }
        if !matches!(happening.what, What::Cancelled) {
            state.due = None;
        }
        Ok(())
    })
}

/// The state of a leader's rounds.
#[derive(Default)]
struct Rounds {
    /// The write that was sent last, if it claims the lease.
    claim: Option<u32>,
    /// The last success of a claim in the current term, on the clock of the process, and the number
    /// of successes.
    renewed: Option<(u64, u32)>,
    /// When the current round began, and its attempts so far.
    round: Option<(u64, u64)>,
}

fn follow(state: &mut Rounds, happening: &Happening) {
    match happening.what {
        What::Begins | What::Ended { .. } => *state = Rounds::default(),
        What::Event { became: true } => state.renewed = Some((happening.local, 1)),
        What::Calls { call, verb, first } => {
            if claims(verb) {
                state.claim = Some(call);
            }
            if first && state.renewed.is_some() {
                let (began, attempts) = state.round.unwrap_or((happening.local, 0));
                state.round = Some((began, attempts + 1));
            }
        }
        _ => {}
    }
}

fn succeeds(state: &Rounds, happening: &Happening) -> bool {
    matches!(happening.what,
        What::Learns { call, answer: Answer::Version(_) } if state.claim == Some(call))
}

pub(super) fn renewals_keep_their_distance(run: &Run, terms: &Terms) -> Found {
    let retry = nanos(terms.config.timing.retry);
    per_process(run, |state: &mut Rounds, happening| {
        follow(state, happening);
        if succeeds(state, happening) {
            match &mut state.renewed {
                Some((at, count)) if *count > 1 && happening.local < at.saturating_add(retry) => {
                    return Err("two renewals are closer than a retry period".to_owned());
                }
                Some((at, count)) => (*at, *count) = (happening.local, *count + 1),
                None => {} // the acquisition, which becomes known by its event
            }
        }
        Ok(())
    })
}

pub(super) fn rounds_are_bounded(run: &Run, terms: &Terms) -> Found {
    let timing = terms.config.timing;
    let most = nanos(timing.renew).div_ceil(nanos(timing.retry).max(1));
    // The attempts of a release, or of a run that is only beginning, belong to no round.
    if terms.config.release_on_cancel {
        return Ok(());
    }
    per_process(run, |state: &mut Rounds, happening| {
        follow(state, happening);
        if succeeds(state, happening) {
            state.round = None;
        }
        match state.round {
            Some((_, attempts)) if attempts > most => {
                Err(format!("a round makes more than {most} attempts"))
            }
            _ => Ok(()),
        }
    })
}

pub(super) fn observations_have_a_reason(run: &Run, terms: &Terms) -> Found {
    #[derive(Default)]
    struct State {
        learned_at: Option<u64>,
        observed: u64,
    }
    per_process(run, |state: &mut State, happening| {
        match happening.what {
            What::Learns { answer: Answer::Version(_), .. } => {
                state.learned_at = Some(happening.at);
            }
            What::Observes { at } => {
                if state.learned_at != Some(happening.at) {
                    return Err("the observed time moved without an answer".to_owned());
                }
                if at < state.observed && !terms.is_strict() {
                    return Err("the observed time went back".to_owned());
                }
                state.observed = at;
            }
            _ => {}
        }
        Ok(())
    })
}
