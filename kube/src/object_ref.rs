//! Which object is to be reconciled.

use std::fmt;

use kube::Resource;
use kube::core::ObjectMeta;

/// The name of an object, and its namespace if it has one: what a controller's queue holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// The namespace; `None` for an object of the whole cluster.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl ObjectRef {
    /// Names an object of the whole cluster.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { namespace: None, name: name.to_owned() }
    }

    /// Puts it into a namespace.
    #[must_use]
    pub fn within(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Names this object.
    #[must_use]
    pub fn from_obj<K: Resource>(object: &K) -> Self {
        let ObjectMeta { name, namespace, .. } = object.meta();
        Self { namespace: namespace.clone(), name: name.clone().unwrap_or_default() }
    }
}

/// As keys of stores: `namespace/name`, or the name alone.
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
