//! References to the objects to reconcile.

use std::fmt;

use kube::Resource;
use kube::core::ObjectMeta;

/// The name of an object, and its namespace if it has one: an item of a controller's queue.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// The namespace; `None` for a cluster-scoped object.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl ObjectRef {
    /// Makes a reference to a cluster-scoped object.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { namespace: None, name: name.to_owned() }
    }

    /// Sets the namespace.
    #[must_use]
    pub fn within(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Makes a reference to this object.
    #[must_use]
    pub fn from_obj<K: Resource>(object: &K) -> Self {
        let ObjectMeta { name, namespace, .. } = object.meta();
        Self { namespace: namespace.clone(), name: name.clone().unwrap_or_default() }
    }
}

/// The same text as keys of stores: `namespace/name`, or only the name.
impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
