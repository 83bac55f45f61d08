//! Helpers that the checks of a structural schema share: paths, types, and values beyond a bound.

use std::fmt::{self, Display};

use serde_json::Value;

use super::cause::{Cause, Causes};

/// The path of a field. It is put together only where a mistake is told: keys may be long, and what
/// is below them may be much.
#[derive(Clone, Copy)]
pub(crate) enum At<'a> {
    /// The object itself.
    Root,
    Field(&'a At<'a>, &'a str),
    /// The value of a key of a map.
    Key(&'a At<'a>, &'a str),
    Item(&'a At<'a>, usize),
}

impl Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, key) => f.write_str(key),
            Self::Field(above, key) => write!(f, "{above}.{key}"),
            Self::Key(above, key) => write!(f, "{above}[{key}]"),
            Self::Item(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}

/// A text or a collection above its limit.
pub(crate) fn too_much(path: &At<'_>, value: &Value, size: usize, most: usize) -> Cause {
    if value.is_string() {
        let said = format!("Too long: may not be more than {most} bytes");
        return Cause::new(path, "FieldValueTooLong", said);
    }
    let said = format!("Too many: {size}: must have at most {most} items");
    Cause::new(path, "FieldValueTooMany", said)
}

pub(crate) fn check_required(bound: &Value, value: &Value, path: &At<'_>, causes: &mut Causes) {
    for key in bound.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if causes.is_full() {
            return;
        }
        if value.as_object().is_some_and(|fields| !fields.contains_key(key)) {
            causes.push(Cause::required(At::Field(path, key), ""));
        }
    }
}

pub(crate) fn type_of(value: &Value) -> &'static str {
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

/// The type of a value as programs in Go print it.
pub(crate) fn go_type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(it) if it.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
