//! `/openapi/v3`: which operations there are, and that the server checks unknown fields itself.
//!
//! Clients read from it whether a server validates fields. The schemas say no more than what kind an
//! object is.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::http::Response;
use super::resource::{Registry, Resource};

/// `api/v1` or `apis/GROUP/VERSION`.
fn folder(resource: &Resource) -> String {
    let root = if resource.group.is_empty() { "api" } else { "apis" };
    format!("{root}/{}", resource.api_version())
}

/// The answer to a path below `/openapi/v3`; none if there is no such document.
pub(super) fn answer(registry: &Registry, rest: &[&str]) -> Option<Response> {
    let wanted = rest.join("/");
    let body = if wanted.is_empty() { index(registry) } else { document(registry, &wanted)? };
    Some(Response::of(200, Arc::new(body)))
}

fn index(registry: &Registry) -> Value {
    let paths: Map<String, Value> = registry
        .iter()
        .map(|resource| {
            let folder = folder(resource);
            let url = format!("/openapi/v3/{folder}");
            (folder, json!({"serverRelativeURL": url}))
        })
        .collect();
    json!({"paths": paths})
}

fn document(registry: &Registry, wanted: &str) -> Option<Value> {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    for resource in registry.iter().filter(|resource| folder(resource) == wanted) {
        let space = if resource.is_namespaced { "/namespaces/{namespace}" } else { "" };
        let path = format!("/{wanted}{space}/{}", resource.plural);
        let operations = |verbs: &[(&str, &str)]| -> Value {
            let verbs = verbs
                .iter()
                .map(|(method, action)| ((*method).to_owned(), operation(resource, action)));
            Value::Object(verbs.collect())
        };
        let all = [("get", "list"), ("post", "post"), ("delete", "deletecollection")];
        let one = [("get", "get"), ("put", "put"), ("patch", "patch"), ("delete", "delete")];
        paths.insert(format!("{path}/{{name}}"), operations(&one));
        paths.insert(path, operations(&all));
        let schema = json!({
            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "x-kubernetes-group-version-kind": [kind(resource)],
        });
        schemas.insert(schema_name(resource), schema);
    }
    (!paths.is_empty()).then(|| {
        json!({
            "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.36.2+seatrial"},
            "paths": paths, "components": {"schemas": schemas},
        })
    })
}

fn operation(resource: &Resource, action: &str) -> Value {
    let writes = matches!(action, "post" | "put" | "patch");
    let names: &[&str] = match action {
        "patch" => &["dryRun", "fieldManager", "fieldValidation", "force"],
        _ if writes => &["dryRun", "fieldManager", "fieldValidation"],
        _ => &[],
    };
    let parameter =
        |name: &&str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
    let reference = format!("#/components/schemas/{}", schema_name(resource));
    let content = json!({"application/json": {"schema": {"$ref": reference}}});
    json!({
        "operationId": format!("{action}{}", resource.kind),
        "x-kubernetes-action": action, "x-kubernetes-group-version-kind": kind(resource),
        "parameters": names.iter().map(parameter).collect::<Value>(),
        "responses": {"200": {"description": "OK", "content": content}},
    })
}

fn kind(resource: &Resource) -> Value {
    json!({"group": resource.group, "version": resource.version, "kind": resource.kind})
}

fn schema_name(resource: &Resource) -> String {
    let group = if resource.group.is_empty() { "core" } else { &resource.group };
    format!("{group}.{}.{}", resource.version, resource.kind)
}
