//! Whether an applied object has only fields of its kind, in their form, each once.

use std::collections::BTreeSet;
use std::fmt::Display;

use serde_json::Value;

use super::json::type_name;
use super::set;
use super::typed::step;
use super::types::{Id, Kind, ListKind, Scalar, Types};
use crate::short::{MOST, note};

/// The errors in a value, each with its path: the first hundred. They do not show values.
pub(crate) fn check(types: &Types, value: &Value) -> Vec<String> {
    let mut walk = Walk::new(types, true);
    walk.check(types.root(), value);
    walk.wrong
}

/// Whether a value has the form of its kind. What is there twice is not a wrong form.
pub(crate) fn has_form(types: &Types, value: &Value) -> bool {
    let mut walk = Walk::new(types, false);
    walk.check(types.root(), value);
    walk.wrong.is_empty()
}

/// The bytes of the steps to all items of a value: each may have many keys by default.
const STEPS: usize = 16 * 1024 * 1024;

struct Walk<'a> {
    types: &'a Types,
    tells_duplicates: bool,
    path: Vec<String>,
    steps: usize,
    wrong: Vec<String>,
}

impl<'a> Walk<'a> {
    fn new(types: &'a Types, tells_duplicates: bool) -> Self {
        Self { types, tells_duplicates, path: Vec::new(), steps: 0, wrong: Vec::new() }
    }

    fn say(&mut self, message: impl Display) {
        let colon = if self.path.is_empty() { "" } else { ": " };
        let path = set::Path(&self.path);
        note(&mut self.wrong, format_args!("{path}{colon}{message}"));
    }

    fn check(&mut self, id: Id, value: &Value) {
        if self.wrong.len() >= MOST {
            return;
        }
        match (self.types.kind(id), value) {
            (Kind::Any, Value::Object(_)) | (Kind::Map { .. }, Value::Object(_)) => {
                self.members(id, value);
            }
            (Kind::List { items, how }, Value::Array(list)) => self.items(*items, how, list),
            (Kind::Any, _) | (_, Value::Null) => {}
            (Kind::Scalar(scalar), _) => self.scalar(*scalar, value),
            (Kind::Map { .. }, _) => self.expected("map", value),
            (Kind::List { .. }, _) => self.expected("list", value),
        }
    }

    fn expected(&mut self, what: &str, value: &Value) {
        self.say(format_args!("expected {what}, got {}", type_name(value)));
    }

    fn members(&mut self, id: Id, value: &Value) {
        for (name, member) in value.as_object().into_iter().flatten() {
            self.path.push(set::field(name));
            let known = match self.types.kind(id) {
                Kind::Map { fields, rest, .. } => rest.is_some() || fields.contains_key(name),
                _ => true,
            };
            if known {
                self.check(self.types.member(id, name), member);
            } else {
                self.say("field not declared in schema");
            }
            self.path.pop();
        }
    }

    fn items(&mut self, items: Id, how: &ListKind, list: &[Value]) {
        let mut seen = BTreeSet::new();
        for (index, item) in list.iter().enumerate() {
            let step = match how {
                ListKind::Atomic => format!("i:{index}"),
                _ => match step(self.types, items, how, item) {
                    Some(step) => step,
                    None => {
                        let why = without_step(how, item);
                        self.say(format_args!("element {index}: {why}"));
                        return;
                    }
                },
            };
            self.steps += step.len();
            if self.steps > STEPS {
                self.say("the keys of the items of its lists are too large together");
                return;
            }
            if !seen.insert(step.clone()) && self.tells_duplicates {
                self.say(format_args!("duplicate entries for key {}", set::Path(&[&step])));
            }
            self.path.push(step);
            self.check(items, item);
            self.path.pop();
        }
    }

    fn scalar(&mut self, scalar: Scalar, value: &Value) {
        let (fits, expected) = match scalar {
            Scalar::String => (value.is_string(), "string"),
            Scalar::Number => (value.is_number(), "numeric (int or float)"),
            Scalar::Boolean => (value.is_boolean(), "boolean"),
            Scalar::Any => (!value.is_object() && !value.is_array(), "any scalar"),
        };
        if !fits {
            self.expected(expected, value);
        }
    }
}

/// Why an item cannot be told from others.
fn without_step(how: &ListKind, item: &Value) -> String {
    match (how, item) {
        (ListKind::Map(_), Value::Null) => {
            "associative list with keys may not have a null element".to_owned()
        }
        (ListKind::Map(keys), Value::Object(_)) => format!(
            "associative list with keys has an element that omits all key fields {keys:?} (and \
             doesn't have default values for any key fields)"
        ),
        (ListKind::Map(_), _) => {
            "associative list with keys may not have non-map elements".to_owned()
        }
        (_, Value::Object(_)) => {
            "associative list without keys has an element that's a map type".to_owned()
        }
        (_, Value::Array(_)) => "not supported: associative list with lists as elements".to_owned(),
        _ => "associative list without keys has an element that's an explicit null".to_owned(),
    }
}
