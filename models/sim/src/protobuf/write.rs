//! From JSON to the wire: the same bytes that the published types write.

use base64::Engine as _;
use serde_json::Value;

use super::special::unfold;
use super::table::{Empty, Id, Table, Type};
use super::wire::{put_bytes, put_tag, put_varint};

/// The bytes of a message. A value that does not fit the type of its field is written as zero.
pub(super) fn message(table: &Table, id: Id, object: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    for field in &table.message(id).fields {
        let value = match &field.name {
            None => object,
            Some(name) => object.get(name).unwrap_or(&Value::Null),
        };
        if !value.is_null() || field.name.is_none() || field.empty != Empty::Absent {
            put(table, field.number, &field.of, value, &mut out);
        }
    }
    out
}

fn put(table: &Table, number: u32, of: &Type, value: &Value, out: &mut Vec<u8>) {
    match of {
        Type::Text => put_bytes(number, value.as_str().unwrap_or("").as_bytes(), out),
        Type::Bytes => {
            let text = value.as_str().unwrap_or("");
            let bytes = base64::engine::general_purpose::STANDARD.decode(text);
            put_bytes(number, &bytes.unwrap_or_default(), out);
        }
        Type::Json => put_bytes(number, value.to_string().as_bytes(), out),
        Type::Bool => {
            put_tag(number, 0, out);
            put_varint(u64::from(value == true), out);
        }
        Type::Int32 | Type::Int64 => {
            put_tag(number, 0, out);
            put_varint(value.as_i64().unwrap_or(0) as u64, out);
        }
        Type::Double => {
            put_tag(number, 1, out);
            out.extend(value.as_f64().unwrap_or(0.0).to_le_bytes());
        }
        Type::Message(id) => put_bytes(number, &message(table, *id, value), out),
        Type::Special(special, id) => {
            let mut inner = Vec::new();
            for (number, part) in unfold(*special, value) {
                if let Some(field) = table.message(*id).field(number) {
                    put(table, number, &field.of, &part, &mut inner);
                }
            }
            put_bytes(number, &inner, out);
        }
        Type::List(of) => {
            for item in value.as_array().into_iter().flatten() {
                put(table, number, of, item, out);
            }
        }
        Type::Map(of) => {
            for (key, value) in value.as_object().into_iter().flatten() {
                let mut entry = Vec::new();
                put_bytes(1, key.as_bytes(), &mut entry);
                put(table, 2, of, value, &mut entry);
                put_bytes(number, &entry, out);
            }
        }
    }
}
