//! Validation of metadata, alone and against its older state.

use std::collections::{BTreeSet, HashSet};
use std::fmt::{self, Display};

use serde_json::Value;

use super::cause::{Cause, Causes};
use super::names;
use super::resource::Resource;
use crate::short::{MOST, short};

/// The finalizers that a deletion's propagation policy puts on an object.
pub(crate) const ORPHAN: &str = "orphan";
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
const STANDARD: [&str; 3] = ["kubernetes", ORPHAN, FOREGROUND];

pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or("")
}

pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    strings(&object["metadata"]["finalizers"])
}

pub(crate) fn strings(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

pub(crate) fn is_terminating(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

/// Sets a field of the metadata, or removes it if the value is null.
pub(crate) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    let value = value.into();
    let Some(object) = object.as_object_mut() else { return };
    if !object.contains_key("metadata") {
        object.insert("metadata".to_owned(), Value::Object(Default::default()));
    }
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    match metadata.get_mut(field) {
        Some(_) if value.is_null() => {
            metadata.remove(field);
        }
        Some(old) => *old = value,
        None if value.is_null() => {}
        None => {
            metadata.insert(field.to_owned(), value);
        }
    }
}

/// The errors of metadata by itself.
pub(crate) fn validate(resource: &Resource, object: &Value) -> Causes {
    let mut causes = Causes::default();
    let (name, generate) = (text(object, "name"), text(object, "generateName"));
    for why in match generate {
        "" => Vec::new(),
        prefix => names::name(prefix, resource.naming, true),
    } {
        causes.push(Cause::invalid("metadata.generateName", &generate.into(), &why));
    }
    if name.is_empty() {
        causes.push(Cause::required("metadata.name", "name or generateName is required"));
    } else {
        for why in names::name(name, resource.naming, false) {
            causes.push(Cause::invalid("metadata.name", &name.into(), &why));
        }
    }
    let generation = &object["metadata"]["generation"];
    if generation.as_i64().is_some_and(|it| it < 0) {
        let why = "must be greater than or equal to 0";
        causes.push(Cause::invalid("metadata.generation", generation, why));
    }
    common(&object["metadata"], &mut causes);
    validate_finalizers(&object["metadata"]["finalizers"], &mut causes);
    let is_lax = matches!(&*resource.group, "coordination.k8s.io" | "apiextensions.k8s.io");
    if !resource.is_custom && !is_lax {
        standard_finalizers(object, &mut causes);
    }
    causes
}

/// The checks that are made with and without an older state.
pub(crate) fn common(metadata: &Value, causes: &mut Causes) {
    let none = serde_json::Map::new();
    for (key, value) in metadata["labels"].as_object().unwrap_or(&none) {
        if causes.is_full() {
            return;
        }
        for why in names::qualified(key) {
            causes.push(Cause::invalid("metadata.labels", &key.as_str().into(), &why));
        }
        for why in names::label_value(value.as_str().unwrap_or("")) {
            causes.push(Cause::invalid("metadata.labels", value, &why));
        }
    }
    let mut size = 0;
    for (key, value) in metadata["annotations"].as_object().unwrap_or(&none) {
        if causes.is_full() {
            return;
        }
        size += key.len() + value.as_str().map_or(0, str::len);
        // Their keys may be in capitals, also before the slash.
        for why in names::qualified(&key.to_lowercase()) {
            causes.push(Cause::invalid("metadata.annotations", &key.as_str().into(), &why));
        }
    }
    if size > 256 * 1024 {
        let message = format!("Too long: may not be more than {} bytes", 256 * 1024);
        causes.push(Cause::new("metadata.annotations", "FieldValueTooLong", message));
    }
    validate_owners(&metadata["ownerReferences"], causes);
}

fn validate_owners(owners: &Value, causes: &mut Causes) {
    let mut controller: Option<&Value> = None;
    let field = "metadata.ownerReferences";
    for owner in owners.as_array().into_iter().flatten() {
        if causes.is_full() {
            return;
        }
        let version = owner["apiVersion"].as_str().unwrap_or("");
        if version.is_empty() {
            let why = "version must not be empty";
            causes.push(Cause::invalid(format!("{field}.apiVersion"), &"".into(), why));
        }
        for part in ["kind", "name", "uid"] {
            if owner[part].as_str().unwrap_or("").is_empty() {
                let field = format!("{field}.{part}");
                causes.push(Cause::invalid(field, &"".into(), "must not be empty"));
            }
        }
        if version == "v1" && owner["kind"] == "Event" {
            let why = "/v1, Kind=Event is disallowed from being an owner";
            causes.push(invalid_owner(Owners(std::slice::from_ref(owner)), why));
        }
        if owner["controller"] == true {
            if let Some(first) = controller {
                let called = |it: &Value| {
                    let part = |part: &str| it[part].as_str().unwrap_or("").to_owned();
                    short(format_args!("{}/{}", part("kind"), part("name")))
                };
                let why = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {} and {}",
                    called(first),
                    called(owner)
                );
                let all = Owners(owners.as_array().map_or(&[], Vec::as_slice));
                causes.push(invalid_owner(format_args!("[{all}]"), &why));
            }
            controller = controller.or(Some(owner));
        }
    }
}

