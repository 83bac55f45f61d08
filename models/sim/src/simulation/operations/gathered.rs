//! What surveys have gathered, one or several at once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::operation::Operation;
use super::report::{Finding, Misbehaviour, Promise, Survey};

/// What several surveys have gathered.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(super) findings: Vec<Finding>,
    pub(super) survey: Survey,
    /// It has ended before its end: of what it has not tried nothing is known.
    pub(crate) is_stopped: bool,
    /// How often each field was changed.
    pub(super) changes: BTreeMap<String, u64>,
    /// How often a change of a field could have an effect, how often it had, and such an operation.
    pub(super) effects: BTreeMap<String, (u64, u64, Operation)>,
}

impl Gathered {
    /// Takes note of a sequence in which the fields of a finding are changed.
    pub(super) fn is_known(&mut self, operations: &[Operation], promise: Promise) -> bool {
        let known = self.findings.iter_mut().find(|it| covers(it, operations, promise));
        known.map(|it| it.also += 1).is_some()
    }

    /// Takes in a finding of another survey: of two that are of one kind the smaller one stays.
    fn enter(&mut self, mut finding: Finding) {
        let (operations, promise) = (&finding.operations, finding.promise);
        let known = self.findings.iter_mut().find(|it| covers(it, operations, promise));
        if let Some(known) = known {
            known.also += 1 + finding.also;
            return;
        }
        let is_larger = |it: &mut Finding| covers(&finding, &it.operations, it.promise);
        let larger: Vec<_> = self.findings.extract_if(.., is_larger).collect();
        finding.also += larger.iter().map(|it| 1 + it.also).sum::<u64>();
        self.findings.push(finding);
    }

    /// Takes in what another survey of the same object has gathered.
    pub(crate) fn join(&mut self, other: Self) {
        self.is_stopped |= other.is_stopped;
        other.findings.into_iter().for_each(|it| self.enter(it));
        for (name, count) in other.changes {
            *self.changes.entry(name).or_default() += count;
        }
        for (name, (tried, had, operation)) in other.effects {
            let entry = self.effects.entry(name).or_insert((0, 0, operation));
            (entry.0, entry.1) = (entry.0 + tried, entry.1 + had);
        }
        let (own, other) = (&mut self.survey, other.survey);
        own.sequences += other.sequences;
        own.operations += other.operations;
        own.misused += other.misused;
        own.refused += other.refused;
        own.unjudged += other.unjudged;
        own.runs += other.runs;
        own.treated.extend(other.treated);
        own.treated.sort();
        own.treated.dedup();
    }

    /// The counts, and what was found.
    pub(crate) fn end(
        mut self,
        needs_effect: bool,
        began: Instant,
    ) -> Result<Survey, Box<Misbehaviour>> {
        let ignored = self.effects.iter().filter(|(_, (tried, had, _))| *tried > 0 && *had == 0);
        for (name, (tried, _, operation)) in ignored {
            self.survey.ignored.push(name.clone());
            if needs_effect && !self.is_stopped {
                let text = format!("{name} was changed {tried} times, and nothing else changed");
                let operations = vec![operation.clone()];
                self.findings.push(Finding::of(Promise::Effect, operations, vec![text]));
            }
        }
        let is_vain = self.survey.operations == 0 && self.survey.hard == 0;
        if self.findings.is_empty() && is_vain && !self.is_stopped {
            let refused = self.survey.refused;
            let text = format!("no operation was tried, and {refused} were refused by the server");
            self.findings.push(Finding::of(Promise::Alone, Vec::new(), vec![text]));
        }
        let (changed, unchanged): (Vec<_>, Vec<_>) =
            self.changes.into_iter().partition(|it| it.1 > 0);
        let names = |all: Vec<(String, u64)>| all.into_iter().map(|it| it.0).collect();
        let survey = Survey {
            changed: names(changed),
            unchanged: names(unchanged),
            elapsed: began.elapsed(),
            ..self.survey
        };
        let findings = self.findings;
        if findings.is_empty() {
            Ok(survey)
        } else {
            Err(Box::new(Misbehaviour { findings, survey }))
        }
    }
}

/// Whether the fields of a finding are a part of those of such operations. A hard object has none: they would be a
/// part of all.
fn covers(finding: &Finding, operations: &[Operation], promise: Promise) -> bool {
    let fields =
        |all: &[Operation]| all.iter().flat_map(Operation::fields).collect::<BTreeSet<_>>();
    finding.hard.is_none()
        && finding.promise.is_like(promise)
        && fields(&finding.operations).is_subset(&fields(operations))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Intent;
    use super::*;

    fn gathered(names: &[&str], also: u64) -> Gathered {
        let operation = |name: &&str| {
            let patch = json!({"spec": {*name: 1}});
            Operation { intent: Intent::Change, patch }
        };
        let operations = names.iter().map(operation).collect();
        let finding = Finding { also, ..Finding::of(Promise::Path, operations, Vec::new()) };
        Gathered { findings: vec![finding], ..Gathered::default() }
    }

    #[test]
    fn of_two_surveys_the_smaller_finding_stays_and_all_sequences_count() {
        let (small, large) = (|| gathered(&["a"], 2), || gathered(&["a", "b"], 4));
        for (mut one, other) in [(small(), large()), (large(), small())] {
            one.join(other);
            let told: Vec<_> =
                one.findings.iter().map(|it| (it.operations.len(), it.also)).collect();
            assert_eq!(told, [(1, 7)]);
        }
    }

    #[test]
    fn a_survey_that_was_stopped_says_nothing_of_what_it_has_not_tried() {
        let end = |is_stopped| {
            let mut all = Gathered { is_stopped, ..Gathered::default() };
            let operation = Operation { intent: Intent::Change, patch: json!({}) };
            all.effects.insert("spec.a".to_owned(), (1, 0, operation));
            all.end(true, Instant::now()).map_err(|it| it.findings.len()).map(|it| it.ignored)
        };
        assert_eq!(end(true), Ok(vec!["spec.a".to_owned()]));
        assert_eq!(end(false), Err(1));
        let vain = |is_stopped| {
            Gathered { is_stopped, ..Gathered::default() }.end(false, Instant::now()).is_ok()
        };
        assert_eq!([vain(true), vain(false)], [true, false]);
    }
}
