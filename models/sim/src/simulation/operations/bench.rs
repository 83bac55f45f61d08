//! Runs the controller through operations, and judges what it makes of them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Wish;
use super::ends::{self, End, RECENT};
use super::operation::{Intent, Operation};
use super::report::{Promise, Suspicion};
use super::scalar::same_units;
use crate::apiserver::{Server, User};
use crate::simulation::judge::failing;
use crate::simulation::normal::{Normal, normalise};
use crate::simulation::plan::Plan;
use crate::simulation::run::{Run, Setup};
use crate::simulation::script::{Name, Step, refusal};
use crate::simulation::state::{State, difference};
use crate::simulation::trace::Asked;

/// How many runs with a fresh object are kept.
const KEPT: usize = 256;
/// How many times more requests are fine while an object makes no sense.
const PATIENCE: u32 = 4;
/// The seed of the runs that show what is drawn anew.
const OTHERWISE: u64 = 3 << 40;

/// A controller, and the object that is changed.
pub(super) struct Bench {
    pub(super) setup: Setup,
    /// The user's steps before the object is created.
    pub(super) before: Vec<Step>,
    pub(super) object: Value,
    /// Another object of the kind, which is created while the first one makes no sense.
    pub(super) other: Value,
    /// Requests in a minute of rest that are fine.
    pub(super) quiet: u32,
    /// Ends of runs with a fresh object, by the object and whether the other one is there.
    pub(super) fresh: BTreeMap<(String, bool), Rc<Run>>,
    /// The fresh objects of which it was learned what differs from run to run.
    pub(super) learned: BTreeSet<(String, bool)>,
    /// Those of them that end in another way by chance alone: such an object proves nothing.
    pub(super) unsure: BTreeSet<(String, bool)>,
    pub(super) runs: u64,
    pub(super) wish: Wish,
}

/// A broken promise, how it is broken, and the objects that it is about.
pub(super) type Found = (Promise, Vec<String>, Vec<String>);

/// The ends after operations, and what they are compared with.
pub(super) struct Walk {
    pub(super) run: Run,
    /// The rest after each operation; the first one is before any.
    pub(super) ends: Vec<End>,
}

impl Bench {
    /// Runs are ended before their end, which proves nothing.
    pub(super) fn is_stopped(&self) -> bool {
        self.wish.stop.load(Ordering::Relaxed)
    }

    /// No more runs are to begin.
    pub(super) fn is_over(&self) -> bool {
        self.is_stopped() || self.wish.until.is_some_and(|it| Instant::now() >= it)
    }

    /// The object after each operation; the first one is before any.
    pub(super) fn wanted(&self, operations: &[Operation]) -> Vec<Value> {
        let mut all = vec![self.object.clone()];
        for operation in operations {
            let next = operation.after(&all[all.len() - 1]);
            all.push(next);
        }
        all
    }

    /// Whether the object may make no sense after these operations: a misuse was not undone. A patch holds
    /// whole lists, so only an object that made sense before shows that nothing is left of the misuse.
    /// Wanted are the objects after each operation, the first one before any.
    pub(super) fn is_misused(operations: &[Operation], wanted: &[Value]) -> bool {
        let mut sound: Vec<&Value> = wanted.first().into_iter().collect();
        let mut is_misused = false;
        for (operation, next) in operations.iter().zip(wanted.iter().skip(1)) {
            is_misused |= operation.intent == Intent::Misuse;
            if sound.contains(&next) {
                is_misused = false;
            } else if !is_misused {
                sound.push(next);
            }
        }
        is_misused
    }

    /// The operations that the server accepts, in their order, while no controller interferes.
    pub(super) fn accepted(&self, operations: &[Operation]) -> Vec<Operation> {
        let mut server = self.setup.server.clone();
        let steps = self.before.iter().cloned().chain([Step::Create(self.object.clone())]);
        for step in steps {
            drop(handle(&mut server, &step));
        }
        let is_accepted = |it: &&Operation| handle(&mut server, &self.patch(it)).is_ok();
        operations.iter().filter(is_accepted).cloned().collect()
    }

    pub(super) fn patch(&self, operation: &Operation) -> Step {
        let (object, patch) = (self.name(), operation.patch.clone());
        Step::Patch { object, patch, subresource: "" }
    }

    /// The object, as a step names it.
    pub(super) fn name(&self) -> Name {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &self.object["metadata"];
        let namespace = metadata["namespace"].as_str().unwrap_or("default");
        let name = format!("{namespace}/{}", text(&metadata["name"]));
        Name { kind: text(&self.object["kind"]), name }
    }

    /// The object's resource and key.
    pub(super) fn place(&self) -> (String, String) {
        let mut server = self.setup.server.clone();
        for step in &self.before {
            drop(handle(&mut server, step));
        }
        let step = Step::Delete(self.name());
        let subject = step.request(&server).ok().and_then(|it| server.subject(&it.path));
        subject.map(|(resource, key)| (resource, key.unwrap_or_default())).unwrap_or_default()
    }

