//! The violations of a schema.

use serde_json::{Map, Value};

use super::Structural;
use crate::apiserver::bounds::{At, check_required, too_much, type_of};
use crate::apiserver::cause::{Cause, Causes};
use crate::short::LONGEST;

impl Structural {
    /// Names the violations of the schema. After a wrong type, the rules that apply to the value as
    /// it is are checked all the same. Tells whether the value is as it was: then its violations do
    /// not count.
    ///
    /// Whether it is the same is found on the way, since to compare first would compare the lowest
    /// values once for each value above them.
    pub(crate) fn validate(
        &self,
        value: &Value,
        old: Option<&Value>,
        path: &At<'_>,
        causes: &mut Causes,
    ) -> bool {
        let is_free = value.is_null() && self.is_nullable && !self.checks.contains_key("enum");
        if is_free || causes.is_full() {
            return old == Some(value);
        }
        let from = causes.len();
        self.validate_alone(value, path, causes);
        let is_same = match value {
            Value::Object(fields) => self.validate_fields(fields, old, path, causes),
            Value::Array(items) => self.validate_items(items, old, path, causes),
            _ => old == Some(value),
        };
        if is_same {
            causes.truncate(from);
        }
        is_same
    }

    /// The rules that do not look into a value.
    fn validate_alone(&self, value: &Value, path: &At<'_>, causes: &mut Causes) {
        let is_right = self.fits(value) || value.is_null() && self.is_nullable;
        if !is_right {
            let found = type_of(value);
            let kind = if self.int_or_string { "integer,string" } else { &self.kind };
            let said = format_args!(
                "Invalid value: \"{found}\": {path} in body must be of type {kind}: \"{found}\""
            );
            causes.push(Cause::new(path, "FieldValueTypeInvalid", said));
        }
        if let Some(choices) = &self.choices {
            let format = if self.kind == "string" { &*self.format } else { "" };
            choices.check(format, value, path, causes);
        }
        if value.is_number() {
            self.check_range(value, path, causes);
        }
        for (keyword, bound) in &self.checks {
            self.check(keyword, bound, value, path, causes);
        }
    }

    fn validate_fields(
        &self,
        fields: &Map<String, Value>,
        old: Option<&Value>,
        path: &At<'_>,
        causes: &mut Causes,
    ) -> bool {
        let old = old.and_then(Value::as_object);
        let mut is_same = old.is_some_and(|old| old.len() == fields.len());
        for (key, value) in fields {
            let old = old.and_then(|old| old.get(key));
            is_same &= match self.property(key) {
                Some(schema) => schema.validate(value, old, &At::Field(path, key), causes),
                None => is_same && old == Some(value),
            };
        }
        is_same
    }

    fn validate_items(
        &self,
        items: &[Value],
        old: Option<&Value>,
        path: &At<'_>,
        causes: &mut Causes,
    ) -> bool {
        let old = old.and_then(Value::as_array).map(Vec::as_slice);
        let mut is_same = old.is_some_and(|old| old.len() == items.len());
        let known = self.known_items(old.unwrap_or_default());
        for (index, item) in items.iter().enumerate() {
            let there = old.and_then(|old| old.get(index));
            let before = known.as_ref().and_then(|known| known.get(&self.item_key(item)).copied());
            let schema = self.items.as_deref();
            let as_before = schema
                .map(|schema| schema.validate(item, before, &At::Item(path, index), causes))
                .filter(|_| before.zip(there).is_some_and(|(one, two)| std::ptr::eq(one, two)));
            is_same = is_same && as_before.unwrap_or_else(|| there == Some(item));
        }
        is_same
    }

    /// The same for one property by itself, which messages then do not name.
    pub(crate) fn validate_property(
        &self,
        name: &str,
        object: &Value,
        old: &Value,
        causes: &mut Causes,
    ) {
        if let (Some(schema), Some(value)) = (self.property(name), object.get(name)) {
            let from = causes.len();
            // A missing property counts as null.
            schema.validate(value, Some(&old[name]), &At::Root, causes);
            for cause in causes.after(from) {
                cause.field = match cause.field.as_str() {
                    "" | "<nil>" => name.to_owned(),
                    inner => format!("{name}.{inner}"),
                };
            }
        }
    }

    /// A number that a client could not read into the type. That has no field of its own.
    fn check_range(&self, value: &Value, path: &At<'_>, causes: &mut Causes) {
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
        path: &At<'_>,
        causes: &mut Causes,
    ) {
        if causes.is_full() {
            return;
        }
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
            causes.push(Cause::invalid(path, value, format_args!("{path} in body {why}")));
        }
    }

    fn check_enum(&self, bound: &Value, value: &Value, path: &At<'_>, causes: &mut Causes) {
        if causes.is_full() || self.values.contains(&value.to_string()) {
            return;
        }
        let known = bound.as_array().into_iter().flatten();
        let known = known.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
        // More would not be told.
        let known: Vec<_> = known
            .scan(0, |length, it| {
                let is_told = *length <= LONGEST;
                *length += it.len();
                is_told.then_some(it)
            })
            .collect();
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        causes.push(Cause::unsupported(path, value, &known));
    }
}
