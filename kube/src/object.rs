//! The objects of kube, in the form that stores and queues of core need.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use kube::Resource;
use seatrial_core::informer::{self, Labels, Owner};
use seatrial_core::store::{Described, Metadata};

/// Shared access to an object of kube. It dereferences to the object.
pub struct Object<K>(pub Arc<K>);

/// Returns the metadata that stores read; `None` if the object has no name.
pub(crate) fn described<K: Resource>(object: &K) -> Option<Metadata<'_>> {
    let metadata = object.meta();
    Some(Metadata {
        namespace: metadata.namespace.as_deref().unwrap_or_default(),
        name: metadata.name.as_deref()?,
        uid: metadata.uid.as_deref().unwrap_or_default(),
        resource_version: metadata.resource_version.as_deref().unwrap_or_default(),
    })
}

impl<K: Resource> Described for Object<K> {
    fn metadata(&self) -> Option<Metadata<'_>> {
        described(&*self.0)
    }

    fn label(&self, name: &str) -> Option<&str> {
        self.0.meta().labels.as_ref()?.get(name).map(String::as_str)
    }
}

impl<K: Resource> informer::Object for Object<K> {
    fn generation(&self) -> Option<i64> {
        self.0.meta().generation
    }

    fn labels(&self) -> Option<&Labels> {
        self.0.meta().labels.as_ref()
    }

    fn annotations(&self) -> Option<&Labels> {
        self.0.meta().annotations.as_ref()
    }

    fn owners(&self) -> Vec<Owner<'_>> {
        let owners = self.0.meta().owner_references.iter().flatten();
        let owner = owners.map(|it| Owner {
            api_version: &it.api_version,
            kind: &it.kind,
            name: &it.name,
            uid: &it.uid,
            is_controller: it.controller.unwrap_or_default(),
        });
        owner.collect()
    }

    fn is_terminating(&self) -> bool {
        self.0.meta().deletion_timestamp.is_some()
    }
}

impl<K> Deref for Object<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.0
    }
}

impl<K> Clone for Object<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: fmt::Debug> fmt::Debug for Object<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
