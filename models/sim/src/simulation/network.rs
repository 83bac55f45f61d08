//! Travel times, and events that are kept from a client.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::normal::{Times, normal_object};
use super::plan::Fault;
use super::trace::What;
use super::world::{Lag, Outside};
use crate::apiserver::{Random, Written};

/// How long a request travels without chance.
pub(crate) const TRAVEL: Duration = Duration::from_millis(1);

/// How long faults last that last a while.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// How long a replica lags after a restart.
    pub(crate) lag: Duration,
    /// How long an opposite event is waited for.
    pub(crate) patience: Duration,
    /// How long the garbage collector takes.
    pub(crate) collector: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        let [collector, lag, patience] = [1, 10, 120].map(Duration::from_secs);
        Self { lag, patience, collector }
    }
}

impl Outside {
    /// Whether a restart onto a replica that lags is due now, of the process that is the current one then;
    /// its replica lags from here on.
    pub(crate) fn restart_is_due(&mut self) -> bool {
        let Some(index) = self.waiting_restart() else { return false };
        let fault = self.faults.remove(index);
        self.note(What::Struck { text: fault.to_string() });
        if let Some((process, Fault::Stale { resource, change, .. })) = self.target(&fault) {
            let change = self.changes.get((*change as usize).saturating_sub(1));
            let revision = change.map_or(self.seen, |it| it.revision - 1);
            let until = self.now() + self.pace.lag;
            self.current = process;
            self.lags.insert(process, Lag { resource: resource.clone(), revision, until });
        }
        true
    }

    /// Whether a restart waits for the user's present step.
    pub(crate) fn waits_to_restart(&self) -> bool {
        self.waiting_restart().is_some()
    }

    /// How long a lag lasts; for the end of a run also silences and a collector that is late, for which the
    /// user does not wait.
    pub(crate) fn disturbed_until(&self, is_over: bool) -> Option<Duration> {
        let late = self.silences.values().map(|it| it.until).chain(self.garbage.due());
        late.filter(|_| is_over).chain(self.lags.values().map(|it| it.until)).max()
    }

    fn waiting_restart(&self) -> Option<usize> {
        let is_due = |fault: &Fault| matches!(self.target(fault), Some((_, Fault::Stale { step, .. })) if *step == self.steps);
        self.faults.iter().position(is_due)
    }
}

/// A journey by chance: between 1 and 50 ms.
pub(crate) fn journey(chance: &mut Random) -> Duration {
    Duration::from_millis(1 + chance.below(50))
}

/// The watches of a resource say nothing.
#[derive(Clone, Debug)]
pub(crate) struct Silence {
    pub(crate) until: Duration,
    /// The object, and its state before the silence: when it is in that state again, the silence
    /// ends.
    pub(crate) opposite: Option<(Arc<str>, Option<Arc<Value>>)>,
}

impl Silence {
    pub(crate) fn until_opposite(until: Duration, written: &Written) -> Self {
        let opposite = Some((written.key.clone(), written.old.clone()));
        Self { until, opposite }
    }

    /// Whether a write undoes the write that began the silence.
    pub(crate) fn ends_with(&self, written: &Written) -> bool {
        let Some((key, before)) = &self.opposite else { return false };
        *key == written.key && is_undone(before.as_deref(), written)
    }
}

/// Whether an object is again what it was before: absent, or there, or with the same content.
pub(crate) fn is_undone(before: Option<&Value>, written: &Written) -> bool {
    match (before, written.old.as_deref(), written.new.as_deref()) {
        (None, _, None) | (Some(_), None, Some(_)) => true,
        (Some(before), Some(_), Some(new)) => content(before) == content(new),
        _ => false,
    }
}

/// The part of an object that its user decides on.
fn content(object: &Value) -> Value {
    let mut object = normal_object(object, &std::collections::BTreeMap::new(), &Times::default());
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    object
}
