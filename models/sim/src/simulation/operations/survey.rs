//! Draws sequences of operations, tries them one after the other, and counts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::bench::{Bench, Walk, handle};
use super::draw::Drawer;
use super::gathered::Gathered;
use super::operation::{Intent, Operation, between};
use super::report::{Finding, Misbehaviour, Promise, Survey};
use super::scalar::is_same;
use super::schema::{self, Field};
use super::{Operations, Wish, hard, shrink};
use crate::apiserver::{Random, Server};
use crate::simulation::Simulation;
use crate::simulation::campaign::Campaign;
use crate::simulation::check::Failure;
use crate::simulation::run::Setup;
use crate::simulation::script::Step;

/// How many operations a sequence has at most, before the last one that leads back.
const LONGEST: u64 = 4;
/// How many draws in vain end a sequence.
const VAIN: u32 = 8;
/// How many distinct findings are looked for.
const FINDINGS: usize = 8;
/// How long it is silent.
const SILENT: Duration = Duration::from_secs(10);

/// A sequence: the operations that the server accepts, each with the field that was drawn.
#[derive(Default)]
struct Drawn {
    operations: Vec<Operation>,
    fields: Vec<Option<usize>>,
}

/// A survey that goes on.
pub(crate) struct Surveyor {
    bench: Bench,
    /// The server when the object has just been created.
    ready: Server,
    drawer: Drawer,
    fields: Vec<Field>,
    /// How often each field was changed.
    changes: Vec<u64>,
    found: Gathered,
}

pub(super) fn conduct(operations: Operations) -> Result<Survey, Box<Misbehaviour>> {
    let began = Instant::now();
    let Operations { simulation, object, examples, wish } = operations;
    let needs_effect = wish.needs_effect;
    match Surveyor::begin(simulation, object, examples, wish) {
        Ok(surveyor) => surveyor.conduct(began).end(needs_effect, began),
        Err(failure) => Err(Box::new(alone(*failure))),
    }
}

/// The run without operations is wrong.
fn alone(failure: Failure) -> Misbehaviour {
    let mut text: Vec<String> = failure.inadmissible.into_iter().collect();
    text.extend(
        failure
            .violations
            .iter()
            .flat_map(|it| it.to_string().lines().map(str::to_owned).collect::<Vec<_>>()),
    );
    let objects = failure.violations.into_iter().flat_map(|it| it.objects).collect();
    let (found, picture) = (Finding::of(Promise::Alone, Vec::new(), text), failure.picture);
    let finding = Finding { objects, picture, ..found };
    Misbehaviour { findings: vec![finding], survey: Survey::default() }
}

impl Surveyor {
    fn begin(
        mut simulation: Simulation,
        object: Value,
        examples: Vec<Value>,
        wish: Wish,
    ) -> Result<Self, Box<Failure>> {
        simulation.prepare();
        let Simulation { mut setup, wish: faults, .. } = simulation;
        let before = setup.script.clone();
        let (ready, schema) = ready(&setup, &before, &object).unwrap_or_else(|why| panic!("{why}"));
        setup.script.push(Step::Create(object.clone()));
        let Campaign { setup, reference, .. } = Campaign::begin(setup, faults)?;
        let quiet = setup.rules.requests_per_minute.max(3 * reference.per_minute);
        Ok(Self::of(setup, before, (ready, schema), examples, (quiet, wish)))
    }

    /// A survey of a controller that is fine without operations. The first of the examples is the object.
    pub(crate) fn of(
        setup: Setup,
        before: Vec<Step>,
        (ready, schema): (Server, Value),
        examples: Vec<Value>,
        (quiet, wish): (u32, Wish),
    ) -> Self {
        let object = examples[0].clone();
        let mut other = object.clone();
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        other["metadata"]["name"] = format!("{name}-other").into();
        let (fresh, learned, unsure) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let (random, runs) = (Random::new(wish.seed), 2);
        let bench =
            Bench { setup, before, object, other, quiet, fresh, learned, unsure, runs, wish };
        let fields = schema::fields(&schema);
        let changes = vec![0; fields.len()];
        let drawer = Drawer { random, schema, examples, is_guess: false };
        Self { bench, ready, drawer, fields, changes, found: Gathered::default() }
    }

