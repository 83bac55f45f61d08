//! What roles and bindings must be, and what a client may leave out.

use serde_json::Value;

use super::super::cause::{Cause, Causes};
use super::super::names;
use super::GROUP;

/// Fills in the groups of what a binding names.
pub(in super::super) fn complete_binding(object: &mut Value) {
    let is_absent = |of: &Value| of["apiGroup"].as_str().unwrap_or("").is_empty();
    if object["roleRef"].is_object() && is_absent(&object["roleRef"]) {
        object["roleRef"]["apiGroup"] = GROUP.into();
    }
    for subject in object["subjects"].as_array_mut().into_iter().flatten() {
        let is_person = matches!(subject["kind"].as_str(), Some("User" | "Group"));
        if is_person && is_absent(subject) {
            subject["apiGroup"] = GROUP.into();
        }
    }
}

fn is_empty(list: &Value) -> bool {
    list.as_array().is_none_or(Vec::is_empty)
}

/// The errors of a role.
pub(in super::super) fn role(object: &Value, _: Option<&Value>) -> Causes {
    let mut causes = Causes::default();
    for (index, rule) in object["rules"].as_array().into_iter().flatten().enumerate() {
        if causes.is_full() {
            break;
        }
        let at = |field: &str| format!("rules[{index}].{field}");
        if is_empty(&rule["verbs"]) {
            let why = "verbs must contain at least one value";
            causes.push(Cause::required(at("verbs"), why));
        }
        let paths = &rule["nonResourceURLs"];
        if !is_empty(paths) {
            let why = if object["kind"] == "Role" {
                "namespaced rules cannot apply to non-resource URLs"
            } else if ["apiGroups", "resources", "resourceNames"]
                .iter()
                .any(|it| !is_empty(&rule[*it]))
            {
                "rules cannot apply to both regular resources and non-resource URLs"
            } else {
                continue;
            };
            causes.push(Cause::invalid(at("nonResourceURLs"), paths, why));
            continue;
        }
        if is_empty(&rule["apiGroups"]) {
            let why = "resource rules must supply at least one api group";
            causes.push(Cause::required(at("apiGroups"), why));
        }
        if is_empty(&rule["resources"]) {
            let why = "resource rules must supply at least one resource";
            causes.push(Cause::required(at("resources"), why));
        }
    }
    causes
}

/// The errors of a binding. The role that it names stays the same.
pub(in super::super) fn binding(object: &Value, old: Option<&Value>) -> Causes {
    let mut causes = Causes::default();
    let role = &object["roleRef"];
    if role["apiGroup"] != GROUP {
        causes.push(Cause::unsupported("roleRef.apiGroup", &role["apiGroup"], &[GROUP]));
    }
    let kinds: &[&str] = match object["kind"] == "ClusterRoleBinding" {
        true => &["ClusterRole"],
        false => &["Role", "ClusterRole"],
    };
    if !kinds.iter().any(|it| role["kind"] == *it) {
        causes.push(Cause::unsupported("roleRef.kind", &role["kind"], kinds));
    }
    let name = role["name"].as_str().unwrap_or("");
    if name.is_empty() {
        causes.push(Cause::required("roleRef.name", ""));
    }
    for why in names::segment(name, false) {
        causes.push(Cause::invalid("roleRef.name", &role["name"], &why));
    }
    for (index, subject) in object["subjects"].as_array().into_iter().flatten().enumerate() {
        if causes.is_full() {
            break;
        }
        if subject["name"].as_str().unwrap_or("").is_empty() {
            causes.push(Cause::required(format!("subjects[{index}].name"), ""));
        }
        let kinds = ["ServiceAccount", "User", "Group"];
        if !kinds.iter().any(|it| subject["kind"] == *it) {
            let field = format!("subjects[{index}].kind");
            causes.push(Cause::unsupported(field, &subject["kind"], &kinds));
        }
    }
    if old.is_some_and(|old| old["roleRef"] != *role) {
        causes.push(Cause::invalid("roleRef", role, "cannot change roleRef"));
    }
    causes
}
