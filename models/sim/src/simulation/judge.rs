//! The violations of a run, measured by the reference run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use super::acted::Unheeded;
use super::cycle::cycle;
use super::learn::Learned;
use super::plan::{Fault, Plan};
use super::rights::Granted;
use super::rules::Rules;
use super::run::{REST, Run};
use super::secrets::flapping;
use super::state::difference;
use super::trace::{Entry, What};
use crate::apiserver::{Attributes, Written};

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The promise.
    pub rule: &'static str,
    /// How it is broken, in lines.
    pub text: Vec<String>,
    /// The objects that it is about, such as `pods default/a`.
    pub objects: Vec<String>,
}

const OWN: &str = "the rules of this test hold";
const RESTS: &str = "the controller comes to rest";
const ACCEPTED: &str = "the server accepts the user's steps";
const QUIET: &str = "few requests are sent while nothing happens";
const KEPT: &str = "nothing is deleted or made anew that the run without faults keeps";
const SAME_END: &str = "the end is that of the run without faults (-), not another one (+)";
const NO_ERROR: &str = "no error is repeated for ever";
const NO_PANIC: &str = "the controller does not panic";
const SECRETS: &str = "what a Secret holds for life without faults does not go and come back";
const AWAKE: &str = "the controller reads and writes";
const RIGHTS: &str = "the controller asks for nothing that its roles do not grant";
const ACTED: &str = "a specification that the status says is observed was acted on";
const STRIKES: &str = "the replayed plan strikes";

/// Every promise: a name, and as a violation says it.
pub const RULES: [(&str, &str); 13] = [
    ("keeps_the_rules_of_the_test", OWN),
    ("comes_to_rest", RESTS),
    ("is_given_steps_that_are_accepted", ACCEPTED),
    ("is_quiet_at_rest", QUIET),
    ("keeps_what_is_kept_without_faults", KEPT),
    ("comes_to_the_same_end", SAME_END),
    ("repeats_no_error_for_ever", NO_ERROR),
    ("does_not_panic", NO_PANIC),
    ("keeps_what_secrets_hold", SECRETS),
    ("reads_and_writes", AWAKE),
    ("has_the_rights_that_it_needs", RIGHTS),
    ("acts_on_what_it_observes", ACTED),
    ("is_struck_by_the_plan", STRIKES),
];

