//! The server's description of itself: groups, resources, version, health.

use std::cmp::Reverse;
use std::sync::Arc;

use serde_json::{Value, json};

use super::http::{Request, Response};
use super::openapi;
use super::pods;
use super::resource::{Registry, Resource};
use super::status::{Failure, Outcome};
use super::stored;

const VERBS: &[&str] =
    &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

fn verbs(resource: &Resource) -> &'static [&'static str] {
    if resource.is_question() { &["create"] } else { VERBS }
}

/// The answer to a path that names no resource; none if it is not one of these.
pub(super) fn answer(registry: &Registry, request: &Request) -> Option<Outcome<Response>> {
    let path = request.path.trim_end_matches('/');
    if path.starts_with("/api") && path.matches('/').count() > 3 {
        return None;
    }
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let whole = request.header("Accept").is_some_and(|it| it.contains("as=APIGroupDiscoveryList"));
    let response = match parts[..] {
        ["healthz" | "livez" | "readyz", ..] => Response::text(200, "ok"),
        ["version"] => ok(version()),
        ["api"] if whole => aggregated(registry, true),
        ["apis"] if whole => aggregated(registry, false),
        ["api"] => ok(json!({
            "kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [],
        })),
        ["apis"] => ok(json!({
            "kind": "APIGroupList", "apiVersion": "v1", "groups": groups(registry),
        })),
        ["openapi", "v3", ref rest @ ..] => match openapi::answer(registry, rest) {
            Some(response) => response,
            None => return Some(Err(Failure::no_page())),
        },
        ["apis", group] => {
            let groups = groups(registry);
            let found = groups.as_array().into_iter().flatten().find(|it| it["name"] == group);
            let Some(found) = found else { return Some(Err(Failure::no_page())) };
            let mut found = found.clone();
            found["kind"] = "APIGroup".into();
            found["apiVersion"] = "v1".into();
            ok(found)
        }
        ["api", version] => return Some(resources(registry, "", version)),
        ["apis", group, version] => return Some(resources(registry, group, version)),
        _ => return None,
    };
    Some(if request.method == "GET" { Ok(response) } else { Err(Failure::method_not_allowed()) })
}

fn ok(body: Value) -> Response {
    Response::of(200, Arc::new(body))
}

fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "gitVersion": "v1.36.2+seatrial", "gitCommit": "",
        "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "",
        "compiler": "", "platform": "",
    })
}

/// The groups but the core one, each with its versions.
fn groups(registry: &Registry) -> Value {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for resource in registry.iter().filter(|it| !it.group.is_empty()) {
        match groups.last_mut() {
            Some((group, versions)) if *group == resource.group => versions.push(&resource.version),
            _ => groups.push((&resource.group, vec![&resource.version])),
        }
    }
    let groups = groups.into_iter().map(|(group, mut versions)| {
        versions.dedup();
        versions.sort_by_key(|version| rank(version));
        let named = |version: &&str| {
            json!({"groupVersion": format!("{group}/{version}"), "version": version})
        };
        let preferred = versions.first().map(named);
        let versions: Value = versions.iter().map(named).collect();
        json!({"name": group, "versions": versions, "preferredVersion": preferred})
    });
    groups.collect()
}

/// Where a version stands in its group: stable ones come first, then `beta`, then `alpha`, each the
/// highest first; other names come last.
fn rank(version: &str) -> (u8, Reverse<(u64, u64)>, &str) {
    let parse = || {
        let rest = version.strip_prefix('v')?;
        let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
        let (major, rest) = rest.split_at(end);
        let (stage, minor) = match rest {
            "" => (0, "0"),
            _ if rest.starts_with("beta") => (1, &rest[4..]),
            _ => (2, rest.strip_prefix("alpha")?),
        };
        Some((stage, Reverse((major.parse().ok()?, minor.parse().ok()?)), ""))
    };
    parse().unwrap_or((3, Reverse((0, 0)), version))
}

