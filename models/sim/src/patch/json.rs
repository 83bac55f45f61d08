//! JSON patch: a list of operations, all of them or none.

use serde_json::{Map, Value};

use super::PatchError;
use super::limits::{self, measure};
use super::pointer::{self, Pointer};

/// Applies a JSON patch (RFC 6902) as the server does.
///
/// It differs from the RFC where the server does: a `copy` from a member that is not there copies
/// `null`, a `replace` of one adds it, and a `test` of one against `null` passes.
///
/// # Errors
///
/// 400 if the patch is no list of operations, 413 if it has too many, 422 if one does not apply.
pub fn json(original: &Value, patch: &[u8]) -> Result<Value, PatchError> {
    performed(original, patch).map_err(|stopped| match stopped {
        Stopped::Body(error) => error,
        Stopped::At(..) => PatchError::rejected(),
    })
}

/// Why a patch is not carried out.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// It is no list of operations, or it has too many.
    Body(PatchError),
    /// The operation that does not apply, and the limit that it exceeds if it does.
    At(usize, Option<&'static str>),
}

/// The same, with the place where it ends.
pub(crate) fn performed(original: &Value, patch: &[u8]) -> Result<Value, Stopped> {
    let operations = decode(patch).map_err(Stopped::Body)?;
    if operations.len() > limits::OPERATIONS {
        let (most, got) = (limits::OPERATIONS, operations.len());
        return Err(Stopped::Body(PatchError::too_large(&format!(
            "The allowed maximum operations in a JSON patch is {most}, got {got}"
        ))));
    }
    if !limits::shallow(original) {
        return Err(Stopped::At(0, Some("the document is too deep")));
    }
    let mut document = Document { value: original.clone(), spent: Spent::default() };
    for (index, operation) in operations.into_iter().enumerate() {
        let is_done = document.perform(operation).is_some();
        is_done.then_some(()).ok_or(Stopped::At(index, document.spent.limit))?;
    }
    Ok(document.value)
}

#[derive(Debug, Default)]
struct Operation {
    op: String,
    path: Option<String>,
    from: Option<String>,
    /// The outer option is whether there is one: `null` is a value.
    value: Option<Value>,
}

fn decode(patch: &[u8]) -> Result<Vec<Operation>, PatchError> {
    let failed = |why: String| PatchError::bad_request(format!("error decoding patch: {why}"));
    let list = match serde_json::from_slice(patch) {
        Ok(Value::Array(list)) => list,
        Ok(Value::Null) => Vec::new(),
        Ok(other) => {
            let name = type_name(&other);
            return Err(failed(format!(
                "json: cannot unmarshal {name} into Go value of type []handlers.jsonPatchOp"
            )));
        }
        Err(error) => return Err(failed(error.to_string())),
    };
    list.into_iter().map(|item| operation(item).map_err(failed)).collect()
}

fn operation(item: Value) -> Result<Operation, String> {
    match item {
        Value::Object(mut members) => Ok(Operation {
            op: text(&mut members, "op")?.unwrap_or_default(),
            path: text(&mut members, "path")?,
            from: text(&mut members, "from")?,
            value: members.remove("value"),
        }),
        Value::Null => Ok(Operation::default()),
        other => {
            let name = type_name(&other);
            Err(format!("json: cannot unmarshal {name} into Go value of type handlers.jsonPatchOp"))
        }
    }
}

fn text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match members.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!(
            "json: cannot unmarshal {} into Go struct field jsonPatchOp.{name} of type string",
            type_name(&other)
        )),
    }
}

/// The name of a value's type in the messages of the server's decoder.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

struct Document {
    value: Value,
    spent: Spent,
}

/// What the operations have cost so far, and the limit that the last one exceeds.
#[derive(Default)]
struct Spent {
    copied: usize,
    moved: usize,
    shifted: usize,
    limit: Option<&'static str>,
}

impl Spent {
    fn within(&mut self, fits: bool, limit: &'static str) -> Option<()> {
        self.limit = (!fits).then_some(limit);
        fits.then_some(())
    }

    fn copy(&mut self, bytes: usize) -> Option<()> {
        self.copied += bytes;
        self.within(self.copied <= limits::COPIED_BYTES, "the operations copy too much")
    }

