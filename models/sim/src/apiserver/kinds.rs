//! Completion and checks of single built-in kinds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cause::{Cause, Causes};
use super::decode::REDACTED;
use super::label::Labels;
use super::metadata::{strings, text};
use super::names;
use crate::short::short;

const IMMUTABLE: &str = "field is immutable when `immutable` is set";

pub(crate) fn nothing(_: &mut Value, _: Option<&Value>) {}

pub(crate) fn whole(_: &mut Value) {}

pub(crate) fn anything(_: &Value, _: Option<&Value>) -> Causes {
    Causes::default()
}

/// Sets a field that is missing.
fn default(object: &mut Value, path: &[&str], value: Value) {
    let mut at = object;
    for part in path {
        if !at.is_object() {
            return;
        }
        at = &mut at[*part];
    }
    if at.is_null() {
        *at = value;
    }
}

fn config_keys(object: &Value, fields: &[&str], causes: &mut Causes) {
    for field in fields {
        for key in object[field].as_object().into_iter().flat_map(|fields| fields.keys()) {
            if causes.is_full() {
                return;
            }
            for why in names::config_key(key) {
                let field = format!("{field}[{key}]");
                causes.push(Cause::invalid(field, &key.as_str().into(), &why));
            }
        }
    }
}

/// An object that calls itself immutable keeps its content, and goes on being immutable.
fn kept(object: &Value, old: Option<&Value>, fields: &[&str], causes: &mut Causes) {
    let Some(old) = old.filter(|old| old["immutable"] == true) else { return };
    if object["immutable"] != true {
        causes.push(Cause::forbidden("immutable", IMMUTABLE));
    }
    for field in fields.iter().filter(|field| object[**field] != old[**field]) {
        causes.push(Cause::forbidden(*field, IMMUTABLE));
    }
}

pub(crate) fn config_map(object: &Value, old: Option<&Value>) -> Causes {
    let mut causes = Causes::default();
    kept(object, old, &["data", "binaryData"], &mut causes);
    config_keys(object, &["data", "binaryData"], &mut causes);
    for key in object["data"].as_object().into_iter().flat_map(|fields| fields.keys()) {
        if object["binaryData"].get(key).is_some() {
            let field = format!("data[{key}]");
            causes.push(Cause::invalid(
                field,
                &key.as_str().into(),
                "duplicate of key present in binaryData",
            ));
        }
    }
    causes
}

/// Moves `stringData` into `data`, and makes a secret without a type opaque, also in an update.
pub(crate) fn complete_secret(object: &mut Value) {
    use base64::Engine as _;
    let plain = object.as_object_mut().and_then(|fields| fields.remove("stringData"));
    for (key, value) in plain.as_ref().and_then(Value::as_object).into_iter().flatten() {
        let bytes = value.as_str().unwrap_or("").as_bytes();
        object["data"][key] = base64::engine::general_purpose::STANDARD.encode(bytes).into();
    }
    default(object, &["type"], json!("Opaque"));
}

/// Checks that a secret holds the keys that its type requires.
fn secret_of_type(object: &Value, causes: &mut Causes) {
    use base64::Engine as _;
    let bytes = |key: &str| {
        let text = object["data"].get(key)?.as_str().unwrap_or("");
        Some(base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default())
    };
    let mut require = |key: &str| causes.push(Cause::required(format!("data[{key}]"), ""));
    match object["type"].as_str().unwrap_or("") {
        "kubernetes.io/service-account-token" => {
            let key = "kubernetes.io/service-account.name";
            if object["metadata"]["annotations"][key].as_str().unwrap_or("").is_empty() {
                causes.push(Cause::required(format!("metadata.annotations[{key}]"), ""));
            }
        }
        "kubernetes.io/basic-auth" if bytes("username").or(bytes("password")).is_none() => {
            ["username", "password"].into_iter().for_each(require);
        }
        "kubernetes.io/ssh-auth" if bytes("ssh-privatekey").is_none_or(|it| it.is_empty()) => {
            require("ssh-privatekey");
        }
        "kubernetes.io/tls" => {
            let keys = ["tls.crt", "tls.key"].into_iter();
            keys.filter(|key| bytes(key).is_none()).for_each(require);
        }
        kind @ ("kubernetes.io/dockercfg" | "kubernetes.io/dockerconfigjson") => {
            let key = kind.replace("kubernetes.io/", ".");
            let is_object = |bytes: Vec<u8>| {
                serde_json::from_slice::<Value>(&bytes)
                    .is_ok_and(|it| it.is_object() || it.is_null())
            };
            match bytes(&key) {
                None => require(&key),
                Some(bytes) if is_object(bytes.clone()) => {}
                Some(_) => {
                    let shown = json!(REDACTED);
                    causes.push(Cause::invalid(format!("data[{key}]"), &shown, "invalid JSON"));
                }
            }
        }
        _ => {}
    }
}

