//! The types of built-in objects, as data: the fields, their values, and which fields are left out.
//!
//! An object of a built-in kind is read into a struct and written again. So unknown fields vanish,
//! a wrong type is an error of reading, null is nothing, and empty fields are left out.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::json;
use crate::quantity::Quantity;
use crate::short::{note, short};

/// The type of a field.
#[derive(Debug)]
pub(crate) enum Type {
    Text,
    Int32,
    Int64,
    Double,
    Bool,
    /// A whole number, or a text.
    IntOrText,
    /// An amount such as `500m`, written in its shortest form.
    Quantity,
    /// A time in seconds.
    Time,
    /// A time with exactly six digits after the second.
    MicroTime,
    /// Base64.
    Bytes,
    /// Anything; nulls within objects vanish.
    Any,
    /// Object with any keys.
    Map(&'static Type),
    List(&'static Type),
    Struct(&'static str, &'static [Field]),
}

/// A field of a struct.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) of: &'static Type,
    pub(crate) empty: Empty,
}

/// The treatment of a field without content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Empty {
    /// It is left out.
    Omit,
    /// It is left out if it is missing, and kept if it is `""`, `0` or `false`.
    Keep,
    /// It is written with the zero of its type even if it is missing.
    Write,
}

pub(crate) const fn omit(name: &'static str, of: &'static Type) -> Field {
    Field { name, of, empty: Empty::Omit }
}

pub(crate) const fn keep(name: &'static str, of: &'static Type) -> Field {
    Field { name, of, empty: Empty::Keep }
}

pub(crate) const fn write(name: &'static str, of: &'static Type) -> Field {
    Field { name, of, empty: Empty::Write }
}

/// Reads a value and collects the paths of unknown fields. The error is the reader's message.
pub(crate) fn read(value: Value, of: &Type, unknown: &mut Vec<String>) -> Result<Value, String> {
    Reader { unknown, owner: "", path: Vec::new(), room: FILLED }.value(value, of)
}

/// How much memory may be taken by what is filled in beside what was sent.
const FILLED: usize = 8 * 1024 * 1024;

/// About how much the zero of a type takes. An empty struct counts as one with fields: its kind may give it some.
fn taken(of: &Type) -> usize {
    let Type::Struct(_, fields) = of else { return 0 };
    let written = fields.iter().filter(|it| it.empty == Empty::Write);
    json::OBJECT + written.map(|it| json::FIELD + taken(it.of)).sum::<usize>()
}

struct Reader<'a> {
    /// How much memory may still be filled in.
    room: usize,
    unknown: &'a mut Vec<String>,
    owner: &'static str,
    path: Vec<Cow<'static, str>>,
}

