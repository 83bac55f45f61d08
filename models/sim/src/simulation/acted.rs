//! What a status says about its specification. If the user changes a specification, the status says that the
//! new one is observed, and nothing else has changed, then a fresh object of the same specification shows
//! whether there was something to do.
//!
//! Only what is at rest is compared: a status may be ahead of what there is, as caches are late. And only a
//! controller that says the same of a fresh object has said something wrong: one that cannot change what
//! there is has other conditions. What is there beyond that proves nothing: one that is paused keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use super::judge::failing;
use super::normal::{Normal, normalise};
use super::plan::Plan;
use super::run::{Run, Setup};
use super::script::{Name, Step};
use super::state::{State, difference};
use crate::patch;

/// The seed of a run that shows what depends on chance.
const OTHERWISE: u64 = 4 << 40;

/// A resource and a key.
type Place = (String, String);

/// The lines of a violation, and the objects that it is about.
pub(crate) type Unheeded = (Vec<String>, Vec<String>);

impl Setup {
    /// The specifications that the status says are observed, and that nothing has followed from.
    pub(crate) fn unheeded(&mut self, reference: &Run) -> Option<Unheeded> {
        if !reference.state.objects().any(|(_, _, object)| is_observed(object)) {
            return None;
        }
        let script = std::mem::take(&mut self.script);
        let found = (0..script.len()).find_map(|index| self.unheeded_step(&script, index));
        self.script = script;
        found
    }

    /// The same for one step: it changes the specification of an object that the user has made.
    fn unheeded_step(&mut self, script: &[Step], index: usize) -> Option<Unheeded> {
        let Step::Patch { subresource: "", .. } = &script[index] else { return None };
        let place = self.place(&script[index])?;
        let fresh = self.collapsed(&script[..=index], &place)?;
        let before = self.rest(&script[..index])?;
        let after = self.rest(&script[..=index])?;
        let [old, new] = [&before, &after].map(|it| it.state.get(&place.0, &place.1));
        let (old, new) = (old?, new?);
        let generation = |it: &Value| it["metadata"]["generation"].clone();
        let is_same = old["metadata"]["uid"] == new["metadata"]["uid"];
        if !is_same || generation(old) == generation(new) || !is_observed(old) || !is_observed(new)
        {
            return None;
        }
        let [old, new] = [&before, &after].map(|it| self.apart(it, &place));
        if old?.1 != new.as_ref()?.1 {
            return None; // it has done something
        }
        let (status, others) = new?;
        let run = self.rest(&fresh)?;
        let (other_status, all) = self.apart(&run, &place)?;
        let owned: BTreeSet<_> =
            [&run, &after].into_iter().flat_map(|it| owned(&it.state, &place)).collect();
        if other_status != status || !self.is_sure(&run, &place, &all) {
            return None;
        }
        let own = |mut it: Normal| {
            it.retain(|key, _| owned.contains(key));
            it
        };
        let all = own(all);
        let mut others = own(others);
        others.retain(|key, _| all.contains_key(key));
        others.iter_mut().for_each(|(key, it)| drop_more(it, &all[key]));
        let (lines, mut objects) = difference(&others, &all);
        objects.push(format!("{} {}", place.0, place.1));
        let generation = generation(after.state.get(&place.0, &place.1)?);
        let text = format!(
            "after `{}` the status says that generation {generation} is observed, and nothing else has changed (-); of a fresh object it says the same (+)",
            script[index]
        );
        (!lines.is_empty()).then(|| (std::iter::once(text).chain(lines).collect(), objects))
    }

    /// A run of these steps, if it comes to rest and nothing fails.
    fn rest(&mut self, script: &[Step]) -> Option<Run> {
        self.script = script.to_vec();
        let run = self.run(&Plan::default());
        let is_healthy = run.restless.is_none()
            && run.panics.is_empty()
            && run.refused_step.is_none()
            && failing(&run).is_empty();
        is_healthy.then_some(run)
    }

    /// Whether another seed leads to the same end. The steps are those of the last run.
    fn is_sure(&self, run: &Run, place: &Place, all: &Normal) -> bool {
        let other = self.run_otherwise(OTHERWISE, Duration::ZERO);
        let is_drawn = |it: &Run| it.end.keys().any(|(_, key)| key.contains('#'));
        let same = self.apart(&other, place).is_some_and(|it| it.1 == *all);
        same && !is_drawn(run)
    }

    /// The status of an object, and all other objects, as they are compared.
    fn apart(&self, run: &Run, place: &Place) -> Option<(Value, Normal)> {
        let mut all = normalise(&run.state, &[], &self.view(run));
        let mut object = all.remove(place)?;
        Some((object["status"].take(), all))
    }

