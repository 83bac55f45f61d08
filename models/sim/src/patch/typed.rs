//! Values with their types: the fields of one, the difference of two, one without some of its
//! fields.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::set::{self, Builder, FieldSet, Steps};
use super::types::{Id, Kind, ListKind, Types};

/// The structure of a value of a kind.
pub(crate) enum Shape<'a> {
    /// One value, whatever is in it.
    Leaf,
    /// Members that are owned one by one.
    Map,
    /// Items that are owned one by one.
    List { items: Id, how: &'a ListKind },
}

/// How a value of a kind is treated. Null takes any form; a value that does not fit its kind is a
/// leaf.
pub(crate) fn shape<'a>(types: &'a Types, id: Id, value: &Value) -> Shape<'a> {
    match (types.kind(id), value) {
        (Kind::Map { atomic: false, .. }, Value::Object(_) | Value::Null)
        | (Kind::Any, Value::Object(_) | Value::Null) => Shape::Map,
        (Kind::List { how: ListKind::Atomic, .. }, _) => Shape::Leaf,
        (Kind::List { items, how }, Value::Array(_) | Value::Null) => {
            Shape::List { items: *items, how }
        }
        _ => Shape::Leaf,
    }
}

/// The step to an item of a list; none if it has no value or keys to be known by.
pub(crate) fn step(types: &Types, items: Id, how: &ListKind, value: &Value) -> Option<String> {
    match how {
        ListKind::Atomic => None,
        ListKind::Set => {
            let scalar = !matches!(value, Value::Null | Value::Array(_) | Value::Object(_));
            scalar.then(|| set::item(value))
        }
        ListKind::Map(keys) => {
            let members = value.as_object()?;
            let default = |key: &String| types.field(items, key)?.default.as_ref();
            let known = keys
                .iter()
                .filter_map(|key| Some((key.clone(), members.get(key).or(default(key))?.clone())))
                .collect::<Map<_, _>>();
            (!known.is_empty()).then(|| set::keyed(known))
        }
    }
}

/// The items of a list with the steps to them; items without a step are left out.
pub(crate) fn steps<'a>(
    types: &Types,
    items: Id,
    how: &ListKind,
    list: &'a [Value],
) -> Vec<(String, &'a Value)> {
    list.iter().filter_map(|value| Some((step(types, items, how, value)?, value))).collect()
}

/// Every field and item that a value mentions.
pub(crate) fn fields(types: &Types, id: Id, value: &Value) -> FieldSet {
    collect(types, id, value).into_set()
}

fn collect(types: &Types, id: Id, value: &Value) -> Builder {
    let mut found = Builder::default();
    match (shape(types, id, value), value) {
        (Shape::Leaf, _) => found.insert(),
        (Shape::Map, Value::Object(members)) => {
            for (name, member) in members {
                let mut inner = collect(types, types.member(id, name), member);
                let empty = member.is_null() || member.as_object().is_some_and(Map::is_empty);
                if empty || types.field(id, name).is_none() {
                    inner.insert();
                }
                found.put(|| set::field(name), inner);
            }
        }
        (Shape::List { items, how }, Value::Array(list)) => {
            let mut by_step = BTreeMap::<String, Vec<&Value>>::new();
            for (step, item) in steps(types, items, how, list) {
                by_step.entry(step).or_default().push(item);
            }
            for (step, same) in by_step {
                // Items that are there twice are one value together.
                let mut inner = match same[..] {
                    [item] => collect(types, items, item),
                    _ => Builder::default(),
                };
                inner.insert();
                found.put(|| step, inner);
            }
        }
        _ => {}
    }
    found
}

/// A value without some fields and items. Containers that become empty stay.
pub(crate) fn without(types: &Types, id: Id, value: &Value, removed: &Steps) -> Value {
    match (shape(types, id, value), value) {
        (Shape::Map, Value::Object(members)) => {
            let mut left = Map::new();
            for (name, member) in members {
                let below = set::below(removed, &set::field(name));
                if below.is_some_and(set::is_member) {
                    continue;
                }
                let kind = types.member(id, name);
                let member = below
                    .map_or_else(|| member.clone(), |below| without(types, kind, member, below));
                left.insert(name.clone(), member);
            }
            Value::Object(left)
        }
        (Shape::List { items, how }, Value::Array(list)) => {
            let mut left = Vec::new();
            for item in list {
                let step = step(types, items, how, item).unwrap_or_default();
                let below = set::below(removed, &step);
                if below.is_some_and(set::is_member) {
                    continue;
                }
                let item =
                    below.map_or_else(|| item.clone(), |below| without(types, items, item, below));
                left.push(item);
            }
            Value::Array(left)
        }
        _ => value.clone(),
    }
}

/// The same set, in which named fields are members if anything below them is.
pub(crate) fn with_parents(types: &Types, id: Id, steps: &Steps) -> FieldSet {
    FieldSet::from_parts(set::below_each(steps).map(|(step, below)| {
        let mut is_member = set::is_member(below);
        let kind = match step.strip_prefix("f:") {
            Some(name) => {
                is_member |= types.field(id, name).is_some();
                types.member(id, name)
            }
            None => match types.kind(id) {
                Kind::List { items, .. } => *items,
                _ => super::built_in::ANY,
            },
        };
        (step.clone(), is_member, with_parents(types, kind, below))
    }))
}