impl Reader<'_> {
    fn value(&mut self, value: Value, of: &Type) -> Result<Value, String> {
        match (of, value) {
            // Nothing in place of bytes is stored in another way than no bytes.
            (Type::Bytes, Value::Null) => Ok(Value::Null),
            (_, Value::Null) => self.zero(of),
            (Type::Any, mut value) => {
                drop_nulls(&mut value);
                Ok(value)
            }
            (Type::Text | Type::IntOrText, value @ Value::String(_))
            | (Type::Bool, value @ Value::Bool(_))
            | (Type::Double, value @ Value::Number(_)) => Ok(value),
            (Type::Quantity, value @ (Value::String(_) | Value::Number(_))) => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                Ok(Quantity::parse(&text)?.to_string().into())
            }
            (Type::Int64, Value::Number(it)) if it.is_i64() => Ok(it.into()),
            (Type::Int32 | Type::IntOrText, Value::Number(it))
                if it.as_i64().is_some_and(|it| i32::try_from(it).is_ok()) =>
            {
                Ok(it.into())
            }
            (Type::Time, Value::String(it)) => time(it),
            (Type::MicroTime, Value::String(it)) => micro_time(it),
            (Type::Bytes, Value::String(it)) => bytes(it),
            (Type::Map(of), Value::Object(mut fields)) => {
                for value in fields.values_mut() {
                    *value = self.value(value.take(), of)?;
                }
                Ok(Value::Object(fields))
            }
            (Type::List(of), Value::Array(mut items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.path.push(format!("[{index}]").into());
                    *item = self.value(item.take(), of)?;
                    self.path.pop();
                }
                Ok(Value::Array(items))
            }
            (Type::Struct(name, fields), Value::Object(content)) => {
                self.fields(name, fields, content)
            }
            (of, value) => Err(self.mismatch(of, &value)),
        }
    }

    fn fields(
        &mut self,
        name: &'static str,
        fields: &[Field],
        mut content: Map<String, Value>,
    ) -> Result<Value, String> {
        if content.is_empty() {
            self.fill(json::OBJECT)?;
        }
        let owner = std::mem::replace(&mut self.owner, name);
        let mut known = 0;
        for field in fields {
            match content.get_mut(field.name) {
                Some(slot) if !slot.is_null() => {
                    self.path.push(field.name.into());
                    *slot = self.value(slot.take(), field.of)?;
                    self.path.pop();
                    if field.empty == Empty::Omit && is_empty(slot) {
                        content.remove(field.name);
                        continue;
                    }
                }
                Some(slot) if field.empty == Empty::Write => *slot = self.zero(field.of)?,
                None if field.empty == Empty::Write => {
                    self.fill(json::FIELD)?;
                    content.insert(field.name.to_owned(), self.zero(field.of)?);
                }
                Some(_) => {
                    content.remove(field.name);
                    continue;
                }
                None => continue,
            }
            known += 1;
        }
        self.owner = owner;
        if content.len() > known {
            self.drop_unknown(fields, &mut content);
        }
        Ok(Value::Object(content))
    }

    fn fill(&mut self, memory: usize) -> Result<(), String> {
        self.room = self.room.checked_sub(memory).ok_or(json::TOO_MUCH)?;
        Ok(())
    }

    fn zero(&mut self, of: &Type) -> Result<Value, String> {
        self.fill(taken(of))?;
        Ok(zero(of))
    }

    fn drop_unknown(&mut self, fields: &[Field], content: &mut Map<String, Value>) {
        let path = self.path.join(".").replace(".[", "[");
        let dot = if path.is_empty() { "" } else { "." };
        content.retain(|key, _| {
            let is_known = fields.iter().any(|field| field.name == key);
            if !is_known {
                note(self.unknown, format_args!("{path}{dot}{key}"));
            }
            is_known
        });
    }

    fn mismatch(&self, of: &Type, value: &Value) -> String {
        let found = match value {
            Value::Number(it)
                if (it.is_f64() || matches!(of, Type::Int32 | Type::Int64))
                    && self.owner != "Secret" =>
            {
                return format!(
                    "json: cannot unmarshal number {it} into Go struct field {}.{} of type {}",
                    self.owner,
                    self.path.join("."),
                    go(of)
                );
            }
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let path = self.path.join(".");
        format!(
            "json: cannot unmarshal {found} into Go struct field {}.{path} of type {}",
            self.owner,
            go(of)
        )
    }
}

fn go(of: &Type) -> String {
    match of {
        Type::Text => "string".to_owned(),
        Type::Int32 => "int32".to_owned(),
        Type::Int64 => "int64".to_owned(),
        Type::Double => "float64".to_owned(),
        Type::IntOrText => "intstr.IntOrString".to_owned(),
        Type::Quantity => "resource.Quantity".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Time => "v1.Time".to_owned(),
        Type::MicroTime => "v1.MicroTime".to_owned(),
        Type::Bytes => "[]uint8".to_owned(),
        Type::Any => "interface {}".to_owned(),
        Type::Map(of) => format!("map[string]{}", go(of)),
        Type::List(of) => format!("[]{}", go(of)),
        Type::Struct(name, _) => format!("v1.{name}"),
    }
}

/// The value of a field that nobody has set.
pub(crate) fn zero(of: &Type) -> Value {
    match of {
        Type::Text | Type::Bytes => "".into(),
        Type::Int32 | Type::Int64 | Type::Double | Type::IntOrText => 0.into(),
        Type::Quantity => "0".into(),
        Type::Bool => false.into(),
        // A list that nobody has made is not an empty one.
        Type::Time | Type::MicroTime | Type::Any | Type::List(_) => Value::Null,
        Type::Map(_) => Value::Object(Map::new()),
        Type::Struct(_, fields) => {
            let written = fields.iter().filter(|field| field.empty == Empty::Write);
            Value::Object(written.map(|it| (it.name.to_owned(), zero(it.of))).collect())
        }
    }
}

