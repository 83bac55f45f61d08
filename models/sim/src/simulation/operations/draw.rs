//! Draws operations: which field, and which value it is given.
//!
//! A value is sound if the schema or an example shows that it makes sense. One of which nothing is known
//! but its type is a guess, and counts as misuse: a controller may rightly have nothing to do with it.

use serde_json::{Map, Value, json};

use super::operation::{Intent, Operation, between};
use super::scalar;
use super::schema::{Field, Part};
use crate::apiserver::Random;

/// How many items a list is grown to.
const LONGEST: usize = 6;

/// Draws from the values that examples show.
#[derive(Debug)]
pub(super) struct Drawer {
    pub(super) random: Random,
    pub(super) schema: Value,
    pub(super) examples: Vec<Value>,
    /// Something was drawn of which nothing is known.
    pub(super) is_guess: bool,
}

impl Drawer {
    /// True once in this number of times.
    fn one_in(&mut self, count: u64) -> bool {
        self.random.below(count) == 0
    }

    /// An index below a length.
    pub(super) fn index(&mut self, length: usize) -> usize {
        self.random.below(length as u64) as usize
    }

    /// A change of a field of the object that is wanted so far; none if it changes nothing.
    pub(super) fn operation(&mut self, field: &Field, wanted: &Value) -> Option<Operation> {
        self.is_guess = false;
        let is_misuse = self.one_in(4);
        let mut next = wanted.clone();
        let schema = self.schema.clone();
        let known = self.examples.clone();
        let known: Vec<&Value> = known.iter().collect();
        let is_reorder = self.at(&mut next, &schema, &field.path, &known, (field, is_misuse))?;
        let patch = between(wanted, &next);
        let intent = match (is_misuse || self.is_guess, is_reorder) {
            (true, _) => Intent::Misuse,
            (_, true) => Intent::Reorder,
            _ => Intent::Change,
        };
        patch.as_object().is_some_and(|it| !it.is_empty()).then_some(Operation { intent, patch })
    }

    /// Changes what a path leads to, and makes what lacks on the way. Whether it is another order of a list
    /// in which the order says nothing.
    fn at(
        &mut self,
        value: &mut Value,
        schema: &Value,
        path: &[Part],
        known: &[&Value],
        what: (&Field, bool),
    ) -> Option<bool> {
        let Some((part, rest)) = path.split_first() else {
            return self.change(value, schema, known, what);
        };
        let below = known_below(known, part);
        match part {
            Part::Name(name) => {
                let inner = &schema["properties"][name];
                let fields = value.as_object_mut()?;
                let (field, is_misuse) = what;
                let is_there = fields.contains_key(name);
                let is_needed = field.is_required && !is_misuse;
                if rest.is_empty() && is_there && !is_needed && self.one_in(3) {
                    fields.remove(name);
                    return Some(false);
                }
                if !is_there {
                    let drawn = self.value(inner, &below, None);
                    fields.insert(name.clone(), drawn);
                    if rest.is_empty() && !is_misuse {
                        return Some(false);
                    }
                }
                self.at(fields.get_mut(name)?, inner, rest, &below, what)
            }
            Part::Item => {
                let items = value.as_array_mut()?;
                if items.is_empty() {
                    items.push(self.value(&schema["items"], &below, None));
                }
                let index = self.index(items.len());
                self.at(&mut items[index], &schema["items"], rest, &below, what)
            }
            Part::Key => {
                let fields = value.as_object_mut()?;
                let inner = &schema["additionalProperties"];
                if fields.is_empty() {
                    fields.insert("a".to_owned(), self.value(inner, &below, None));
                }
                let index = self.index(fields.len());
                self.at(fields.values_mut().nth(index)?, inner, rest, &below, what)
            }
        }
    }

    /// Another value in place of one.
    fn change(
        &mut self,
        value: &mut Value,
        schema: &Value,
        known: &[&Value],
        (_, is_misuse): (&Field, bool),
    ) -> Option<bool> {
        if is_misuse {
            *value = self.strange(schema);
            return Some(false);
        }
        match value {
            Value::Array(items) => return Some(self.list(items, schema, known)),
            Value::Object(fields) if schema["additionalProperties"].is_object() => {
                self.map(fields, schema, known);
            }
            _ => *value = self.value(schema, known, Some(&value.clone())),
        }
        Some(false)
    }

