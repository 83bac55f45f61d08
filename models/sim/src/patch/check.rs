//! Whether an applied object has only fields of its kind, in their form, each once.

use std::collections::BTreeSet;

use serde_json::Value;

use super::set;
use super::typed::step;
use super::types::{Id, Kind, ListKind, Scalar, Types};

/// The errors in a value, each with its path.
pub(crate) fn check(types: &Types, value: &Value) -> Vec<String> {
    let mut walk = Walk { types, path: Vec::new(), wrong: Vec::new() };
    walk.check(types.root(), value);
    walk.wrong
}

struct Walk<'a> {
    types: &'a Types,
    path: Vec<String>,
    wrong: Vec<String>,
}

impl Walk<'_> {
    fn say(&mut self, message: &str) {
        let path = self.path.iter().map(String::as_str).collect::<Vec<_>>();
        let path = set::display(&path);
        let colon = if path.is_empty() { "" } else { ": " };
        self.wrong.push(format!("{path}{colon}{message}"));
    }

    fn check(&mut self, id: Id, value: &Value) {
        match (self.types.kind(id), value) {
            (Kind::Any, Value::Object(_)) | (Kind::Map { .. }, Value::Object(_)) => {
                self.members(id, value);
            }
            (Kind::List { items, how }, Value::Array(list)) => self.items(*items, how, list),
            (Kind::Any, _) | (_, Value::Null) => {}
            (Kind::Scalar(scalar), _) => self.scalar(*scalar, value),
            (Kind::Map { .. }, _) => self.say(&format!("expected map, got {value}")),
            (Kind::List { .. }, _) => self.say(&format!("expected list, got {value}")),
        }
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
                        self.say(&format!("element {index}: {why}"));
                        return;
                    }
                },
            };
            if !seen.insert(step.clone()) {
                self.say(&format!("duplicate entries for key {}", set::display(&[&step])));
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
            self.say(&format!("expected {expected}, got {value}"));
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
