//! Structural schemas: what custom resources are pruned, completed and checked by.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::status::Cause;

/// One node of a structural schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Structural {
    kind: String,
    is_nullable: bool,
    /// Unknown fields stay.
    preserves: bool,
    int_or_string: bool,
    properties: BTreeMap<String, Self>,
    additional: Option<Box<Self>>,
    items: Option<Box<Self>>,
    default: Option<Value>,
    /// The keywords that are checked one by one.
    checks: Map<String, Value>,
    list_type: String,
    list_keys: Vec<String>,
}

impl Structural {
    pub(crate) fn parse(schema: &Value) -> Self {
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
        Self {
            kind: text("type"),
            is_nullable: flag("nullable"),
            preserves: flag("x-kubernetes-preserve-unknown-fields") || *additional == true,
            int_or_string: flag("x-kubernetes-int-or-string"),
            properties: properties.map(|(key, it)| (key.clone(), Self::parse(it))).collect(),
            additional: additional.is_object().then(|| Box::new(Self::parse(additional))),
            items: schema["items"].is_object().then(|| Box::new(Self::parse(&schema["items"]))),
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
    pub(crate) fn prune(&self, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                let known =
                    |key: &str| self.properties.contains_key(key) || self.additional.is_some();
                if !self.preserves {
                    for key in fields.keys().filter(|key| !known(key)) {
                        unknown.push(join(path, key));
                    }
                    fields.retain(|key, _| known(key));
                }
                for (key, value) in fields.iter_mut() {
                    if let Some(schema) = self.property(key) {
                        schema.prune(value, &join(path, key), unknown);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(schema) = &self.items {
                        schema.prune(item, &format!("{path}[{index}]"), unknown);
                    }
                }
            }
            _ => {}
        }
    }

    /// Drops nulls that may not be, and puts defaults where nothing is.
    pub(crate) fn complete(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|key, value| {
                    let schema = self.property(key);
                    !value.is_null() || schema.is_none_or(|schema| schema.is_nullable)
                });
                for (key, schema) in &self.properties {
                    if let (Some(default), false) = (&schema.default, fields.contains_key(key)) {
                        fields.insert(key.clone(), default.clone());
                    }
                }
                for (key, value) in fields.iter_mut() {
                    if let Some(schema) = self.property(key) {
                        schema.complete(value);
                    }
                }
            }
            Value::Array(items) => {
                let schema = self.items.as_deref();
                items
                    .iter_mut()
                    .for_each(|it| schema.into_iter().for_each(|schema| schema.complete(it)));
            }
            _ => {}
        }
    }

    /// Names what breaks the schema.
    pub(crate) fn validate(&self, value: &Value, path: &str, causes: &mut Vec<Cause>) {
        if value.is_null() && self.is_nullable {
            return;
        }
        if !self.fits(value) {
            let found = type_of(value);
            let said = format!(
                "Invalid value: \"{found}\": {path} in body must be of type {}: \"{found}\"",
                self.kind
            );
            causes.push(Cause::new(path, "FieldValueTypeInvalid", said));
            if self.kind == "integer" && value.is_f64() {
                let said = format!(
                    "Invalid value: \"\": Checked value must be of type integer (default format) in {path}"
                );
                causes.push(Cause::new("<nil>", "FieldValueInvalid", said));
            }
            return;
        }
        for (keyword, bound) in &self.checks {
            self.check(keyword, bound, value, path, causes);
        }
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    if let Some(schema) = self.property(key) {
                        schema.validate(value, &join(path, key), causes);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(schema) = &self.items {
                        schema.validate(item, &format!("{path}[{index}]"), causes);
                    }
                }
                self.find_twice(items, path, causes);
            }
            _ => {}
        }
    }

    /// The same for one property by itself, which messages then do not name.
    pub(crate) fn validate_property(&self, name: &str, object: &Value, causes: &mut Vec<Cause>) {
        if let (Some(schema), Some(value)) = (self.property(name), object.get(name)) {
            let from = causes.len();
            schema.validate(value, "", causes);
            for cause in causes[from..].iter_mut().filter(|cause| cause.field != "<nil>") {
                cause.field = join(name, &cause.field).trim_end_matches('.').to_owned();
            }
        }
    }

    fn fits(&self, value: &Value) -> bool {
        match self.kind.as_str() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            "integer" => value.as_f64().is_some_and(|it| it.fract() == 0.0),
            _ => !self.int_or_string || value.is_string() || value.is_i64() || value.is_u64(),
        }
    }

    fn check(
        &self,
        keyword: &str,
        bound: &Value,
        value: &Value,
        path: &str,
        causes: &mut Vec<Cause>,
    ) {
        let number = value.as_f64();
        let limit = bound.as_f64().unwrap_or(0.0);
        let size = match value {
            Value::String(it) => ("minLength", "maxLength", it.chars().count()),
            Value::Array(it) => ("minItems", "maxItems", it.len()),
            Value::Object(it) => ("minProperties", "maxProperties", it.len()),
            _ => ("", "", 0),
        };
        let wrong = match keyword {
            "minimum" if self.checks.get("exclusiveMinimum") == Some(&true.into()) => number
                .is_some_and(|it| it <= limit)
                .then(|| format!("should be greater than {bound}")),
            "minimum" => number
                .is_some_and(|it| it < limit)
                .then(|| format!("should be greater than or equal to {bound}")),
            "maximum" if self.checks.get("exclusiveMaximum") == Some(&true.into()) => {
                number.is_some_and(|it| it >= limit).then(|| format!("should be less than {bound}"))
            }
            "maximum" => number
                .is_some_and(|it| it > limit)
                .then(|| format!("should be less than or equal to {bound}")),
            "multipleOf" => number
                .is_some_and(|it| limit > 0.0 && it % limit != 0.0)
                .then(|| format!("should be a multiple of {bound}")),
            low if low == size.0 => (size.2 < bound.as_u64().unwrap_or(0) as usize)
                .then(|| format!("should be at least {bound} long")),
            high if high == size.1 => (size.2 > bound.as_u64().unwrap_or(u64::MAX) as usize)
                .then(|| format!("should be at most {bound} long")),
            "enum" => return self.check_enum(bound, value, path, causes),
            "required" => return check_required(bound, value, path, causes),
            _ => None,
        };
        if let Some(why) = wrong {
            causes.push(Cause::invalid(path, value, &format!("{path} in body {why}")));
        }
    }

    fn check_enum(&self, bound: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
        let known = bound.as_array().map_or(&[][..], Vec::as_slice);
        if !known.contains(value) {
            let known: Vec<_> = known
                .iter()
                .map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned))
                .collect();
            let known: Vec<_> = known.iter().map(String::as_str).collect();
            causes.push(Cause::unsupported(path, value, &known));
        }
    }

    /// Lists that are sets or maps hold nothing twice.
    fn find_twice(&self, items: &[Value], path: &str, causes: &mut Vec<Cause>) {
        let key = |item: &Value| match self.list_type.as_str() {
            "set" => Some(item.clone()),
            "map" => Some(self.list_keys.iter().map(|key| item[key].clone()).collect()),
            _ => None,
        };
        for (index, item) in items.iter().enumerate() {
            let Some(found) = key(item) else { return };
            if items[..index].iter().any(|it| key(it).as_ref() == Some(&found)) {
                let shown = match &self.list_type[..] {
                    "map" => Value::Object(
                        self.list_keys.iter().map(|key| (key.clone(), item[key].clone())).collect(),
                    ),
                    _ => item.clone(),
                };
                let message = format!("Duplicate value: {shown}");
                causes.push(Cause::new(format!("{path}[{index}]"), "FieldValueDuplicate", message));
            }
        }
    }
}

fn check_required(bound: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    for key in bound.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.as_object().is_some_and(|fields| !fields.contains_key(key)) {
            causes.push(Cause::required(join(path, key), ""));
        }
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(it) if it.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
