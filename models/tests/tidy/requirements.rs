//! The promises of a component, compared with the component itself.

use std::collections::BTreeMap;

use seatrial_models::trial::{
    Expect, InvariantInfo, MutantInfo, MutantKind, NEVER_PANICS, Subject, TERMINATES,
};
use serde::{Deserialize, Deserializer};

use crate::rules;

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
    name: String,
    rules: Vec<String>,
    source: String,
    says: String,
    /// One name, or several if one rule is checked in several ways.
    #[serde(default, deserialize_with = "one_or_several")]
    invariant: Vec<String>,
    #[serde(default)]
    scenarios: Vec<String>,
    #[serde(default)]
    mutants: Vec<String>,
    #[serde(default)]
    tests: Vec<String>,
}

fn one_or_several<'de, D: Deserializer<'de>>(names: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Names {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Names::deserialize(names)? {
        Names::One(name) => vec![name],
        Names::Several(names) => names,
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Departure {
    rule: String,
    reason: String,
    #[serde(default)]
    reference: String,
    invariant: Option<String>,
    #[serde(default)]
    mutants: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotChecked {
    rule: String,
    reason: String,
}

/// The properties of a component that the harness knows.
pub(crate) struct Known {
    pub(crate) component: String,
    pub(crate) scenarios: Vec<String>,
    pub(crate) invariants: Vec<InvariantInfo>,
    pub(crate) mutants: Vec<MutantInfo>,
    /// Invariants for which the component gives a reason why they have no mutant of their own.
    pub(crate) never_alone: Vec<&'static str>,
}

impl Known {
    pub(crate) fn of(subject: &dyn Subject) -> Self {
        let scenarios = subject.scenarios();
        Self {
            component: subject.name().to_owned(),
            scenarios: scenarios.iter().map(|scenario| scenario.name.to_owned()).collect(),
            invariants: subject.invariants(),
            mutants: subject.mutants(),
            never_alone: subject.never_alone().iter().map(|(name, _)| *name).collect(),
        }
    }

    fn has_invariant(&self, name: &str) -> bool {
        [NEVER_PANICS, TERMINATES].contains(&name)
            || self.invariants.iter().any(|invariant| invariant.name == name)
    }
}

/// Reads a file of requirements.
pub(crate) fn read(text: &str) -> Result<Requirements, String> {
    toml::from_str(text).map_err(|error| error.to_string())
}

/// Complains about all differences between requirements and component. `has_test` tells whether a
/// test of that address exists.
pub(crate) fn differences(
    stated: &Requirements,
    known: &Known,
    has_test: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let mut all = scope(stated);
    all.extend(names(stated, known, has_test));
    all.extend(forgotten(stated, known));
    if stated.component != known.component {
        all.push(format!("the file is about `{}`", stated.component));
    }
    all.into_iter().map(|what| format!("{}: {what}", known.component)).collect()
}

/// Every rule of the scope is in exactly one entry, and no entry has a rule outside the scope.
fn scope(stated: &Requirements) -> Vec<String> {
    let mut count = BTreeMap::new();
    let mut complaints = Vec::new();
    for range in &stated.scope {
        match expand(range) {
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
    for (rule, count) in count {
        if count != 1 {
            complaints.push(format!("{rule} stands in {count} entries"));
        }
    }
    complaints
}

/// Returns the rules of `workqueue:WQ-1..40`, if they exist.
fn expand(range: &str) -> Option<Vec<String>> {
    let (name, last) = match range.split_once("..") {
        Some((name, last)) => (name, Some(last.parse::<u32>().ok()?)),
        None => (range, None),
    };
    let (section, first) = name.rsplit_once('-')?;
    let (file, prefix) = section.split_once(':')?;
    let first = first.parse::<u32>().ok()?;
    let rules = (first..=last.unwrap_or(first))
        .map(|number| rules::exists(file, prefix, number).then(|| format!("{section}-{number}")));
    rules.collect()
}

/// All names in an entry exist, and every entry has content.
fn names(stated: &Requirements, known: &Known, has_test: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut complaints = Vec::new();
    for promise in &stated.promise {
        let mut complain = |what: String| complaints.push(format!("{}: {what}", promise.name));
        if promise.rules.is_empty() || promise.source.is_empty() || promise.says.is_empty() {
            complain("a promise has rules, a source and words".to_owned());
        }
        for name in promise.invariant.iter().filter(|name| !known.has_invariant(name)) {
            complain(format!("no invariant `{name}`"));
        }
        match promise.invariant.is_empty() {
            true if promise.tests.is_empty() => complain("nothing shows it".to_owned()),
            false if promise.scenarios.is_empty() => complain("in which scenario?".to_owned()),
            _ => {}
        }
        for scenario in promise.scenarios.iter().filter(|name| !known.scenarios.contains(name)) {
            complain(format!("no scenario `{scenario}`"));
        }
        for test in promise.tests.iter().filter(|test| !has_test(test)) {
            complain(format!("no test `{test}`"));
        }
        mutants(&promise.mutants, &promise.invariant, known, &mut complain);
    }
    for departure in &stated.departure {
        let mut complain = |what: String| complaints.push(format!("{}: {what}", departure.rule));
        if departure.reason.is_empty() || departure.reference.is_empty() {
            complain("a departure says what the reference does and why we do not".to_owned());
        }
        if let Some(name) = departure.invariant.as_ref().filter(|name| !known.has_invariant(name)) {
            complain(format!("no invariant `{name}`"));
        }
        mutants(&departure.mutants, &[], known, &mut complain);
    }
    let silent = stated.not_checked.iter().filter(|not| not.reason.is_empty());
    complaints.extend(silent.map(|not| format!("{}: why is it not checked?", not.rule)));
    complaints
}

/// Mutants exist, and break one of the invariants of their entry.
fn mutants(
    names: &[String],
    invariants: &[String],
    known: &Known,
    complain: &mut dyn FnMut(String),
) {
    for name in names {
        match known.mutants.iter().find(|mutant| mutant.name == name) {
            None => complain(format!("no mutant `{name}`")),
            Some(mutant) => {
                let breaks = |invariant: &String| mutant.breaks.contains(&invariant.as_str());
                if !invariants.is_empty() && !invariants.iter().any(breaks) {
                    complain(format!("`{name}` does not break `{}`", invariants.join("`, `")));
                }
            }
        }
    }
}

/// The requirements name all parts of the component.
fn forgotten(stated: &Requirements, known: &Known) -> Vec<String> {
    let mut complaints = Vec::new();
    let promises = &stated.promise;
    for scenario in &known.scenarios {
        if !promises.iter().any(|promise| promise.scenarios.contains(scenario)) {
            complaints.push(format!("no promise names the scenario `{scenario}`"));
        }
    }
    for invariant in &known.invariants {
        let names = |promise: &Promise| promise.invariant.iter().any(|it| it == invariant.name);
        if !promises.iter().any(names) {
            complaints.push(format!("no promise names the invariant `{}`", invariant.name));
        }
        for rule in invariant.rules {
            if stated.not_checked.iter().any(|not| not.rule == *rule) {
                complaints.push(format!("{rule} is checked by `{}`", invariant.name));
            }
        }
    }
    for mutant in &known.mutants {
        let names = |list: &[String]| list.iter().any(|name| name == mutant.name);
        let named = promises.iter().any(|promise| names(&promise.mutants))
            || stated.departure.iter().any(|departure| names(&departure.mutants));
        if !named && !matches!(mutant.kind, MutantKind::Equivalent(_)) {
            complaints.push(format!("no promise names the mutant `{}`", mutant.name));
        }
    }
    complaints
}

/// Complains about mutants that break no known invariant, and about invariants that no mutant
/// breaks. Some invariants can be broken only by a shell around the rules. Then the component says
/// so, and the promise names a test which sees that the invariant convicts.
pub(crate) fn kill_matrix(stated: &Requirements, known: &Known) -> Vec<String> {
    let is_of_a_shell = |name: &str| {
        let shown = |it: &Promise| it.invariant.iter().any(|it| it == name) && !it.tests.is_empty();
        known.never_alone.contains(&name) && stated.promise.iter().any(shown)
    };
    let mut complaints = Vec::new();
    for mutant in &known.mutants {
        let is_equivalent = matches!(mutant.kind, MutantKind::Equivalent(_));
        if mutant.breaks.is_empty() != is_equivalent {
            complaints.push(format!("`{}` breaks {:?}", mutant.name, mutant.breaks));
        }
        for invariant in mutant.breaks.iter().filter(|name| !known.has_invariant(name)) {
            complaints.push(format!("`{}` breaks `{invariant}`, which is none", mutant.name));
        }
    }
    let held = known.invariants.iter().filter(|invariant| invariant.expect == Expect::Holds);
    for invariant in held {
        let is_broken = known.mutants.iter().any(|mutant| mutant.breaks.contains(&invariant.name));
        if !is_broken && !is_of_a_shell(invariant.name) {
            complaints.push(format!("no mutant breaks `{}`", invariant.name));
        }
    }
    complaints.into_iter().map(|what| format!("{}: {what}", known.component)).collect()
}
