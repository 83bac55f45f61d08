//! How objects get their keys, and the errors if they cannot.

use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::LastState;

/// Why foreign code refused an object.
pub type Cause = Arc<dyn Error + Send + Sync>;

/// The properties of an object that stores and queues read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Metadata<'a> {
    /// The namespace of the object; empty for a cluster-scoped one.
    pub namespace: &'a str,
    /// The object's name.
    pub name: &'a str,
    /// Distinguishes objects that had the same name at different times.
    pub uid: &'a str,
    /// The version of the object, opaque.
    pub resource_version: &'a str,
}

/// An object that can be asked for its metadata.
pub trait Described {
    /// Returns the metadata, `None` if the object has none.
    fn metadata(&self) -> Option<Metadata<'_>>;

    /// Returns the value of a label.
    fn label(&self, name: &str) -> Option<&str> {
        let _ = name;
        None
    }

    /// Returns the key: `namespace/name`, or only the name if there is no namespace.
    ///
    /// Nothing is escaped or checked (`cache:KY-3`).
    ///
    /// # Errors
    /// The object has no metadata.
    fn key(&self) -> Result<String, NoMetadata> {
        let Metadata { namespace, name, .. } = self.metadata().ok_or(NoMetadata)?;
        Ok(join(namespace, name))
    }
}

impl<T: Described + ?Sized> Described for Arc<T> {
    fn metadata(&self) -> Option<Metadata<'_>> {
        T::metadata(self)
    }
    fn label(&self, name: &str) -> Option<&str> {
        T::label(self, name)
    }
    fn key(&self) -> Result<String, NoMetadata> {
        T::key(self)
    }
}

/// Joins namespace and name to a key.
pub(crate) fn join(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { [namespace, "/", name].concat() }
}

/// A key used in place of an object, where only the key is known (`cache:KY-2`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ExplicitKey(pub String);

impl Described for ExplicitKey {
    fn metadata(&self) -> Option<Metadata<'_>> {
        None
    }

    fn key(&self) -> Result<String, NoMetadata> {
        Ok(self.0.clone())
    }
}

/// Returns the key of an object; the usual key function (`cache:KY-2`).
///
/// # Errors
/// The object has no metadata.
pub fn metadata_key<O: Described>(object: &O) -> Result<String, Cause> {
    object.key().map_err(|error| Arc::new(error) as Cause)
}

/// As [`metadata_key`], also for deletions: a tombstone has its own key (`cache:KY-5`).
///
/// # Errors
/// The object has no metadata. A tombstone never fails.
pub fn metadata_key_of_last_state<O: Described>(
    last: &LastState<String, O>,
) -> Result<String, Cause> {
    match last {
        LastState::Final(object) => metadata_key(object),
        LastState::Tombstone(tombstone) => Ok(tombstone.key.clone()),
    }
}

/// The object has no metadata, so it has no key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NoMetadata;

impl fmt::Display for NoMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("object has no meta")
    }
}

impl Error for NoMetadata {}

/// Splits a key into namespace and name; the namespace is empty if there is no slash.
///
/// # Errors
/// The key has more than one slash.
pub fn split_key(key: &str) -> Result<(&str, &str), MalformedKey> {
    match key.split_once('/') {
        None => Ok(("", key)),
        Some((_, name)) if name.contains('/') => Err(MalformedKey(key.to_owned())),
        Some(parts) => Ok(parts),
    }
}

/// A key with more than one slash.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MalformedKey(pub String);

impl fmt::Display for MalformedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unexpected key format: {:?}", self.0)
    }
}

impl Error for MalformedKey {}

/// A key split into its two parts (`cache:KY-8`). Its text is the key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ObjectName {
    /// The namespace of the object; empty for a cluster-scoped one.
    pub namespace: String,
    /// The object's name.
    pub name: String,
}

impl ObjectName {
    /// Returns the name of an object from its metadata.
    ///
    /// # Errors
    /// The object has no metadata.
    pub fn of<O: Described + ?Sized>(object: &O) -> Result<Self, NoMetadata> {
        let Metadata { namespace, name, .. } = object.metadata().ok_or(NoMetadata)?;
        Ok(Self { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// Returns the name of a deleted object; that of a tombstone is read from its key.
    ///
    /// # Errors
    /// The object has no metadata, or the tombstone's key is malformed.
    pub fn of_last_state<O: Described>(last: &LastState<String, O>) -> Result<Self, Cause> {
        match last {
            LastState::Final(object) => Self::of(object).map_err(|e| Arc::new(e) as Cause),
            LastState::Tombstone(tombstone) => {
                tombstone.key.parse().map_err(|e: MalformedKey| Arc::new(e) as Cause)
            }
        }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&join(&self.namespace, &self.name))
    }
}

impl FromStr for ObjectName {
    type Err = MalformedKey;

    fn from_str(key: &str) -> Result<Self, MalformedKey> {
        let (namespace, name) = split_key(key)?;
        Ok(Self { namespace: namespace.to_owned(), name: name.to_owned() })
    }
}

/// The key function refused an object (`cache:KY-9`).
#[derive(Clone, Debug)]
pub struct KeyError(Arc<Refused>);

/// Behind a pointer, so that results, which are rarely errors, stay small.
#[derive(Debug)]
struct Refused {
    object: String,
    cause: Cause,
}

/// How many characters of an object an error shows.
const SHOWN: usize = 120;

impl KeyError {
    /// Makes an error with the object's `Debug` text, shortened, and the cause.
    pub fn new(object: &dyn fmt::Debug, cause: Cause) -> Self {
        let mut shown = format!("{object:?}");
        if let Some((end, _)) = shown.char_indices().nth(SHOWN) {
            shown.truncate(end);
            shown.push_str("...");
        }
        Self(Arc::new(Refused { object: shown, cause }))
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "couldn't create key for object {}", self.0.object)
    }
}

impl Error for KeyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0.cause)
    }
}
