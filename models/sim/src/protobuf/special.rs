//! The types whose JSON is no object with the fields of their message.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::table::Special;
use super::{Error, time};

/// The JSON of a message whose fields were read.
pub(super) fn fold(of: Special, mut parts: Map<String, Value>) -> Result<Value, Error> {
    let number = |name: &str| parts.get(name).and_then(Value::as_i64).unwrap_or(0);
    Ok(match of {
        Special::Time | Special::MicroTime if parts.is_empty() => Value::Null,
        Special::Time => text(number("seconds"), None)?,
        Special::MicroTime => text(number("seconds"), Some(number("nanos")))?,
        Special::IntOrString => match number("type") {
            0 => number("intVal").into(),
            1 => parts.remove("strVal").unwrap_or_else(|| "".into()),
            _ => return Err(Error::new("impossible IntOrString.Type")),
        },
        Special::Quantity => match parts.remove("string") {
            Some(Value::String(text)) if !text.is_empty() => text.into(),
            _ => "0".into(),
        },
        Special::Raw => parts.remove("raw").unwrap_or_default(),
        Special::Strings => parts.remove("items").unwrap_or_else(|| Value::Array(Vec::new())),
        Special::SchemaOrBool => {
            let allows = parts.get("allows").is_some_and(|it| it == true);
            parts.remove("schema").unwrap_or_else(|| allows.into())
        }
        Special::SchemaOrList | Special::SchemaOrStrings => {
            parts.remove("list").or_else(|| parts.remove("schema")).unwrap_or_default()
        }
    })
}

/// The text of a time; a time with nanoseconds is told to the microsecond.
fn text(seconds: i64, nanos: Option<i64>) -> Result<Value, Error> {
    if seconds == time::NEVER && nanos.unwrap_or(0) == 0 {
        return Ok(Value::Null);
    }
    let carried = nanos.unwrap_or(0).div_euclid(1_000_000_000);
    let micros = nanos.map(|nanos| nanos.rem_euclid(1_000_000_000) / 1_000);
    let text = time::write(seconds.saturating_add(carried), micros).map(Value::from);
    text.ok_or_else(|| Error::new("a time must lie in the years 1 to 9999"))
}

/// The fields to write of the message that a value of JSON stands for, in the order of their numbers.
pub(super) fn unfold(of: Special, value: &Value) -> Vec<(u32, Cow<'_, Value>)> {
    let own = |value: Value| Cow::Owned(value);
    let as_is = || Cow::Borrowed(value);
    match of {
        Special::Time | Special::MicroTime => {
            let micro = of == Special::MicroTime;
            match value.as_str().and_then(time::read) {
                None | Some((time::NEVER, 0)) => Vec::new(),
                Some((seconds, micros)) => {
                    let nanos = if micro { micros * 1_000 } else { 0 };
                    vec![(1, own(seconds.into())), (2, own(nanos.into()))]
                }
            }
        }
        Special::IntOrString => {
            let (text, number) = (value.as_str(), value.as_i64().unwrap_or(0));
            vec![
                (1, own(i64::from(text.is_some()).into())),
                (2, own(number.into())),
                (3, own(text.unwrap_or("").into())),
            ]
        }
        Special::Quantity => match value {
            Value::String(_) => vec![(1, as_is())],
            Value::Number(number) => vec![(1, own(number.to_string().into()))],
            _ => vec![(1, own("0".into()))],
        },
        Special::Raw if value.is_null() => Vec::new(),
        Special::Raw | Special::Strings => vec![(1, as_is())],
        Special::SchemaOrBool if value.is_object() => {
            vec![(1, own(true.into())), (2, as_is())]
        }
        Special::SchemaOrBool => vec![(1, own(value.as_bool().unwrap_or(false).into()))],
        Special::SchemaOrList | Special::SchemaOrStrings if value.is_array() => {
            vec![(2, as_is())]
        }
        Special::SchemaOrList | Special::SchemaOrStrings if value.is_null() => Vec::new(),
        Special::SchemaOrList | Special::SchemaOrStrings => vec![(1, as_is())],
    }
}
