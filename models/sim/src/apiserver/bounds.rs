//! Helpers that the checks of a structural schema share: paths, types, and values beyond a bound.

use serde_json::Value;

use super::status::Cause;

/// A text or a collection above its limit.
pub(crate) fn too_much(path: &str, value: &Value, size: usize, most: usize) -> Cause {
    if value.is_string() {
        let said = format!("Too long: may not be more than {most} bytes");
        return Cause::new(path, "FieldValueTooLong", said);
    }
    let said = format!("Too many: {size}: must have at most {most} items");
    Cause::new(path, "FieldValueTooMany", said)
}

pub(crate) fn check_required(bound: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    for key in bound.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.as_object().is_some_and(|fields| !fields.contains_key(key)) {
            causes.push(Cause::required(join(path, key), ""));
        }
    }
}

pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
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
