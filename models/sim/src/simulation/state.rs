//! The state of a cluster as the rules of a test see it, and the differences of two ends.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::normal::Normal;
use crate::apiserver::Server;

/// Everything that a server holds.
#[derive(Clone, Debug)]
pub struct State {
    pub(crate) objects: Vec<(Arc<str>, Arc<str>, Arc<Value>)>,
}

impl State {
    pub(crate) fn of(server: &Server) -> Self {
        Self { objects: server.contents() }
    }

    /// The same after a cluster's garbage collection, which may not have come yet: objects
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
