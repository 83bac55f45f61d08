//! The state of a cluster in a form in which the ends of two runs can be compared.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::given;
use super::learn::{Learned, drawn};
use super::rules::Rules;
use super::state::State;
use crate::apiserver::Written;

/// A state without what differs between equal runs: uids, versions, times, random names, addresses.
pub(crate) type Normal = BTreeMap<(String, String), Value>;

/// The parts of a state that are not compared as they are.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) learned: &'a Learned,
    pub(crate) times: Times,
}

/// The moments around which a number is a time since 1970.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    pub(crate) around: Vec<Duration>,
}

impl View<'_> {
    /// Takes out of an object as it was written what is not compared: times, and what was left out. A value
    /// that was drawn stays as it is, since within one run it can be compared.
    pub(crate) fn clear(&self, resource: &str, key: &str, object: &mut Value) {
        decoded_times(object, &self.times);
        self.learned.mask(resource, key, object, &BTreeMap::new());
        self.rules.leave_out(resource, object);
    }
}

/// The normal form of a state, which is the same in equal runs.
pub(crate) fn normalise(state: &State, changes: &[Written], view: &View<'_>) -> Normal {
    let mut names = BTreeMap::new();
    for Written { resource, key, old, .. } in changes {
        let Some(object) = old else { continue };
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        let stable = view.learned.stable(resource, key, object).0;
        names.insert(uid.to_owned(), format!("<uid of a former {resource} {stable}>"));
        if let Some(address) = given::address(resource, object) {
            let name = format!("<address of a former {resource} {stable}>");
            names.insert(address.to_owned(), name);
        }
    }
    for (resource, key, object) in state.objects() {
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        let stable = view.learned.stable(resource, key, object).0;
        names.insert(uid.to_owned(), format!("<uid of {resource} {stable}>"));
        if let Some(address) = given::address(resource, object) {
            names.insert(address.to_owned(), format!("<address of {resource} {stable}>"));
        }
    }
    let drawn = drawn(state, changes, view.learned);
    let mut normal = Normal::new();
    let mut generated: Vec<((String, String), Value)> = Vec::new();
    for (resource, key, object) in state.objects() {
        if view.rules.is_left_out(resource) {
            continue;
        }
        let stored = object;
        let mut object = normal_object(stored, &names, &view.times);
        match &**resource {
            "secrets" => decoded_times(&mut object, &view.times),
            "services" => given::hide_ports(stored, &mut object),
            _ => {}
        }
        view.learned.mask(resource, key, &mut object, &drawn);
        view.rules.leave_out(resource, &mut object);
        let (stable, is_generated) = view.learned.stable(resource, key, &object);
        let key = (resource.to_string(), stable);
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
pub(crate) fn normal_object(
    object: &Value,
    names: &BTreeMap<String, String>,
    times: &Times,
) -> Value {
    let mut object = object.clone();
    let generation = object["metadata"]["generation"].clone();
    strip(&mut object);
    if let Some(metadata) = object["metadata"].as_object_mut()
        && metadata.contains_key("generateName")
    {
        metadata.insert("name".to_owned(), "<drawn>".into());
    }
    walk(&mut object, names, &generation, times);
    object
}

/// Removes what the server keeps about every object.
pub(crate) fn strip(object: &mut Value) {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["uid", "resourceVersion", "generation", "managedFields", "selfLink"] {
            metadata.remove(field);
        }
    }
}

fn walk(value: &mut Value, names: &BTreeMap<String, String>, generation: &Value, times: &Times) {
    match value {
        Value::String(text) => {
            if let Some(name) = names.get(text.as_str()).filter(|_| !text.is_empty()) {
                name.clone_into(text);
            } else if times.is_time(text) {
                "<time>".clone_into(text);
            } else if !names.is_empty() && text.contains('.') {
                *text = given::named(text, names);
            }
        }
        Value::Number(number) if times.is_since_1970(number.as_f64()) => *value = "<time>".into(),
        Value::Array(items) => items.iter_mut().for_each(|it| walk(it, names, generation, times)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == "observedGeneration" && !generation.is_null() {
                    let is_current = *value == *generation;
                    *value = if is_current { "<current>" } else { "<older>" }.into();
                } else if name != "resourceVersion" {
                    walk(value, names, generation, times);
                }
            }
        }
        _ => {}
    }
}

/// The data of a Secret is in base64, and so are its times.
fn decoded_times(object: &mut Value, times: &Times) {
    let Some(data) = object["data"].as_object_mut() else { return };
    for value in data.values_mut() {
        let bytes = value.as_str().and_then(|it| STANDARD.decode(it).ok());
        let text = bytes.and_then(|it| String::from_utf8(it).ok());
        if text.is_some_and(|it| times.is_time(&it)) {
            *value = "<time>".into();
        }
    }
}

impl Times {
    /// How far from such a moment a number still is a time.
    const SPAN: f64 = 400.0 * 86_400.0;

    /// Whether a text is a moment: by RFC 3339, or as a number since 1970.
    pub(crate) fn is_time(&self, text: &str) -> bool {
        is_rfc_3339(text) || (text.len() >= 10 && self.is_since_1970(text.parse().ok()))
    }

    /// Whether a number is a moment in seconds since 1970, or in a thousandth of that, and so on.
    fn is_since_1970(&self, number: Option<f64>) -> bool {
        let Some(number) = number else { return false };
        [1.0, 1e3, 1e6, 1e9].iter().any(|unit| {
            let distance = |it: &Duration| (number / unit - it.as_secs_f64()).abs();
            self.around.iter().any(|it| distance(it) < Self::SPAN)
        })
    }
}

/// Whether a text is a moment by RFC 3339, such as `2026-01-01T00:00:00.5+00:00`.
fn is_rfc_3339(text: &str) -> bool {
    let pattern = "dddd-dd-ddtdd:dd:dd";
    let fits = |pattern: &str, text: &str| {
        pattern.len() == text.len()
            && pattern.bytes().zip(text.bytes()).all(|(wanted, found)| match wanted {
                b'd' => found.is_ascii_digit(),
                b't' => matches!(found, b'T' | b't' | b' '),
                b's' => matches!(found, b'+' | b'-'),
                other => other == found,
            })
    };
    let Some((moment, rest)) = text.split_at_checked(pattern.len()) else { return false };
    let zone = match rest.strip_prefix('.') {
        Some(rest) => {
            let zone = rest.trim_start_matches(|it: char| it.is_ascii_digit());
            if zone.len() == rest.len() {
                return false;
            }
            zone
        }
        None => rest,
    };
    fits(pattern, moment) && (matches!(zone, "Z" | "z") || fits("sdd:dd", zone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_known_in_every_form_and_sizes_are_none() {
        let times = Times { around: vec![Duration::from_secs(1_767_225_600)] };
        for text in [
            "2026-01-01T00:00:00Z",
            "2026-01-01t00:00:00.123456z",
            "2026-01-01T00:00:00+00:00",
            "2026-01-01 00:00:00.5-03:30",
            "1767225630",
            "1767225630123",
            "1767225630.25",
            "1767225630123456789",
        ] {
            assert!(times.is_time(text), "{text}");
        }
        for text in [
            "",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+0000 x",
            "2026-01-01T00:00:00é",
            "2147483648",
            "1610612736",
            "17672256",
            "NaN",
            "infinity!!",
        ] {
            assert!(!times.is_time(text), "{text}");
        }
        assert!(!Times::default().is_time("1767225630"), "no moment is known");
    }
}
