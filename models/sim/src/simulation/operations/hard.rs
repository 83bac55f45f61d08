//! Objects that are hard to handle, though the server accepts them. Beside each of them another object must
//! come to its end.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::bench::{Bench, Found, Walk, handle, is_healthy};
use super::ends::End;
use super::report::{Finding, Promise};
use crate::apiserver::{Server, Written};
use crate::simulation::picture::draw;
use crate::simulation::plan::{Fault, Plan};
use crate::simulation::run::Run;
use crate::simulation::script::Step;
use crate::simulation::state::difference;

/// The seconds from 2026 until one more than an unsigned number of 32 bits holds is the time.
const UNTIL_2106: Duration = Duration::from_secs((1 << 32) - 1_767_225_600);
/// The namespace of an object with the same name.
const ELSEWHERE: &str = "another";

/// What shows that an object was too hard, and the run.
type Shown = Option<(Found, Run)>;
/// The same; none if the case did not come about, so that nothing was tried.
type Tried = Option<Shown>;

/// A case by its name.
type Case = (&'static str, fn(&mut Bench) -> Tried);

/// Tries all of them. Tells how many there were, and those at which something is wrong.
pub(super) fn try_all(bench: &mut Bench, ready: &Server, schema: &Value) -> (u64, Vec<Finding>) {
    let mut shown: Vec<(&'static str, Shown)> = Vec::new();
    let first = bench.object.clone();
    [false, true].iter().for_each(|with_other| bench.learn(&first, *with_other));
    for (name, object) in beside(&bench.object, schema) {
        if handle(&mut ready.clone(), &Step::Create(object.clone())).is_ok() {
            shown.extend(twice(bench, |it| it.beside(object.clone())).map(|it| (name, it)));
        }
    }
    let others: [Case; 4] = [
        ("deleted and created anew", |it| it.anew(true)),
        ("deleted and created anew, unseen", |it| it.anew(false)),
        ("of the same name in another namespace", Bench::elsewhere),
        ("created in the year 2106", Bench::late),
    ];
    for (name, case) in others {
        shown.extend(twice(bench, case).map(|it| (name, it)));
    }
    let count = shown.len() as u64;
    let finding = |(name, shown): (&'static str, Shown)| {
        let ((promise, text, objects), run) = shown?;
        let picture = draw(&run.trace, &objects);
        let hard = Some(name);
        Some(Finding { hard, objects, picture, ..Finding::of(promise, Vec::new(), text) })
    };
    (count, shown.into_iter().filter_map(finding).collect())
}

/// What is told has been seen twice.
fn twice(bench: &mut Bench, case: impl Fn(&mut Bench) -> Tried) -> Tried {
    match case(bench)? {
        Some(_) => case(bench),
        None => Some(None),
    }
}

/// Objects that are created beside the first one.
fn beside(object: &Value, schema: &Value) -> Vec<(&'static str, Value)> {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut object = object.clone();
        object["metadata"]["name"] = "hard".into();
        change(&mut object);
        object
    };
    let many: Map<String, Value> =
        (0..1_000).map(|it| (format!("example.com/label-{it}"), "a".into())).collect();
    let long: String = "日本語 Ünïcödé \u{202e}\u{1f600}".repeat(5_000);
    vec![
        (
            "with a name of 63 characters",
            with(&|it| it["metadata"]["name"] = "a".repeat(63).into()),
        ),
        (
            "with a name of 253 characters",
            with(&|it| it["metadata"]["name"] = "a".repeat(253).into()),
        ),
        ("with dots in its name", with(&|it| it["metadata"]["name"] = "hard.example.com".into())),
        ("with 1,000 labels", with(&|it| it["metadata"]["labels"] = many.clone().into())),
        (
            "with an annotation of 200 kB in many scripts",
            with(&|it| it["metadata"]["annotations"] = json!({"example.com/text": long})),
        ),
        ("with nothing that is optional", with(&|it| bare(it, schema, true))),
    ]
}

/// Takes out of an object what its schema says is optional.
fn bare(value: &mut Value, schema: &Value, is_top: bool) {
    let Some(properties) = schema["properties"].as_object() else { return };
    let Some(fields) = value.as_object_mut() else { return };
    let required = schema["required"].as_array();
    let of_all = ["apiVersion", "kind", "metadata"];
    fields.retain(|name, _| {
        is_top && (of_all.contains(&name.as_str()) || name == "spec")
            || properties.get(name).is_some_and(|it| it["x-loose"] == true)
            || required.is_some_and(|it| it.iter().any(|it| it == name))
    });
    for (name, value) in fields.iter_mut().filter(|it| it.0 != "metadata") {
        if let Some(schema) = properties.get(name) {
            bare(value, schema, false);
        }
    }
}

impl Bench {
    /// An object is created beside the first one, and then another one as usual.
    fn beside(&mut self, hard: Value) -> Tried {
        let mut script = self.fresh_script(&self.object.clone(), false);
        script.extend([Step::Create(hard), Step::Create(self.other.clone())]);
        let run = self.run(script);
        let end = End { state: run.state.clone(), per_minute: run.per_minute };
        let walk = Walk { run, ends: vec![end] };
        let found = self
            .survives(&walk.run)
            .or_else(|| self.hot_loop(&walk, 0, true))
            .or_else(|| self.bystander(&walk, 0));
        Some(found.map(|it| (it, walk.run)))
    }

    fn survives(&self, run: &Run) -> Option<Found> {
        let (promise, text) = self.whole(run, true)?;
        Some((promise, text, Vec::new()))
    }

    /// The end of a run is another one than that of one without what makes it hard.
    fn differs(&self, easy: &Run, hard: &Run, prefix: &str) -> Option<Found> {
        if self.is_unsure(&self.object, false) {
            return None;
        }
        let [easy, hard] = [easy, hard].map(|run| {
            let mut normal = self.normal(&run.state, run);
            normal.retain(|(_, key), _| key.starts_with(prefix));
            normal
        });
        let (text, objects) = difference(&easy, &hard);
        (!text.is_empty()).then_some((Promise::Hard, text, objects))
    }

    /// The object is deleted and created anew; no watch tells of it in between, unless that is seen.
    fn anew(&mut self, is_seen: bool) -> Tried {
        let object = self.object.clone();
        let fresh = self.fresh(&object, false);
        if !is_healthy(&fresh) {
            return None;
        }
        let mut script = self.fresh_script(&object, false);
        script.extend([Step::Delete(self.name()), Step::Create(object)]);
        let mut plan = Plan::default();
        if !is_seen {
            let (resource, key) = self.place();
            let easy = self.run(script.clone());
            let is_deletion =
                |it: &Written| *it.resource == *resource && *it.key == *key && it.new.is_none();
            let change = u32::try_from(easy.changes.iter().position(is_deletion)?).ok()? + 1;
            let fault = Fault::Unobserved { resource, change };
            let names = self.setup.programs.iter().map(|it| &it.0);
            plan.faults = names.map(|it| fault.clone().of(it)).collect();
        }
        let run = self.run_under(script, &plan);
        if !run.left.is_empty() {
            return None; // it was seen after all
        }
        let found = self.survives(&run).or_else(|| self.differs(&fresh, &run, ""));
        Some(found.map(|it| (it, run)))
    }

    /// An object of the same name lies in another namespace: both come to their ends.
    fn elsewhere(&mut self) -> Tried {
        if self.object["metadata"]["namespace"].as_str() == Some(ELSEWHERE) {
            return None;
        }
        let namespace = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ELSEWHERE},
        });
        let mut twin = self.object.clone();
        twin["metadata"]["namespace"] = ELSEWHERE.into();
        let (_, key) = self.place();
        let (own, _) = key.rsplit_once('/')?;
        let before = self.before.clone();
        let script = |objects: &[&Value]| -> Vec<Step> {
            let create = objects.iter().map(|it| Step::Create((*it).clone()));
            before.iter().cloned().chain(create).collect()
        };
        let object = self.object.clone();
        let one = self.run(script(&[&namespace, &object]));
        let other = self.run(script(&[&namespace, &twin]));
        let both = self.run(script(&[&namespace, &object, &twin]));
        if !is_healthy(&one) || !is_healthy(&other) {
            return None;
        }
        let found = self
            .survives(&both)
            .or_else(|| self.differs(&one, &both, &format!("{own}/")))
            .or_else(|| self.differs(&other, &both, &format!("{ELSEWHERE}/")));
        Some(found.map(|it| (it, both)))
    }

    /// The time is more than an unsigned number of 32 bits holds.
    fn late(&mut self) -> Tried {
        let object = self.object.clone();
        let easy = self.fresh(&object, false);
        self.setup.script = self.fresh_script(&object, false);
        self.runs += 1;
        let hard = self.setup.run_otherwise(0, UNTIL_2106);
        if !is_healthy(&easy) {
            return None;
        }
        let found = self.survives(&hard).or_else(|| self.differs(&easy, &hard, ""));
        Some(found.map(|it| (it, hard)))
    }
}
