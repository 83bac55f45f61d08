//! The states in which a run has come to rest between the user's steps.

use std::time::Duration;

use crate::apiserver::Written;
use crate::simulation::run::Run;
use crate::simulation::state::State;
use crate::simulation::trace::{Asked, What};

/// In which time before a step requests are counted. The user waits for 30 seconds after the last change:
/// the first ten are left out, as what that change has triggered is still work.
pub(super) const RECENT: Duration = Duration::from_secs(20);

/// A moment of rest.
pub(super) struct End {
    pub(super) state: State,
    /// Requests a minute at the end of it.
    pub(super) per_minute: u32,
}

/// The state before any change of a run.
pub(super) fn start(run: &Run) -> State {
    let mut state = run.state.clone();
    for written in run.changes.iter().rev() {
        state.take(&Written { new: written.old.clone(), ..written.clone() });
    }
    state
}

/// The states when these numbers of steps are done, in rising order. The last one is the end of the run. Of other
/// requests than these it is not asked how often they come, and without any of none.
pub(super) fn after(
    start: &State,
    run: &Run,
    steps: &[usize],
    is_counted: Option<fn(&Asked) -> bool>,
) -> Vec<End> {
    let mut now = start.clone();
    let mut ends = Vec::new();
    let mut done = 0;
    let mut requests: Vec<Duration> = Vec::new();
    for entry in &run.trace {
        match &entry.what {
            What::Step { .. } => {
                if steps.get(ends.len()) == Some(&done) && ends.len() + 1 < steps.len() {
                    let count = requests.iter().filter(|it| **it + RECENT > entry.at).count();
                    let per_minute = (count as f64 * 60.0 / RECENT.as_secs_f64()) as u32;
                    let state = now.clone().collected();
                    ends.push(End { state, per_minute });
                }
                done += 1;
                requests.clear();
            }
            What::Changed { number, .. } => {
                run.changes.get(*number as usize - 1).into_iter().for_each(|it| now.take(it));
            }
            What::Asked { request } if is_counted.is_some_and(|it| it(request)) => {
                requests.push(entry.at);
            }
            _ => {}
        }
    }
    // A run that was cut short has come no further.
    while ends.len() < steps.len() {
        ends.push(End { state: run.state.clone(), per_minute: run.per_minute });
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::trace::Entry;

    #[test]
    fn an_election_is_no_hot_loop_and_nothing_is_counted_in_a_short_rest() {
        let entry = |at, what| Entry { at: Duration::from_secs(at), process: "".into(), what };
        let step = |at| entry(at, What::Step { text: String::new() });
        let asked = |at, resource: &str, is_watch| {
            let request = Asked { resource: resource.to_owned(), is_watch, ..Asked::default() };
            entry(at, What::Asked { request })
        };
        let each = |at| {
            let noise = asked(at, "leases.coordination.k8s.io", false);
            [noise, asked(at, "pods", true), asked(at, "/apis", false), asked(at, "pods", false)]
        };
        let trace = [step(0)].into_iter().chain((0..40).flat_map(each)).chain([step(40)]).collect();
        let run = Run { trace, ..Run::default() };
        let rate = |is_counted: Option<fn(&Asked) -> bool>| {
            after(&State::default(), &run, &[1, 2], is_counted)[0].per_minute
        };
        let everything: fn(&Asked) -> bool = |_| true;
        assert_eq!([Some(everything), Some(Asked::is_work), None].map(rate), [228, 57, 0]);
    }
}
