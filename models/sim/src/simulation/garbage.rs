//! The garbage collector of the cluster. It comes some time after the change that has made garbage, on a
//! slow network later, and under a fault so late that the user's next step is before it.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::plan::Fault;
use super::state::State;
use super::trace::{What, Who};
use super::world::Outside;
use crate::controllers::{Controller, Controllers};

/// How many times longer it takes at most on a slow network.
const SLOW: u64 = 5;

/// When the collector comes next, and where it has found something.
#[derive(Debug, Default)]
pub(crate) struct Garbage {
    /// The time, and the change that is the cause.
    due: Option<(Duration, u32)>,
    /// By a fault it comes this number of seconds after the last change of this step of the user.
    late: Option<(u32, u32)>,
    /// The changes that have made garbage.
    pub(crate) causes: Vec<u32>,
}

impl Garbage {
    /// When the collector comes next.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.due.map(|(at, _)| at)
    }
}

/// Whether something lacks an owner, or waits for the collector to let it go.
fn is_there(state: &State) -> bool {
    let uid = |object: &Value| object["metadata"]["uid"].as_str().map(str::to_owned);
    let there: BTreeSet<_> = state.objects.iter().filter_map(|(_, _, it)| uid(it)).collect();
    state.objects.iter().any(|(_, _, object)| {
        let metadata = &object["metadata"];
        let mut finalizers = metadata["finalizers"].as_array().into_iter().flatten();
        let mut owners = metadata["ownerReferences"].as_array().into_iter().flatten();
        match metadata["deletionTimestamp"].is_null() {
            true => owners.any(|it| it["uid"].as_str().is_none_or(|it| !there.contains(it))),
            false => finalizers.any(|it| it == "foregroundDeletion" || it == "orphan"),
        }
    })
}

impl Outside {
    /// Calls the collector if there is garbage after these changes, and lets a fault strike that keeps it
    /// away.
    pub(crate) fn look_for_garbage(&mut self, state: &State, changes: std::ops::Range<usize>) {
        if !is_there(state) {
            return;
        }
        let (now, last) = (self.now(), changes.end as u32);
        if self.garbage.due.is_none() {
            let delay = self.pace.collector;
            let slow = SLOW * delay.as_millis() as u64;
            let slow = self.chance.as_mut().map_or(0, |chance| chance.below(slow));
            self.garbage.due = Some((now + delay + Duration::from_millis(slow), last));
        }
        let is_late = |fault: &Fault| matches!(fault, Fault::Uncollected { change, .. } if changes.contains(&(*change as usize).wrapping_sub(1)));
        if let Some(index) = self.faults.iter().position(is_late) {
            let fault = self.faults.remove(index);
            self.note(What::Struck { text: fault.to_string() });
            if let Fault::Uncollected { seconds, .. } = fault {
                self.garbage.late = Some((self.steps, seconds));
            }
        }
        // It waits for the user's next step, and that one for all changes.
        if let Some((_, seconds)) = self.garbage.late.filter(|(step, _)| *step == self.steps) {
            self.garbage.due = Some((now + Duration::from_secs(seconds.into()), last));
        }
        self.signal.notify_one();
    }

    /// The collector has its turn if it is due.
    pub(crate) fn collect(&mut self, now: Duration) -> bool {
        let Some((_, cause)) = self.garbage.due.take_if(|(at, _)| *at <= now) else { return false };
        let before = self.server.revision();
        // What it cannot do now, the next change reminds it of.
        Controllers::only(&[Controller::Garbage]).settle(&mut self.server, now);
        if self.server.revision() != before {
            self.garbage.causes.push(cause);
        }
        self.absorb(Who::Collector);
        true
    }
}
