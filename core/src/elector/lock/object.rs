//! Objects of a versioned store.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::elector::record::Name;

use super::{Call, StoreError, Version};

/// The namespace and the name of an object. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectName(Arc<(String, String)>);

impl ObjectName {
    /// Names an object.
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        Self(Arc::new((namespace.to_owned(), name.to_owned())))
    }

    /// Returns the namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.0.0
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.1
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace(), self.name())
    }
}

/// The part that all objects have.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Meta {
    /// The namespace and the name.
    pub name: ObjectName,
    /// Distinguishes it from an earlier object with the same name; set by the store.
    pub uid: Name,
    /// Its version; set by the store.
    pub version: Version,
    /// Labels; `None` if the object has no such map.
    pub labels: Option<BTreeMap<String, String>>,
    /// Annotations; `None` if the object has no such map.
    pub annotations: Option<BTreeMap<String, String>>,
    /// Everything else that the store keeps with the object. It is carried unread from a read to
    /// the next update (`election:LK-2`).
    pub rest: Option<Arc<dyn Any + Send + Sync>>,
}

impl Meta {
    /// Makes the metadata of a new object: only a name.
    #[must_use]
    pub fn new(name: ObjectName) -> Self {
        Self {
            name,
            uid: Name::EMPTY,
            version: Version::new(""),
            labels: None,
            annotations: None,
            rest: None,
        }
    }
}

/// An object: its metadata and the content of its kind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Object<C> {
    /// Name, version and the like.
    pub meta: Meta,
    /// The content, for example a [`LeaseSpec`](super::LeaseSpec).
    pub content: C,
}

impl<C> Object<C> {
    /// Makes an object.
    #[must_use]
    pub const fn new(meta: Meta, content: C) -> Self {
        Self { meta, content }
    }
}

/// A store of versioned objects of one kind (`election:ENV-3`); blocking.
///
/// Implement it for your API client. After a write with an error that
/// [`may_have_been_applied`](StoreError::may_have_been_applied) the elector assumes that either may
/// be true. An implementation must not report a definite failure if it is unsure.
pub trait ObjectStore<C>: Send + 'static {
    /// Reads an object.
    ///
    /// # Errors
    /// [`StoreError`].
    fn get(&self, name: &ObjectName, call: Call<'_>) -> Result<Object<C>, StoreError>;

    /// Stores a new object and returns it with its version.
    ///
    /// # Errors
    /// [`StoreError`].
    fn create(&self, object: &Object<C>, call: Call<'_>) -> Result<Object<C>, StoreError>;

    /// Replaces the object if it still has the version that `object` carries, and returns it with
    /// its new version.
    ///
    /// # Errors
    /// [`StoreError`].
    fn update(&self, object: &Object<C>, call: Call<'_>) -> Result<Object<C>, StoreError>;
}

impl<C, S: ObjectStore<C> + Sync + ?Sized> ObjectStore<C> for Arc<S> {
    fn get(&self, name: &ObjectName, call: Call<'_>) -> Result<Object<C>, StoreError> {
        (**self).get(name, call)
    }

    fn create(&self, object: &Object<C>, call: Call<'_>) -> Result<Object<C>, StoreError> {
        (**self).create(object, call)
    }

    fn update(&self, object: &Object<C>, call: Call<'_>) -> Result<Object<C>, StoreError> {
        (**self).update(object, call)
    }
}
