//! What policies and bindings may say, apart from expressions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::super::cause::{Cause, Causes};
use super::super::super::metadata::strings;
use super::super::rules::OPERATIONS;
use crate::names::{self, Naming};
use crate::short::short;

fn part<'a>(of: &'a Value, field: &str) -> &'a str {
    of[field].as_str().unwrap_or("")
}

fn tell(at: &str, value: &str, wrong: Vec<String>, causes: &mut Causes) {
    causes.extend(wrong.into_iter().map(|why| Cause::invalid(at, &value.into(), why)));
}

fn twice(at: &str, value: &str) -> Cause {
    Cause::new(at, "FieldValueDuplicate", format!("Duplicate value: {:?}", short(value)))
}

/// A field that has one of a few values.
pub(super) fn choice(at: &str, of: &Value, field: &str, known: &[&str], causes: &mut Causes) {
    let value = &of[field];
    if !value.is_null() && !known.iter().any(|it| value == it) {
        causes.push(Cause::unsupported(format!("{at}.{field}"), value, known));
    }
}

pub(super) fn param_kind(of: &Value, causes: &mut Causes) {
    let (version, kind) = (part(of, "apiVersion"), part(of, "kind"));
    let at = "spec.paramKind.apiVersion";
    let joined = |it: Vec<String>| if it.is_empty() { it } else { vec![it.join(",")] };
    let (group, number) = version.split_once('/').unwrap_or(("", version));
    if version.is_empty() {
        causes.push(Cause::required(at, ""));
    } else if number.contains('/') {
        let why = format!("unexpected GroupVersion string: {version}");
        tell(at, version, vec![why], causes);
    } else {
        if !group.is_empty() {
            tell(at, group, joined(names::name(group, Naming::Subdomain, false)), causes);
        }
        match number {
            "" => tell(at, version, vec!["version must be specified".to_owned()], causes),
            _ => tell(at, number, joined(names::name(number, Naming::Service, false)), causes),
        }
    }
    let at = "spec.paramKind.kind";
    if kind.is_empty() {
        causes.push(Cause::required(at, ""));
        return;
    }
    let wrong = names::name(&kind.to_lowercase(), Naming::Service, false);
    if !wrong.is_empty() {
        let start = "may have mixed case, but should otherwise match: ";
        tell(at, kind, vec![format!("{start}{}", wrong.join(","))], causes);
    }
}

/// The constraints of a policy.
pub(super) fn constraints(of: &Value, mutates: bool, causes: &mut Causes) {
    let at = "spec.matchConstraints";
    if of.is_null() {
        causes.push(Cause::required(at, ""));
        return;
    }
    resources(at, of, causes);
    if of["resourceRules"].as_array().is_none_or(Vec::is_empty) {
        causes.push(Cause::required(format!("{at}.resourceRules"), ""));
    }
    if mutates {
        operations(at, of, causes);
    }
}

/// Nothing is changed by a deletion.
fn operations(at: &str, of: &Value, causes: &mut Causes) {
    let known: Vec<&str> = OPERATIONS.into_iter().filter(|it| *it != "DELETE").collect();
    let rules = of["resourceRules"].as_array().into_iter().flatten();
    for operation in rules.flat_map(|it| strings(&it["operations"])) {
        if !known.contains(&operation) {
            let at = format!("{at}.resourceRules.operations");
            causes.push(Cause::unsupported(at, &operation.into(), &known));
        }
    }
}

fn resources(at: &str, of: &Value, causes: &mut Causes) {
    choice(at, of, "matchPolicy", &["Equivalent", "Exact"], causes);
    for field in ["namespaceSelector", "objectSelector"] {
        selector(&format!("{at}.{field}"), &of[field], causes);
    }
    for field in ["resourceRules", "excludeResourceRules"] {
        let rules = of[field].as_array().into_iter().flatten();
        for (index, rule) in rules.enumerate() {
            let at = format!("{at}.{field}[{index}]");
            let mut known = BTreeSet::new();
            for (index, name) in strings(&rule["resourceNames"]).into_iter().enumerate() {
                let at = format!("{at}.resourceNames[{index}]");
                tell(&at, name, names::name(name, Naming::Segment, false), causes);
                if !known.insert(name) {
                    causes.push(twice(&at, name));
                }
            }
            super::super::rules::check_rule(&at, rule, causes);
        }
    }
}

