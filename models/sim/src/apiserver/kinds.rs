//! Completion and checks of single built-in kinds.

use serde_json::{Value, json};

use super::cause::{Cause, Causes};
use super::decode::REDACTED;
use super::metadata::{strings, text};
use super::names;

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
            if object["metadata"]["annotations"][TEMPLATES].as_str().unwrap_or("").is_empty() {
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

pub(crate) fn prepare_claim(object: &mut Value, old: Option<&Value>) {
    if old.is_none() {
        object["status"] = json!({"phase": "Pending"});
    }
}

const TEMPLATES: &str = "deprecated.daemonset.template.generation";

pub(crate) fn complete_daemons(object: &mut Value) {
    let count = &mut object["metadata"]["annotations"][TEMPLATES];
    if count.is_null() {
        *count = "1".into();
    }
}

/// Counts the changes of the template of a daemon set, as an annotation.
pub(crate) fn prepare_daemons(object: &mut Value, old: Option<&Value>) {
    let count = old.map_or(1, |old| {
        let count =
            old["metadata"]["annotations"][TEMPLATES].as_str().and_then(|it| it.parse().ok());
        let changes = old["spec"]["template"] != object["spec"]["template"];
        count.unwrap_or(0_i64).saturating_add(i64::from(changes))
    });
    object["metadata"]["annotations"][TEMPLATES] = count.to_string().into();
}