impl Violation {
    fn new(rule: &'static str, text: Vec<String>) -> Self {
        Self { rule, text, objects: Vec::new() }
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
    let mut found = alone(run, rules);
    if let Some(why) = &run.refused_step {
        found.push(Violation::new(ACCEPTED, vec![why.clone()]));
    }
    found.extend(hot_loop(run, rules.requests_per_minute));
    found.extend(errors(run, &BTreeSet::new()));
    if found.is_empty() && !rules.may_be_idle {
        found.extend(idle(run).map(|why| Violation::new(AWAKE, vec![why.to_owned()])));
    }
    found
}

/// The violations of a run under faults.
pub(crate) fn judge(
    reference: &Run,
    run: &Run,
    (rules, learned): (&Rules, &Learned),
) -> Vec<Violation> {
    let mut found = alone(run, rules);
    let (text, objects) = wrongly_deleted(reference, run, rules);
    if !text.is_empty() {
        found.push(Violation { rule: KEPT, text, objects });
    }
    let (text, objects) = difference(&reference.end, &run.end);
    if !text.is_empty() {
        found.push(Violation { rule: SAME_END, text, objects });
    }
    found.extend(hot_loop(run, rules.requests_per_minute.max(3 * reference.per_minute)));
    let known = failing(reference).into_keys().collect();
    found.extend(errors(run, &known));
    // A replica that lags shows sources that were not there yet, and what follows from them is right.
    let is_stale =
        |it: &Entry| matches!(&it.what, What::Struck { text } if text.starts_with("stale("));
    if !rules.is_left_out("secrets") && !run.trace.iter().any(is_stale) {
        let [one, other] = [reference, run].map(|it| it.view(rules, learned));
        let (text, objects) = flapping((reference, &one), (run, &other));
        if !text.is_empty() {
            found.push(Violation { rule: SECRETS, text, objects });
        }
    }
    found
}

/// A specification was observed, and nothing has followed.
pub(crate) fn unheeded((text, objects): Unheeded) -> Violation {
    Violation { rule: ACTED, text, objects }
}

/// The rights that a run needs and its controller has not, but for those that another run lacks as well.
pub(crate) fn unlawful(run: &Run, granted: &Granted, other: Option<&Run>) -> Option<Violation> {
    let known = |it: &Attributes| other.is_some_and(|other| other.needs.contains_key(it));
    let missing = granted.missing(&run.needs).into_iter().filter(|it| !known(&it.0));
    let text: Vec<_> = missing.map(|(_, line)| line).collect();
    (!text.is_empty()).then(|| Violation::new(RIGHTS, text))
}

/// The violations that show without a comparison with another run.
fn alone(run: &Run, rules: &Rules) -> Vec<Violation> {
    let mut found = Vec::new();
    if let Some(why) = &run.broken_rule {
        found.push(Violation::new(OWN, vec![why.clone()]));
    }
    if let Some(why) = &run.restless {
        let mut text = vec![format!("the controller {why}")];
        text.extend(cycle(run, Duration::MAX));
        found.push(Violation::new(RESTS, text));
    }
    if !run.panics.is_empty() && !rules.may_panic {
        found.push(Violation::new(NO_PANIC, run.panics.clone()));
    }
    found
}

/// Why a run says nothing about its controller, if it does not.
fn idle(run: &Run) -> Option<&'static str> {
    let (mut reads, mut writes, mut steps) = (false, false, false);
    for entry in &run.trace {
        match &entry.what {
            // An election and its events are not what a controller is for; nor is a look at what is served.
            What::Asked { request } if Rules::is_noise(&request.resource) => {}
            What::Asked { request } if request.is_of_nothing_served() => {}
            What::Asked { request } if matches!(request.method.as_str(), "GET" | "HEAD") => {
                reads |= request.status < 300;
            }
            What::Asked { request } => writes |= request.status < 300, // 0: its answer is lost
            What::Step { .. } => steps = true,
            _ => {}
        }
    }
    match (reads, writes) {
        (false, false) => Some("it never asks the server for anything"),
        (true, false) => Some("it never writes anything"),
        (false, true) if steps => {
            Some("it never reads anything, so that the user's steps do not reach it")
        }
        _ => None,
    }
}

/// Of a plan that was to be replayed, nothing has struck, or not the whole of an order.
pub(crate) fn unstruck(run: &Run, plan: &Plan) -> Option<Violation> {
    let all = plan.faults.iter().filter(|it| !it.strikes_nothing()).count();
    let is_order = |it: &Fault| matches!(it, Fault::Order { .. });
    if all == 0 || (run.left.len() < all && !run.left.iter().any(is_order)) {
        return None;
    }
    let writes = run.trace.iter().filter_map(|entry| match &entry.what {
        What::Asked { request } => Some(request.write),
        _ => None,
    });
    let (writes, changes) = (writes.max().unwrap_or(0), run.changes.len());
    let count = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    let left = Plan { faults: run.left.clone() };
    let (writes, changes) = (count(writes as usize, "write"), count(changes, "change"));
    let mut text = format!("{left} strikes nothing: the run has {writes} and {changes}");
    if let Some(guide) = &run.guide {
        text.push_str(&format!(" in {} deliveries", guide.nodes.len()));
    }
    Some(Violation::new(STRIKES, vec![text]))
}

