//! The rules of a test, in addition to those for every controller.

use std::fmt;

use serde_json::Value;

use super::state::State;

/// A rule of the user: what is wrong with a state, if something is.
pub(crate) type Rule = dyn Fn(&State) -> Result<(), String> + Send + Sync;
/// A rule about a change: the state before and after it.
pub(crate) type Over = dyn Fn(&State, &State) -> Result<(), String> + Send + Sync;

/// Resources whose objects come and go in a healthy cluster: they are no part of a run at all.
const NOISE: [&str; 3] = ["events", "events.events.k8s.io", "leases.coordination.k8s.io"];

/// The rules of a simulation.
pub(crate) struct Rules {
    /// Resources that are not compared, and are no sign of unrest.
    pub(crate) ignored: Vec<String>,
    /// Fields that are not compared: a kind, and a pointer with patterns.
    pub(crate) ignored_fields: Vec<(String, String)>,
    pub(crate) always: Vec<Box<Rule>>,
    pub(crate) steps: Vec<Box<Over>>,
    pub(crate) at_end: Vec<Box<Rule>>,
    /// More requests in a minute of rest are a hot loop.
    pub(crate) requests_per_minute: u32,
    pub(crate) may_be_idle: bool,
    pub(crate) may_panic: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            ignored: Vec::new(),
            ignored_fields: Vec::new(),
            always: Vec::new(),
            steps: Vec::new(),
            at_end: Vec::new(),
            requests_per_minute: 60,
            may_be_idle: false,
            may_panic: false,
        }
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Rules");
        text.field("ignored", &self.ignored).field("ignored_fields", &self.ignored_fields);
        text.finish_non_exhaustive()
    }
}

impl Rules {
    /// How many rules of the test there are.
    pub(crate) fn count(&self) -> usize {
        self.always.len() + self.steps.len() + self.at_end.len()
    }

    /// Whether a rule looks at the states between the writes.
    pub(crate) fn look_between(&self) -> bool {
        !self.always.is_empty() || !self.steps.is_empty()
    }

    /// The first rule for every state that this one breaks.
    pub(crate) fn always(&self, state: &State) -> Option<String> {
        self.always.iter().find_map(|rule| rule(state).err())
    }

    /// The first rule about changes that this one breaks.
    pub(crate) fn step(&self, before: &State, after: &State) -> Option<String> {
        self.steps.iter().find_map(|rule| rule(before, after).err())
    }

    /// The first rule for the end that this state breaks.
    pub(crate) fn at_end(&self, state: &State) -> Option<String> {
        self.at_end.iter().find_map(|rule| rule(state).err())
    }

    /// Writes to it are no part of a run.
    pub(crate) fn is_noise(resource: &str) -> bool {
        NOISE.contains(&resource)
    }

    /// It is not compared, and no sign of unrest.
    pub(crate) fn is_left_out(&self, resource: &str) -> bool {
        Self::is_noise(resource) || self.ignored.iter().any(|it| it == resource)
    }

    /// Removes the fields of an object that are not compared.
    pub(crate) fn leave_out(&self, resource: &str, object: &mut Value) {
        for (kind, pointer) in &self.ignored_fields {
            let plural = resource.split('.').next();
            let is_kind = object["kind"] == **kind || resource == kind || plural == Some(kind);
            if is_kind && let Some(pattern) = pointer.strip_prefix('/') {
                remove(object, &pattern.split('/').collect::<Vec<_>>());
            }
        }
    }

    /// What a report says about that.
    pub(crate) fn told(&self) -> Vec<String> {
        let fields = self.ignored_fields.iter().map(|(kind, pointer)| format!("{kind} {pointer}"));
        let all: Vec<_> = self.ignored.iter().cloned().chain(fields).collect();
        if all.is_empty() { Vec::new() } else { vec![format!("not compared: {}", all.join(", "))] }
    }
}

/// Removes what a pattern of segments leads to.
fn remove(value: &mut Value, pattern: &[&str]) {
    let Some((first, rest)) = pattern.split_first() else { return };
    let first = first.replace("~1", "/").replace("~0", "~");
    match value {
        Value::Object(fields) if rest.is_empty() => fields.retain(|name, _| !fits(&first, name)),
        Value::Object(fields) => {
            let own = fields.iter_mut().filter(|(name, _)| fits(&first, name));
            own.for_each(|(_, value)| remove(value, rest));
        }
        Value::Array(items) => {
            let own =
                (0..).zip(items).filter(|(index, _): &(u32, _)| fits(&first, &index.to_string()));
            for (_, value) in own {
                match rest.is_empty() {
                    true => *value = Value::Null,
                    false => remove(value, rest),
                }
            }
        }
        _ => {}
    }
}

/// Whether a text is as a pattern says, in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    let mut cuts = (0..=text.len()).filter(|at| text.is_char_boundary(*at));
    cuts.any(|at| fits(rest, &text[at..]))
}
