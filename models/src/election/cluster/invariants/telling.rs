//! Promises about the callbacks, the metric and the reports.

use super::{Found, Terms};
use crate::cluster::run::{Run, What};

pub(super) fn stopping_follows_leading(run: &Run, _: &Terms) -> Found {
    #[derive(Clone, Default)]
    struct State {
        runs: bool,
        leads: u32,
        /// When the last run ended, if its token had not been seen cancelled by then.
        ended_at: Option<u64>,
        believes: bool,
    }
    let mut states = vec![State::default(); run.processes.len()];
    for happening in &run.happenings {
        let Some(state) = states.get_mut(usize::from(happening.process)) else { continue };
        let broken = |because: &str| Err((happening.at, because.to_owned()));
        match happening.what {
            What::Begins if state.runs => return broken("a run began within another"),
            What::Begins => (state.runs, state.leads) = (true, 0),
            // The win is counted, not the start of the work: the work may start late, in the next
            // run.
            What::Event { became: true } => {
                state.leads += 1;
                if state.leads > 1 {
                    return broken("a run leads twice");
                }
            }
            What::Leads { .. } => state.believes = true,
            What::Revoked { .. } => {
                if state.ended_at.is_some_and(|ended| ended < happening.at) {
                    return broken("a leading token outlived its run");
                }
                state.believes = false;
                state.ended_at = None;
            }
            What::Ended { .. } if !state.runs => return broken("a run stopped twice"),
            What::Ended { .. } => {
                state.runs = false;
                state.ended_at = state.believes.then_some(happening.at);
            }
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn metrics_alternate(run: &Run, _: &Terms) -> Found {
    let mut on = vec![false; run.processes.len()];
    for happening in &run.happenings {
        let What::Metric(says) = happening.what else { continue };
        let Some(on) = on.get_mut(usize::from(happening.process)) else { continue };
        if *on == says {
            let word = if says { "on" } else { "off" };
            return Err((happening.at, format!("the metric went {word} twice")));
        }
        *on = says;
    }
    Ok(())
}

pub(super) fn reports_differ(run: &Run, _: &Terms) -> Found {
    let mut last: Vec<Option<Option<u16>>> = vec![None; run.processes.len()];
    for happening in &run.happenings {
        let What::Reports(leader) = happening.what else { continue };
        let Some(last) = last.get_mut(usize::from(happening.process)) else { continue };
        // Strangers cannot be told apart here.
        if leader.is_some() && *last == Some(leader) {
            return Err((happening.at, "a leader was reported twice in a row".to_owned()));
        }
        *last = Some(leader);
    }
    Ok(())
}
