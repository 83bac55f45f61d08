//! Strategic merge patch: a partial object whose lists are merged as their kind says.

use std::cell::Cell;
use std::ops::Deref;

use serde_json::{Map, Value};

use super::PatchError;
use super::json::type_name;
use super::limits;
use super::merge::without_nulls;
use super::strategic_list::{Merged, merge_items, order};
use super::types::{Id, Kind, Types};
use crate::short::short;

/// The member of an object that says what to do with it.
pub(crate) const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList";
const ORDER: &str = "$setElementOrder";

/// Applies a strategic merge patch as the server does.
///
/// # Errors
///
/// 400 if the patch is no JSON object or has a directive of the wrong form, 500 without a reason for
/// what contradicts the kind or itself, as the server has it.
pub fn strategic(original: &Value, patch: &[u8], kind: &Types) -> Result<Value, PatchError> {
    let patch = match serde_json::from_slice(patch) {
        Ok(Value::Object(patch)) => patch,
        Ok(Value::Null) => Map::new(),
        Ok(other) => {
            return Err(PatchError::bad_request(format!(
                "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                super::json::type_name(&other)
            )));
        }
        Err(error) => return Err(PatchError::bad_request(error.to_string())),
    };
    let Value::Object(members) = original else {
        return Err(PatchError::bad_request("invalid JSON document"));
    };
    if !limits::shallow(original) {
        return Err(PatchError::bad_request("the object is nested too deeply to be patched"));
    }
    let kind = Merging { types: kind, left: Cell::new(limits::MERGED_ITEMS) };
    let merged = merge_members(&kind, kind.root(), members.clone(), patch)?;
    Ok(Value::Object(merged))
}

/// The types of an object, and how many items of lists may still be gone through: a patch may name
/// the item of a long list many times.
pub(crate) struct Merging<'a> {
    types: &'a Types,
    left: Cell<usize>,
}

impl Deref for Merging<'_> {
    type Target = Types;

    fn deref(&self) -> &Types {
        self.types
    }
}

impl Merging<'_> {
    fn spend(&self, items: usize) -> Result<(), PatchError> {
        let left = self.left.get().checked_sub(items);
        self.left.set(left.unwrap_or(0));
        left.map(drop).ok_or_else(|| PatchError::too_large("it merges long lists too often"))
    }
}

/// Merges the members of a patch into an object.
pub(crate) fn merge_members(
    types: &Merging<'_>,
    id: Id,
    mut original: Map<String, Value>,
    mut patch: Map<String, Value>,
) -> Result<Map<String, Value>, PatchError> {
    match patch.remove(DIRECTIVE) {
        None => {}
        Some(Value::String(word)) if word == "replace" => return Ok(patch),
        Some(Value::String(word)) if word == "delete" => return Ok(Map::new()),
        Some(other) => return Err(unknown_directive(&other)),
    }
    retain(types, &mut original, &mut patch)?;
    set_orders(types, id, &mut original, &mut patch)?;
    for (name, wanted) in patch {
        match after(&name, DELETE_FROM)? {
            Some(list) => delete_from(&mut original, list, &wanted),
            None => merge_member(types, id, &mut original, name, wanted)?,
        }
    }
    Ok(original)
}

pub(crate) fn unknown_directive(directive: &Value) -> PatchError {
    let directive = directive.as_str().map_or_else(|| type_name(directive).to_owned(), short);
    PatchError::internal(format!("unknown patch type: {directive}"))
}

fn merge_member(
    types: &Merging<'_>,
    id: Id,
    original: &mut Map<String, Value>,
    name: String,
    wanted: Value,
) -> Result<(), PatchError> {
    let merged = match (original.remove(&name), wanted) {
        (_, Value::Null) => None,
        (Some(Value::Object(old)), Value::Object(wanted)) => {
            let kind = types.member(id, &name);
            Some(Value::Object(merge_members(types, kind, old, wanted)?))
        }
        (Some(Value::Array(old)), Value::Array(wanted)) => {
            Some(Value::Array(merge_list(types, id, &name, old, wanted)?.items))
        }
        (_, wanted) => without_directives(without_nulls(wanted)),
    };
    if let Some(merged) = merged {
        original.insert(name, merged);
    }
    Ok(())
}

/// Merges a list, or replaces it, as its field says.
fn merge_list(
    types: &Merging<'_>,
    id: Id,
    name: &str,
    old: Vec<Value>,
    wanted: Vec<Value>,
) -> Result<Merged, PatchError> {
    types.spend(old.len() + wanted.len())?;
    match types.field(id, name).and_then(|field| field.strategy.merge.as_ref()) {
        None => Ok(Merged { items: wanted, before: old }),
        Some(key) => merge_items(types, items(types, id, name), key.as_deref(), old, wanted),
    }
}

