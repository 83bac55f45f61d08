//! Values, as expressions see them. Those of an object are read where they lie.

use std::borrow::Cow;
use std::cmp::Ordering as Order;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use base64::Engine;
use serde_json::{Map as Fields, Value as Json};

use super::eval::CANCELLED;
use super::functions::authorizer::Rights;
use super::functions::time;
use super::functions::url::Url;
use super::kind::{Decl, Ordering, Shape, Type};
use crate::quantity::Quantity;

/// How much there may be in lists whose items are found by what is in them.
const LONGEST: u64 = 1_000_000;

#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Cow<'a, str>),
    Bytes(Arc<[u8]>),
    /// Nanoseconds since the Unix epoch.
    Time(i128),
    /// Nanoseconds.
    Span(i64),
    List(List<'a>),
    Map(Map<'a>),
    Optional(Option<Rc<Value<'a>>>),
    Type(&'static str),
    Quantity(Quantity),
    Url(Arc<Url>),
    Ip(IpAddr),
    Cidr(IpAddr, u8),
    Format(&'static str),
    /// An object of a patch, with the name of its type.
    Made(Arc<str>, Map<'a>),
    /// Somebody's rights, or a part of a question about them.
    Rights(Rc<Rights<'a>>),
    /// Whether something is allowed, and why.
    Decision(bool, Arc<str>),
}

#[derive(Clone, Debug)]
pub(crate) enum List<'a> {
    /// With how deep it is.
    Made(Rc<Vec<Value<'a>>>, usize),
    Read(&'a [Json], &'a Decl, &'a Ordering),
}

#[derive(Clone, Debug)]
pub(crate) enum Map<'a> {
    /// With how deep it is.
    Made(Rc<Vec<(Value<'a>, Value<'a>)>>, usize),
    Read(&'a Fields<String, Json>, &'a Decl),
}

/// Why an evaluation ended.
pub(crate) type Outcome<'a> = Result<Value<'a>, String>;

pub(super) const NO_OVERLOAD: &str = "no such overload";

impl<'a> Value<'a> {
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn list(items: Vec<Self>) -> Self {
        let depth = 1 + items.iter().map(Self::depth).max().unwrap_or(0);
        Self::List(List::Made(Rc::new(items), depth))
    }

    pub(crate) fn map(entries: Vec<(Self, Self)>) -> Self {
        let depths = entries.iter().map(|(key, value)| key.depth().max(value.depth()));
        let depth = 1 + depths.max().unwrap_or(0);
        Self::Map(Map::Made(Rc::new(entries), depth))
    }

    /// An object of a patch.
    pub(super) fn made(of: &Arc<str>, fields: Vec<(Self, Self)>) -> Self {
        match Self::map(fields) {
            Self::Map(map) => Self::Made(of.clone(), map),
            other => other,
        }
    }

    pub(super) fn some(value: Self) -> Self {
        Self::Optional(Some(Rc::new(value)))
    }

    /// The value of a field that a schema describes.
    pub(crate) fn read(json: &'a Json, decl: &'a Decl) -> Outcome<'a> {
        let expected = |what: &str| Err(format!("invalid data, expected {what}"));
        Ok(match (&decl.shape, json) {
            (_, Json::Null) if decl.is_nullable => Self::Null,
            (_, Json::Null) => {
                return Err("invalid data, got null for schema with nullable=false".to_owned());
            }
            (Shape::Open(_), Json::String(it)) => Self::text(it.as_str()),
            (Shape::Open(true), Json::Number(it)) if it.is_i64() => {
                Self::Int(it.as_i64().unwrap_or(0))
            }
            (Shape::Open(true), _) => {
                return expected("XIntOrString value to be either a string or integer");
            }
            (Shape::Open(false), Json::Bool(it)) => Self::Bool(*it),
            (Shape::Open(false), Json::Number(it)) => match it.as_i64() {
                Some(it) => Self::Int(it),
                None => Self::Double(it.as_f64().unwrap_or(0.0)),
            },
            (Shape::Open(false), Json::Array(items)) => {
                Self::List(List::Read(items, decl, &Ordering::Items))
            }
            (Shape::Open(_) | Shape::Map(_) | Shape::Object(_), Json::Object(fields)) => {
                Self::Map(Map::Read(fields, decl))
            }
            (Shape::Map(_) | Shape::Object(_), _) => {
                return expected("a map for the provided schema with type=object");
            }
            (Shape::List(of, ordering), Json::Array(items)) => {
                Self::List(List::Read(items, of, ordering))
            }
            (Shape::List(..), _) => {
                return expected("an array for the provided schema with type=array");
            }
            (Shape::Date, Json::String(it)) => time::day(it)?,
            (Shape::Simple(of), json) => return Self::simple(of, json),
            (Shape::Date, _) => return expected("string"),
        })
    }

    fn simple(of: &Type, json: &'a Json) -> Outcome<'a> {
        let wrong = |what: &str| format!("invalid data, expected {what}");
        Ok(match (of, json) {
            (Type::Bool, Json::Bool(it)) => Self::Bool(*it),
            (Type::Int, Json::Number(it)) => Self::Int(it.as_i64().ok_or_else(|| wrong("int"))?),
            (Type::Double, Json::Number(it)) => Self::Double(it.as_f64().unwrap_or(0.0)),
            (Type::Text, Json::String(it)) => Self::text(it.as_str()),
            (Type::Bytes, Json::String(it)) => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(it);
                let wrong = |why| format!("Invalid byte formatted string {it}: {why}");
                Self::Bytes(bytes.map_err(wrong)?.into())
            }
            (Type::Time, Json::String(it)) => time::instant(it)?,
            (Type::Span, Json::String(it)) => time::span(it)?,
            (Type::Int, _) => return Err(wrong("int")),
            (Type::Double, _) => return Err(wrong("float")),
            (Type::Bool, _) => return Err(wrong("bool")),
            _ => return Err(wrong("string")),
        })
    }

    pub(super) fn equals(&self, other: &Self) -> Result<bool, String> {
        Ok(match (self, other) {
            (Self::List(one), Self::List(two)) => return one.equals(two),
            (Self::Made(one, _), Self::Made(two, _)) if one != two => false,
            (Self::Map(one), Self::Map(two)) | (Self::Made(_, one), Self::Made(_, two)) => {
                if one.len() != two.len() {
                    return Ok(false);
                }
                // Made maps are searched by one key after another, others are not.
                if let (Map::Read(..), Map::Made(..)) = (one, two) {
                    return Self::Map(two.clone()).equals(&Self::Map(one.clone()));
                }
                for (key, value) in one.entries() {
                    let Some(there) = two.find(&key)? else { return Ok(false) };
                    if !value?.equals(&there)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Optional(one), Self::Optional(two)) => match (one, two) {
                (Some(one), Some(two)) => return one.equals(two),
                (one, two) => one.is_none() && two.is_none(),
            },
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(two)) => one == two,
            (Self::Text(one), Self::Text(two)) => one == two,
            (Self::Bytes(one), Self::Bytes(two)) => one == two,
            (Self::Type(one), Self::Type(two)) | (Self::Format(one), Self::Format(two)) => {
                one == two
            }
            (Self::Quantity(one), Self::Quantity(two)) => one == two,
            (Self::Url(one), Self::Url(two)) => one == two,
            (Self::Ip(one), Self::Ip(two)) => one == two,
            (Self::Cidr(one, length), Self::Cidr(two, other)) => one == two && length == other,
            _ => self.order(other) == Some(Order::Equal),
        })
    }

    /// The order of two values that have one; numbers of all kinds are compared.
    pub(super) fn order(&self, other: &Self) -> Option<Order> {
        Some(match (self, other) {
            (Self::Int(one), Self::Int(two)) => one.cmp(two),
            (Self::Uint(one), Self::Uint(two)) => one.cmp(two),
            (Self::Int(one), Self::Uint(two)) => i128::from(*one).cmp(&i128::from(*two)),
            (Self::Uint(one), Self::Int(two)) => i128::from(*one).cmp(&i128::from(*two)),
            (Self::Double(one), other) => one.partial_cmp(&other.number()?)?,
            (_, Self::Double(two)) => self.number()?.partial_cmp(two)?,
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
            (Self::Bytes(one), Self::Bytes(two)) => one.cmp(two),
            (Self::Bool(one), Self::Bool(two)) => one.cmp(two),
            (Self::Time(one), Self::Time(two)) => one.cmp(two),
            (Self::Span(one), Self::Span(two)) => one.cmp(two),
            _ => return None,
        })
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Int(it) => Some(*it as f64),
            Self::Uint(it) => Some(*it as f64),
            Self::Double(it) => Some(*it),
            _ => None,
        }
    }
}

impl<'a> List<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Made(items, _) => items.len(),
            Self::Read(items, ..) => items.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> Outcome<'a> {
        let missing = || format!("index out of bounds: {index}");
        match self {
            Self::Made(items, _) => items.get(index).cloned().ok_or_else(missing),
            Self::Read(items, decl, _) => Value::read(items.get(index).ok_or_else(missing)?, decl),
        }
    }

    pub(super) fn items(&self) -> Result<Vec<Value<'a>>, String> {
        (0..self.len()).map(|index| self.get(index)).collect()
    }

    /// Made values that share their parts may be longer in writing than any memory.
    fn can_be_written(&self) -> Result<(), String> {
        let is_short = Value::List(self.clone()).weight(LONGEST) <= LONGEST;
        if is_short { Ok(()) } else { Err(CANCELLED.to_owned()) }
    }

    fn equals(&self, other: &Self) -> Result<bool, String> {
        if self.len() != other.len() {
            return Ok(false);
        }
        let ordering = match (self, other) {
            (Self::Read(_, _, ordering), _) | (_, Self::Read(_, _, ordering)) => ordering,
            _ => &Ordering::Items,
        };
        if *ordering == Ordering::Items {
            for index in 0..self.len() {
                if !self.get(index)?.equals(&other.get(index)?)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        self.can_be_written()?;
        other.can_be_written()?;
        // Lists that are sets or maps may have another order. Both are written in one.
        let mut sides = [self.items()?, other.items()?];
        for side in &mut sides {
            side.sort_by_cached_key(|it| ordering.key(it));
        }
        let [one, two] = sides;
        for (one, two) in one.iter().zip(&two) {
            if !one.equals(two)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Both lists in one: a set holds nothing twice, and the later of two items with one key wins.
    pub(super) fn with(&self, other: &Self) -> Outcome<'a> {
        let mut items = self.items()?;
        let ordering = match self {
            Self::Read(_, _, ordering) => *ordering,
            Self::Made(..) => &Ordering::Items,
        };
        if *ordering == Ordering::Items {
            items.extend(other.items()?);
            return Ok(Value::list(items));
        }
        self.can_be_written()?;
        other.can_be_written()?;
        let mut places: std::collections::BTreeMap<String, usize> =
            items.iter().enumerate().map(|(index, it)| (ordering.key(it), index)).collect();
        for item in other.items()? {
            let key = ordering.key(&item);
            if let Some(place) = places.get(&key) {
                items[*place] = item;
            } else {
                places.insert(key, items.len());
                items.push(item);
            }
        }
        Ok(Value::list(items))
    }
}

impl<'a> Map<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Made(entries, _) => entries.len(),
            Self::Read(fields, decl) => match decl.shape {
                Shape::Object(_) => fields.keys().filter(|key| field(decl, key).is_some()).count(),
                _ => fields.len(),
            },
        }
    }

    /// How many keys there are at most.
    pub(super) fn most(&self) -> usize {
        match self {
            Self::Made(entries, _) => entries.len(),
            Self::Read(fields, _) => fields.len(),
        }
    }

    /// The value of a key, if there is one.
    pub(super) fn find(&self, key: &Value<'_>) -> Result<Option<Value<'a>>, String> {
        match (self, key) {
            (Self::Read(..), Value::Text(name)) => self.field(name),
            (Self::Read(..), _) => Ok(None),
            // What may be no key is not compared: it may be very large.
            (Self::Made(..), Value::List(_) | Value::Map(_) | Value::Optional(_)) => {
                Err(format!("unsupported key type: {}", key.type_name()))
            }
            (Self::Made(entries, _), _) => {
                for (known, value) in entries.iter() {
                    if known.equals(key)? {
                        return Ok(Some(value.clone()));
                    }
                }
                Ok(None)
            }
        }
    }

    pub(super) fn field(&self, name: &str) -> Result<Option<Value<'a>>, String> {
        match self {
            Self::Read(fields, decl) => match (fields.get(name), field(decl, name)) {
                (Some(value), Some(decl)) => Value::read(value, decl).map(Some),
                _ => Ok(None),
            },
            Self::Made(..) => self.find(&Value::text(name.to_owned())),
        }
    }

    /// Whether it is an object, whose fields may be written in another way.
    pub(super) fn is_object(&self) -> bool {
        matches!(self, Self::Read(_, decl) if matches!(decl.shape, Shape::Object(_)))
    }

    pub(super) fn entries(&self) -> Box<dyn Iterator<Item = (Value<'a>, Outcome<'a>)> + '_> {
        match self {
            Self::Made(entries, _) => {
                Box::new(entries.iter().map(|(key, value)| (key.clone(), Ok(value.clone()))))
            }
            Self::Read(fields, decl) => Box::new(fields.iter().filter_map(|(key, value)| {
                Some((Value::text(key.as_str()), Value::read(value, field(decl, key)?)))
            })),
        }
    }
}

fn field<'a>(decl: &'a Decl, name: &str) -> Option<&'a Decl> {
    match &decl.shape {
        Shape::Object(fields) => fields.get(name).map(|it| &**it),
        Shape::Map(values) => Some(values),
        _ => Some(decl),
    }
}
