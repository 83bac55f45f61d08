//! What the programs of the reference (`tests/all/reference_patches.rs`) do not show, and laws that hold of all
//! patches.

mod apply;
mod bodies;
mod bounds;
mod laws;
mod made_up;
mod strategic;
mod track;
mod types;

use serde_json::{Value, json};

use super::{Apply, Types, Update};

pub(super) const TIME: &str = "2026-01-01T00:00:00Z";
pub(super) const LATER: &str = "2026-01-01T00:00:09Z";

/// A custom resource with a list of ports by name, a set of tags, and undeclared fields.
pub(super) fn widget() -> Types {
    Types::from_schema(&json!({
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": true,
                "properties": {
                    "size": { "type": "integer" },
                    "color": { "type": "string" },
                    "tags": {
                        "type": "array",
                        "items": { "type": "string" },
                        "x-kubernetes-list-type": "set",
                    },
                    "ports": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name"],
                        "items": {
                            "type": "object",
                            "required": ["name"],
                            "properties": {
                                "name": { "type": "string" },
                                "port": { "type": "integer" },
                            },
                        },
                    },
                    "shape": {
                        "type": "object",
                        "x-kubernetes-map-type": "atomic",
                        "properties": {
                            "sides": { "type": "integer" },
                            "round": { "type": "boolean" },
                        },
                    },
                    "steps": { "type": "array", "items": { "type": "string" } },
                    "closed": {
                        "type": "object",
                        "properties": { "only": { "type": "string" } },
                    },
                },
            },
            "status": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
        },
    }))
    .with_status()
}

pub(super) fn object(spec: &Value) -> Value {
    json!({ "apiVersion": "sim/v1", "kind": "Widget", "metadata": { "name": "w" }, "spec": spec })
}

pub(super) fn by(manager: &str) -> Apply<'_> {
    Apply { manager, force: false, api_version: "sim/v1", time: TIME, subresource: "" }
}

pub(super) fn update(manager: &str) -> Update<'_> {
    Update { manager, api_version: "sim/v1", time: TIME, subresource: "" }
}

/// The fields of a manager, in the wire form.
pub(super) fn owned(object: &Value, manager: &str) -> Value {
    let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let entry = entries.into_iter().find(|entry| entry["manager"] == manager);
    entry.map_or(Value::Null, |entry| entry["fieldsV1"].clone())
}
