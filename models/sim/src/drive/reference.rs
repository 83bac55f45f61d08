//! The run without faults, made three times: what differs between the three is not compared.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::run::{Ran, Setting};
use crate::apiserver::{Options, Server};
use crate::simulation::Plan;
use crate::simulation::act::apply;
use crate::simulation::learn::leaves;
use crate::simulation::normal::{Normal, normalise};
use crate::simulation::run::Run;
use crate::simulation::script::refusal;

/// A resource and a key.
type Key = (String, String);

/// What does not come out the same without any fault.
#[derive(Clone, Debug, Default)]
pub(super) struct Unstable {
    /// Objects that are not always there.
    pub(super) objects: BTreeSet<Key>,
    /// Fields that do not always have the same value.
    pub(super) fields: BTreeSet<(Key, String)>,
}

impl Unstable {
    /// What differs between ends.
    pub(super) fn between(ends: [&Normal; 3]) -> Self {
        let mut found = Self::default();
        let keys: BTreeSet<&Key> = ends.iter().flat_map(|it| it.keys()).collect();
        for key in keys {
            let [Some(one), Some(two), Some(three)] = ends.map(|it| it.get(key)) else {
                found.objects.insert(key.clone());
                continue;
            };
            for other in [two, three] {
                let fields = [one, other].map(|it| leaves(it));
                let pointers = fields.iter().flatten().map(|it| &it.0);
                let differ = pointers.filter(|it| one.pointer(it) != other.pointer(it));
                let pointers: Vec<String> = differ.map(|it| shared(one, other, it)).collect();
                found.fields.extend(pointers.into_iter().map(|it| (key.clone(), it)));
            }
        }
        found
    }

    /// Takes out of an end what is not compared.
    pub(super) fn leave_out(&self, end: &mut Normal) {
        end.retain(|key, _| !self.objects.contains(key));
        for (key, pointer) in &self.fields {
            if let Some(object) = end.get_mut(key) {
                remove(object, pointer);
            }
        }
    }

    /// What a report says about it.
    pub(super) fn told(&self) -> Vec<String> {
        let name = |key: &Key| format!("{} {}", key.0, key.1);
        let objects = self.objects.iter().map(name);
        let fields = self.fields.iter().map(|(key, at)| format!("{} {at}", name(key)));
        let all: Vec<_> = objects.chain(fields).collect();
        if all.is_empty() {
            return Vec::new();
        }
        vec![format!("differs between three runs without faults, not compared: {}", all.join(", "))]
    }
}

/// The place above which two objects are of one form: a list of another length, and what only one of them
/// has, differ as a whole.
fn shared(one: &Value, other: &Value, pointer: &str) -> String {
    let is_alike = |at: &str| match (one.pointer(at), other.pointer(at)) {
        (Some(Value::Array(one)), Some(Value::Array(other))) => one.len() == other.len(),
        (Some(one), Some(other)) => one.is_object() && other.is_object(),
        _ => false,
    };
    let ends = pointer.match_indices('/').map(|it| it.0).chain([pointer.len()]);
    let mut places = ends.map(|end| &pointer[..end]).filter(|it| !it.is_empty());
    places.find(|it| !is_alike(it)).unwrap_or(pointer).to_owned()
}

fn remove(object: &mut Value, pointer: &str) {
    let Some((parent, last)) = pointer.rsplit_once('/') else { return };
    let last = last.replace("~1", "/").replace("~0", "~");
    match object.pointer_mut(parent) {
        Some(Value::Object(fields)) => drop(fields.remove(&last)),
        // An item that was removed would move the ones behind it.
        Some(Value::Array(items)) => {
            let item = last.parse().ok().and_then(|it: usize| items.get_mut(it));
            item.into_iter().for_each(|it| *it = Value::Null);
        }
        _ => {}
    }
}

impl Setting {
    /// The server as it is before the processes begin.
    pub(super) fn server(&self, seed: u64) -> Result<Server, String> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let begins_at = now.unwrap_or_default();
        let mut server = Server::new(&Options { seed, begins_at, ..Options::default() });
        for object in &self.given {
            let request = apply(object, &server)?;
            // Nobody listens yet who could be asked.
            if let Some(why) = refusal(&server.handle_exempt(begins_at, &request)) {
                return Err(format!("{}: {why}", request.path));
            }
        }
        if let Some(granted) = &self.granted {
            server.note_access(granted.policy.clone());
        }
        Ok(server)
    }

    /// The end of a run, as it is compared.
    pub(super) fn end(&self, run: &Run) -> Normal {
        normalise(&run.state, &run.changes, &run.view(&self.rules, &self.learned))
    }

    /// Three runs without faults, each with a seed of its own.
    fn three(&self, folder: &Path, name: &str) -> io::Result<[Ran; 3]> {
        std::thread::scope(|scope| {
            let begun = [0, 1, 2].map(|seed: u64| {
                let at = folder.join(format!("{name}-{}", seed + 1));
                scope.spawn(move || self.run(&Plan::default(), seed, at))
            });
            let [one, two, three] =
                begun.map(|it| it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            Ok([one?, two?, three?])
        })
    }

    /// Runs without faults, and learns what is not compared.
    pub(super) fn reference(&mut self, folder: &Path) -> io::Result<([Ran; 3], Unstable)> {
        let mut runs = self.three(folder, "reference")?;
        for round in 0..=self.acts.len() {
            let (learned, span) = (Arc::make_mut(&mut self.learned), self.limit / 2);
            let beats =
                |it: &Ran| it.run.restless.is_some() && learned.clone().learn_beats(&it.run, span);
            let Some(beating) = runs.iter().find(|it| beats(it)) else { break };
            learned.learn_beats(&beating.run, span);
            runs = self.three(folder, &format!("reference-{}", round + 2))?;
        }
        if runs.iter().all(|it| it.run.restless.is_none()) {
            let learned = Arc::make_mut(&mut self.learned);
            learned.learn_names([&runs[0].run, &runs[1].run, &runs[2].run]);
            for ran in &mut runs {
                ran.run.end = self.end(&ran.run);
            }
            let learned = Arc::make_mut(&mut self.learned);
            let [one, two, three] = [&runs[0].run, &runs[1].run, &runs[2].run];
            learned.learn_values([one, two, three], three);
            for ran in &mut runs {
                ran.run.end = self.end(&ran.run);
            }
        }
        let unstable = Unstable::between([&runs[0].run.end, &runs[1].run.end, &runs[2].run.end]);
        for ran in &mut runs {
            unstable.leave_out(&mut ran.run.end);
        }
        self.watched = runs[0].watched.clone();
        for (resource, count) in &mut self.watched {
            let least = runs.iter().map(|it| it.watched.get(resource).copied().unwrap_or(0)).min();
            *count = least.unwrap_or(0);
        }
        self.watched.retain(|_, count| *count > 0);
        Ok((runs, unstable))
    }
}