/// A selector whose keys and values must be such, too.
fn selector(at: &str, of: &Value, causes: &mut Causes) {
    for (key, value) in of["matchLabels"].as_object().into_iter().flatten() {
        let (at, value) = (format!("{at}.matchLabels"), value.as_str().unwrap_or(""));
        tell(&at, key, names::qualified(key), causes);
        tell(&at, value, names::label_value(value), causes);
    }
    let terms = of["matchExpressions"].as_array().into_iter().flatten();
    for (index, term) in terms.enumerate() {
        let at = format!("{at}.matchExpressions[{index}]");
        let values = strings(&term["values"]);
        let place = format!("{at}.values");
        match part(term, "operator") {
            "In" | "NotIn" if values.is_empty() => {
                let why = "must be specified when `operator` is 'In' or 'NotIn'";
                causes.push(Cause::required(place, why));
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                causes.push(Cause::forbidden(place, why));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            operator => {
                let why = "not a valid selector operator".to_owned();
                tell(&format!("{at}.operator"), operator, vec![why], causes);
            }
        }
        let key = part(term, "key");
        tell(&format!("{at}.key"), key, names::qualified(key), causes);
        for (index, value) in values.into_iter().enumerate() {
            tell(&format!("{at}.values[{index}]"), value, names::label_value(value), causes);
        }
    }
}

/// Names what is wrong with a binding.
pub(super) fn binding(object: &Value, _: Option<&Value>) -> Causes {
    let (mut causes, spec) = (Causes::default(), &object["spec"]);
    let policy = part(spec, "policyName");
    if policy.is_empty() {
        causes.push(Cause::required("spec.policyName", ""));
    } else {
        let wrong = names::name(policy, Naming::Subdomain, false);
        tell("spec.policyName", policy, wrong, &mut causes);
    }
    if spec["paramRef"].is_object() {
        reference(&spec["paramRef"], &mut causes);
    }
    let at = "spec.matchResources";
    if spec["matchResources"].is_object() {
        resources(at, &spec["matchResources"], &mut causes);
    }
    if object["kind"] == "MutatingAdmissionPolicyBinding" {
        operations(at, &spec["matchResources"], &mut causes);
    } else {
        actions(spec, &mut causes);
    }
    causes
}

fn reference(of: &Value, causes: &mut Causes) {
    let at = |field: &str| format!("spec.paramRef.{field}");
    let name = part(of, "name");
    let both = !name.is_empty() && of["selector"].is_object();
    let why = "name and selector are mutually exclusive";
    tell(&at("name"), name, names::name(name, Naming::Segment, false), causes);
    if both {
        causes.push(Cause::forbidden(at("name"), why));
    }
    selector(&at("selector"), &of["selector"], causes);
    if both {
        causes.push(Cause::forbidden(at("selector"), why));
    }
    if name.is_empty() && of["selector"].is_null() {
        let why = "one of name or selector must be specified";
        causes.push(Cause::required("spec.paramRef", why));
    }
    match part(of, "parameterNotFoundAction") {
        "" => causes.push(Cause::required(at("parameterNotFoundAction"), "")),
        _ => choice("spec.paramRef", of, "parameterNotFoundAction", &["Deny", "Allow"], causes),
    }
}

fn actions(spec: &Value, causes: &mut Causes) {
    let at = "spec.validationActions";
    let all = strings(&spec["validationActions"]);
    for (index, action) in all.iter().enumerate() {
        let at = format!("{at}[{index}]");
        let known = ["Audit", "Deny", "Warn"];
        if !known.contains(action) {
            causes.push(Cause::unsupported(&at, &(*action).into(), &known));
        }
        if all[..index].contains(action) {
            causes.push(twice(&at, action));
        }
        if causes.is_full() {
            return;
        }
    }
    if all.contains(&"Deny") && all.contains(&"Warn") {
        let why = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        causes.push(Cause::invalid(at, &spec["validationActions"], why));
    }
    if all.is_empty() {
        causes.push(Cause::required(at, "at least one validation action is required"));
    }
}
