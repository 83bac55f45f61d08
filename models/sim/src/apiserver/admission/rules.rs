//! What a configuration of webhooks may say, and what it says if it says nothing.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::cause::{Cause, Causes};
use super::super::label::Labels;
use super::super::metadata::strings;
use super::super::names::{self, Naming};
use super::conditions::{Conditions, Weight};
use super::policy::sight::Sight;
use crate::short::{MOST, short};

/// Fills in what a client may leave out.
pub(crate) fn complete(object: &mut Value) {
    let is_mutating = object["kind"] == "MutatingWebhookConfiguration";
    let hooks = object.get_mut("webhooks").and_then(Value::as_array_mut);
    for hook in hooks.into_iter().flatten().filter(|it| it.is_object()) {
        let mut default = |field: &str, value: Value| {
            if hook[field].is_null() {
                hook[field] = value;
            }
        };
        default("failurePolicy", json!("Fail"));
        default("matchPolicy", json!("Equivalent"));
        default("namespaceSelector", json!({}));
        default("objectSelector", json!({}));
        default("timeoutSeconds", json!(10));
        if is_mutating {
            default("reinvocationPolicy", json!("Never"));
        }
        let service = hook.get_mut("clientConfig").and_then(|it| it.get_mut("service"));
        if let Some(service) = service.filter(|it| it.is_object() && it["port"].is_null()) {
            service["port"] = 443.into();
        }
    }
}

/// Names what is wrong.
pub(crate) fn validate(object: &Value, _: Option<&Value>) -> Causes {
    let (mut causes, mut names) = (Causes::default(), BTreeSet::new());
    let (sight, mut weight) = (Sight { authorizer: true, ..Sight::default() }, Weight::default());
    for (index, hook) in object["webhooks"].as_array().into_iter().flatten().enumerate() {
        if causes.is_full() {
            break;
        }
        let at = format!("webhooks[{index}]");
        let name = hook["name"].as_str().unwrap_or("");
        let segments = name.split('.').filter(|it| !it.is_empty()).count();
        if name.is_empty() {
            causes.push(Cause::required(format!("{at}.name"), ""));
        } else if segments < 3 {
            let why = "should be a domain with at least three segments separated by dots";
            causes.push(Cause::invalid(format!("{at}.name"), &name.into(), why));
        } else if !names.insert(name) {
            let why = format!("Duplicate value: {:?}", short(name));
            causes.push(Cause::new(format!("{at}.name"), "FieldValueDuplicate", why));
        }
        for (index, rule) in hook["rules"].as_array().into_iter().flatten().enumerate() {
            check_rule(&format!("{at}.rules[{index}]"), rule, &mut causes);
        }
        check_policies(&at, hook, &mut causes);
        check_client(&format!("{at}.clientConfig"), &hook["clientConfig"], &mut causes);
        for field in ["namespaceSelector", "objectSelector"] {
            if let Err(wrong) = Labels::of(&hook[field]) {
                let place = |it: Cause| Cause { field: format!("{at}.{field}.{}", it.field), ..it };
                causes.extend(wrong.into_iter().map(place));
            }
        }
        Conditions::read(&at, hook, (&sight, &mut weight), &mut causes);
    }
    causes
}

fn check_policies(at: &str, hook: &Value, causes: &mut Causes) {
    for (field, known) in [
        ("failurePolicy", &["Fail", "Ignore"][..]),
        ("matchPolicy", &["Equivalent", "Exact"]),
        ("reinvocationPolicy", &["IfNeeded", "Never"]),
        ("sideEffects", &["None", "NoneOnDryRun"]),
    ] {
        let value = &hook[field];
        if !value.is_null() && !known.iter().any(|it| value == it) {
            causes.push(Cause::unsupported(format!("{at}.{field}"), value, known));
        }
    }
    if hook["sideEffects"].is_null() {
        let why = "must specify one of None, NoneOnDryRun";
        causes.push(Cause::required(format!("{at}.sideEffects"), why));
    }
    let (field, versions) = ("admissionReviewVersions", &hook["admissionReviewVersions"]);
    if strings(versions).is_empty() {
        let why = "must specify one of v1, v1beta1";
        causes.push(Cause::required(format!("{at}.{field}"), why));
    } else if !strings(versions).iter().any(|it| matches!(*it, "v1" | "v1beta1")) {
        let why = "must include at least one of v1, v1beta1";
        causes.push(Cause::invalid(format!("{at}.{field}"), versions, why));
    }
    let timeout = &hook["timeoutSeconds"];
    if !timeout.is_null() && !timeout.as_i64().is_some_and(|it| (1..=30).contains(&it)) {
        let why = "the timeout value must be between 1 and 30 seconds";
        causes.push(Cause::invalid(format!("{at}.timeoutSeconds"), timeout, why));
    }
}

/// What may be done to an object, as rules name it.
pub(super) const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

