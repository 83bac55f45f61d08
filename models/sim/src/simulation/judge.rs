//! The violations of a run, measured by the reference run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::rules::Rules;
use super::run::Run;
use super::state::difference;
use super::trace::What;
use crate::apiserver::Written;

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The promise.
    pub rule: &'static str,
    /// How it is broken, in lines.
    pub text: Vec<String>,
}

const OWN: &str = "the rules of this test hold";
const RESTS: &str = "the controller comes to rest";
const ACCEPTED: &str = "the server accepts the user's steps";
const QUIET: &str = "few requests are sent while nothing happens";
const KEPT: &str = "nothing is deleted or made anew that the run without faults keeps";
const SAME_END: &str = "the end is that of the run without faults (-), not another one (+)";
const NO_ERROR: &str = "no error is repeated for ever";

/// Every promise: a name, and as a violation says it.
pub const RULES: [(&str, &str); 7] = [
    ("keeps_the_rules_of_the_test", OWN),
    ("comes_to_rest", RESTS),
    ("is_given_steps_that_are_accepted", ACCEPTED),
    ("is_quiet_at_rest", QUIET),
    ("keeps_what_is_kept_without_faults", KEPT),
    ("comes_to_the_same_end", SAME_END),
    ("repeats_no_error_for_ever", NO_ERROR),
];

impl Violation {
    fn new(rule: &'static str, text: Vec<String>) -> Self {
        Self { rule, text }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken: {}", self.rule)?;
        for line in &self.text {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

/// The violations of the run without faults.
pub(crate) fn judge_reference(run: &Run, rules: &Rules) -> Vec<Violation> {
    let mut found = alone(run);
    if let Some(why) = &run.refused_step {
        found.push(Violation::new(ACCEPTED, vec![why.clone()]));
    }
    found.extend(hot_loop(run, rules.requests_per_minute));
    found.extend(errors(run, &BTreeSet::new()));
    found
}

/// The violations of a run under faults.
pub(crate) fn judge(reference: &Run, run: &Run, rules: &Rules) -> Vec<Violation> {
    let mut found = alone(run);
    let deleted = wrongly_deleted(reference, run);
    if !deleted.is_empty() {
        found.push(Violation::new(KEPT, deleted));
    }
    let lines = difference(&reference.end, &run.end);
    if !lines.is_empty() {
        found.push(Violation::new(SAME_END, lines));
    }
    found.extend(hot_loop(run, rules.requests_per_minute.max(3 * reference.per_minute)));
    let known = failing(reference).into_keys().collect();
    found.extend(errors(run, &known));
    found
}

/// The violations that show without a comparison with another run.
fn alone(run: &Run) -> Vec<Violation> {
    let mut found = Vec::new();
    if let Some(why) = &run.broken_rule {
        found.push(Violation::new(OWN, vec![why.clone()]));
    }
    if let Some(why) = &run.restless {
        let text = vec![format!("the controller {why}")];
        found.push(Violation::new(RESTS, text));
    }
    found
}

fn hot_loop(run: &Run, most: u32) -> Option<Violation> {
    let text =
        || vec![format!("{} requests a minute, and at most {most} are fine", run.per_minute)];
    (run.per_minute > most).then(|| Violation::new(QUIET, text()))
}

/// The requests that fail again and again after the last change, and how often. A missing or
/// existing object is not a failure: controllers check for objects in this way.
fn failing(run: &Run) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    let is_change = |what: &What| matches!(what, What::Changed { .. });
    for entry in run.trace.iter().rev().take_while(|it| !is_change(&it.what)) {
        let What::Asked { request } = &entry.what else { continue };
        let (method, status) = (request.method.as_str(), request.status);
        if status >= 400 && !matches!((method, status), ("GET", 404) | ("POST", 409)) {
            let (resource, key) = (&request.resource, &request.key);
            let text = format!("{method} {resource} {key} is answered with {status}");
            *counts.entry(text).or_insert(0) += 1;
        }
    }
    counts.retain(|_, count| *count >= 3);
    counts
}

fn errors(run: &Run, known: &BTreeSet<String>) -> Option<Violation> {
    let failing = failing(run).into_iter().filter(|(text, _)| !known.contains(text));
    let text: Vec<_> = failing.map(|(text, count)| format!("{text}, {count} times")).collect();
    (!text.is_empty()).then(|| Violation::new(NO_ERROR, text))
}

/// An object, and a step.
type Place<'a> = (&'a str, &'a str, u32);

/// The objects that this run deletes while the reference, after the same step of the user, keeps
/// them, if this run deletes them more often than the reference has until then.
fn wrongly_deleted(reference: &Run, run: &Run) -> Vec<String> {
    let steps = reference.trace.iter().filter(|it| matches!(it.what, What::Step { .. })).count();
    let mut kept: BTreeSet<Place<'_>> = BTreeSet::new();
    let mut deletions: Vec<Place<'_>> = Vec::new();
    for (change, step) in by_step(reference) {
        let (resource, key) = (&*change.resource, &*change.key);
        for later in step..=steps as u32 {
            match &change.new {
                Some(_) => kept.insert((resource, key, later)),
                None => kept.remove(&(resource, key, later)),
            };
        }
        if change.new.is_none() {
            deletions.push((resource, key, step));
        }
    }
    // Deleted in this very step: whatever comes after is the same again.
    kept.retain(|place| !deletions.contains(place));
    let (mut lines, mut counts) = (Vec::new(), BTreeMap::new());
    for (number, (change, step)) in (1..).zip(by_step(run)).filter(|(_, it)| it.0.new.is_none()) {
        let (resource, key) = (&*change.resource, &*change.key);
        let count = counts.entry((resource, key)).or_insert(0);
        *count += 1;
        let known = deletions.iter().filter(|it| (it.0, it.1) == (resource, key) && it.2 <= step);
        if kept.contains(&(resource, key, step)) && *count > known.count() {
            lines.push(format!("change {number} deletes {resource} {key}"));
        }
    }
    lines
}

/// The changes of a run, each with how many steps the user had done.
fn by_step(run: &Run) -> impl Iterator<Item = (&Written, u32)> {
    let mut step = 0;
    let steps = run.trace.iter().filter_map(move |entry| match entry.what {
        What::Step { .. } => {
            step += 1;
            None
        }
        What::Changed { .. } => Some(step),
        _ => None,
    });
    run.changes.iter().zip(steps)
}