    /// A list grows, shrinks, or stands in another order.
    fn list(&mut self, items: &mut Vec<Value>, schema: &Value, known: &[&Value]) -> bool {
        let bound = |name: &str| schema[name].as_u64().map(|it| it as usize);
        let least = bound("minItems").unwrap_or(0).max(usize::from(schema["x-loose"] == true));
        let most = bound("maxItems").unwrap_or(LONGEST).min(LONGEST);
        let first = self.index(3);
        for way in (0..3).map(|it| (first + it) % 3) {
            match way {
                0 if items.len() < most => {
                    let known = known_below(known, &Part::Item);
                    let last = items.last().cloned();
                    let drawn = self.value(&schema["items"], &known, last.as_ref());
                    let index = self.index(items.len() + 1);
                    items.insert(index, drawn);
                    return false;
                }
                1 if items.len() > least => {
                    let index = self.index(items.len());
                    items.remove(index);
                    return false;
                }
                2 if items.len() > 1 => {
                    items.rotate_left(1);
                    return matches!(
                        schema["x-kubernetes-list-type"].as_str(),
                        Some("set" | "map")
                    );
                }
                _ => {}
            }
        }
        false
    }

    /// A map gets a key, or loses one.
    fn map(&mut self, fields: &mut Map<String, Value>, schema: &Value, known: &[&Value]) {
        let least = usize::from(schema["x-loose"] == true);
        if fields.len() > least && self.one_in(2) {
            let index = self.index(fields.len());
            let name = fields.keys().nth(index).cloned();
            fields.retain(|it, _| Some(it) != name.as_ref());
            return;
        }
        self.is_guess |= schema["x-loose"] == true;
        let known = known_below(known, &Part::Key);
        let name = (b'a'..=b'z').map(|it| char::from(it).to_string());
        let mut free = name.filter(|it| !fields.contains_key(it));
        if let Some(name) = free.next() {
            let value = self.value(&schema["additionalProperties"], &known, None);
            fields.insert(name, value);
        }
    }

    /// A value that fits the schema, other than the present one if there is another.
    fn value(&mut self, schema: &Value, known: &[&Value], current: Option<&Value>) -> Value {
        if let Some(properties) = schema["properties"].as_object() {
            return self.fields(properties, schema, known, current);
        }
        if schema["items"].is_object() {
            let below = known_below(known, &Part::Item);
            let least = schema["minItems"].as_u64().unwrap_or(0).max(1).min(LONGEST as u64);
            let mut items: Vec<Value> = Vec::new();
            for _ in 0..least {
                let last = items.last().cloned();
                items.push(self.value(&schema["items"], &below, last.as_ref()));
            }
            return items.into();
        }
        if schema["additionalProperties"].is_object() {
            let below = known_below(known, &Part::Key);
            return json!({"a": self.value(&schema["additionalProperties"], &below, None)});
        }
        let (value, is_guess) = scalar::draw(&mut self.random, schema, known, current);
        self.is_guess |= is_guess;
        value
    }

    /// The fields that must be there, and some of the others.
    fn fields(
        &mut self,
        properties: &Map<String, Value>,
        schema: &Value,
        known: &[&Value],
        current: Option<&Value>,
    ) -> Value {
        let mut fields = Map::new();
        for (name, inner) in properties {
            let below = known_below(known, &Part::Name(name.clone()));
            let required = schema["required"].as_array();
            let is_required = required.is_some_and(|it| it.iter().any(|it| it == name));
            let is_usual = !below.is_empty() && !self.one_in(4);
            if !is_required && !is_usual && (inner["x-loose"] == true || !self.one_in(4)) {
                continue;
            }
            let before = self.is_guess;
            let current = current.and_then(|it| it.get(name));
            let drawn = self.value(inner, &below, current);
            // A guess is worth it only where something must be there.
            if is_required || self.is_guess == before {
                fields.insert(name.clone(), drawn);
            } else {
                self.is_guess = before;
            }
        }
        fields.into()
    }

    /// A value that makes no sense, whether the schema allows it or not.
    fn strange(&mut self, schema: &Value) -> Value {
        let all = scalar::strange(schema);
        let index = self.index(all.len());
        all[index].clone()
    }
}

/// What the examples show below a part.
fn known_below<'a>(known: &[&'a Value], part: &Part) -> Vec<&'a Value> {
    known
        .iter()
        .flat_map(|value| -> Vec<&Value> {
            match (part, value) {
                (Part::Name(name), Value::Object(fields)) => fields.get(name).into_iter().collect(),
                (Part::Key, Value::Object(fields)) => fields.values().collect(),
                (Part::Item, Value::Array(items)) => items.iter().collect(),
                _ => Vec::new(),
            }
        })
        .collect()
}
