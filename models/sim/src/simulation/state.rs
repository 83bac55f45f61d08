//! The state of a cluster: as user's rules see it, and in a form that two runs can be compared in.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use crate::apiserver::{Server, Written};

/// Everything that a server holds.
#[derive(Clone, Debug)]
pub struct State {
    objects: Vec<(Arc<str>, Arc<str>, Arc<Value>)>,
}

impl State {
    pub(crate) fn of(server: &Server) -> Self {
        Self { objects: server.contents() }
    }

    /// The same after a cluster's garbage collection, which the simulation does not run: objects
    /// that have lost all their owners are gone, and so are the objects that they own.
    pub(crate) fn collected(mut self) -> Self {
        loop {
            let uid = |object: &Value| object["metadata"]["uid"].as_str().map(str::to_owned);
            let there: BTreeSet<_> = self.objects.iter().filter_map(|(_, _, it)| uid(it)).collect();
            let before = self.objects.len();
            self.objects.retain(|(_, _, object)| {
                let owners = object["metadata"]["ownerReferences"].as_array();
                owners.is_none_or(|owners| {
                    let is_there =
                        |owner: &Value| owner["uid"].as_str().is_some_and(|it| there.contains(it));
                    owners.is_empty() || owners.iter().any(is_there)
                })
            });
            if self.objects.len() == before {
                return self;
            }
        }
    }

    /// The objects of a resource, such as `pods` or `deployments.apps`.
    pub fn list<'a>(&'a self, resource: &'a str) -> impl Iterator<Item = &'a Value> {
        let objects = self.objects.iter().filter(move |it| *it.0 == *resource);
        objects.map(|(_, _, object)| &**object)
    }

    /// The object with a name; the name comes after the namespace and a slash if it lies in one.
    pub fn get(&self, resource: &str, key: &str) -> Option<&Value> {
        let object = self.objects.iter().find(|it| *it.0 == *resource && *it.1 == *key);
        object.map(|(_, _, object)| &**object)
    }
}

/// A state without what differs between equal runs: uids, versions, times, random names.
pub(crate) type Normal = BTreeMap<(String, String), Value>;

/// The normal form of a state, which is the same in equal runs.
pub(crate) fn normalise(state: &State, changes: &[Written], ignored: &[String]) -> Normal {
    let mut names = BTreeMap::new();
    for Written { resource, key, old, .. } in changes {
        let Some(object) = old else { continue };
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        let name = format!("<uid of a former {resource} {}>", stable_key(key, object));
        names.insert(uid.to_owned(), name);
    }
    for (resource, key, object) in &state.objects {
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        names.insert(uid.to_owned(), format!("<uid of {resource} {}>", stable_key(key, object)));
    }
    let mut normal = Normal::new();
    let mut generated: Vec<((String, String), Value)> = Vec::new();
    for (resource, key, object) in &state.objects {
        if ignored.iter().any(|it| **it == **resource) {
            continue;
        }
        let object = normal_object(object, &names);
        let is_generated = object["metadata"]["generateName"].is_string();
        let key = (resource.to_string(), stable_key(key, &object));
        if is_generated {
            generated.push((key, object));
        } else {
            normal.insert(key, object);
        }
    }
    // Objects with a random name are identified by their content.
    generated.sort_by_cached_key(|(key, object)| (key.clone(), object.to_string()));
    for (index, ((resource, key), object)) in generated.into_iter().enumerate() {
        normal.insert((resource, format!("{key}#{index}")), object);
    }
    normal
}

/// The key of an object, without the part of it that was drawn.
pub(crate) fn stable_key(key: &str, object: &Value) -> String {
    match object["metadata"]["generateName"].as_str() {
        Some(prefix) => match key.rsplit_once('/') {
            Some((namespace, _)) => format!("{namespace}/{prefix}*"),
            None => format!("{prefix}*"),
        },
        None => key.to_owned(),
    }
}

/// An object without what differs between equal runs.
pub(crate) fn normal_object(object: &Value, names: &BTreeMap<String, String>) -> Value {
    let mut object = object.clone();
    let generation = object["metadata"]["generation"].clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["uid", "resourceVersion", "generation", "managedFields", "selfLink"] {
            metadata.remove(field);
        }
        if metadata.contains_key("generateName") {
            metadata.insert("name".to_owned(), "<drawn>".into());
        }
    }
    walk(&mut object, names, &generation);
    object
}

fn walk(value: &mut Value, names: &BTreeMap<String, String>, generation: &Value) {
    match value {
        Value::String(text) => {
            if let Some(name) = names.get(text.as_str()).filter(|_| !text.is_empty()) {
                name.clone_into(text);
            } else if is_time(text) {
                "<time>".clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|it| walk(it, names, generation)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == "observedGeneration" && !generation.is_null() {
                    let is_current = *value == *generation;
                    *value = if is_current { "<current>" } else { "<older>" }.into();
                } else if name != "resourceVersion" {
                    walk(value, names, generation);
                }
            }
        }
        _ => {}
    }
}

/// Tells whether a text is a moment, as Kubernetes writes it.
fn is_time(text: &str) -> bool {
    let pattern = "dddd-dd-ddTdd:dd:dd";
    text.len() > pattern.len()
        && text.ends_with('Z')
        && pattern.bytes().zip(text.bytes()).all(|(wanted, found)| match wanted {
            b'd' => found.is_ascii_digit(),
            other => other == found,
        })
}

/// The differences between the reference's end (`-`) and another one (`+`), field by field.
pub(crate) fn difference(reference: &Normal, found: &Normal) -> Vec<String> {
    let mut lines = Vec::new();
    let keys = reference.keys().chain(found.keys().filter(|it| !reference.contains_key(it)));
    for key in keys {
        let (resource, name) = key;
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
    lines
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
            ("pods".into(), Arc::from(name), Arc::new(json!({"metadata": metadata})))
        };
        let objects = vec![
            object("free", &[]),
            object("kept", &["gone", "free"]),
            object("lost", &["gone"]),
            object("below", &["lost"]),
        ];
        let state = State { objects }.collected();
        let names: Vec<_> = state.list("pods").map(|it| it["metadata"]["name"].clone()).collect();
        assert_eq!(names, ["free", "kept"]);
    }
}