fn hot_loop(run: &Run, most: u32) -> Option<Violation> {
    if run.per_minute <= most {
        return None;
    }
    let mut text =
        vec![format!("{} requests a minute, and at most {most} are fine", run.per_minute)];
    text.extend(run.each.iter().map(|(name, count)| format!("  {name}: {count}")));
    text.extend(cycle(run, REST));
    Some(Violation::new(QUIET, text))
}

/// The requests that fail again and again after the last change, and how often. A missing or
/// existing object is not a failure: controllers check for objects in this way. A list that finds nothing
/// is one: the server does not know the kind. What the server could not do and does later was an outage.
pub(crate) fn failing(run: &Run) -> BTreeMap<String, u32> {
    let (mut counts, mut ended) = (BTreeMap::new(), BTreeSet::new());
    let is_change = |what: &What| matches!(what, What::Changed { beat: false, .. });
    for entry in run.trace.iter().rev().take_while(|it| !is_change(&it.what)) {
        let What::Asked { request } = &entry.what else { continue };
        let (method, status) = (request.method.as_str(), request.status);
        let is_a_look = match (method, status) {
            ("GET", 404) => !request.key.is_empty() || request.looks_for_what_is_served(),
            other => other == ("POST", 409),
        };
        let (resource, key) = (&request.resource, &request.key);
        let place = (method, request.is_watch, resource, key);
        if (200..300).contains(&status) {
            ended.insert(place);
        } else if status >= 400 && !is_a_look && (status < 500 || !ended.contains(&place)) {
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

/// The objects that this run deletes while the reference, after the same step of the user, keeps
/// them, if this run deletes them more often than the reference has until then.
fn wrongly_deleted(reference: &Run, run: &Run, rules: &Rules) -> (Vec<String>, Vec<String>) {
    // The steps of the changes of each object, and whether it is there after them.
    let mut lives: BTreeMap<(&str, &str), Vec<(u32, bool)>> = BTreeMap::new();
    for (change, step) in by_step(reference) {
        let life = lives.entry((&change.resource, &change.key)).or_default();
        life.push((step, change.new.is_some()));
    }
    let (mut lines, mut objects, mut counts) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (number, (change, step)) in (1..).zip(by_step(run)).filter(|(_, it)| it.0.new.is_none()) {
        let (resource, key) = (&*change.resource, &*change.key);
        let count = counts.entry((resource, key)).or_insert(0);
        *count += 1;
        let life = lives.get(&(resource, key)).map_or(&[][..], |it| it);
        let life = &life[..life.partition_point(|it| it.0 <= step)];
        // Deleted in this very step: whatever comes after is the same again.
        let is_kept = life.last().is_some_and(|it| it.1) && !life.contains(&(step, false));
        let known = life.iter().filter(|it| !it.1).count();
        if !rules.is_left_out(resource) && is_kept && *count > known {
            lines.push(format!("change {number} deletes {resource} {key}"));
            objects.push(format!("{resource} {key}"));
        }
    }
    (lines, objects)
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

#[cfg(test)]
mod tests {
    use super::super::trace::Asked;
    use super::*;

    #[test]
    fn an_error_that_has_ended_is_not_repeated_for_ever() {
        let asked = |method: &str, is_watch, status| {
            let (method, resource) = (method.to_owned(), "pods".to_owned());
            let request = Asked { method, resource, is_watch, status, ..Asked::default() };
            let (at, process) = (Duration::ZERO, "".into());
            Entry { at, process, what: What::Asked { request } }
        };
        let failing = |last: Option<Entry>| {
            let trace = (0..5).map(|_| asked("GET", true, 500)).chain(last).collect();
            failing(&Run { trace, ..Run::default() }).into_values().collect::<Vec<_>>()
        };
        assert_eq!(failing(None), [5]);
        // A list that succeeds is no watch, and an answer that is lost is no success.
        assert_eq!(failing(Some(asked("GET", false, 200))), [5]);
        assert_eq!(failing(Some(asked("GET", true, 0))), [5]);
        assert!(failing(Some(asked("GET", true, 200))).is_empty());
    }
}