fn invalid_owner(shown: impl Display, why: &str) -> Cause {
    let message = format_args!("Invalid value: {}: {why}", short(shown));
    Cause::new("metadata.ownerReferences", "FieldValueInvalid", message)
}

/// Owners as messages show them: the fields in their declared order.
struct Owners<'a>(&'a [Value]);

impl Display for Owners<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
        for (index, owner) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "{" } else { ",{" })?;
            let fields = fields.iter().filter_map(|key| Some((key, owner.get(key)?)));
            for (index, (key, value)) in fields.enumerate() {
                let comma = if index == 0 { "" } else { "," };
                write!(f, "{comma}\"{key}\":{value}")?;
            }
            f.write_str("}")?;
        }
        Ok(())
    }
}

fn validate_finalizers(finalizers: &Value, causes: &mut Causes) {
    let field = "metadata.finalizers";
    let names = strings(finalizers);
    for name in &names {
        if causes.is_full() {
            return;
        }
        for why in names::qualified(name) {
            causes.push(Cause::invalid(field, &(*name).into(), &why));
        }
    }
    if names.contains(&ORPHAN) && names.contains(&FOREGROUND) {
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        causes.push(Cause::invalid(field, finalizers, why));
    }
}

/// Built-in kinds want finalizers with a domain; custom ones only warn.
fn standard_finalizers(object: &Value, causes: &mut Causes) {
    for (index, name) in finalizers(object).into_iter().enumerate() {
        if is_unqualified(name) && !causes.is_full() {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            causes.push(Cause::invalid(format!("metadata.finalizers[{index}]"), &name.into(), why));
        }
    }
}

fn is_unqualified(finalizer: &str) -> bool {
    !finalizer.contains('/') && !STANDARD.contains(&finalizer)
}

/// The warnings about an object.
pub(crate) fn warnings(resource: &Resource, object: &Value) -> Vec<String> {
    let unqualified = finalizers(object).into_iter().filter(|_| resource.is_custom);
    let unqualified =
        unqualified.filter(|name| is_unqualified(name) && names::qualified(name).is_empty());
    let unqualified = unqualified.take(MOST).map(short);
    unqualified
        .map(|name| format!("metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"))
        .collect()
}

/// The errors of a change of metadata.
pub(crate) fn validate_change(object: &Value, old: &Value) -> Causes {
    let mut causes = Causes::default();
    if is_terminating(old) {
        let present: BTreeSet<_> = finalizers(old).into_iter().collect();
        let new: BTreeSet<_> =
            finalizers(object).into_iter().filter(|it| !present.contains(it)).collect();
        if !new.is_empty() {
            let new: Vec<_> = new.iter().take(MOST).map(|it| format!("{:?}", short(it))).collect();
            let why = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                new.join(", ")
            );
            causes.push(Cause::forbidden("metadata.finalizers", &why));
        }
    }
    let (new, old) = (&object["metadata"], &old["metadata"]);
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        if new[field] != old[field] {
            let why = "field is immutable";
            causes.push(Cause::invalid(format!("metadata.{field}"), &new[field], why));
        }
    }
    common(new, &mut causes);
    causes
}

/// Removes owners that are listed twice, and warns of them.
pub(crate) fn dedup_owners(object: &mut Value) -> Vec<String> {
    let owners = object.get_mut("metadata").and_then(|it| it.get_mut("ownerReferences"));
    let Some(owners) = owners.and_then(Value::as_array_mut) else { return Vec::new() };
    let (mut seen, mut twice) = (HashSet::new(), Vec::new());
    owners.retain(|owner| {
        let is_new = seen.insert(owner.to_string());
        if !is_new && twice.len() < MOST {
            twice.push(short(owner["uid"].as_str().unwrap_or("")));
        }
        is_new
    });
    if twice.is_empty() {
        return Vec::new();
    }
    twice.dedup();
    vec![format!(
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
        twice.join(", ")
    )]
}