    /// Tries what is wished for, and gathers what comes of it.
    pub(crate) fn conduct(mut self, began: Instant) -> Gathered {
        match self.bench.wish.replay.take() {
            Some(sequence) => self.replay(sequence.0),
            None => self.explore(began),
        }
        self.gathered()
    }

    /// Draws sequences and tries them.
    fn explore(&mut self, began: Instant) {
        if self.bench.wish.hard {
            let (bench, schema) = (&mut self.bench, &self.drawer.schema);
            let (count, found) = hard::try_all(bench, &self.ready, schema);
            self.found.survey.hard = count;
            self.found.findings.extend(found);
        }
        let all = self.bench.wish.sequences.unwrap_or_else(|| usual(&self.drawer.schema));
        let mut told = began;
        for number in 0..all {
            self.found.is_stopped |= self.bench.is_over();
            if self.found.is_stopped
                || self.found.findings.len() >= FINDINGS
                || self.fields.is_empty()
            {
                break;
            }
            let drawn = self.draw();
            if !drawn.operations.is_empty() {
                self.attempt(&drawn);
            }
            if told.elapsed() > SILENT {
                told = Instant::now();
                let (count, found) = (self.found.survey.operations, self.found.findings.len());
                let number = number + 1;
                eprintln!("{number} of {all} sequences, {count} operations, {found} findings");
            }
        }
    }

    /// Runs these operations. What the server refuses of them would make it another sequence.
    fn replay(&mut self, operations: Vec<Operation>) {
        let accepted = self.bench.accepted(&operations);
        if accepted.len() < operations.len() {
            let text = vec!["the server refuses an operation that is to be replayed".to_owned()];
            self.found.findings.push(Finding::of(Promise::Alone, operations, text));
            return;
        }
        let fields = vec![None; operations.len()];
        self.attempt(&Drawn { operations, fields });
    }

    /// A sequence of changes, and at the end the way back.
    fn draw(&mut self) -> Drawn {
        let (mut server, mut drawn) = (self.ready.clone(), Drawn::default());
        let first = self.bench.object.clone();
        let mut wanted = first.clone();
        let (length, mut vain) = (1 + self.drawer.random.below(LONGEST) as usize, 0);
        while drawn.operations.len() < length && vain < VAIN {
            let index = self.field();
            let field = self.fields[index].clone();
            let operation = self.drawer.operation(&field, &wanted);
            let Some(operation) = operation.filter(|it| it.after(&wanted) != wanted) else {
                vain += 1;
                continue;
            };
            let is_misuse = operation.intent == Intent::Misuse;
            let before = wanted.clone();
            if !self.add(&mut server, &mut drawn, &mut wanted, (operation, Some(index))) {
                vain += 1;
            } else if is_misuse && self.drawer.index(2) == 0 {
                let back = change(&wanted, &before);
                self.add(&mut server, &mut drawn, &mut wanted, (back, None));
            }
        }
        if wanted != first {
            let back = change(&wanted, &first);
            self.add(&mut server, &mut drawn, &mut wanted, (back, None));
        }
        drawn
    }

    /// Adds an operation, if the server accepts it.
    fn add(
        &mut self,
        server: &mut Server,
        drawn: &mut Drawn,
        wanted: &mut Value,
        (operation, field): (Operation, Option<usize>),
    ) -> bool {
        let is_accepted = handle(server, &self.bench.patch(&operation)).is_ok();
        if is_accepted {
            *wanted = operation.after(wanted);
            drawn.operations.push(operation);
            drawn.fields.push(field);
            field.into_iter().for_each(|it| self.changes[it] += 1);
        } else {
            self.found.survey.refused += 1;
        }
        is_accepted
    }

    /// The next field: mostly one that was changed less often than others.
    fn field(&mut self) -> usize {
        if self.drawer.index(4) == 0 {
            return self.drawer.index(self.fields.len());
        }
        let least = self.changes.iter().min().copied().unwrap_or_default();
        let rare: Vec<usize> =
            (0..self.fields.len()).filter(|it| self.changes[*it] == least).collect();
        rare[self.drawer.index(rare.len())]
    }

