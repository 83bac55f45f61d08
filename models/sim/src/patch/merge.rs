//! Merge patch: a partial object, in which `null` removes.

use serde_json::{Map, Value};

use super::PatchError;
use super::json::type_name;
use super::limits;

/// Applies a merge patch (RFC 7386) as the server does.
///
/// It differs from the RFC in one thing, as the server does: `null` members of objects inside a new
/// list are dropped as well, unless the list takes the place of an object.
///
/// # Errors
///
/// 400 if the patch is no JSON object.
pub fn merge(original: &Value, patch: &[u8]) -> Result<Value, PatchError> {
    let patch = match serde_json::from_slice(patch) {
        Ok(Value::Object(patch)) => patch,
        Ok(Value::Null) => return Err(PatchError::bad_request("Invalid JSON Patch")),
        Ok(other) => {
            return Err(PatchError::bad_request(format!(
                "error decoding patch: json: cannot unmarshal {} into Go value of type \
                 map[string]interface {{}}",
                type_name(&other)
            )));
        }
        Err(error) => {
            return Err(PatchError::bad_request(format!("error decoding patch: {error}")));
        }
    };
    if !limits::shallow(original) {
        return Err(PatchError::bad_request("the object is nested too deeply to be patched"));
    }
    Ok(match original {
        Value::Object(members) => {
            let mut members = members.clone();
            merge_members(&mut members, patch);
            Value::Object(members)
        }
        _ => without_nulls(Value::Object(patch)),
    })
}

fn merge_members(members: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (key, wanted) in patch {
        match (members.get_mut(&key), wanted) {
            (_, Value::Null) => {
                members.remove(&key);
            }
            (Some(Value::Object(old)), Value::Object(wanted)) => merge_members(old, wanted),
            (Some(old @ Value::Object(_)), wanted) => *old = wanted,
            (_, wanted) => {
                members.insert(key, without_nulls(wanted));
            }
        }
    }
}

/// A value without the `null` members of the objects in it. Items of lists stay.
pub(crate) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .filter(|(_, member)| !member.is_null())
                .map(|(key, member)| (key, without_nulls(member)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        scalar => scalar,
    }
}
