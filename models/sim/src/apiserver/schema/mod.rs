//! Structural schemas, by which custom resources are pruned, completed and checked.

mod choices;
pub(crate) mod declared;
mod format;
mod lists;
mod rules;
mod validate;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::bounds::At;
use crate::json::OBJECT;
use crate::patch::measure;
use crate::short::note;

/// One node of a structural schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Structural {
    kind: String,
    format: String,
    is_nullable: bool,
    /// Unknown fields stay.
    preserves: bool,
    int_or_string: bool,
    /// It is an object with a kind, a version and metadata of its own.
    is_embedded: bool,
    properties: BTreeMap<String, Self>,
    additional: Option<Box<Self>>,
    items: Option<Box<Self>>,
    default: Option<Value>,
    /// The properties that have a default, each with the memory that it takes.
    defaults: Vec<(String, usize)>,
    /// The values of `enum`, as text.
    values: BTreeSet<String>,
    /// The keywords that are checked one by one.
    checks: Map<String, Value>,
    list_type: String,
    list_keys: Vec<String>,
    /// What is made of other schemas, if there is anything.
    choices: Option<Box<choices::Choices>>,
    /// The rules that are expressions, and whether there are any here or below.
    rules: Option<Arc<rules::Rules>>,
    has_rules: bool,
}

impl Structural {
    pub(crate) fn parse(schema: &Value) -> Self {
        Self::parse_at(schema, true)
    }

    fn parse_at(schema: &Value, is_root: bool) -> Self {
        let flag = |key: &str| schema[key] == true;
        let text = |key: &str| schema[key].as_str().unwrap_or("").to_owned();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let additional = &schema["additionalProperties"];
        let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
        let checks = [
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
            "enum",
            "required",
        ];
        let checks = checks
            .into_iter()
            .filter_map(|key| schema.get(key).map(|value| (key.to_owned(), value.clone())));
        let properties: BTreeMap<_, _> =
            properties.map(|(key, it)| (key.clone(), Self::parse_at(it, false))).collect();
        let defaults = properties.iter().filter_map(|(key, it)| {
            let size = measure(it.default.as_ref()?);
            Some((key.clone(), size.bytes + size.values * size_of::<Value>()))
        });
        let values = schema["enum"].as_array().into_iter().flatten();
        let inner = |it: &Value| it.is_object().then(|| Box::new(Self::parse_at(it, false)));
        let (additional_schema, items) = (inner(additional), inner(&schema["items"]));
        let rules = rules::Rules::of(schema, is_root);
        let has_format = schema["type"] == "string" && schema["format"].is_string();
        let mut below =
            properties.values().chain(additional_schema.as_deref()).chain(items.as_deref());
        Self {
            has_rules: rules.is_some() || below.any(|it| it.has_rules),
            rules,
            choices: ["allOf", "anyOf", "oneOf", "not", "pattern"]
                .iter()
                .any(|key| !schema[key].is_null())
                .then(|| Box::new(choices::Choices::parse(schema)))
                .or_else(|| has_format.then(Box::default)),
            kind: text("type"),
            format: text("format"),
            is_nullable: flag("nullable"),
            preserves: flag("x-kubernetes-preserve-unknown-fields") || *additional == true,
            int_or_string: flag("x-kubernetes-int-or-string"),
            is_embedded: flag("x-kubernetes-embedded-resource"),
            defaults: defaults.collect(),
            values: values.map(Value::to_string).collect(),
            properties,
            additional: additional_schema,
            items,
            default: schema.get("default").cloned(),
            checks: checks.collect(),
            list_type: text("x-kubernetes-list-type"),
            list_keys: keys.filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    }

    fn property(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(self.additional.as_deref())
    }

    /// Removes fields that the schema does not know and collects their paths.
    pub(crate) fn prune(&self, value: &mut Value, path: &At<'_>, unknown: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                let of_all = ["apiVersion", "kind", "metadata"];
                let known = |key: &str| {
                    self.properties.contains_key(key)
                        || self.additional.is_some()
                        || self.is_embedded && of_all.contains(&key)
                };
                if !self.preserves {
                    for key in fields.keys().filter(|key| !known(key)) {
                        note(unknown, At::Field(path, key));
                    }
                    fields.retain(|key, _| known(key));
                }
                for (key, value) in fields.iter_mut() {
                    if let Some(schema) = self.property(key) {
                        schema.prune(value, &At::Field(path, key), unknown);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(schema) = &self.items {
                        schema.prune(item, &At::Item(path, index), unknown);
                    }
                }
            }
            _ => {}
        }
    }

    /// Drops nulls that may not be and that no default takes the place of.
    pub(crate) fn drop_nulls(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|key, value| {
                    let is_kept = |it: &Self| it.is_nullable || it.default.is_some();
                    !value.is_null() || self.property(key).is_none_or(is_kept)
                });
                for (key, value) in fields.iter_mut() {
                    if let Some(schema) = self.property(key) {
                        schema.drop_nulls(value);
                    }
                }
            }
            Value::Array(items) => {
                let schema = self.items.as_deref();
                items
                    .iter_mut()
                    .for_each(|it| schema.into_iter().for_each(|schema| schema.drop_nulls(it)));
            }
            _ => {}
        }
    }

    /// Puts defaults where nothing is, or a null that may not be. `room` is the memory that they may
    /// take: a small schema and a small object can have many together. Tells whether it was enough.
    pub(crate) fn complete(&self, value: &mut Value, room: &mut usize) -> bool {
        match value {
            Value::Object(fields) => {
                for (key, size) in &self.defaults {
                    let Some(schema) = self.properties.get(key) else { continue };
                    let is_wrong = |it: &Value| it.is_null() && !schema.is_nullable;
                    if !fields.get(key).is_none_or(is_wrong) {
                        continue;
                    }
                    // The first field of an object makes room for others.
                    let own = if fields.is_empty() { OBJECT } else { 0 };
                    let size = size + key.len() + own;
                    let Some(left) = room.checked_sub(size) else { return false };
                    *room = left;
                    fields.insert(key.clone(), schema.default.clone().unwrap_or_default());
                }
                fields.iter_mut().all(|(key, value)| {
                    self.property(key).is_none_or(|schema| schema.complete(value, room))
                })
            }
            Value::Array(items) => {
                let schema = self.items.as_deref();
                items.iter_mut().all(|it| schema.is_none_or(|schema| schema.complete(it, room)))
            }
            _ => true,
        }
    }
}