pub(crate) fn secret(object: &Value, old: Option<&Value>) -> Causes {
    let mut causes = Causes::default();
    if old.is_some_and(|old| old["type"] != object["type"]) {
        causes.push(Cause::invalid("type", &object["type"], "field is immutable"));
    }
    kept(object, old, &["data"], &mut causes);
    config_keys(object, &["data"], &mut causes);
    secret_of_type(object, &mut causes);
    causes
}

/// Keeps only the names of the secrets that an account lists.
pub(crate) fn prepare_account(object: &mut Value, _: Option<&Value>) {
    let secrets = object.get_mut("secrets").and_then(Value::as_array_mut);
    for secret in secrets.into_iter().flatten() {
        if let Some(fields) = secret.as_object_mut() {
            fields.retain(|key, _| key == "name");
        }
    }
}

/// These belong to a feature that is off.
pub(crate) fn prepare_lease(object: &mut Value, _: Option<&Value>) {
    if let Some(spec) = object["spec"].as_object_mut() {
        spec.remove("strategy");
        spec.remove("preferredHolder");
    }
}

pub(crate) fn lease(object: &Value, _: Option<&Value>) -> Causes {
    let mut causes = Causes::default();
    let spec = &object["spec"];
    let (seconds, transitions) = (&spec["leaseDurationSeconds"], &spec["leaseTransitions"]);
    if seconds.as_i64().is_some_and(|it| it <= 0) {
        causes.push(Cause::invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"));
    }
    if transitions.as_i64().is_some_and(|it| it < 0) {
        let why = "must be greater than or equal to 0";
        causes.push(Cause::invalid("spec.leaseTransitions", transitions, why));
    }
    causes
}

/// A namespace holds itself until it is finalized, and is labelled with its name.
pub(crate) fn prepare_namespace(object: &mut Value, old: Option<&Value>) {
    let name = text(object, "name").to_owned();
    let labels = &mut object["metadata"]["labels"];
    labels["kubernetes.io/metadata.name"] = name.into();
    let phase =
        if object["metadata"]["deletionTimestamp"].is_null() { "Active" } else { "Terminating" };
    match old {
        None => {
            object["status"] = json!({"phase": phase});
            let mut finalizers = strings(&object["spec"]["finalizers"]);
            if !finalizers.contains(&"kubernetes") {
                finalizers.push("kubernetes");
            }
            object["spec"]["finalizers"] = json!(finalizers);
        }
        Some(old) => object["spec"] = old["spec"].clone(),
    }
}

pub(crate) fn prepare_pod(object: &mut Value, old: Option<&Value>) {
    if old.is_none() {
        object["status"] = json!({"phase": "Pending", "qosClass": "BestEffort"});
    }
}

pub(crate) fn complete_pod(object: &mut Value) {
    for (field, value) in [
        ("restartPolicy", json!("Always")),
        ("terminationGracePeriodSeconds", json!(30)),
        ("dnsPolicy", json!("ClusterFirst")),
        ("schedulerName", json!("default-scheduler")),
        ("enableServiceLinks", json!(true)),
        ("securityContext", json!({})),
    ] {
        default(object, &["spec", field], value);
    }
}

pub(crate) fn pod(object: &Value, _: Option<&Value>) -> Causes {
    let mut causes = Causes::default();
    objects(object, &["status"], &mut causes);
    containers(&object["spec"], "spec", &mut causes);
    causes
}

fn containers(spec: &Value, path: &str, causes: &mut Causes) {
    let list = spec["containers"].as_array().map_or(&[][..], Vec::as_slice);
    if list.is_empty() {
        causes.push(Cause::required(format!("{path}.containers"), ""));
    }
    let mut names = BTreeSet::new();
    for (index, container) in list.iter().enumerate() {
        let name = container["name"].as_str().unwrap_or("");
        if name.is_empty() {
            causes.push(Cause::required(format!("{path}.containers[{index}].name"), ""));
        } else if !names.insert(name) {
            let message = format!("Duplicate value: {:?}", short(name));
            let field = format!("{path}.containers[{index}].name");
            causes.push(Cause::new(field, "FieldValueDuplicate", message));
        }
    }
}

pub(crate) fn complete_service(object: &mut Value) {
    default(object, &["spec", "type"], json!("ClusterIP"));
    default(object, &["spec", "sessionAffinity"], json!("None"));
}

pub(crate) fn prepare_service(object: &mut Value, _: Option<&Value>) {
    if object["status"].as_object().is_none_or(serde_json::Map::is_empty) {
        object["status"] = json!({"loadBalancer": {}});
    }
}

pub(crate) fn prepare_workload(object: &mut Value, old: Option<&Value>) {
    if old.is_none() {
        object["status"] = json!({});
    }
}

pub(crate) fn complete_workload(object: &mut Value) {
    default(object, &["spec", "replicas"], json!(1));
}

pub(crate) fn complete_job(object: &mut Value) {
    default(object, &["spec", "backoffLimit"], json!(6));
    default(object, &["spec", "completions"], json!(1));
    default(object, &["spec", "parallelism"], json!(1));
}

/// The field at a path with dots.
fn at<'a>(object: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(object, |at, part| &at[part])
}

