//! Operations: changes of an object as patches, and as the text that replays them.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value, json};

use crate::patch;

/// The intent of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Intent {
    /// A user may want it: the end must be the same as if the object had been so from the start.
    Change,
    /// The items of a list in which their order says nothing stand in another order.
    Reorder,
    /// A value that may make no sense: the server refuses it, or the controller survives it.
    Misuse,
}

/// The names of the intents, as they are written.
const INTENTS: [(Intent, &str); 3] =
    [(Intent::Change, "change"), (Intent::Reorder, "reorder"), (Intent::Misuse, "misuse")];

/// One change of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it is for.
    pub intent: Intent,
    /// The patch (RFC 7386).
    pub patch: Value,
}

impl Operation {
    /// The object after it.
    pub(super) fn after(&self, object: &Value) -> Value {
        let patch = self.patch.to_string();
        patch::merge(object, patch.as_bytes()).unwrap_or_else(|_| object.clone())
    }

    /// The fields that it changes, such as `spec.size`.
    pub fn fields(&self) -> Vec<String> {
        let mut found = Vec::new();
        leaves(&self.patch, String::new(), &mut found);
        found
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = INTENTS.iter().find(|it| it.0 == self.intent).map_or("", |it| it.1);
        // A quote would end the text on a command line.
        write!(f, "{}", json!({ name: self.patch }).to_string().replace('\'', "\\u0027"))
    }
}

/// Operations as a replay writes them.
pub(crate) fn written(operations: &[Operation]) -> String {
    let all: Vec<_> = operations.iter().map(Operation::to_string).collect();
    format!("[{}]", all.join(","))
}

/// A text that is not a list of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadOperations {
    /// What is wrong.
    pub why: String,
}

impl fmt::Display for BadOperations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let example = r#"[{"change":{"spec":{"size":3}}},{"misuse":{"spec":{"size":-1}}}]"#;
        write!(f, "{}; operations are a list such as {example}", self.why)
    }
}

impl std::error::Error for BadOperations {}

/// Operations in their order, read from JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sequence(pub(crate) Vec<Operation>);

impl FromStr for Sequence {
    type Err = BadOperations;

    fn from_str(text: &str) -> Result<Self, BadOperations> {
        let bad = |why: String| BadOperations { why };
        let all: Vec<Map<String, Value>> =
            serde_json::from_str(text).map_err(|why| bad(why.to_string()))?;
        let one = |fields: Map<String, Value>| {
            let mut found = INTENTS.iter().filter_map(|(intent, name)| {
                let patch = fields.get(*name).filter(|it| it.is_object())?;
                Some(Operation { intent: *intent, patch: patch.clone() })
            });
            let first = found.next().filter(|_| fields.len() == 1);
            first.ok_or_else(|| bad(format!("{} is no operation", Value::Object(fields.clone()))))
        };
        Ok(Self(all.into_iter().map(one).collect::<Result<_, _>>()?))
    }
}

/// The patch that makes one object of another.
pub(super) fn between(old: &Value, new: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (old, new) else { return new.clone() };
    let mut patch = Map::new();
    for name in before.keys().filter(|it| !after.contains_key(*it)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in after {
        match before.get(name) {
            Some(old) if old == value => {}
            Some(old) if old.is_object() && value.is_object() => {
                patch.insert(name.clone(), between(old, value));
            }
            _ => {
                patch.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Object(patch)
}

fn leaves(patch: &Value, at: String, found: &mut Vec<String>) {
    match patch {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                let dot = if at.is_empty() { "" } else { "." };
                leaves(value, format!("{at}{dot}{name}"), found);
            }
        }
        _ => found.push(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_read_as_they_are_written() {
        let text = r#"[{"change":{"spec":{"size":3}}},{"misuse":{"spec":{"name":"it\u0027s"}}},{"reorder":{"spec":{"ports":[2,1]}}}]"#;
        let sequence: Sequence = text.parse().expect("they are operations");
        assert_eq!(written(&sequence.0), text);
        for bad in ["", "{}", "[1]", "[{}]", r#"[{"change":3}]"#, r#"[{"hope":{}}]"#] {
            assert!(bad.parse::<Sequence>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_patch_makes_one_object_of_another() {
        let old = json!({"spec": {"size": 1, "kept": true, "gone": {"a": 1}, "list": [1, 2]}});
        let new = json!({"spec": {"size": 2, "kept": true, "list": [2], "new": {"b": {}}}});
        let patch = between(&old, &new);
        let wanted = json!({"spec": {"size": 2, "gone": null, "list": [2], "new": {"b": {}}}});
        assert_eq!(patch, wanted);
        let operation = Operation { intent: Intent::Change, patch };
        assert_eq!(operation.after(&old), new);
        assert_eq!(operation.fields(), ["spec.gone", "spec.list", "spec.new.b", "spec.size"]);
    }
}
