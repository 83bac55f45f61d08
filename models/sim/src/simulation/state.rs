//! The state of a cluster as the rules of a test see it, and the differences of two ends.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::normal::Normal;
use crate::apiserver::{Key, Objects, Server, Stored, Written};

/// Everything that a server holds. A copy shares its content.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// By their resources.
    tables: BTreeMap<Arc<str>, Objects>,
}

/// A resource, a key, and the object.
type Item<'a> = (&'a Arc<str>, &'a Arc<str>, &'a Arc<Value>);

impl State {
    pub(crate) fn of(server: &Server) -> Self {
        Self { tables: server.objects().collect() }
    }

    /// All objects, in order.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Item<'_>> {
        let all = self.tables.iter();
        all.flat_map(|(resource, it)| {
            it.iter().map(move |(key, it)| (resource, &key.0, &it.object))
        })
    }

    /// How many objects there are.
    pub(crate) fn len(&self) -> usize {
        self.tables.values().map(Objects::len).sum()
    }

    /// Becomes the state after a write.
    pub(crate) fn take(&mut self, written: &Written) {
        let Written { revision, resource, key, new, .. } = written;
        let (objects, key) = (self.tables.entry(resource.clone()).or_default(), Key(key.clone()));
        let stored = |object: &Arc<Value>| {
            let object = object.clone();
            Stored { revision: *revision, object, raw: None, is_odd: false }
        };
        match new.as_ref().map(stored) {
            Some(new) => objects.insert(key, new),
            None => objects.remove(&key),
        };
    }

    /// The same after a cluster's garbage collection, which may not have come yet: objects
    /// that have lost all their owners are gone, and so are the objects that they own.
    pub(crate) fn collected(mut self) -> Self {
        loop {
            let uids = self.objects().filter_map(|it| it.2["metadata"]["uid"].as_str());
            let there: BTreeSet<_> = uids.collect();
            let is_there = |it: &Value| it["uid"].as_str().is_some_and(|it| there.contains(it));
            let is_lost = |it: &Item<'_>| match it.2["metadata"]["ownerReferences"].as_array() {
                Some(owners) => !owners.is_empty() && !owners.iter().any(is_there),
                None => false,
            };
            let lost = self.objects().filter(is_lost).map(|it| (it.0.clone(), Key(it.1.clone())));
            let lost: Vec<_> = lost.collect();
            if lost.is_empty() {
                return self;
            }
            for (resource, key) in lost {
                self.tables.get_mut(&resource).and_then(|it| it.remove(&key));
            }
        }
    }

    /// The objects of a resource, such as `pods` or `deployments.apps`.
    pub fn list<'a>(&'a self, resource: &'a str) -> impl Iterator<Item = &'a Value> {
        let table = self.tables.get(resource);
        table.into_iter().flat_map(|it| it.iter().map(|(_, it)| &*it.object))
    }

    /// The object with a name; the name comes after the namespace and a slash if it lies in one.
    pub fn get(&self, resource: &str, key: &str) -> Option<&Value> {
        Some(&*self.tables.get(resource)?.get(key)?.object)
    }
}

/// The differences between the reference's end (`-`) and another one (`+`), field by field, and the
/// objects that differ.
pub(crate) fn difference(reference: &Normal, found: &Normal) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut objects) = (Vec::new(), Vec::new());
    let keys = reference.keys().chain(found.keys().filter(|it| !reference.contains_key(it)));
    for key in keys {
        let (resource, name) = key;
        if reference.get(key) != found.get(key) {
            objects.push(format!("{resource} {name}"));
        }
        match (reference.get(key), found.get(key)) {
            (Some(_), None) => lines.push(format!("- {resource} {name} is missing")),
            (None, Some(_)) => lines.push(format!("+ {resource} {name} is there as well")),
            (Some(old), Some(new)) if old != new => {
                let mut inner = Vec::new();
                compare("", old, new, &mut inner);
                lines.extend(inner.into_iter().map(|line| format!("  {resource} {name}{line}")));
            }
            _ => {}
        }
    }
    (lines, objects)
}

fn compare(path: &str, old: &Value, new: &Value, lines: &mut Vec<String>) {
    if let (Value::Object(before), Value::Object(after)) = (old, new) {
        let keys = before.keys().chain(after.keys().filter(|it| !before.contains_key(*it)));
        for key in keys {
            let path = format!("{path}.{key}");
            match (before.get(key), after.get(key)) {
                (Some(old), Some(new)) if old == new => {}
                (Some(old), Some(new)) => compare(&path, old, new, lines),
                (old, new) => lines.push(line(&path, old, new)),
            }
        }
    } else {
        lines.push(line(path, Some(old), Some(new)));
    }
}

fn line(path: &str, old: Option<&Value>, new: Option<&Value>) -> String {
    let mut text = path.to_owned();
    for (sign, value) in [(" -", old), (" +", new)] {
        let value = value.map_or("(nothing)".to_owned(), Value::to_string);
        let short: String = value.chars().take(80).collect();
        let dots = if short.len() < value.len() { "..." } else { "" };
        write!(text, "{sign} {short}{dots}").expect("a string takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_has_no_owner_any_more_is_garbage_and_what_that_owns() {
        let object = |name: &str, owners: &[&str]| {
            let owners: Vec<_> = owners.iter().map(|uid| json!({"uid": uid})).collect();
            let metadata = json!({"name": name, "uid": name, "ownerReferences": owners});
            let new = Some(Arc::new(json!({"metadata": metadata})));
            Written { revision: 1, resource: "pods".into(), key: name.into(), old: None, new }
        };
        let mut state = State::default();
        for written in [
            object("free", &[]),
            object("kept", &["gone", "free"]),
            object("lost", &["gone"]),
            object("below", &["lost"]),
        ] {
            state.take(&written);
        }
        let state = state.collected();
        let names: Vec<_> = state.list("pods").map(|it| it["metadata"]["name"].clone()).collect();
        assert_eq!(names, ["free", "kept"]);
    }
}
