//! Structural schemas, by which custom resources are pruned, completed and checked.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::bounds::{check_required, join, too_much, type_of};
use super::status::Cause;

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
            format: text("format"),
            is_nullable: flag("nullable"),
            preserves: flag("x-kubernetes-preserve-unknown-fields") || *additional == true,
            int_or_string: flag("x-kubernetes-int-or-string"),
            is_embedded: flag("x-kubernetes-embedded-resource"),
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
                let of_all = ["apiVersion", "kind", "metadata"];
                let known = |key: &str| {
                    self.properties.contains_key(key)
                        || self.additional.is_some()
                        || self.is_embedded && of_all.contains(&key)
                };
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

    /// Puts defaults where nothing is, or a null that may not be.
    pub(crate) fn complete(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (key, schema) in &self.properties {
                    let Some(default) = &schema.default else { continue };
                    let is_wrong = |it: &Value| it.is_null() && !schema.is_nullable;
                    if fields.get(key).is_none_or(is_wrong) {
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

    /// Names the violations of the schema. After a wrong type, the rules that apply to the value as
    /// it is are checked all the same. An unchanged value is not checked.
    pub(crate) fn validate(
        &self,
        value: &Value,
        old: Option<&Value>,
        path: &str,
        causes: &mut Vec<Cause>,
    ) {
        if old == Some(value) {
            return;
        }
        if value.is_null() && self.is_nullable && !self.checks.contains_key("enum") {
            return;
        }
        let is_right = self.fits(value) || value.is_null() && self.is_nullable;
        if !is_right {
            let found = type_of(value);
            let kind = if self.int_or_string { "integer,string" } else { &self.kind };
            let said = format!(
                "Invalid value: \"{found}\": {path} in body must be of type {kind}: \"{found}\""
            );
            causes.push(Cause::new(path, "FieldValueTypeInvalid", said));
        }
        if value.is_number() {
            self.check_range(value, path, causes);
        }
        for (keyword, bound) in &self.checks {
            self.check(keyword, bound, value, path, causes);
        }
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    if let Some(schema) = self.property(key) {
                        let old = old.and_then(|old| old.get(key));
                        schema.validate(value, old, &join(path, key), causes);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(schema) = &self.items {
                        let old = old.and_then(|old| self.same_item(old, item));
                        schema.validate(item, old, &format!("{path}[{index}]"), causes);
                    }
                }
            }
            _ => {}
        }
    }

    /// The item of an older list that has the same keys.
    fn same_item<'a>(&self, old: &'a Value, item: &Value) -> Option<&'a Value> {
        let mut items = old.as_array()?.iter().filter(|_| self.list_type == "map");
        items.find(|old| self.list_keys.iter().all(|key| old.get(key) == item.get(key)))
    }

    /// A number that a client could not read into the type. That has no field of its own.
    fn check_range(&self, value: &Value, path: &str, causes: &mut Vec<Cause>) {
        let whole = || value.as_f64().filter(|it| it.fract() == 0.0).map(|it| it as i64);
        let number = value.as_i64().or_else(whole);
        let is_in_range = match self.format.as_str() {
            "int32" => number.is_some_and(|it| i32::try_from(it).is_ok()),
            _ => number.is_some(),
        };
        if self.kind == "integer" && !is_in_range {
            let format = match self.format.as_str() {
                format @ ("int32" | "int64") => format!("with format {format}"),
                _ => "(default format)".to_owned(),
            };
            let said = format!(
                "Invalid value: \"\": Checked value must be of type integer {format} in {path}"
            );
            causes.push(Cause::new("<nil>", "FieldValueInvalid", said));
        }
    }

    /// Names what lists hold twice that are sets or maps.
    pub(crate) fn validate_lists(&self, value: &Value, path: &str, causes: &mut Vec<Cause>) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    if let Some(schema) = self.property(key) {
                        schema.validate_lists(value, &join(path, key), causes);
                    }
                }
            }
            Value::Array(items) => {
                self.find_twice(items, path, causes);
                for (index, item) in items.iter().enumerate() {
                    if let Some(schema) = &self.items {
                        schema.validate_lists(item, &format!("{path}[{index}]"), causes);
                    }
                }
            }
            _ => {}
        }
    }

    /// The same for one property by itself, which messages then do not name.
    pub(crate) fn validate_property(
        &self,
        name: &str,
        object: &Value,
        old: &Value,
        causes: &mut Vec<Cause>,
    ) {
        if let (Some(schema), Some(value)) = (self.property(name), object.get(name)) {
            let from = causes.len();
            // A missing property counts as null.
            schema.validate(value, Some(&old[name]), "", causes);
            for cause in &mut causes[from..] {
                let inner = if cause.field == "<nil>" { "" } else { &cause.field };
                cause.field = join(name, inner).trim_end_matches('.').to_owned();
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
        // A whole number is compared with whole bounds.
        let is_whole = value.is_i64() || value.is_u64();
        let limit = bound.as_f64().map_or(0.0, |it| if is_whole { it.trunc() } else { it });
        let size = match value {
            Value::String(it) => ("minLength", "maxLength", it.chars().count(), "be", "chars long"),
            Value::Array(it) => ("minItems", "maxItems", it.len(), "have", "items"),
            Value::Object(it) => ("minProperties", "maxProperties", it.len(), "have", "properties"),
            _ => ("", "", 0, "", ""),
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
            "multipleOf" if limit <= 0.0 => number
                .map(|_| {
                    let why =
                        format!("factor MultipleOf declared for {path} must be positive: {limit}");
                    causes.push(Cause::invalid(path, value, &why));
                })
                .and(None),
            "multipleOf" => number
                .is_some_and(|it| it % limit != 0.0)
                .then(|| format!("should be a multiple of {bound}")),
            low if low == size.0 => {
                let least = bound.as_u64().unwrap_or(0) as usize;
                (size.2 < least).then(|| format!("should {} at least {bound} {}", size.3, size.4))
            }
            high if high == size.1 => {
                let most = bound.as_u64().unwrap_or(u64::MAX) as usize;
                causes.extend((size.2 > most).then(|| too_much(path, value, size.2, most)));
                None
            }
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

    /// Lists that are sets or maps hold no duplicates; a duplicate is named once even if it occurs
    /// three times.
    fn find_twice(&self, items: &[Value], path: &str, causes: &mut Vec<Cause>) {
        if !matches!(self.list_type.as_str(), "set" | "map") {
            return;
        }
        let is_map = self.list_type == "map";
        let stranger = items.iter().position(|it| is_map && !it.is_object() && !it.is_null());
        if let Some(index) = stranger {
            let why = "must be an object for an array of list-type map";
            causes.push(Cause::invalid(format!("{path}[{index}]"), &items[index], why));
            return;
        }
        let key = |item: &Value| {
            let keys = self.list_keys.iter();
            let keys = keys.filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
            if is_map { Value::Object(keys.collect()) } else { item.clone() }
        };
        let keys: Vec<_> = items.iter().map(key).collect();
        for (index, found) in keys.iter().enumerate() {
            if keys[..index].iter().filter(|it| *it == found).count() == 1 {
                let message = format!("Duplicate value: {found}");
                causes.push(Cause::new(format!("{path}[{index}]"), "FieldValueDuplicate", message));
            }
        }
    }
}