/// What a field is in an object in which nobody has set it; none if it is left out.
pub(crate) fn zero_field(of: &Type, name: &str) -> Option<Value> {
    let Type::Struct(_, fields) = of else { return None };
    let field = fields.iter().find(|field| field.name == name && field.empty == Empty::Write)?;
    Some(zero(field.of))
}

/// Makes no bytes of nothing, as who reads the object does; true if there was any.
pub(crate) fn fill_bytes(value: &mut Value, of: &Type) -> bool {
    let Type::Struct(_, fields) = of else { return false };
    let mut filled = false;
    for field in fields.iter().filter(|it| matches!(it.of, Type::Map(Type::Bytes))) {
        let content = value.get_mut(field.name).and_then(Value::as_object_mut);
        for value in content.into_iter().flat_map(|it| it.values_mut()).filter(|it| it.is_null()) {
            *value = "".into();
            filled = true;
        }
    }
    filled
}

pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(it) => !it,
        Value::Number(it) => it.as_f64() == Some(0.0),
        Value::String(it) => it.is_empty(),
        Value::Array(it) => it.is_empty(),
        Value::Object(it) => it.is_empty(),
    }
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

fn bytes(text: String) -> Result<Value, String> {
    use base64::Engine as _;
    match base64::engine::general_purpose::STANDARD.decode(&text) {
        Ok(_) => Ok(text.into()),
        Err(error) => Err(illegal(&error)),
    }
}

/// Where the text is wrong, without the letter that is.
fn illegal(error: &base64::DecodeError) -> String {
    match error {
        base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => {
            format!("illegal base64 data at input byte {at}")
        }
        _ => "illegal base64 data".to_owned(),
    }
}

fn time(text: String) -> Result<Value, String> {
    let layout = "2006-01-02T15:04:05Z07:00";
    match split_time(&text) {
        Some((_, _)) => Ok(text.into()),
        None => Err(bad_time(&text, layout)),
    }
}

fn micro_time(text: String) -> Result<Value, String> {
    match split_time(&text) {
        Some((_, 6)) => Ok(text.into()),
        _ => Err(bad_time(&text, "2006-01-02T15:04:05.000000Z07:00")),
    }
}

/// The reader's message: which part does not fit which part of the layout.
fn bad_time(text: &str, layout: &str) -> String {
    let rest = text.split_once('.').map_or("", |(_, rest)| rest);
    let is_micro = layout.contains(".000000");
    let (part, of) = match split_time(text) {
        Some((head, 0)) if is_micro => (&text[head.len()..], ".000000"),
        Some((_, digits)) if is_micro && digits > 6 => (&rest[6..], "Z07:00"),
        _ => (text, "2006"),
    };
    let (text, part) = (short(text), short(part));
    format!("parsing time {text:?} as {layout:?}: cannot parse {part:?} as {of:?}")
}

/// The time up to its second and the number of digits after it, if it is one.
fn split_time(text: &str) -> Option<(&str, usize)> {
    let shape = b"dddd-dd-ddTdd:dd:dd";
    let (head, tail) = text.split_at_checked(shape.len())?;
    let fits = |(shape, byte): (&u8, u8)| match shape {
        b'd' => byte.is_ascii_digit(),
        shape => *shape == byte,
    };
    if !shape.iter().zip(head.bytes()).all(fits) {
        return None;
    }
    let number = |from: usize, to: usize| head[from..to].parse::<u32>().unwrap_or(u32::MAX);
    let in_range = (1..=12).contains(&number(5, 7))
        && (1..=31).contains(&number(8, 10))
        && number(11, 13) < 24
        && number(14, 16) < 60
        && number(17, 19) < 60;
    let fraction = tail.strip_prefix('.').unwrap_or("");
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    let zone = if digits > 0 { &fraction[digits..] } else { tail };
    let is_zone = zone == "Z" || is_offset(zone.as_bytes());
    (in_range && is_zone).then_some((head, digits))
}

fn is_offset(zone: &[u8]) -> bool {
    let [sign, a, b, b':', c, d] = zone else { return false };
    matches!(sign, b'+' | b'-') && [a, b, c, d].iter().all(|it| it.is_ascii_digit())
}
