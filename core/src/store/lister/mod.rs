//! Reading a store by name, namespace and labels (client-go `listers`).

mod selector;

#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::runtime::{Runtime, System};

use super::indexed::{IndexError, IndexFunction};
use super::{Described, Handle, IndexedStore, Key, Metadata, NoMetadata, join};

pub use selector::{Requirement, Selector};

/// The name of the index by namespace (`cache:IX-19`).
pub const NAMESPACE_INDEX: &str = "namespace";

/// Makes the function of the index by namespace.
pub fn by_namespace<O: Described>() -> IndexFunction<O> {
    Arc::new(|object: &O, values| {
        let Some(Metadata { namespace, .. }) = object.metadata() else {
            return Err(Arc::new(NoMetadata));
        };
        values.add(namespace);
        Ok(())
    })
}

/// Reads objects of one resource by name, namespace and labels. The objects are shared: clone an
/// object before you change it (`cache:PT-8`).
pub struct Lister<K: Key, O: Handle, R: Runtime = System> {
    store: Arc<IndexedStore<K, O, R>>,
    resource: Arc<str>,
}

impl<K, O, R> Lister<K, O, R>
where
    K: Key + From<String>,
    O: Handle + Described,
    R: Runtime,
{
    /// Makes a lister over a store whose keys come from [`metadata_key`](super::metadata_key). The
    /// resource appears in errors.
    pub fn new(store: Arc<IndexedStore<K, O, R>>, resource: &str) -> Self {
        Self { store, resource: resource.into() }
    }

    /// Returns all objects that a selector selects (`cache:LI-1`).
    ///
    /// # Errors
    /// The selector needs labels, and an object has no metadata.
    pub fn list(&self, selector: &Selector) -> Result<Vec<O>, NoMetadata> {
        if matches!(selector, Selector::Nothing) {
            return Ok(Vec::new());
        }
        select(self.store.list().objects(), selector)
    }

    /// Returns a cluster-scoped object.
    ///
    /// # Errors
    /// No object has that name.
    pub fn get(&self, name: &str) -> Result<O, NotFound> {
        self.find("", name)
    }

    fn find(&self, namespace: &str, name: &str) -> Result<O, NotFound> {
        let key = join(namespace, name);
        let missing = || NotFound { resource: Arc::clone(&self.resource), name: name.to_owned() };
        self.store.get(&K::from(key)).ok_or_else(missing)
    }

    /// Returns a lister for only one namespace.
    pub fn namespace<'a>(&'a self, namespace: &'a str) -> NamespaceLister<'a, K, O, R> {
        NamespaceLister { lister: self, namespace }
    }
}

/// Returns the objects that a selector selects.
fn select<'a, O: Handle + Described>(
    objects: impl Iterator<Item = &'a O>,
    selector: &Selector,
) -> Result<Vec<O>, NoMetadata> {
    let mut selected = Vec::new();
    for object in objects {
        if selector.selects(object)? {
            selected.push(object.clone());
        }
    }
    Ok(selected)
}

/// Reads objects of one resource in one namespace.
pub struct NamespaceLister<'a, K: Key, O: Handle, R: Runtime = System> {
    lister: &'a Lister<K, O, R>,
    namespace: &'a str,
}

impl<K, O, R> NamespaceLister<'_, K, O, R>
where
    K: Key + From<String>,
    O: Handle + Described,
    R: Runtime,
{
    /// Returns the objects of the namespace that a selector selects; an empty namespace means all
    /// objects (`cache:LI-2`). It reads the index by namespace, or all objects if the store has no
    /// such index.
    ///
    /// # Errors
    /// The selector needs labels or there is no index, and an object has no metadata.
    pub fn list(&self, selector: &Selector) -> Result<Vec<O>, NoMetadata> {
        if self.namespace.is_empty() || matches!(selector, Selector::Nothing) {
            return self.lister.list(selector);
        }
        match self.lister.store.by_index(NAMESPACE_INDEX, self.namespace) {
            Ok(objects) => select(objects.iter(), selector),
            Err(IndexError::Unknown(_) | IndexError::Failed(_)) => self.scan(selector),
        }
    }

    fn scan(&self, selector: &Selector) -> Result<Vec<O>, NoMetadata> {
        let all = self.lister.store.list();
        let mut here = Vec::new();
        for object in all.objects() {
            if object.metadata().ok_or(NoMetadata)?.namespace == self.namespace {
                here.push(object);
            }
        }
        select(here.into_iter(), selector)
    }

    /// Returns an object of the namespace.
    ///
    /// # Errors
    /// No object has that name.
    pub fn get(&self, name: &str) -> Result<O, NotFound> {
        self.lister.find(self.namespace, name)
    }
}

/// No object has that name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotFound {
    /// The resource that was asked for.
    pub resource: Arc<str>,
    /// The name.
    pub name: String,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} not found", self.resource, self.name)
    }
}

impl Error for NotFound {}

impl<K: Key, O: Handle, R: Runtime> fmt::Debug for Lister<K, O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lister").field(&self.resource).finish()
    }
}

impl<K: Key, O: Handle, R: Runtime> fmt::Debug for NamespaceLister<'_, K, O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamespaceLister").field(&self.namespace).finish()
    }
}