/// Fields that are objects, if they are there.
fn objects(object: &Value, paths: &[&str], causes: &mut Causes) {
    for path in paths {
        let found = at(object, path);
        if !found.is_null() && !found.is_object() {
            causes.push(Cause::invalid(*path, found, "must be an object"));
        }
    }
}

/// Fields that map keys to texts, if they are there.
fn maps(object: &Value, paths: &[&str], causes: &mut Causes) {
    objects(object, paths, causes);
    for path in paths {
        for (key, value) in at(object, path).as_object().into_iter().flatten() {
            if !value.is_string() && !causes.is_full() {
                causes.push(Cause::invalid(format!("{path}[{key}]"), value, "must be a string"));
            }
        }
    }
}

/// Fields that count something, if they are there.
fn counts(object: &Value, paths: &[String], causes: &mut Causes) {
    for path in paths {
        let found = at(object, path);
        let why = match found.as_i64() {
            _ if found.is_null() => continue,
            Some(0..=0x7fff_ffff) => continue,
            Some(..0) => "must be greater than or equal to 0",
            _ => "must be a whole number from 0 to 2147483647",
        };
        causes.push(Cause::invalid(path, found, why));
    }
}

/// A template of pods, and the other parts of a workload that controllers look into.
fn parts(object: &Value, causes: &mut Causes) {
    objects(object, &["spec", "spec.template", "spec.template.metadata", "status"], causes);
    maps(object, &["spec.template.metadata.labels"], causes);
    containers(&object["spec"]["template"]["spec"], "spec.template.spec", causes);
    let claims = &object["spec"]["volumeClaimTemplates"];
    for (index, claim) in claims.as_array().into_iter().flatten().enumerate() {
        if !claim["metadata"].is_object() {
            let field = format!("spec.volumeClaimTemplates[{index}].metadata");
            causes.push(Cause::invalid(field, &claim["metadata"], "must be an object"));
        }
    }
}

/// Checks that the selector of a workload selects the pods of its own template.
fn selector(object: &Value, causes: &mut Causes) {
    let (field, spec) = ("spec.selector", &object["spec"]);
    if spec["selector"].is_null() {
        causes.push(Cause::required(field, ""));
    }
    let before = causes.len();
    objects(object, &[field], causes);
    maps(object, &["spec.selector.matchLabels"], causes);
    if spec["selector"].is_null() || causes.len() > before {
        return;
    }
    let labels = &spec["template"]["metadata"]["labels"];
    let stateful = object["kind"] == "StatefulSet";
    let kind = if stateful { "statefulset" } else { "deployment" };
    match Labels::of(&spec["selector"]) {
        Ok(selector) if selector.is_empty() => {
            let why = format!("empty selector is invalid for {kind}");
            causes.push(Cause::invalid(field, &spec["selector"], &why));
        }
        Ok(selector) if !selector.matches(&spec["template"]) => {
            let why = "`selector` does not match template `labels`";
            causes.push(Cause::invalid("spec.template.metadata.labels", labels, why));
        }
        Ok(_) => {}
        Err(found) => causes.extend(
            found.into_iter().map(|it| Cause { field: format!("{field}.{}", it.field), ..it }),
        ),
    }
}

/// Checks a workload, whose selector must not change.
pub(crate) fn workload(object: &Value, old: Option<&Value>) -> Causes {
    let (mut causes, spec) = (Causes::default(), &object["spec"]);
    selector(object, &mut causes);
    if old.is_some_and(|old| old["spec"]["selector"] != spec["selector"]) {
        causes.push(Cause::invalid("spec.selector", &spec["selector"], "field is immutable"));
    }
    let numbers = ["replicas", "revisionHistoryLimit", "updateStrategy.rollingUpdate.partition"];
    counts(object, &numbers.map(|it| format!("spec.{it}")), &mut causes);
    parts(object, &mut causes);
    causes
}

pub(crate) fn job(object: &Value, _: Option<&Value>) -> Causes {
    let mut causes = Causes::default();
    let numbers = ["completions", "parallelism", "backoffLimit"];
    counts(object, &numbers.map(|it| format!("spec.{it}")), &mut causes);
    parts(object, &mut causes);
    causes
}

pub(crate) fn prepare_claim(object: &mut Value, old: Option<&Value>) {
    if old.is_none() {
        object["status"] = json!({"phase": "Pending"});
    }
}

pub(crate) fn complete_claim(object: &mut Value) {
    default(object, &["spec", "volumeMode"], json!("Filesystem"));
}