    /// The user's steps, and the number of steps that are done after each operation.
    fn script(&self, operations: &[Operation]) -> (Vec<Step>, Vec<usize>) {
        let mut steps = self.before.clone();
        steps.push(Step::Create(self.object.clone()));
        let mut places = vec![steps.len()];
        let mut is_alone = true;
        for operation in operations {
            steps.push(self.patch(operation));
            if is_alone && operation.intent == Intent::Misuse {
                is_alone = false;
                steps.push(Step::Create(self.other.clone()));
            }
            places.push(steps.len());
        }
        (steps, places)
    }

    pub(super) fn run(&mut self, script: Vec<Step>) -> Run {
        self.run_under(script, &Plan::default())
    }

    pub(super) fn run_under(&mut self, script: Vec<Step>, plan: &Plan) -> Run {
        self.runs += 1;
        self.setup.script = script;
        self.setup.run(plan)
    }

    /// The run with an object that is as wanted from the start.
    pub(super) fn fresh(&mut self, object: &Value, with_other: bool) -> Rc<Run> {
        let key = (object.to_string(), with_other);
        if let Some(run) = self.fresh.get(&key) {
            return run.clone();
        }
        if self.fresh.len() >= KEPT {
            self.fresh.clear();
        }
        let script = self.fresh_script(object, with_other);
        let run = Rc::new(self.run(script));
        self.fresh.insert(key, run.clone());
        run
    }

    pub(super) fn fresh_script(&self, object: &Value, with_other: bool) -> Vec<Step> {
        let mut script = self.before.clone();
        script.push(Step::Create(object.clone()));
        script.extend(with_other.then(|| Step::Create(self.other.clone())));
        script
    }

    /// A state as it is compared. That a drawn value has changed is no difference here: an operation may
    /// be the reason.
    pub(super) fn normal(&self, state: &State, run: &Run) -> Normal {
        let mut normal = normalise(state, &[], &self.setup.view(run));
        self.setup.elsewhere.iter().for_each(|it| it.leave_out(&mut normal));
        normal.values_mut().for_each(same_units);
        normal
    }

    /// Runs the controller through operations.
    pub(super) fn walk(&mut self, operations: &[Operation]) -> Walk {
        let (script, places) = self.script(operations);
        let run = self.run(script);
        let all: fn(&Asked) -> bool = |_| true;
        let (start, is_counted) = match &self.setup.elsewhere {
            // In a rest that is shorter, a few requests look like many.
            Some(it) if it.rest() < RECENT => (ends::start(&run), None),
            Some(_) => (ends::start(&run), Some(Asked::is_work as _)),
            None => (State::of(&self.setup.server), Some(all)),
        };
        let ends = ends::after(&start, &run, &places, is_counted);
        Walk { run, ends }
    }

    /// What is wrong after this number of the operations or more, the earliest first.
    pub(super) fn judge(
        &mut self,
        operations: &[Operation],
        walk: &Walk,
        from: usize,
    ) -> Option<Suspicion> {
        let last = operations.len();
        if from > last {
            return None;
        }
        let is_misuse = operations.iter().any(|it| it.intent == Intent::Misuse);
        if let Some((promise, text)) = self.whole(&walk.run, is_misuse) {
            return Some(Suspicion { promise, text, objects: Vec::new(), after: last });
        }
        if walk.run.refused_step.is_some() {
            // What the controller has made of it is no longer what was drawn. How often it asks is seen.
            let found =
                (from..=last).find_map(|it| Some((it, self.hot_loop(walk, it, is_misuse)?)));
            let (after, (promise, text, objects)) = found?;
            return Some(Suspicion { promise, text, objects, after });
        }
        let wanted = self.wanted(operations);
        for after in from..=last {
            let done = &operations[..after];
            let is_misused = Self::is_misused(done, &wanted);
            let found = self.hot_loop(walk, after, is_misused).or_else(|| match is_misused {
                true => self.bystander(walk, after),
                false => self.same_as_fresh(done, &wanted[after], walk),
            });
            if let Some((promise, text, objects)) = found {
                return Some(Suspicion { promise, text, objects, after });
            }
        }
        None
    }

    /// Whether it asks again and again while nothing happens.
    pub(super) fn hot_loop(&self, walk: &Walk, after: usize, is_misused: bool) -> Option<Found> {
        let most = self.quiet.saturating_mul(if is_misused { PATIENCE } else { 1 });
        let rate = walk.ends[after].per_minute;
        let text = format!("{rate} requests a minute, and at most {most} are fine");
        (rate > most).then(|| (Promise::Rests, vec![text], Vec::new()))
    }

    /// What shows without a comparison.
    pub(super) fn whole(&self, run: &Run, is_misuse: bool) -> Option<(Promise, Vec<String>)> {
        let rules = &self.setup.rules;
        if !run.panics.is_empty() && !rules.may_panic {
            return Some((Promise::NoPanic, run.panics.clone()));
        }
        if let Some(why) = &run.restless {
            return Some((Promise::Rests, vec![format!("the controller {why}")]));
        }
        let broken = run.broken_rule.as_ref().filter(|_| !is_misuse)?;
        Some((Promise::Own, vec![broken.clone()]))
    }

