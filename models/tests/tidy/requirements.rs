//! Where the rules of a component come from, compared with what the component checks.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_models::trial::{Expect, MutantKind, NEVER_PANICS, Subject, TERMINATES};
use serde::Deserialize;

use crate::rules::Rules;

/// One file of `models/requirements`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Requirements {
    component: String,
    scope: Vec<String>,
    #[serde(default)]
    promise: Vec<Promise>,
    #[serde(default)]
    departure: Vec<Departure>,
    #[serde(default)]
    not_checked: Vec<NotChecked>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Promise {
    rules: Vec<String>,
    source: String,
    /// `terminates` or `never_panics`: these are judged for every component and cite no rules.
    invariant: Option<String>,
    #[serde(default)]
    tests: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Departure {
    rule: String,
    reference: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotChecked {
    rule: String,
    reason: String,
}

/// Reads a file of requirements.
pub(crate) fn read(text: &str) -> Result<Requirements, String> {
    toml::from_str(text).map_err(|error| error.to_string())
}

/// Complains about all differences between requirements and component. `has_test` tells whether a
/// test of that address exists.
pub(crate) fn differences(
    stated: &Requirements,
    subject: &dyn Subject,
    rules: &Rules,
    has_test: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let mut all = scope(stated, rules);
    all.extend(entries(stated, subject, has_test));
    if stated.component != subject.name() {
        all.push(format!("the file is about `{}`", stated.component));
    }
    all.into_iter().map(|what| format!("{}: {what}", subject.name())).collect()
}

/// Every rule of the scope is in exactly one entry, and no entry has a rule outside the scope.
fn scope(stated: &Requirements, rules: &Rules) -> Vec<String> {
    let mut count = BTreeMap::new();
    let mut complaints = Vec::new();
    for range in &stated.scope {
        match rules.range(range) {
            Some(rules) => count.extend(rules.into_iter().map(|rule| (rule, 0_u32))),
            None => complaints.push(format!("`{range}` is no range of rules")),
        }
    }
    let promised = stated.promise.iter().flat_map(|promise| promise.rules.iter());
    let departed = stated.departure.iter().map(|departure| &departure.rule);
    let unchecked = stated.not_checked.iter().map(|not| &not.rule);
    for rule in promised.chain(departed).chain(unchecked) {
        match count.get_mut(rule) {
            Some(count) => *count += 1,
            None => complaints.push(format!("{rule} is not in the scope")),
        }
    }
    for (rule, count) in count.into_iter().filter(|(_, count)| *count != 1) {
        complaints.push(format!("{rule} is in {count} entries"));
    }
    complaints
}

/// Every entry has its texts, and something checks every promised rule.
fn entries(
    stated: &Requirements,
    subject: &dyn Subject,
    has_test: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let invariants = subject.invariants();
    let cited: BTreeSet<&str> = invariants.iter().flat_map(|it| it.rules).copied().collect();
    let mut complaints = Vec::new();
    for Promise { rules, source, invariant, tests } in &stated.promise {
        let first = rules.first().map_or("a promise", String::as_str);
        if rules.is_empty() || source.is_empty() {
            complaints.push(format!("{first}: a promise has rules and a source"));
        }
        let of_all = invariant.as_deref();
        if of_all.is_some_and(|name| ![NEVER_PANICS, TERMINATES].contains(&name)) {
            complaints.push(format!("{first}: the invariant cites its rules itself"));
        }
        for test in tests.iter().filter(|test| !has_test(test)) {
            complaints.push(format!("{first}: no test `{test}`"));
        }
        if of_all.is_none() && tests.is_empty() {
            let unseen = rules.iter().filter(|rule| !cited.contains(rule.as_str()));
            complaints.extend(unseen.map(|rule| format!("{rule}: no invariant and no test")));
        }
    }
    for Departure { rule, reference, reason } in &stated.departure {
        if reason.is_empty() || reference.is_empty() {
            let what = "a departure says what the reference does and why we do not";
            complaints.push(format!("{rule}: {what}"));
        }
    }
    for NotChecked { rule, reason } in &stated.not_checked {
        if reason.is_empty() || cited.contains(rule.as_str()) {
            complaints.push(format!("{rule}: why is it not checked, or is it?"));
        }
    }
    complaints
}

/// Complains about mutants that break no known invariant, and about invariants that no mutant
/// breaks, unless the component gives a reason.
pub(crate) fn kill_matrix(subject: &dyn Subject) -> Vec<String> {
    let (invariants, mutants) = (subject.invariants(), subject.mutants());
    let known: BTreeSet<&str> =
        invariants.iter().map(|it| it.name).chain([NEVER_PANICS, TERMINATES]).collect();
    let broken: BTreeSet<&str> = mutants.iter().flat_map(|it| it.breaks).copied().collect();
    let mut complaints = Vec::new();
    for mutant in &mutants {
        let is_equivalent = matches!(mutant.kind, MutantKind::Equivalent(_));
        if mutant.breaks.is_empty() != is_equivalent {
            complaints.push(format!("`{}` breaks {:?}", mutant.name, mutant.breaks));
        }
    }
    let strange = broken.difference(&known);
    complaints.extend(strange.map(|name| format!("a mutant breaks `{name}`, which is none")));
    let excused: BTreeSet<&str> = subject.never_alone().iter().map(|(name, _)| *name).collect();
    for invariant in invariants.iter().filter(|invariant| invariant.expect == Expect::Holds) {
        if !broken.contains(invariant.name) && !excused.contains(invariant.name) {
            complaints.push(format!("no mutant breaks `{}`", invariant.name));
        }
    }
    complaints.into_iter().map(|what| format!("{}: {what}", subject.name())).collect()
}
