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
    /// How often each field was changed.
    pub(super) changes: BTreeMap<String, u64>,
    /// How often a change of a field could have an effect, how often it had, and such an operation.
    pub(super) effects: BTreeMap<String, (u64, u64, Operation)>,
}

impl Gathered {
    /// Takes note of a sequence in which the fields of a finding are changed.
    pub(super) fn is_known(&mut self, operations: &[Operation], promise: Promise) -> bool {
        let fields = |all: &[Operation]| -> BTreeSet<String> {
            all.iter().flat_map(Operation::fields).collect()
        };
        let own = fields(operations);
        let known = self.findings.iter_mut().find(|finding| {
            // A hard object has no operations: its fields are a part of all others.
            finding.hard.is_none()
                && finding.promise.is_like(promise)
                && fields(&finding.operations).is_subset(&own)
        });
        known.map(|it| it.also += 1).is_some()
    }

    /// Takes in what another survey of the same object has gathered.
    pub(crate) fn join(&mut self, other: Self) {
        for finding in other.findings {
            if !self.is_known(&finding.operations, finding.promise) {
                self.findings.push(finding);
            }
        }
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
        let finding = |promise, operations, text: String| Finding {
            promise,
            operations,
            hard: None,
            text: vec![text],
            objects: Vec::new(),
            also: 0,
            picture: String::new(),
        };
        let ignored = self.effects.iter().filter(|(_, (tried, had, _))| *tried > 0 && *had == 0);
        for (name, (tried, _, operation)) in ignored {
            self.survey.ignored.push(name.clone());
            if needs_effect {
                let text = format!("{name} was changed {tried} times, and nothing else changed");
                self.findings.push(finding(Promise::Effect, vec![operation.clone()], text));
            }
        }
        if self.findings.is_empty() && self.survey.operations == 0 && self.survey.hard == 0 {
            let refused = self.survey.refused;
            let text = format!("no operation was tried, and {refused} were refused by the server");
            self.findings.push(finding(Promise::Alone, Vec::new(), text));
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
