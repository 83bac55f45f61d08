//! From the wire to JSON.

use base64::Engine as _;
use serde_json::{Map, Number, Value};

use super::special::fold;
use super::table::{Empty, Field, Id, Table, Type};
use super::wire::{self, Content};
use super::{Error, MAGIC, envelope};
pub(super) use crate::json::TOO_MUCH;
use crate::json::{self, FIELD, OBJECT, ROOM};

/// How many objects and lists may lie within each other: JSON that is deeper cannot be read again.
pub(super) const DEPTH: usize = 120;
/// Reads messages, as long as their values do not take too much memory. Fields that are always shown take some
/// without bytes on the wire, so the size of a body alone does not bound it.
pub(super) struct Reader {
    table: &'static Table,
    room: usize,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self { table: Table::get(), room: ROOM }
    }

    /// Reads a message into an object, which may hold parts of the same message: they are merged.
    pub(super) fn message(
        &mut self,
        id: Id,
        bytes: &[u8],
        into: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), Error> {
        let message = self.table.message(id);
        let mut fields = wire::Reader::new(bytes);
        while !fields.is_at_end() {
            let (number, content) = fields.field(&message.name)?;
            // A field of a later release is skipped.
            let Some(field) = message.field(number) else { continue };
            self.spend(FIELD)?;
            match (&field.name, &field.of, content) {
                (Some(name), of, content) => {
                    let slot = into.entry(name.clone()).or_insert(Value::Null);
                    self.value(of, content, slot, depth).map_err(|error| error.within(name))?;
                }
                (None, Type::Message(inner), Content::Bytes(bytes)) => {
                    self.message(*inner, bytes, into, depth)?;
                }
                _ => return Err(Error::wrong_type(content.wire_type())),
            }
        }
        self.complete(id, into)
    }

    fn spend(&mut self, memory: usize) -> Result<(), Error> {
        self.room = self.room.checked_sub(memory).ok_or_else(|| Error::new(TOO_MUCH))?;
        Ok(())
    }

    fn value(
        &mut self,
        of: &Type,
        content: Content<'_>,
        slot: &mut Value,
        depth: usize,
    ) -> Result<(), Error> {
        let deeper = || depth.checked_sub(1).ok_or_else(|| Error::new("it is too deep"));
        match (of, content) {
            (Type::List(of), content) => self.item(of, content, slot, deeper()?)?,
            (Type::Map(of), Content::Bytes(bytes)) => self.entry(of, bytes, slot, deeper()?)?,
            (Type::Message(id), Content::Bytes(bytes)) => {
                self.spend(OBJECT)?;
                self.message(*id, bytes, object(slot), deeper()?)?;
            }
            (Type::Special(special, id), Content::Bytes(bytes)) => {
                let mut parts = Map::new();
                self.message(*id, bytes, &mut parts, depth)?;
                *slot = fold(*special, parts)?;
            }
            (Type::Text, Content::Bytes(bytes)) => *slot = String::from_utf8_lossy(bytes).into(),
            (Type::Bytes, Content::Bytes(bytes)) => {
                *slot = base64::engine::general_purpose::STANDARD.encode(bytes).into();
            }
            (Type::Json, Content::Bytes(bytes)) => *slot = self.json(bytes, depth)?,
            (Type::Bool, Content::Varint(it)) => *slot = (it != 0).into(),
            (Type::Int32, Content::Varint(it)) => *slot = (it as i32).into(),
            (Type::Int64, Content::Varint(it)) => *slot = (it as i64).into(),
            (Type::Double, Content::Fixed64(it)) => *slot = double(f64::from_bits(it))?,
            (_, content) => return Err(Error::wrong_type(content.wire_type())),
        }
        Ok(())
    }

    /// An item of a list; many, if they are numbers that are packed.
    fn item(
        &mut self,
        of: &Type,
        content: Content<'_>,
        slot: &mut Value,
        depth: usize,
    ) -> Result<(), Error> {
        if !slot.is_array() {
            *slot = Value::Array(Vec::new());
        }
        let Some(items) = slot.as_array_mut() else { return Ok(()) };
        let is_number = matches!(of, Type::Bool | Type::Int32 | Type::Int64);
        let Content::Bytes(packed) = content else {
            items.push(Value::Null);
            return items.last_mut().map_or(Ok(()), |item| self.value(of, content, item, depth));
        };
        let mut numbers = wire::Reader::new(packed);
        while is_number && !numbers.is_at_end() {
            self.spend(FIELD)?;
            let mut item = Value::Null;
            self.value(of, Content::Varint(numbers.varint()?), &mut item, depth)?;
            items.push(item);
        }
        if !is_number {
            items.push(Value::Null);
            items.last_mut().map_or(Ok(()), |item| self.value(of, content, item, depth))?;
        }
        Ok(())
    }

    /// A key and its value.
    fn entry(
        &mut self,
        of: &Type,
        bytes: &[u8],
        slot: &mut Value,
        depth: usize,
    ) -> Result<(), Error> {
        let (mut key, mut value) = (String::new(), None);
        let mut fields = wire::Reader::new(bytes);
        while !fields.is_at_end() {
            match fields.field("entry")? {
                (1, Content::Bytes(bytes)) => key = String::from_utf8_lossy(bytes).into_owned(),
                (2, content) => {
                    self.spend(FIELD)?;
                    self.value(of, content, value.insert(Value::Null), depth)?;
                }
                (1, content) => return Err(Error::wrong_type(content.wire_type())),
                _ => {}
            }
        }
        let value = match value {
            Some(value) => value,
            None if *of == Type::Bytes => "".into(),
            None => self.zero(of)?,
        };
        object(slot).insert(key, value);
        Ok(())
    }

    /// JSON as it was sent, or another message in its envelope.
    fn json(&mut self, bytes: &[u8], depth: usize) -> Result<Value, Error> {
        if bytes.is_empty() {
            return Ok(Value::Null);
        }
        if bytes.starts_with(MAGIC) {
            let depth = depth.checked_sub(1).ok_or_else(|| Error::new("it is too deep"))?;
            return envelope(bytes, None, self, depth);
        }
        self.spend(json::memory(bytes))?;
        let value = serde_json::from_slice(bytes).map_err(|error| Error::new(error.to_string()))?;
        if is_deeper(&value, depth) {
            return Err(Error::new("it is too deep"));
        }
        Ok(value)
    }

    /// Adds what JSON always shows, and removes what it never shows.
    pub(super) fn complete(&mut self, id: Id, into: &mut Map<String, Value>) -> Result<(), Error> {
        for Field { name, of, empty, .. } in &self.table.message(id).fields {
            match (name, of, empty) {
                (None, Type::Message(inner), _) => self.complete(*inner, into)?,
                (Some(name), of, Empty::Zero) if !into.contains_key(name) => {
                    self.spend(FIELD)?;
                    let zero = self.zero(of)?;
                    into.insert(name.clone(), zero);
                }
                (Some(name), _, Empty::Absent) if into.get(name).is_some_and(Value::is_null) => {
                    into.remove(name);
                }
                (Some(name), _, Empty::Omitted) if into.get(name).is_some_and(is_zero) => {
                    into.remove(name);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn zero(&mut self, of: &Type) -> Result<Value, Error> {
        Ok(match of {
            Type::Text => "".into(),
            Type::Bool => false.into(),
            Type::Int32 | Type::Int64 | Type::Double => 0.into(),
            Type::Bytes | Type::Json | Type::List(_) | Type::Map(_) => Value::Null,
            Type::Special(special, _) => fold(*special, Map::new())?,
            Type::Message(id) => {
                self.spend(OBJECT)?;
                let mut fields = Map::new();
                self.complete(*id, &mut fields)?;
                Value::Object(fields)
            }
        })
    }
}

/// The object in a place, which becomes one if it is none.
fn object(slot: &mut Value) -> &mut Map<String, Value> {
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    slot.as_object_mut().expect("it was made an object")
}

/// Whole numbers are written as such.
fn double(value: f64) -> Result<Value, Error> {
    if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
        return Ok((value as i64).into());
    }
    let number = Number::from_f64(value).map(Value::Number);
    number.ok_or_else(|| Error::new(format!("json: unsupported value: {value}")))
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(it) => !it,
        Value::Number(it) => it.as_f64() == Some(0.0),
        Value::String(it) => it.is_empty(),
        Value::Array(_) | Value::Object(_) => false,
    }
}

fn is_deeper(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth == 0 || items.iter().any(|it| is_deeper(it, depth - 1)),
        Value::Object(fields) => depth == 0 || fields.values().any(|it| is_deeper(it, depth - 1)),
        _ => false,
    }
}