    fn relocate(&mut self, values: usize) -> Option<()> {
        self.moved += values;
        self.within(self.moved <= limits::MOVED_VALUES, "the operations move too much")
    }

    /// Counts the items of a list that one that comes or goes shifts.
    fn shift(&mut self, items: usize) -> Option<()> {
        self.shifted += items;
        self.within(self.shifted <= limits::SHIFTED_ITEMS, "the operations shift too many items")
    }

    /// Whether a value may go there: not deeper than anything that walks the document can go.
    fn fits(&mut self, at: &Pointer, value: &Value) -> Option<()> {
        let depth = at.depth() + measure(value).depth;
        self.within(depth <= limits::DEPTH, "the document would be too deep")
    }
}

impl Document {
    /// Performs one operation; none if it does not apply.
    fn perform(&mut self, operation: Operation) -> Option<()> {
        let path = operation.path?;
        let value = operation.value;
        match operation.op.as_str() {
            "add" => self.add(&Pointer::parse(&path)?, value.unwrap_or_default()),
            "remove" => self.remove(&Pointer::parse(&path)?).map(drop),
            "replace" if path.is_empty() => self.replace_all(value?),
            "replace" => self.replace(&Pointer::parse(&path)?, value.unwrap_or_default()),
            "test" if path.is_empty() => (self.value == value?).then_some(()),
            "test" => self.test(&Pointer::parse(&path)?, &value.unwrap_or_default()),
            "move" => {
                let value = self.remove(&Pointer::parse(&operation.from?)?)?;
                self.spent.relocate(measure(&value).values)?;
                self.add(&Pointer::parse(&path)?, value)
            }
            "copy" => {
                let value = self.get(&Pointer::parse(&operation.from?)?)?.unwrap_or_default();
                self.spent.copy(measure(&value).bytes)?;
                self.add(&Pointer::parse(&path)?, value)
            }
            _ => None,
        }
    }

    /// The value that a pointer points to. A missing member is none; a missing index or a missing
    /// parent is a failure.
    fn get(&mut self, at: &Pointer) -> Option<Option<Value>> {
        match at.parent(&mut self.value)? {
            Value::Object(members) => Some(members.get(&at.last).cloned()),
            Value::Array(items) => {
                pointer::index(&at.last, items.len()).map(|i| items.get(i).cloned())
            }
            _ => None,
        }
    }

    fn add(&mut self, at: &Pointer, value: Value) -> Option<()> {
        self.spent.fits(at, &value)?;
        match at.parent(&mut self.value)? {
            Value::Object(members) => {
                members.insert(at.last.clone(), value);
            }
            Value::Array(items) if at.last == "-" => items.push(value),
            Value::Array(items) => {
                let place = pointer::place(&at.last, items.len() + 1)?;
                self.spent.shift(items.len().checked_sub(place)?)?;
                items.insert(place, value);
            }
            _ => return None,
        }
        Some(())
    }

    fn remove(&mut self, at: &Pointer) -> Option<Value> {
        match at.parent(&mut self.value)? {
            Value::Object(members) => members.remove(&at.last),
            Value::Array(items) => {
                let place = pointer::index(&at.last, items.len())?;
                self.spent.shift(items.len() - place)?;
                Some(items.remove(place))
            }
            _ => None,
        }
    }

    fn replace(&mut self, at: &Pointer, value: Value) -> Option<()> {
        self.spent.fits(at, &value)?;
        match at.parent(&mut self.value)? {
            Value::Object(members) => {
                members.insert(at.last.clone(), value);
            }
            Value::Array(items) => {
                let place = pointer::index(&at.last, items.len())?;
                items[place] = value;
            }
            _ => return None,
        }
        Some(())
    }

    fn replace_all(&mut self, value: Value) -> Option<()> {
        (value.is_object() || value.is_array()).then(|| self.value = value)
    }

    fn test(&mut self, at: &Pointer, value: &Value) -> Option<()> {
        let found = match at.parent(&mut self.value)? {
            Value::Object(members) => members.get(&at.last).unwrap_or(&Value::Null),
            Value::Array(items) => &items[pointer::index(&at.last, items.len())?],
            _ => return None,
        };
        (found == value).then_some(())
    }
}