    /// Whether the end is that of a fresh object, and a reordered set is as it was.
    fn same_as_fresh(&mut self, done: &[Operation], wanted: &Value, walk: &Walk) -> Option<Found> {
        let with_other = done.iter().any(|it| it.intent == Intent::Misuse);
        self.apart(done, wanted, walk, with_other)?;
        // Where it differs, it is learned what no two runs have in common.
        self.learn(wanted, with_other);
        let (text, objects) = self.apart(done, wanted, walk, with_other)?;
        let promise = if *wanted == self.object { Promise::Rollback } else { Promise::Path };
        Some((promise, text, objects))
    }

    fn apart(
        &mut self,
        done: &[Operation],
        wanted: &Value,
        walk: &Walk,
        with_other: bool,
    ) -> Option<(Vec<String>, Vec<String>)> {
        let fresh = self.fresh(wanted, with_other);
        if !is_healthy(&fresh) || self.is_unsure(wanted, with_other) {
            return None;
        }
        let mut expected = self.normal(&fresh.state, &fresh);
        let mut found = self.normal(&walk.ends[done.len()].state, &walk.run);
        // The order of a set says nothing, wherever it is copied to.
        if done.iter().any(|it| it.intent == Intent::Reorder) {
            expected.values_mut().chain(found.values_mut()).for_each(sorted);
        }
        let (text, objects) = difference(&expected, &found);
        (!text.is_empty()).then_some((text, objects))
    }

    /// Learns what differs from run to run with such an object.
    pub(super) fn learn(&mut self, wanted: &Value, with_other: bool) {
        if !self.learned.insert((wanted.to_string(), with_other)) {
            return;
        }
        self.setup.script = self.fresh_script(wanted, with_other);
        let fresh = self.fresh(wanted, with_other);
        self.setup.script = self.fresh_script(wanted, with_other);
        let [mut one, mut again] = [(); 2].map(|()| self.setup.run(&Plan::default()));
        self.setup.learn_values(&mut one, &mut again);
        let otherwise = self.setup.run_otherwise(OTHERWISE, Duration::ZERO);
        self.runs += 6;
        let [one, other] = [&*fresh, &otherwise].map(|it| self.normal(&it.state, it));
        if one != other {
            self.unsure.insert((wanted.to_string(), with_other));
        }
    }

    /// Whether chance alone makes another end of such an object, as far as that was learned.
    pub(super) fn is_unsure(&self, object: &Value, with_other: bool) -> bool {
        self.unsure.contains(&(object.to_string(), with_other))
    }

    /// Whether what only the other object brings about is there while the first one makes no sense.
    pub(super) fn bystander(&mut self, walk: &Walk, after: usize) -> Option<Found> {
        let object = self.object.clone();
        let (alone, both) = (self.fresh(&object, false), self.fresh(&object, true));
        let is_unsure = [false, true].iter().any(|with| self.is_unsure(&object, *with));
        if is_unsure || !is_healthy(&alone) || !is_healthy(&both) {
            return None;
        }
        let [alone, mut both] = [&alone, &both].map(|it| self.normal(&it.state, it));
        both.retain(|key, _| !alone.contains_key(key));
        let mut found = self.normal(&walk.ends[after].state, &walk.run);
        found.retain(|key, _| both.contains_key(key));
        let (text, objects) = difference(&both, &found);
        (!text.is_empty()).then_some((Promise::Others, text, objects))
    }

    /// Whether an operation has changed anything but the object's own specification and metadata.
    pub(super) fn has_effect(&self, walk: &Walk, operation: usize) -> bool {
        let [before, after] = [operation, operation + 1].map(|index| {
            let mut normal = self.normal(&walk.ends[index].state, &walk.run);
            for object in normal.values_mut().filter(|it| self.is_own(it)) {
                *object = object["status"].take();
            }
            normal
        });
        before != after
    }

    fn is_own(&self, object: &Value) -> bool {
        let own = &self.object;
        object["kind"] == own["kind"]
            && object["apiVersion"] == own["apiVersion"]
            && object["metadata"]["name"] == own["metadata"]["name"]
    }
}

/// Whether something follows from a run with a fresh object: the object made sense to the controller.
pub(super) fn is_healthy(run: &Run) -> bool {
    run.restless.is_none()
        && run.panics.is_empty()
        && run.refused_step.is_none()
        && failing(run).is_empty()
}

/// Puts all lists in one order.
fn sorted(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(sorted);
            items.sort_by_cached_key(Value::to_string);
        }
        Value::Object(fields) => fields.values_mut().for_each(sorted),
        _ => {}
    }
}

/// Lets a server carry out a step of the user. No webhook is asked: nobody listens outside of a run.
pub(super) fn handle(server: &mut Server, step: &Step) -> Result<(), String> {
    let request = step.request(server)?.by(User::admin());
    let now = server.now();
    refusal(&server.handle_exempt(now, &request)).map_or(Ok(()), Err)
}