    /// Runs a sequence, and makes what is wrong as small as can be.
    fn attempt(&mut self, drawn: &Drawn) {
        let operations = &drawn.operations;
        let walk = self.bench.walk(operations);
        if self.bench.is_stopped() {
            self.found.is_stopped = true;
            return;
        }
        let survey = &mut self.found.survey;
        survey.sequences += 1;
        survey.operations += operations.len() as u64;
        let misuses = operations.iter().filter(|it| it.intent == Intent::Misuse);
        survey.misused += misuses.count() as u64;
        // As a webhook of the run does, which nobody has asked before.
        survey.refused += u64::from(walk.run.refused_step.is_some());
        survey.unjudged += u64::from(walk.run.refused_step.is_some());
        self.note_effects(drawn, &walk);
        let mut from = 1;
        while let Some(suspicion) = self.bench.judge(operations, &walk, from) {
            let done = &operations[..suspicion.after];
            if self.found.is_known(done, suspicion.promise) {
                return;
            }
            if let Some(finding) = shrink::smallest(&mut self.bench, done, suspicion.promise) {
                if !self.found.is_known(&finding.operations, finding.promise) {
                    self.found.findings.push(finding);
                }
                return;
            }
            from = suspicion.after + 1;
        }
        self.found.is_stopped |= self.bench.is_stopped();
    }

    fn note_effects(&mut self, drawn: &Drawn, walk: &Walk) {
        if walk.run.refused_step.is_some() || walk.run.restless.is_some() {
            return;
        }
        let wanted = self.bench.wanted(&drawn.operations);
        for (index, operation) in drawn.operations.iter().enumerate() {
            let is_sound = |count: usize| !Bench::is_misused(&drawn.operations[..count], &wanted);
            let Some(field) = drawn.fields[index] else { continue };
            if is_same(&wanted[index], &wanted[index + 1]) {
                continue; // the same quantity in another unit rightly has no effect
            }
            if is_sound(index) && is_sound(index + 1) {
                let name = self.fields[field].name();
                let has_effect = self.bench.has_effect(walk, index);
                let entry = self.found.effects.entry(name).or_insert((0, 0, operation.clone()));
                entry.0 += 1;
                entry.1 += u64::from(has_effect);
            }
        }
    }

    /// What was gathered so far.
    fn gathered(self) -> Gathered {
        let (bench, mut found) = (&self.bench, self.found);
        (found.survey.runs, found.survey.treated) = (bench.runs, bench.setup.treated());
        found.changes = self.fields.iter().map(Field::name).zip(self.changes).collect();
        found
    }
}

/// How many sequences are drawn of a schema if nothing else is asked for.
pub(crate) fn usual(schema: &Value) -> u64 {
    (2 * schema::fields(schema).len() as u64).clamp(20, 200)
}

/// The server when the object has just been created, and the schema of the object.
pub(crate) fn ready(
    setup: &Setup,
    before: &[Step],
    object: &Value,
) -> Result<(Server, Value), String> {
    let mut ready = setup.server.clone();
    for step in before {
        drop(handle(&mut ready, step)); // the run without operations tells of a refusal
    }
    let schema = schema::of(&ready, object)?;
    drop(handle(&mut ready, &Step::Create(object.clone())));
    Ok((ready, schema))
}

/// The change from one object to another.
fn change(from: &Value, to: &Value) -> Operation {
    Operation { intent: Intent::Change, patch: between(from, to) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::apiserver::Options;

    #[test]
    fn a_webhook_to_which_nobody_listens_refuses_no_operation() {
        let mut server = Server::new(&Options::default());
        let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]});
        let hook = json!({"name": "a.example.com", "rules": [rule], "failurePolicy": "Fail", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "clientConfig": {"url": "https://a.example.com/"}});
        let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "a"}, "webhooks": [hook]});
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        for object in [configuration, map] {
            assert_eq!(handle(&mut server, &Step::Create(object)), Ok(()));
        }
        assert!(server.has_webhooks());
    }
}
