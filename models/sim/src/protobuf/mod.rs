//! The binary form of the built-in kinds, which clients in Go prefer.
//!
//! A message on the wire is the envelope: four bytes, then the kind and the bytes of the object. The
//! numbers and types of all fields are data, in `fields.txt`; one reader and one writer convert any
//! kind from and to JSON. What the reader makes is the JSON that the published types would write, and
//! the writer makes the same bytes as they do. Fields that a kind does not have are skipped.
//!
//! A body is hostile: recursion, the number of values and the depth of the result are bounded.

mod read;
mod special;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod time;
mod wire;
mod write;

use std::fmt;

use serde_json::{Map, Value};

use read::Reader;
use table::Table;
use wire::{Content, put_bytes};

/// The media type of such bodies.
pub const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
/// The first bytes of every message.
const MAGIC: &[u8] = b"k8s\0";

/// Why bytes are no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    why: String,
    /// Nobody knows what the message would be: its envelope is broken.
    is_of_envelope: bool,
}

impl Error {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_of_envelope: false }
    }

    fn wrong_type(wire_type: u8) -> Self {
        Self::new(format!("proto: wrong wireType = {wire_type}"))
    }

    /// Names the field, if its wire type was wrong.
    fn within(self, field: &str) -> Self {
        if !self.why.starts_with("proto: wrong wireType") || self.why.contains(" for field ") {
            return self;
        }
        let (first, rest) = field.split_at(field.chars().next().map_or(0, char::len_utf8));
        Self::new(format!("{} for field {}{rest}", self.why, first.to_uppercase()))
    }

    /// Tells whether not even the kind of the message is known.
    pub fn is_of_envelope(&self) -> bool {
        self.is_of_envelope
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Error {}

/// The JSON of an object in its envelope. Of an unknown kind it is the kind alone.
///
/// # Errors
///
/// The bytes are no envelope, or not a message of the kind.
pub fn decode(bytes: &[u8]) -> Result<Value, Error> {
    decode_as(bytes, None)
}

/// The same; an envelope that does not name version and kind is taken to be of these.
pub(crate) fn decode_as(bytes: &[u8], default: Option<(&str, &str)>) -> Result<Value, Error> {
    envelope(bytes, default, &mut Reader::new(), read::DEPTH)
}

fn envelope(
    bytes: &[u8],
    default: Option<(&str, &str)>,
    reader: &mut Reader,
    depth: usize,
) -> Result<Value, Error> {
    let broken = |why: &str| Error { why: why.to_owned(), is_of_envelope: true };
    let body = match bytes.strip_prefix(MAGIC) {
        None if bytes.is_empty() => return Err(broken("empty data")),
        None => {
            let why = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";
            return Err(broken(why));
        }
        Some([]) => return Err(broken("empty body")),
        Some(body) => body,
    };
    let (mut kind, mut version, mut raw) = (String::new(), String::new(), &[][..]);
    let mut fields = wire::Reader::new(body);
    while !fields.is_at_end() {
        match fields.field("Unknown").map_err(|error| broken(&error.why))? {
            (1, Content::Bytes(bytes)) => {
                let mut fields = wire::Reader::new(bytes);
                while !fields.is_at_end() {
                    match fields.field("TypeMeta").map_err(|error| broken(&error.why))? {
                        (1, Content::Bytes(it)) => version = String::from_utf8_lossy(it).into(),
                        (2, Content::Bytes(it)) => kind = String::from_utf8_lossy(it).into(),
                        (1 | 2, it) => {
                            return Err(broken(&Error::wrong_type(it.wire_type()).why));
                        }
                        _ => {}
                    }
                }
            }
            (2, Content::Bytes(bytes)) => raw = bytes,
            (1..=4, Content::Bytes(_)) => {}
            (1..=4, it) => return Err(broken(&Error::wrong_type(it.wire_type()).why)),
            _ => {}
        }
    }
    if kind.is_empty() {
        kind = default.map_or("", |(_, kind)| kind).to_owned();
    }
    if version.is_empty() {
        version = default.map_or("", |(version, _)| version).to_owned();
    }
    let mut object = Map::new();
    if let Some(id) = Table::get().kind(&version, &kind) {
        reader.message(id, raw, &mut object, depth)?;
    }
    object.insert("apiVersion".to_owned(), version.into());
    object.insert("kind".to_owned(), kind.into());
    Ok(Value::Object(object))
}

/// An object in its envelope; none if its kind has no message, as those of custom resources.
pub fn encode(object: &Value) -> Option<Vec<u8>> {
    let part = |key: &str| object[key].as_str().unwrap_or("");
    let (version, kind) = (part("apiVersion"), part("kind"));
    let raw = write::message(Table::get(), Table::get().kind(version, kind)?, object);
    let mut meta = Vec::new();
    put_bytes(1, version.as_bytes(), &mut meta);
    put_bytes(2, kind.as_bytes(), &mut meta);
    let mut out = MAGIC.to_vec();
    put_bytes(1, &meta, &mut out);
    put_bytes(2, &raw, &mut out);
    // The encoding and the type of the content: neither is ever set.
    put_bytes(3, b"", &mut out);
    put_bytes(4, b"", &mut out);
    Some(out)
}

/// One event of a watch, behind its length; none if the kind of its object has no message.
pub fn frame(event: &str, object: &Value) -> Option<Vec<u8>> {
    let mut raw = Vec::new();
    put_bytes(1, &encode(object)?, &mut raw);
    let mut message = Vec::new();
    put_bytes(1, event.as_bytes(), &mut message);
    put_bytes(2, &raw, &mut message);
    let length = u32::try_from(message.len()).ok()?;
    message.splice(..0, length.to_be_bytes());
    Some(message)
}
