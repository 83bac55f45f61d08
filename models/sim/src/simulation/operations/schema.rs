//! The schema of an object, and the fields that it has.

use serde_json::{Map, Value, json};

use crate::apiserver::Server;

/// How many fields are known at most, and how deep they lie: a schema may hold itself in many places.
const MOST: usize = 4_000;
const DEEPEST: usize = 12;

/// What the server says about an object, and what its schema leaves open as the object shows it.
pub(super) fn of(server: &Server, object: &Value) -> Result<Value, String> {
    let (kind, version) = (&object["kind"], &object["apiVersion"]);
    let mut resources = server.resources();
    let resource = resources
        .find(|it| *kind == *it.kind && *version == *it.api_version())
        .ok_or_else(|| format!("the server has no {kind} in {version}"))?;
    let schema = match resource.built_in_schema() {
        Some(schema) => schema,
        None => declared(server, &resource.qualified(), &resource.version)
            .ok_or_else(|| format!("no definition declares {kind} in {version}"))?,
    };
    Ok(filled(schema, Some(object), !resource.is_custom))
}

/// The schema in the definition of a custom resource.
fn declared(server: &Server, name: &str, version: &str) -> Option<Value> {
    let contents = server.contents();
    let (_, _, definition) = contents.iter().find(|(resource, key, _)| {
        **resource == *"customresourcedefinitions.apiextensions.k8s.io" && **key == *name
    })?;
    let versions = definition["spec"]["versions"].as_array()?;
    let found = versions.iter().find(|it| it["name"] == version)?;
    Some(found["schema"]["openAPIV3Schema"].clone())
}

/// Whether a schema says nothing about what is below it.
fn is_open(schema: &Value) -> bool {
    let says = ["properties", "items", "x-kubernetes-int-or-string"];
    let is_scalar =
        matches!(schema["type"].as_str(), Some("string" | "integer" | "number" | "boolean"));
    !is_scalar
        && !schema["additionalProperties"].is_object()
        && says.iter().all(|it| schema[*it].is_null())
}

/// The same with what an example shows where it says nothing. What is not known to be optional is marked.
fn filled(mut schema: Value, example: Option<&Value>, is_loose: bool) -> Value {
    let is_loose = is_loose || is_open(&schema) && example.is_some();
    if let Some(example) = example.filter(|_| is_open(&schema)) {
        let nothing = || json!({});
        let shown = match example {
            Value::Object(fields) => {
                let known = fields.keys().map(|name| (name.clone(), nothing()));
                json!({"type": "object", "properties": known.collect::<Map<_, _>>()})
            }
            Value::Array(_) => json!({"type": "array", "items": nothing()}),
            Value::String(_) => json!({"type": "string"}),
            Value::Bool(_) => json!({"type": "boolean"}),
            Value::Number(it) if it.is_f64() => json!({"type": "number"}),
            Value::Number(_) => json!({"type": "integer"}),
            Value::Null => nothing(),
        };
        schema = shown;
    }
    if is_loose && schema.is_object() {
        schema["x-loose"] = true.into();
    }
    for (name, inner) in schema["properties"].as_object_mut().into_iter().flatten() {
        *inner = filled(inner.take(), example.and_then(|it| it.get(name)), is_loose);
    }
    let first = |of: &Value| match of {
        Value::Object(fields) => fields.values().next().cloned(),
        Value::Array(items) => items.first().cloned(),
        _ => None,
    };
    for below in ["items", "additionalProperties"] {
        if schema[below].is_object() {
            let example = example.and_then(first);
            schema[below] = filled(schema[below].take(), example.as_ref(), is_loose);
        }
    }
    schema
}

/// A step on the way to a field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Name(String),
    /// Any item of a list.
    Item,
    /// Any key of a map.
    Key,
}

/// A field that may be changed.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) path: Vec<Part>,
    pub(super) is_required: bool,
}

impl Field {
    /// `spec.containers[].image`, and `spec.labels.*`.
    pub(super) fn name(&self) -> String {
        let mut text = String::new();
        for part in &self.path {
            match part {
                Part::Name(name) if text.is_empty() => text.push_str(name),
                Part::Name(name) => text.extend([".", name]),
                Part::Item => text.push_str("[]"),
                Part::Key => text.push_str(".*"),
            }
        }
        text
    }
}

/// The fields of the objects, without those that the server or the controller writes.
pub(super) fn fields(schema: &Value) -> Vec<Field> {
    let mut found = Vec::new();
    walk(schema, &mut Vec::new(), true, &mut found);
    found
}

fn walk(schema: &Value, path: &mut Vec<Part>, is_required: bool, found: &mut Vec<Field>) {
    if found.len() >= MOST || path.len() > DEEPEST {
        return;
    }
    let properties = schema["properties"].as_object();
    // A struct that must be there is changed in its fields alone.
    if !path.is_empty() && (properties.is_none() || !is_required) && !is_open(schema) {
        found.push(Field { path: path.clone(), is_required });
    }
    let required = schema["required"].as_array();
    for (name, inner) in properties.into_iter().flatten() {
        let is_own = path.is_empty()
            && matches!(name.as_str(), "apiVersion" | "kind" | "metadata" | "status");
        if is_own {
            continue;
        }
        // Many definitions do not say that there must be a specification, and it makes no sense without.
        let is_needed = path.is_empty()
            || inner["x-loose"] == true
            || required.is_some_and(|required| required.iter().any(|it| it == name));
        path.push(Part::Name(name.clone()));
        walk(inner, path, is_needed, found);
        path.pop();
    }
    for (below, part) in [("items", Part::Item), ("additionalProperties", Part::Key)] {
        if schema[below].is_object() {
            path.push(part);
            walk(&schema[below], path, true, found);
            path.pop();
        }
    }
}
