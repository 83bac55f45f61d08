//! What each invariant is there for: a mutant that it convicts, and that no other invariant of its
//! component does. Two invariants that always convict together are one, written twice.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::Catalogue;
use crate::engine::Engine;
use crate::trial::{Budget, Expect, InvariantInfo, MutantInfo, MutantKind, Plan, StopAt, Subject};

/// What one invariant convicts that no other does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alone {
    /// The component.
    pub component: &'static str,
    /// The invariant.
    pub invariant: &'static str,
    /// The mutant that it convicts alone, if there is one.
    pub mutant: Option<&'static str>,
    /// Why there is none, where that is known.
    pub because: Option<&'static str>,
}

/// Finds out what the invariants of the components that match are there for. A pattern is a part of
/// a component's name.
pub fn alone(catalogue: &Catalogue, patterns: &[String]) -> Vec<Alone> {
    let wanted = |subject: &&&'static dyn Subject| {
        let named = |pattern: &String| subject.name().contains(pattern.as_str());
        !subject.mutants().is_empty() && (patterns.is_empty() || patterns.iter().any(named))
    };
    let mut found = Vec::new();
    for subject in catalogue.subjects.iter().filter(wanted) {
        let mut seen = Seen { subject: *subject, broken: BTreeMap::new() };
        for invariant in subject.invariants() {
            if invariant.expect == Expect::Holds {
                found.push(seen.alone(&invariant));
            }
        }
    }
    found
}

/// What the mutants of a component were seen to break.
struct Seen {
    subject: &'static dyn Subject,
    broken: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

impl Seen {
    fn alone(&mut self, invariant: &InvariantInfo) -> Alone {
        let name = invariant.name;
        let mut accused: Vec<MutantInfo> = self.subject.mutants();
        accused.retain(|mutant| {
            !matches!(mutant.kind, MutantKind::Equivalent(_)) && mutant.breaks.contains(&name)
        });
        accused.sort_by_key(|mutant| mutant.breaks.len());
        let convicts_alone = |mutant: &MutantInfo| {
            let broken = self.broken_by(mutant.name);
            broken.len() == 1 && broken.contains(name)
        };
        let alone =
            accused.iter().map(|mutant| mutant.name).zip(accused.iter().map(convicts_alone));
        let mutant = alone.into_iter().find(|(_, alone)| *alone).map(|(name, _)| name);
        let reasons = self.subject.never_alone();
        let because = reasons.iter().find(|(of, _)| *of == name).map(|(_, because)| *because);
        Alone { component: self.subject.name(), invariant: name, mutant, because }
    }

    /// Returns which of the component's own invariants a mutant breaks, in a look at every scenario;
    /// no more than the first two that show.
    fn broken_by(&mut self, mutant: &'static str) -> &BTreeSet<&'static str> {
        let subject = self.subject;
        self.broken.entry(mutant).or_insert_with(|| broken(subject, mutant))
    }
}

/// Enough for a mutant to show most of what it breaks in a scenario.
fn budget() -> Budget {
    Budget { trace_executions: 100, schedules: 50, simulated_runs: 20, ..Budget::smoke() }
}

fn broken(subject: &'static dyn Subject, mutant: &'static str) -> BTreeSet<&'static str> {
    let mut broken = BTreeSet::new();
    let engines = [Engine::Trace, Engine::Sample, Engine::Cluster];
    for engine in engines.into_iter().filter(|engine| engine.missing().is_none()) {
        for scenario in subject.scenarios() {
            if subject.cannot_run(scenario.name, engine).is_none() {
                broken.extend(broken_in(subject, scenario.name, mutant, engine));
            }
            if broken.len() > 1 {
                return broken;
            }
        }
    }
    broken
}

fn broken_in(
    subject: &'static dyn Subject,
    scenario: &str,
    mutant: &str,
    engine: Engine,
) -> Vec<&'static str> {
    let plan = Plan {
        engine,
        budget: budget(),
        seed: 0,
        stop_at: StopAt::End,
        minimise: false,
        time: None,
    };
    let trial = subject.run(scenario, Some(mutant), &plan).expect("the catalogue named it");
    let judged = subject.judged_in(scenario).into_iter();
    let own = judged.filter(|info| info.expect == Expect::Holds).map(|info| info.name);
    own.filter(|name| trial.findings.iter().any(|finding| finding.invariant == *name)).collect()
}
