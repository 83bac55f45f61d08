//! The types of a custom resource, from its structural schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::built_in::{ANY, built_in};
use super::limits;
use super::types::{Field, Id, Kind, ListKind, Scalar, Strategy};

/// The kinds of a schema and which of them is the object. They are numbered from the last built-in
/// one on.
pub(crate) fn kinds(schema: &Value) -> (Vec<Kind>, Id) {
    let mut kinds = Vec::new();
    let root = if schema.is_object() && limits::shallow(schema) {
        object(schema, false, &mut kinds)
    } else {
        object(&Value::Object(Map::new()), false, &mut kinds)
    };
    (kinds, root)
}

/// A whole object: the fields of the schema, and the fields that every object has. With `keeps`, a
/// schema above it keeps unknown fields, and so does the object.
fn object(schema: &Value, keeps: bool, kinds: &mut Vec<Kind>) -> Id {
    let (mut fields, rest) = members(schema, keeps, kinds);
    // The fields that every object has are named.
    let keeps = keeps || flag(schema, "x-kubernetes-preserve-unknown-fields");
    let rest = rest.filter(|_| keeps || schema.get("additionalProperties").is_some());
    let string = scalar(Scalar::String);
    fields.insert("apiVersion".to_owned(), plain(string));
    fields.insert("kind".to_owned(), plain(string));
    fields.insert("metadata".to_owned(), plain(built_in().names["ObjectMeta"]));
    push(Kind::Map { fields, rest, atomic: false }, kinds)
}

fn kind(schema: &Value, keeps: bool, kinds: &mut Vec<Kind>) -> Id {
    let keeps = keeps || flag(schema, "x-kubernetes-preserve-unknown-fields");
    if flag(schema, "x-kubernetes-int-or-string") {
        // The schema says what it may be, and so an apply takes anything.
        return ANY;
    }
    if flag(schema, "x-kubernetes-embedded-resource") {
        return object(schema, keeps, kinds);
    }
    match text(schema, "type") {
        Some("string") => scalar(Scalar::String),
        Some("integer" | "number") => scalar(Scalar::Number),
        Some("boolean") => scalar(Scalar::Boolean),
        Some("array") => {
            let items = schema.get("items").map_or(ANY, |items| kind(items, keeps, kinds));
            let how = match text(schema, "x-kubernetes-list-type") {
                Some("set") => ListKind::Set,
                Some("map") => ListKind::Map(keys(schema)),
                _ => ListKind::Atomic,
            };
            push(Kind::List { items, how }, kinds)
        }
        Some("object") => {
            let (fields, rest) = members(schema, keeps, kinds);
            let atomic = text(schema, "x-kubernetes-map-type") == Some("atomic");
            push(Kind::Map { fields, rest, atomic }, kinds)
        }
        _ => ANY,
    }
}

/// The named fields of an object, and the kind of its other members, if it may have others.
fn members(
    schema: &Value,
    keeps: bool,
    kinds: &mut Vec<Kind>,
) -> (BTreeMap<String, Field>, Option<Id>) {
    let keeps = keeps || flag(schema, "x-kubernetes-preserve-unknown-fields");
    let mut fields = BTreeMap::new();
    if let Some(Value::Object(properties)) = schema.get("properties") {
        for (name, property) in properties {
            let default = property.get("default").filter(|value| !value.is_null()).cloned();
            let field = Field { kind: kind(property, keeps, kinds), default, ..plain(ANY) };
            fields.insert(name.clone(), field);
        }
    }
    // One that names no fields has any.
    let keeps = keeps || fields.is_empty();
    let rest = match schema.get("additionalProperties") {
        Some(values @ Value::Object(_)) => Some(kind(values, keeps, kinds)),
        Some(Value::Bool(true)) => Some(ANY),
        _ => keeps.then_some(ANY),
    };
    (fields, rest)
}

fn plain(kind: Id) -> Field {
    Field { kind, default: None, strategy: Strategy::default() }
}

fn scalar(wanted: Scalar) -> Id {
    let known = super::built_in::SCALARS;
    known.iter().find(|(.., scalar)| *scalar == wanted).map_or(ANY, |(_, id, _)| *id)
}

fn push(kind: Kind, kinds: &mut Vec<Kind>) -> Id {
    kinds.push(kind);
    built_in().kinds.len() + kinds.len() - 1
}

fn keys(schema: &Value) -> Vec<String> {
    let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    keys.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn text<'a>(schema: &'a Value, name: &str) -> Option<&'a str> {
    schema.get(name).and_then(Value::as_str)
}