    /// The object of a step.
    fn place(&self, step: &Step) -> Option<Place> {
        let name = match step {
            Step::Create(object) => {
                let metadata = &object["metadata"];
                let namespace = metadata["namespace"].as_str().unwrap_or("default");
                let name = format!("{namespace}/{}", metadata["name"].as_str()?);
                Name { kind: object["kind"].as_str()?.to_owned(), name }
            }
            Step::Patch { object, .. } | Step::Delete(object) => object.clone(),
            #[cfg(feature = "drive")]
            Step::Act(_) => return None,
        };
        let request = Step::Delete(name).request(&self.server).ok()?;
        let (resource, key) = self.server.subject(&request.path)?;
        Some((resource, key?))
    }

    /// The steps in which an object is created as the patches make it; none if the user does not create it, or
    /// changes what the test leaves out: that may be for the first time only.
    fn collapsed(&self, script: &[Step], place: &Place) -> Option<Vec<Step>> {
        let (mut steps, mut created): (Vec<Step>, Option<usize>) = (Vec::new(), None);
        for step in script {
            let is_own = self.place(step).as_ref() == Some(place);
            match (step, created.and_then(|it| steps.get_mut(it))) {
                (Step::Create(_), _) if is_own => created = Some(steps.len()),
                (Step::Delete(_), _) if is_own => return None,
                (Step::Patch { patch, subresource: "", .. }, Some(Step::Create(object)))
                    if is_own =>
                {
                    if self.is_left_out(&place.0, object, patch) {
                        return None;
                    }
                    *object = patch::merge(object, patch.to_string().as_bytes()).ok()?;
                    continue;
                }
                _ => {}
            }
            steps.push(step.clone());
        }
        created.map(|_| steps)
    }

    /// Whether a patch of an object has a field that is not compared.
    fn is_left_out(&self, resource: &str, object: &Value, patch: &Value) -> bool {
        let mut patch = patch.clone();
        if let Some(fields) = patch.as_object_mut() {
            fields.insert("kind".to_owned(), object["kind"].clone());
        }
        let whole = patch.clone();
        self.rules.leave_out(resource, &mut patch);
        patch != whole
    }

    /// What the user has deleted and nobody has made again, although the status of its owner says that its
    /// specification is observed.
    pub(crate) fn unhealed(&self, reference: &Run) -> Vec<String> {
        let gone = self.script.iter().filter(|it| matches!(it, Step::Delete(_)));
        let gone: BTreeSet<Place> = gone.filter_map(|it| self.place(it)).collect();
        let last: BTreeMap<Place, &Value> = reference
            .changes
            .iter()
            .filter_map(|it| {
                Some(((it.resource.to_string(), it.key.to_string()), &**it.old.as_ref()?))
            })
            .filter(|it| gone.contains(&it.0))
            .collect();
        let is_left = |((resource, key), object): (&Place, &&Value)| {
            let owner =
                reference.state.objects().find(|it| owns(it.2, object) && is_observed(it.2))?;
            let is_gone = reference.state.get(resource, key).is_none();
            is_gone.then(|| {
                format!(
                    "the user deletes {resource} {key}, and nobody makes it again; {} {} says that its specification is observed",
                    owner.0, owner.1
                )
            })
        };
        last.iter().filter_map(is_left).collect()
    }
}

/// Takes out of a value what another one has not at all. One that is paused may keep what there is.
fn drop_more(value: &mut Value, other: &Value) {
    match (value, other) {
        (Value::Object(fields), Value::Object(others)) => {
            fields.retain(|name, _| others.contains_key(name));
            fields.iter_mut().for_each(|(name, it)| drop_more(it, &others[name]));
        }
        // An item has no name, so one that was changed shows the lists as they are.
        (Value::Array(items), Value::Array(others))
            if items.iter().filter(|it| others.contains(it)).eq(others) =>
        {
            items.clone_from(others);
        }
        _ => {}
    }
}

/// Whether a status says that its specification is observed.
fn is_observed(object: &Value) -> bool {
    let generation = &object["metadata"]["generation"];
    !generation.is_null() && object["status"]["observedGeneration"] == *generation
}

fn owns(owner: &Value, object: &Value) -> bool {
    let uid = &owner["metadata"]["uid"];
    let mut owners = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    uid.is_string() && owners.any(|it| it["uid"] == *uid)
}

/// What an object owns, and what that owns.
fn owned(state: &State, place: &Place) -> BTreeSet<Place> {
    let mut found = BTreeSet::new();
    let mut open: Vec<_> = state.get(&place.0, &place.1).into_iter().collect();
    while let Some(owner) = open.pop() {
        for (resource, key, object) in state.objects().filter(|it| owns(owner, it.2)) {
            if found.insert((resource.to_string(), key.to_string())) {
                open.push(object);
            }
        }
    }
    found
}
