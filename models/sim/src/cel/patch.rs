//! What expressions of patches evaluate to, as JSON.

use std::collections::BTreeMap;

use serde_json::{Map as Fields, Value as Json, json};

use super::value::{List, Map, Value};

/// How much a patch may hold: values that share their parts may be longer in writing than any memory.
const LARGEST: u64 = 3 * 1024 * 1024;

/// A map whose keys are no texts, or a value that JSON does not have.
const NO_OBJECT: &str = "invalid return type: *dynamic.ObjectVal";

fn fits(value: &Value<'_>) -> Result<(), String> {
    let is_small = value.weight(LARGEST) <= LARGEST;
    is_small.then_some(()).ok_or_else(|| "the patch is too large".to_owned())
}

/// The object that an expression wants to apply.
pub(crate) fn applied(value: &Value<'_>) -> Result<Json, String> {
    fits(value)?;
    names(value)?;
    json(value).map_err(|_| NO_OBJECT.to_owned())
}

/// The operations of a patch.
pub(crate) fn operations(value: &Value<'_>) -> Result<Vec<Json>, String> {
    fits(value)?;
    let Value::List(list) = value else { return Err("no list".to_owned()) };
    let mut operations = Vec::new();
    for item in list.items()? {
        let Value::Made(_, map) = item else { return Err("no JSONPatch".to_owned()) };
        let mut operation = json!({"op": "", "path": ""});
        for (key, value) in map.entries() {
            let (Value::Text(key), value) = (key, value?) else { continue };
            names(&value)?;
            let value = json(&value)?;
            if &*key != "from" || value != "" {
                operation[&*key] = value;
            }
        }
        operations.push(operation);
    }
    Ok(operations)
}

/// The type of each object must name the fields that lead to it.
fn names(value: &Value<'_>) -> Result<(), String> {
    let Value::Made(name, _) = value else { return Ok(()) };
    let mut wrong = Vec::new();
    walk(value, name, &mut wrong)?;
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("type mismatch: {}", wrong.join("\n"))),
    }
}

fn walk(value: &Value<'_>, path: &str, wrong: &mut Vec<String>) -> Result<(), String> {
    match value {
        Value::Made(name, map) => {
            if **name != *path {
                wrong.push(format!(
                    "unexpected type name {name:?}, expected {path:?}, which matches field name path from root Object type"
                ));
            }
            let fields = fields(map)?;
            for (field, value) in &fields {
                walk(value, &format!("{path}.{field}"), wrong)?;
            }
        }
        Value::List(List::Made(items, _)) => {
            items.iter().try_for_each(|it| walk(it, path, wrong))?;
        }
        Value::Map(map @ Map::Made(..)) => {
            fields(map)?.values().try_for_each(|it| walk(it, path, wrong))?;
        }
        _ => {}
    }
    Ok(())
}

fn fields<'a>(map: &Map<'a>) -> Result<BTreeMap<String, Value<'a>>, String> {
    let named = |(key, value): (Value<'a>, Result<Value<'a>, String>)| match key {
        Value::Text(key) => Ok((key.into_owned(), value?)),
        _ => Err(NO_OBJECT.to_owned()),
    };
    map.entries().map(named).collect()
}

fn json(value: &Value<'_>) -> Result<Json, String> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(it) => (*it).into(),
        Value::Int(it) => (*it).into(),
        Value::Uint(it) => (*it).into(),
        Value::Double(it) => (*it).into(),
        Value::Text(it) => it.as_ref().into(),
        Value::List(list) => {
            let items = list.items()?;
            Json::Array(items.iter().map(json).collect::<Result<_, _>>()?)
        }
        Value::Map(map) | Value::Made(_, map) => {
            let fields = fields(map)?.into_iter().map(|(key, value)| Ok((key, json(&value)?)));
            Json::Object(fields.collect::<Result<Fields<_, _>, String>>()?)
        }
        other => return Err(format!("{} is no JSON", other.type_name())),
    })
}
