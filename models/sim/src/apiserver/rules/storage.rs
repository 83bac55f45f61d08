//! Claims of storage, and what they claim.

use serde_json::Value;

use super::super::bounds::At;
use super::super::cause::{Cause, Causes};
use crate::quantity::Quantity;

fn read(amount: &Value) -> Option<Quantity> {
    Quantity::parse(amount.as_str()?).ok()
}

/// A claim asks for more than nothing.
pub(super) fn amount(spec: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let asked = &spec["resources"]["requests"]["storage"];
    match read(asked) {
        None => causes.push(Cause::required(format_args!("{at}.resources[storage]"), "")),
        Some(it) if it.is_negative() || it.to_string() == "0" => {
            let why = "must be greater than zero";
            causes.push(Cause::invalid(format_args!("{at}.resources[storage]"), asked, why));
        }
        Some(_) => {}
    }
}

/// A claim stays what it is, but it is bound to a volume once, and then it may grow.
pub(super) fn claim(claim: &Value, old: Option<&Value>, _: &At<'_>, causes: &mut Causes) {
    let Some(old) = old else { return };
    let is_bound = old["status"]["phase"] == "Bound";
    let (mut new_spec, mut old_spec) = (claim["spec"].clone(), old["spec"].clone());
    for spec in [&mut new_spec, &mut old_spec] {
        let Some(fields) = spec.as_object_mut() else { continue };
        if is_bound {
            fields.remove("volumeAttributesClassName");
            if let Some(asked) = spec["resources"]["requests"].as_object_mut() {
                asked.remove("storage");
            }
        } else if old["spec"]["volumeName"].is_null() {
            fields.remove("volumeName");
        }
    }
    if new_spec != old_spec {
        let why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        causes.push(Cause::forbidden("spec", why));
        return;
    }
    let asked = |of: &Value| read(&of["spec"]["resources"]["requests"]["storage"]);
    let capacity = read(&old["status"]["capacity"]["storage"]);
    let shrinks = is_bound && asked(claim) < asked(old);
    if shrinks && capacity.is_none_or(|capacity| asked(claim) < Some(capacity)) {
        let why = "field can not be less than status.capacity";
        causes.push(Cause::forbidden("spec.resources.requests.storage", why));
    }
}

/// A volume stays where it is.
pub(super) fn volume(spec: &Value, old: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let Some(old) = old.and_then(Value::as_object) else { return };
    let others = ["capacity", "claimRef", "nodeAffinity"];
    let mut sources =
        old.iter().filter(|(key, it)| it.is_object() && !others.contains(&key.as_str()));
    if sources.any(|(key, source)| spec[key] != *source) {
        let why = "spec.persistentvolumesource is immutable after creation";
        causes.push(Cause::forbidden(At::Field(at, "persistentvolumesource"), why));
    }
}