fn items(types: &Merging<'_>, id: Id, name: &str) -> Id {
    match types.kind(types.member(id, name)) {
        Kind::List { items, .. } => *items,
        _ => super::built_in::ANY,
    }
}

/// Drops what a list of members to retain does not name.
fn retain(
    types: &Merging<'_>,
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<(), PatchError> {
    let wrong = || PatchError::bad_request("invalid patch format of retainKeys");
    let names = match patch.remove(RETAIN_KEYS) {
        None => return Ok(()),
        Some(Value::Array(names)) => names,
        Some(_) => return Err(wrong()),
    };
    let names =
        names.iter().filter_map(Value::as_str).collect::<std::collections::BTreeSet<&str>>();
    let directive = |name: &str| name.starts_with(DELETE_FROM) || name.starts_with(ORDER);
    let unnamed = |(name, value): (&String, &Value)| {
        !value.is_null() && !directive(name) && !names.contains(name.as_str())
    };
    if patch.iter().any(unnamed) {
        return Err(wrong());
    }
    types.spend(original.len())?;
    original.retain(|name, _| names.contains(name.as_str()));
    Ok(())
}

/// Merges the lists for which the patch says in which order their items shall be.
fn set_orders(
    types: &Merging<'_>,
    id: Id,
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<(), PatchError> {
    let names = patch.keys().filter(|name| name.starts_with(ORDER)).cloned().collect::<Vec<_>>();
    for directive in names {
        let Some(Value::Array(wanted)) = patch.remove(&directive) else {
            return Err(PatchError::internal("expected a list of the order of elements"));
        };
        let name = after(&directive, ORDER)?.unwrap_or_default().to_owned();
        let (old, new) = (list(original.get(&name))?, list(patch.get(&name))?);
        let field = types.field(id, &name);
        if field.is_none() && (old.is_some() || new.is_some()) {
            let why = format!("unable to find api field for the json field {name:?}");
            return Err(PatchError::internal(why));
        }
        let key = field.and_then(|field| field.strategy.merge.clone()).flatten();
        order::check(new.as_deref().unwrap_or_default(), &wanted, key.as_deref())?;
        let before = old.clone().unwrap_or_default();
        let is_empty = (old.is_some() || new.is_some())
            && before.iter().chain(new.iter().flatten()).next().is_none();
        if is_empty {
            return Err(PatchError::internal("no elements in any of the given slices"));
        }
        let merged = match (old, new) {
            (None, None) => continue,
            (Some(items), None) => Merged { items, before },
            (None, Some(new)) => {
                let left = without_directives(Value::Array(new));
                let items = left.and_then(|list| list.as_array().cloned()).unwrap_or_default();
                Merged { items, before }
            }
            (Some(old), Some(new)) => merge_list(types, id, &name, old, new)?,
        };
        let ordered = order::enforce(merged.items, &wanted, &merged.before, key.as_deref())?;
        original.insert(name.clone(), Value::Array(ordered));
        patch.remove(&name);
    }
    Ok(())
}

fn list(value: Option<&Value>) -> Result<Option<Vec<Value>>, PatchError> {
    match value {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items.clone())),
        Some(other) => Err(PatchError::internal(format!(
            "expected a list, but received a {}",
            super::json::type_name(other)
        ))),
    }
}

/// The name of the list that a directive is about.
fn after<'a>(name: &'a str, directive: &str) -> Result<Option<&'a str>, PatchError> {
    match name.strip_prefix(directive) {
        None => Ok(None),
        Some(rest) => match rest.strip_prefix('/') {
            Some(list) => Ok(Some(list)),
            None if directive == ORDER => {
                Err(PatchError::bad_request("invalid patch format of setElementOrder list"))
            }
            None => Err(PatchError::bad_request("invalid patch format of primitive list")),
        },
    }
}

fn delete_from(original: &mut Map<String, Value>, name: &str, deleted: &Value) {
    match (original.get_mut(name), deleted) {
        (_, Value::Null) => {
            original.remove(name);
        }
        (Some(Value::Array(items)), Value::Array(deleted)) => {
            let deleted = deleted.iter().map(Value::to_string);
            let deleted = deleted.collect::<std::collections::BTreeSet<_>>();
            items.retain(|item| !deleted.contains(&item.to_string()));
        }
        _ => {}
    }
}

/// A new value without what it says about old ones; none if it says that it shall not be.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(members) if members.contains_key(DIRECTIVE) => None,
        Value::Object(members) => {
            let left = members.into_iter();
            let left = left.filter_map(|(name, value)| Some((name, without_directives(value)?)));
            Some(Value::Object(left.collect()))
        }
        Value::Array(items) => {
            Some(Value::Array(items.into_iter().filter_map(without_directives).collect()))
        }
        scalar => Some(scalar),
    }
}
