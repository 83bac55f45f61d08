//! One event of a watch, as a line of JSON.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::status::Status;

/// An event of a watch (`election:RQ-100`).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum WatchEvent<O> {
    /// An object was created, or began to match.
    Added(O),
    /// An object was changed.
    Modified(O),
    /// An object was deleted, or does not match any more: its last state.
    Deleted(O),
    /// All changes up to the version in the metadata of this object were sent. It has little else.
    Bookmark(Value),
    /// The watch has failed: the server's status, or ours if its line makes no sense
    /// (`election:RQ-103`). Nothing comes after this.
    Error(Box<Status>),
}

/// An event while it is decoded. All servers that we know send the type first, so the object is
/// decoded directly. An object that comes before its type is kept undecoded until then.
pub(super) struct Line<O>(pub(super) WatchEvent<O>);

/// The types of events (`election:RQ-100`).
#[derive(Clone, Copy)]
enum Type {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

impl Type {
    fn read<E: serde::de::Error>(name: &str) -> Result<Self, E> {
        Ok(match name {
            "ADDED" => Self::Added,
            "MODIFIED" => Self::Modified,
            "DELETED" => Self::Deleted,
            "BOOKMARK" => Self::Bookmark,
            "ERROR" => Self::Error,
            other => return Err(E::custom(format_args!("unknown type of event {other:?}"))),
        })
    }

    /// Returns the variant for an object of the watched kind.
    const fn of<O>(self) -> fn(O) -> WatchEvent<O> {
        match self {
            Self::Added => WatchEvent::Added,
            Self::Modified => WatchEvent::Modified,
            Self::Deleted | Self::Bookmark | Self::Error => WatchEvent::Deleted,
        }
    }
}

impl<'de, O: DeserializeOwned> Deserialize<'de> for Line<O> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader(PhantomData)).map(Self)
    }
}

struct Reader<O>(PhantomData<O>);

impl<'de, O: DeserializeOwned> Visitor<'de> for Reader<O> {
    type Value = WatchEvent<O>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event with a type and an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut of, mut early, mut event) = (None, None::<Value>, None);
        while let Some(key) = map.next_key::<String>()? {
            match (key.as_str(), of) {
                ("type", _) => of = Some(Type::read(&map.next_value::<String>()?)?),
                ("object", Some(Type::Error)) => {
                    event = Some(WatchEvent::Error(Box::new(map.next_value()?)));
                }
                ("object", Some(Type::Bookmark)) => {
                    event = Some(WatchEvent::Bookmark(map.next_value()?));
                }
                ("object", Some(known)) => event = Some(known.of()(map.next_value()?)),
                ("object", None) => early = Some(map.next_value()?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let of = of.ok_or_else(|| A::Error::missing_field("type"))?;
        let event = match (event, early, of) {
            (Some(event), ..) => Ok(event),
            (None, None, _) => return Err(A::Error::missing_field("object")),
            (None, Some(object), Type::Error) => {
                serde_json::from_value::<Status>(object).map(|it| WatchEvent::Error(Box::new(it)))
            }
            (None, Some(object), Type::Bookmark) => Ok(WatchEvent::Bookmark(object)),
            (None, Some(object), known) => serde_json::from_value(object).map(known.of()),
        };
        event.map_err(A::Error::custom)
    }
}
