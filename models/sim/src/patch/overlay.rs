//! An object with another on top, without owners: what a policy applies.

use serde_json::Value;

use super::check::check;
use super::combine::combine;
use super::types::{Id, Kind, ListKind, Types};
use crate::short::{MOST, note};

/// Why an object cannot be laid over another.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It is not of the kind.
    Form(String),
    /// It has a part of something that is owned as a whole: these paths.
    Atomic(Vec<String>),
}

/// Lays an object over another one of its kind. Lists and maps that are owned as a whole cannot be in it.
pub(crate) fn lay_over(types: &Types, live: &Value, wanted: &Value) -> Result<Value, Refused> {
    let mut found = Found::default();
    find(types, types.root(), wanted, &mut String::new(), &mut found);
    let mut wrong = check(types, wanted);
    wrong.append(&mut found.nulls);
    match wrong.len() {
        0 => {}
        1 => return Err(Refused::Form(wrong.remove(0))),
        _ => return Err(Refused::Form(format!("errors:\n  {}", wrong.join("\n  ")))),
    }
    if !found.atomic.is_empty() {
        return Err(Refused::Atomic(found.atomic));
    }
    Ok(combine(types, types.root(), Some(live), Some(wanted)).unwrap_or_else(|| live.clone()))
}

/// What cannot be applied, by its path.
#[derive(Default)]
struct Found {
    atomic: Vec<String>,
    /// A null removes nothing: it is a value of a wrong type.
    nulls: Vec<String>,
}

fn find(types: &Types, id: Id, value: &Value, path: &mut String, found: &mut Found) {
    let length = path.len();
    match (types.kind(id), value) {
        _ if found.atomic.len() >= MOST => {}
        (kind, Value::Null) => {
            let what = match kind {
                Kind::Map { .. } => "map",
                Kind::List { .. } => "list",
                _ => "scalar",
            };
            note(&mut found.nulls, format_args!("{path}: expected {what}, got &{{NULL_VALUE}}"));
        }
        (Kind::Map { fields, atomic: is_atomic, .. }, Value::Object(members)) => {
            if *is_atomic {
                note(&mut found.atomic, &*path);
            }
            for (name, member) in members {
                let Some(field) = fields.get(name) else { continue };
                *path += &format!(".{name}");
                find(types, field.kind, member, path, found);
                path.truncate(length);
            }
        }
        (Kind::List { items, how }, Value::Array(list)) => {
            if *how == ListKind::Atomic {
                note(&mut found.atomic, &*path);
            }
            for (index, item) in list.iter().enumerate() {
                *path += &format!("[{index}]");
                find(types, *items, item, path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}
