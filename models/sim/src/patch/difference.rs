//! The difference between two typed values.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::set::{self, Builder, FieldSet};
use super::typed::{Shape, shape, steps};
use super::types::{Id, ListKind, Types};

/// How a new value differs from an old one. No path is in two of the sets.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) removed: FieldSet,
    pub(crate) modified: FieldSet,
    pub(crate) added: FieldSet,
}

impl Difference {
    pub(crate) fn between(types: &Types, old: &Value, new: &Value) -> Self {
        let mut walk = Walk { types, depth: 0, found: Found::default() };
        walk.compare(types.root(), Some(old), Some(new));
        let Found { removed, modified, added } = walk.found;
        let (removed, modified) = (removed.into_set(), modified.into_set());
        Self { removed, modified, added: added.into_set() }
    }

    /// The same without some fields and the fields below them.
    pub(crate) fn outside(self, fields: Option<&FieldSet>) -> Self {
        match fields {
            None => self,
            Some(fields) => Self {
                removed: self.removed.outside(fields),
                modified: self.modified.outside(fields),
                added: self.added.outside(fields),
            },
        }
    }

    pub(crate) fn changed(&self) -> FieldSet {
        self.modified.union(&self.added)
    }

    /// The same without a copy.
    pub(crate) fn into_changed(self) -> FieldSet {
        let (mut changed, added) = (self.modified, self.added);
        changed.absorb(added);
        changed
    }
}

/// The difference at and below a place.
#[derive(Default)]
struct Found {
    removed: Builder,
    modified: Builder,
    added: Builder,
}

struct Walk<'a> {
    types: &'a Types,
    depth: usize,
    /// At the place where it is.
    found: Found,
}

/// Down to this depth, parts that are the same are not walked through. Further down, most of the time
/// would go into comparing the lowest values once for each value above them.
const COMPARED: usize = 4;

impl Walk<'_> {
    /// Compares what is at the place. If both sides are there and differ in form, each is looked at
    /// in its own.
    fn compare(&mut self, id: Id, old: Option<&Value>, new: Option<&Value>) {
        let types = self.types;
        let Some(form) = new.or(old) else { return };
        if self.depth <= COMPARED && old == new {
            return;
        }
        let other = old.filter(|old| new.is_some() && form_of(old) != form_of(form));
        if let Some(other) = other {
            self.walk(id, &shape(types, id, other), old, new);
        }
        let is_leaf = self.walk(id, &shape(types, id, form), old, new);
        if !is_leaf {
            if old.is_none() {
                self.found.added.insert();
            } else if new.is_none() {
                self.found.removed.insert();
            }
        }
    }

    /// Compares in one form; whether it was looked at as one value.
    fn walk(&mut self, id: Id, form: &Shape<'_>, old: Option<&Value>, new: Option<&Value>) -> bool {
        match form {
            Shape::Leaf => self.leaf(old, new),
            Shape::Map => {
                let (left, right) = (members(old), members(new));
                if left.is_empty() && right.is_empty() {
                    return self.leaf(old, new);
                }
                let names = left.keys().chain(right.keys().filter(|k| !left.contains_key(*k)));
                for name in names {
                    let kind = self.types.member(id, name);
                    let (left, right) = (left.get(name), right.get(name));
                    self.within(|| set::field(name), |walk| walk.compare(kind, left, right));
                }
                false
            }
            Shape::List { items, how } => {
                let (left, right) = (list(old), list(new));
                if left.is_empty() && right.is_empty() {
                    return self.leaf(old, new);
                }
                self.items(*items, how, left, right);
                false
            }
        }
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) -> bool {
        match (old, new) {
            (None, _) => self.found.added.insert(),
            (_, None) => self.found.removed.insert(),
            (Some(old), Some(new)) if !same(old, new) => self.found.modified.insert(),
            _ => {}
        }
        true
    }

    /// Does something at the place below a step.
    fn within(&mut self, step: impl Fn() -> String, action: impl FnOnce(&mut Self)) {
        let above = std::mem::take(&mut self.found);
        self.depth += 1;
        action(self);
        self.depth -= 1;
        let inner = std::mem::replace(&mut self.found, above);
        self.found.removed.put(&step, inner.removed);
        self.found.modified.put(&step, inner.modified);
        self.found.added.put(&step, inner.added);
    }

    /// Items that are there twice have no fields of their own: they are one value together.
    fn items(&mut self, items: Id, how: &ListKind, old: &[Value], new: &[Value]) {
        let mut sides = BTreeMap::<String, (Vec<&Value>, Vec<&Value>)>::new();
        for (step, value) in steps(self.types, items, how, old) {
            sides.entry(step).or_default().0.push(value);
        }
        for (step, value) in steps(self.types, items, how, new) {
            sides.entry(step).or_default().1.push(value);
        }
        for (step, (old, new)) in sides {
            let (first_old, first_new) = (old.first().copied(), new.first().copied());
            self.within(
                || step.clone(),
                |walk| match (old.len() > 1, new.len() > 1) {
                    (false, false) => walk.compare(items, first_old, first_new),
                    (true, true) if old != new => walk.found.modified.insert(),
                    (true, true) => {}
                    (true, false) => {
                        walk.compare(items, None, first_new);
                        walk.found.removed.insert();
                    }
                    (false, true) => {
                        walk.compare(items, first_old, None);
                        walk.found.added.insert();
                    }
                },
            );
        }
    }
}

/// Whether two values are the same; whole numbers may be written as fractions.
fn same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Number(left), Value::Number(right)) if left.is_f64() != right.is_f64() => {
            left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(old, new)| same(old, new))
        }
        (Value::Object(left), Value::Object(right)) => {
            let has_same =
                |(key, old): (&String, &Value)| right.get(key).is_some_and(|new| same(old, new));
            left.len() == right.len() && left.iter().all(has_same)
        }
        _ => old == new,
    }
}

/// Scalars are of one form; null is of every form.
fn form_of(value: &Value) -> u8 {
    match value {
        Value::Object(_) => 1,
        Value::Array(_) => 2,
        _ => 3,
    }
}

fn members(value: Option<&Value>) -> &Map<String, Value> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    value.and_then(Value::as_object).unwrap_or(&EMPTY)
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