pub(super) fn check_rule(at: &str, rule: &Value, causes: &mut Causes) {
    for (field, what) in [
        ("operations", "operations"),
        ("apiGroups", "API groups"),
        ("apiVersions", "API versions"),
        ("resources", ""),
    ] {
        let (at, all) = (format!("{at}.{field}"), strings(&rule[field]));
        if all.is_empty() {
            causes.push(Cause::required(&at, ""));
        }
        if all.len() > 1 && all.contains(&"*") && !what.is_empty() {
            let why = format!("if '*' is present, must not specify other {what}");
            causes.push(Cause::invalid(&at, &rule[field], why));
        }
        for (index, value) in all.into_iter().enumerate() {
            let at = format!("{at}[{index}]");
            match field {
                "operations" if !OPERATIONS.contains(&value) => {
                    causes.push(Cause::unsupported(at, &value.into(), &OPERATIONS));
                }
                "apiVersions" | "resources" if value.is_empty() => {
                    causes.push(Cause::required(at, ""));
                }
                _ => {}
            }
        }
    }
    check_resources(&format!("{at}.resources"), &rule["resources"], causes);
    let (scope, known) = (&rule["scope"], ["*", "Cluster", "Namespaced"]);
    if !scope.is_null() && !known.iter().any(|it| scope == it) {
        causes.push(Cause::unsupported(format!("{at}.scope"), scope, &known));
    }
}

/// Nothing is named beside a wildcard that covers it.
fn check_resources(at: &str, resources: &Value, causes: &mut Causes) {
    let all = strings(resources);
    let (mut any_part, mut any_resource) = (BTreeSet::new(), BTreeSet::new());
    let (mut has_all, mut has_whole) = (false, false);
    for (index, resource) in all.iter().enumerate() {
        has_all |= *resource == "*";
        let Some((of, part)) = resource.split_once('/') else {
            has_whole = !matches!(*resource, "*" | "");
            continue;
        };
        for (covering, is_there) in [
            (format!("{of}/*"), any_part.contains(of)),
            (format!("*/{part}"), any_resource.contains(part)),
        ] {
            if is_there {
                let why = format!("if '{covering}' is present, must not specify {resource}");
                causes.push(Cause::invalid(format!("{at}[{index}]"), &(*resource).into(), why));
            }
        }
        if part == "*" {
            any_part.insert(of);
        }
        if of == "*" {
            any_resource.insert(part);
        }
    }
    for (is_wrong, covering, what) in [
        (all.len() > 1 && all.contains(&"*/*"), "*/*", "resources"),
        (has_all && has_whole, "*", "resources without subresources"),
    ] {
        if is_wrong {
            let why = format!("if '{covering}' is present, must not specify other {what}");
            causes.push(Cause::invalid(at, resources, why));
        }
    }
}

pub(in super::super) fn check_client(at: &str, client: &Value, causes: &mut Causes) {
    let (url, service) = (client["url"].as_str(), &client["service"]);
    if url.is_some() != service.is_null() {
        causes.push(Cause::required(at, "exactly one of url or service is required"));
        return;
    }
    if let Some(url) = url {
        let field = format!("{at}.url");
        let form = "; desired format: https://host[/path]";
        if url.starts_with(':') {
            let why = format!("parse {:?}: missing protocol scheme", short(url));
            causes.push(Cause::required(&field, &format!("url must be a valid URL: {why}{form}")));
            return;
        }
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        if scheme != "https" {
            let why = format!("'https' is the only allowed URL scheme{form}");
            causes.push(Cause::invalid(&field, &scheme.into(), why));
        }
        let host = rest.split(['/', '?', '#']).next().unwrap_or("");
        if host.is_empty() {
            let why = format!("host must be specified{form}");
            causes.push(Cause::invalid(&field, &host.into(), why));
        }
        if host.contains('@') {
            let why = "user information is not permitted in the URL";
            causes.push(Cause::invalid(&field, &"".into(), why));
        }
        for (sign, what) in
            [('#', "fragments are not permitted"), ('?', "query parameters are not permitted")]
        {
            if let Some((_, part)) = rest.split_once(sign) {
                causes.push(Cause::invalid(&field, &part.into(), format!("{what} in the URL")));
            }
        }
        return;
    }
    for part in ["name", "namespace"] {
        if service[part].as_str().unwrap_or("").is_empty() {
            causes.push(Cause::required(format!("{at}.service.{part}"), ""));
        }
    }
    let port = &service["port"];
    if !port.is_null() && !port.as_u64().is_some_and(|it| (1..=65_535).contains(&it)) {
        let why = "port is not valid: must be between 1 and 65535, inclusive";
        causes.push(Cause::invalid(format!("{at}.service.port"), port, why));
    }
    check_path(&format!("{at}.service.path"), service["path"].as_str().unwrap_or(""), causes);
}

/// The segments of the path of a service are names of a domain.
fn check_path(at: &str, path: &str, causes: &mut Causes) {
    if matches!(path, "" | "/") {
        return;
    }
    let mut wrong = |why: String| causes.push(Cause::invalid(at, &path.into(), why));
    if !path.starts_with('/') {
        wrong("must start with a '/'".to_owned());
    }
    // The first letter is left out also if it is no slash.
    let rest = path.get(1..).unwrap_or("");
    for (index, segment) in rest.strip_suffix('/').unwrap_or(rest).split('/').enumerate().take(MOST)
    {
        if segment.is_empty() {
            wrong(format!("segment[{index}] may not be empty"));
            continue;
        }
        for why in names::name(segment, Naming::Subdomain, false) {
            wrong(format!("segment[{index}]: {why}"));
        }
    }
}
