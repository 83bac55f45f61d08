//! Validation of metadata, alone and against its older state.

use serde_json::Value;

use super::names;
use super::resource::Resource;
use super::status::Cause;

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
pub(crate) fn validate(resource: &Resource, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
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
fn common(metadata: &Value, causes: &mut Vec<Cause>) {
    let none = serde_json::Map::new();
    for (key, value) in metadata["labels"].as_object().unwrap_or(&none) {
        for why in names::qualified(key) {
            causes.push(Cause::invalid("metadata.labels", &key.as_str().into(), &why));
        }
        for why in names::label_value(value.as_str().unwrap_or("")) {
            causes.push(Cause::invalid("metadata.labels", value, &why));
        }
    }
    let mut size = 0;
    for (key, value) in metadata["annotations"].as_object().unwrap_or(&none) {
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

fn validate_owners(owners: &Value, causes: &mut Vec<Cause>) {
    let mut controller: Option<&Value> = None;
    let field = "metadata.ownerReferences";
    for owner in owners.as_array().into_iter().flatten() {
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
            causes.push(invalid_owner(owner_text(owner), why));
        }
        if owner["controller"] == true {
            if let Some(first) = controller {
                let called = |it: &Value| {
                    let part = |part: &str| it[part].as_str().unwrap_or("").to_owned();
                    format!("{}/{}", part("kind"), part("name"))
                };
                let why = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {} and {}",
                    called(first),
                    called(owner)
                );
                let all: Vec<_> = owners.as_array().into_iter().flatten().map(owner_text).collect();
                causes.push(invalid_owner(format!("[{}]", all.join(",")), &why));
            }
            controller = controller.or(Some(owner));
        }
    }
}

fn invalid_owner(shown: String, why: &str) -> Cause {
    let message = format!("Invalid value: {shown}: {why}");
    Cause::new("metadata.ownerReferences", "FieldValueInvalid", message)
}

/// An owner as messages show it: the fields in their declared order.
fn owner_text(owner: &Value) -> String {
    let fields = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
    let fields = fields.iter().filter_map(|key| Some(format!("\"{key}\":{}", owner.get(key)?)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn validate_finalizers(finalizers: &Value, causes: &mut Vec<Cause>) {
    let field = "metadata.finalizers";
    let names = strings(finalizers);
    for name in &names {
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
fn standard_finalizers(object: &Value, causes: &mut Vec<Cause>) {
    for (index, name) in finalizers(object).into_iter().enumerate() {
        if is_unqualified(name) {
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
    unqualified
        .map(|name| format!("metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"))
        .collect()
}

/// The errors of a change of metadata.
pub(crate) fn validate_change(object: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if is_terminating(old) {
        let present = finalizers(old);
        let mut new: Vec<_> = finalizers(object);
        new.retain(|it| !present.contains(it));
        new.sort_unstable();
        new.dedup();
        if !new.is_empty() {
            let new: Vec<_> = new.iter().map(|it| format!("{it:?}")).collect();
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
    let (mut kept, mut twice) = (Vec::<Value>::new(), Vec::new());
    for owner in owners.drain(..) {
        if kept.contains(&owner) {
            twice.push(owner["uid"].as_str().unwrap_or("").to_owned());
        } else {
            kept.push(owner);
        }
    }
    *owners = kept;
    if twice.is_empty() {
        return Vec::new();
    }
    twice.dedup();
    vec![format!(
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
        twice.join(", ")
    )]
}
