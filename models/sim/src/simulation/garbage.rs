//! The garbage collector of the cluster. It comes some time after the change that has made garbage, on a
//! slow network later, and under a fault so late that the user's next step is before it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use super::plan::Fault;
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
    pub(crate) owners: Owners,
}

/// What objects and references to owners there are: kept up to date with each change, since there may be very
/// many of them.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    there: BTreeSet<String>,
    /// How many references name an owner, of objects that are not being deleted.
    named: BTreeMap<String, u32>,
    /// The owners that are named and not there.
    lost: BTreeSet<String>,
    /// How many objects wait for the collector to let them go.
    waiting: u32,
}

impl Owners {
    /// An object comes to be, or is no more. A change is both, of the object before and after it.
    pub(crate) fn note(&mut self, object: &Value, is_there: bool) {
        let metadata = &object["metadata"];
        let by =
            |count: &mut u32| *count = if is_there { *count + 1 } else { count.saturating_sub(1) };
        if let Some(uid) = metadata["uid"].as_str() {
            match is_there {
                true => self.there.insert(uid.to_owned()),
                false => self.there.remove(uid),
            };
            self.look(uid);
        }
        if metadata["deletionTimestamp"].is_null() {
            for owner in metadata["ownerReferences"].as_array().into_iter().flatten() {
                let uid = owner["uid"].as_str().unwrap_or_default();
                by(self.named.entry(uid.to_owned()).or_default());
                self.look(uid);
            }
        } else {
            let mut finalizers = metadata["finalizers"].as_array().into_iter().flatten();
            if finalizers.any(|it| it == "foregroundDeletion" || it == "orphan") {
                by(&mut self.waiting);
            }
        }
    }

    fn look(&mut self, uid: &str) {
        let is_named = self.named.get(uid).is_some_and(|it| *it > 0);
        if !is_named {
            self.named.remove(uid);
        }
        match is_named && !self.there.contains(uid) {
            true => self.lost.insert(uid.to_owned()),
            false => self.lost.remove(uid),
        };
    }

    /// Whether something lacks an owner, or waits for the collector to let it go.
    fn has_garbage(&self) -> bool {
        !self.lost.is_empty() || self.waiting > 0
    }
}

impl Garbage {
    /// When the collector comes next.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.due.map(|(at, _)| at)
    }
}

impl Outside {
    /// Calls the collector if there is garbage after these changes, and lets a fault strike that keeps it
    /// away.
    pub(crate) fn look_for_garbage(&mut self, changes: std::ops::Range<usize>) {
        if !self.garbage.owners.has_garbage() {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::apiserver::Random;

    /// The same by a look at everything.
    fn is_there(objects: &BTreeMap<u64, Value>) -> bool {
        let uid = |it: &Value| it["metadata"]["uid"].to_string();
        let there: BTreeSet<String> = objects.values().map(uid).collect();
        objects.values().any(|object| {
            let metadata = &object["metadata"];
            let mut owners = metadata["ownerReferences"].as_array().into_iter().flatten();
            match metadata["deletionTimestamp"].is_null() {
                true => owners.any(|it| !there.contains(&it["uid"].to_string())),
                false => metadata["finalizers"][0] == "orphan",
            }
        })
    }

    #[test]
    fn garbage_is_known_change_by_change_as_by_a_look_at_everything() {
        let (mut random, mut seen) = (Random::new(1), [0, 0]);
        let (mut owners, mut objects) = (Owners::default(), BTreeMap::new());
        for step in 0..4_000 {
            let key = random.below(6);
            let mut metadata = json!({"uid": format!("{key}-{}", random.below(2))});
            let of = (0..random.below(5) / 3).map(|_| match random.below(20) {
                0 => json!({}),
                _ => json!({"uid": format!("{}-{}", random.below(6), random.below(2))}),
            });
            metadata["ownerReferences"] = of.collect();
            if random.below(6) == 0 {
                metadata["deletionTimestamp"] = "now".into();
                let finalizer = if random.below(2) == 0 { "orphan" } else { "other" };
                metadata["finalizers"] = json!([finalizer]);
            }
            let new = (random.below(4) > 0).then(|| json!({"metadata": metadata}));
            let old = match &new {
                Some(new) => objects.insert(key, new.clone()),
                None => objects.remove(&key),
            };
            old.iter().for_each(|it| owners.note(it, false));
            new.iter().for_each(|it| owners.note(it, true));
            assert_eq!(owners.has_garbage(), is_there(&objects), "step {step}: {objects:?}");
            seen[usize::from(owners.has_garbage())] += 1;
        }
        assert!(seen.iter().all(|it| *it > 100), "{seen:?}");
    }
}