fn resources(registry: &Registry, group: &str, version: &str) -> Outcome<Response> {
    if !registry.serves(group, version) {
        return Err(Failure::no_page());
    }
    let served = registry.iter().filter(|it| it.group == group && it.version == version);
    let mut resources: Vec<Value> = Vec::new();
    for resource in served {
        let mut entry = json!({
            "name": resource.plural, "singularName": resource.singular, "kind": resource.kind,
            "namespaced": resource.is_namespaced, "verbs": verbs(resource),
        });
        if !resource.short_names.is_empty() {
            entry["shortNames"] = json!(resource.short_names);
        }
        if !resource.categories.is_empty() {
            entry["categories"] = json!(resource.categories);
        }
        resources.push(entry);
        resources.extend(subresources(resource).into_iter().map(|(name, verbs)| {
            let mut entry = json!({
                "name": format!("{}/{name}", resource.plural), "singularName": "",
                "kind": resource.kind, "namespaced": resource.is_namespaced, "verbs": verbs,
            });
            if let Some((group, kind)) = other_kind(resource, name) {
                entry["kind"] = kind.into();
                if !group.is_empty() {
                    entry["group"] = group.into();
                    entry["version"] = "v1".into();
                }
            }
            entry
        }));
    }
    let name = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    Ok(ok(json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name,
        "resources": resources,
    })))
}

fn subresources(resource: &Resource) -> Vec<(&'static str, Value)> {
    let mut found = Vec::new();
    let asked = pods::ASKED.iter().filter(|it| pods::posted(resource, it.1) == Some(it));
    found.extend(asked.map(|it| (it.1, json!(["create"]))));
    if resource.plural == "namespaces" && resource.group.is_empty() {
        found.push(("finalize", json!(["update"])));
    }
    if stored::has_approval(resource) {
        found.push(("approval", json!(["get", "patch", "update"])));
    }
    if resource.scale.is_some() {
        found.push(("scale", json!(["get", "patch", "update"])));
    }
    if resource.has_status {
        found.push(("status", json!(["get", "patch", "update"])));
    }
    found
}

/// The group and the kind of a subresource that has its own.
fn other_kind(resource: &Resource, name: &str) -> Option<(&'static str, &'static str)> {
    if name == "scale" {
        return Some(("autoscaling", "Scale"));
    }
    pods::posted(resource, name).map(|(_, _, group, kind)| (*group, *kind))
}

/// Everything in one answer, as newer clients ask for it.
fn aggregated(registry: &Registry, core: bool) -> Response {
    let mut items: Vec<Value> = Vec::new();
    for resource in registry.iter().filter(|it| it.group.is_empty() == core) {
        if items.last().is_none_or(|it| it["metadata"]["name"] != resource.group.as_str()) {
            let name = resource.group.as_str();
            items.push(
                json!({"metadata": {"name": name, "creationTimestamp": null}, "versions": []}),
            );
        }
        let versions = items.last_mut().and_then(|it| it["versions"].as_array_mut());
        let Some(versions) = versions else { continue };
        if versions.last().is_none_or(|it| it["version"] != resource.version.as_str()) {
            let version = &resource.version;
            versions.push(json!({"version": version, "resources": [], "freshness": "Current"}));
        }
        let list = versions.last_mut().and_then(|it| it["resources"].as_array_mut());
        list.into_iter().for_each(|list| list.push(described(resource)));
    }
    for item in &mut items {
        let versions = item["versions"].as_array_mut();
        let versions = versions.map_or(&mut [][..], Vec::as_mut_slice);
        versions.sort_by(|a, b| {
            let name = |it: &Value| it["version"].as_str().unwrap_or("").to_owned();
            rank(&name(a)).cmp(&rank(&name(b)))
        });
    }
    let body = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
        "items": items,
    });
    let mut response = ok(body);
    let kind = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    response.headers = vec![("Content-Type", kind.to_owned())];
    response
}

fn described(resource: &Resource) -> Value {
    let kind = json!({"group": resource.group, "version": resource.version, "kind": resource.kind});
    let inner: Value = subresources(resource)
        .into_iter()
        .map(|(name, verbs)| {
            let kind = match other_kind(resource, name) {
                Some((group, kind)) => json!({"group": group, "version": "v1", "kind": kind}),
                None => kind.clone(),
            };
            json!({"subresource": name, "responseKind": kind, "verbs": verbs})
        })
        .collect();
    let mut entry = json!({
        "resource": resource.plural, "responseKind": kind, "singularResource": resource.singular,
        "scope": if resource.is_namespaced { "Namespaced" } else { "Cluster" }, "verbs": verbs(resource),
    });
    if !resource.short_names.is_empty() {
        entry["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        entry["categories"] = json!(resource.categories);
    }
    if inner.as_array().is_some_and(|inner| !inner.is_empty()) {
        entry["subresources"] = inner;
    }
    entry
}
