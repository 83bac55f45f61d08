//! The states in which a run has come to rest between the user's steps.

use std::time::Duration;

use crate::apiserver::Written;
use crate::simulation::run::Run;
use crate::simulation::state::State;
use crate::simulation::trace::What;

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

/// The states when these numbers of steps are done, in rising order. The last one is the end of the run.
pub(super) fn after(start: &State, run: &Run, steps: &[usize], recent: Duration) -> Vec<End> {
    let mut now = start.clone();
    let mut ends = Vec::new();
    let mut done = 0;
    let mut requests: Vec<Duration> = Vec::new();
    for entry in &run.trace {
        match &entry.what {
            What::Step { .. } => {
                if steps.get(ends.len()) == Some(&done) && ends.len() + 1 < steps.len() {
                    let count = requests.iter().filter(|it| **it + recent > entry.at).count();
                    let per_minute = (count as f64 * 60.0 / recent.as_secs_f64()) as u32;
                    let state = now.clone().collected();
                    ends.push(End { state, per_minute });
                }
                done += 1;
                requests.clear();
            }
            What::Changed { number, .. } => {
                run.changes.get(*number as usize - 1).into_iter().for_each(|it| now.take(it));
            }
            What::Asked { .. } => requests.push(entry.at),
            _ => {}
        }
    }
    // A run that was cut short has come no further.
    while ends.len() < steps.len() {
        ends.push(End { state: run.state.clone(), per_minute: run.per_minute });
    }
    ends
}
