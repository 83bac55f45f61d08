//! A store in memory with compare-and-swap like that of an API server, for tests and for programs
//! of one process.

use std::collections::BTreeMap;
use std::fmt;
use std::future::ready;

use crate::caught::drop_caught;
use crate::elector::record::Name;
use crate::runtime::Runtime;

use super::retired::{ConfigMap, Endpoints};
use super::{
    AsyncObjectStore, Call, LeaseSpec, Object, ObjectName, ObjectStore, StoreError, Version,
};

/// Content that a store checks before it keeps an object.
pub trait Content: Clone + Send + 'static {
    /// Checks the content.
    ///
    /// # Errors
    /// [`StoreError::Invalid`].
    fn validate(&self) -> Result<(), StoreError>;
}

impl Content for LeaseSpec {
    fn validate(&self) -> Result<(), StoreError> {
        Self::validate(self)
    }
}

impl Content for ConfigMap {
    fn validate(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Content for Endpoints {
    fn validate(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Versioned objects in memory. Share it in an `Arc`.
pub struct MemoryStore<R: Runtime, C: Content = LeaseSpec> {
    runtime: R,
    objects: R::Mutex<Objects<C>>,
}

struct Objects<C> {
    by_name: BTreeMap<ObjectName, Object<C>>,
    /// The number of changes to all objects; it serves as the newest version and the newest uid.
    changes: u64,
}

impl<R: Runtime, C: Content> MemoryStore<R, C> {
    /// Makes an empty store.
    pub fn new(runtime: &R) -> Self {
        let objects = Objects { by_name: BTreeMap::new(), changes: 0 };
        Self { objects: runtime.mutex(objects), runtime: runtime.clone() }
    }

    /// Deletes an object; returns whether there was one.
    pub fn delete(&self, name: &ObjectName) -> bool {
        let mut objects = self.runtime.lock(&self.objects);
        objects.changes += 1;
        let deleted = objects.by_name.remove(name);
        drop(objects);
        deleted.is_some() // dropped outside the lock: it may hold foreign values
    }
}

impl<R: Runtime, C: Content> ObjectStore<C> for MemoryStore<R, C> {
    fn get(&self, name: &ObjectName, _: Call<'_>) -> Result<Object<C>, StoreError> {
        let objects = self.runtime.lock(&self.objects);
        objects.by_name.get(name).cloned().ok_or(StoreError::NotFound)
    }

    fn create(&self, object: &Object<C>, _: Call<'_>) -> Result<Object<C>, StoreError> {
        object.content.validate()?;
        let mut objects = self.runtime.lock(&self.objects);
        if objects.by_name.contains_key(&object.meta.name) {
            return Err(StoreError::AlreadyExists);
        }
        objects.changes += 1;
        let mut object = object.clone();
        object.meta.version = Version::Number(objects.changes);
        object.meta.uid = Name::new(&format!("uid-{}", objects.changes));
        objects.by_name.insert(object.meta.name.clone(), object.clone());
        Ok(object)
    }

    fn update(&self, object: &Object<C>, _: Call<'_>) -> Result<Object<C>, StoreError> {
        object.content.validate()?;
        let mut objects = self.runtime.lock(&self.objects);
        let Objects { by_name, changes } = &mut *objects;
        let stored = by_name.get_mut(&object.meta.name).ok_or(StoreError::NotFound)?;
        if stored.meta.version != object.meta.version {
            return Err(StoreError::Conflict);
        }
        *changes += 1;
        let mut updated = object.clone();
        updated.meta.version = Version::Number(*changes);
        updated.meta.uid.clone_from(&stored.meta.uid);
        let replaced = std::mem::replace(stored, updated.clone());
        drop(objects);
        drop_caught(replaced); // outside the lock: it may hold foreign values
        Ok(updated)
    }
}

/// Every answer is ready immediately.
impl<R: Runtime, C: Content> AsyncObjectStore<C> for MemoryStore<R, C> {
    fn get(&self, name: &ObjectName) -> impl Future<Output = Result<Object<C>, StoreError>> + Send {
        ready(ObjectStore::get(self, name, Call::default()))
    }

    fn create(
        &self,
        object: &Object<C>,
    ) -> impl Future<Output = Result<Object<C>, StoreError>> + Send {
        ready(ObjectStore::create(self, object, Call::default()))
    }

    fn update(
        &self,
        object: &Object<C>,
    ) -> impl Future<Output = Result<Object<C>, StoreError>> + Send {
        ready(ObjectStore::update(self, object, Call::default()))
    }
}

impl<R: Runtime, C: Content> fmt::Debug for MemoryStore<R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryStore")
    }
}
