//! A store that shows its whole content after every change (client-go `UndeltaStore`).

use std::fmt;
use std::sync::Arc;

use crate::runtime::{Runtime, System};

use super::indexed::StoreError;
use super::{Handle, IndexedStore, Key, Snapshot};

/// Receives the content after a change. Writers call it, perhaps several at once and not in the
/// order of their writes; each call has at least the change of its writer (`cache:UD-2`).
pub type Push<K, O> = Arc<dyn Fn(Snapshot<K, O>) + Send + Sync>;

/// A store that shows its whole content after every change. Reads go to the store itself.
pub struct UndeltaStore<K: Key, O: Handle, R: Runtime = System> {
    store: Arc<IndexedStore<K, O, R>>,
    push: Push<K, O>,
}

impl<K: Key, O: Handle, R: Runtime> UndeltaStore<K, O, R> {
    /// Makes an undelta store over a store; `push` is called after every change.
    pub fn new(
        store: Arc<IndexedStore<K, O, R>>,
        push: impl Fn(Snapshot<K, O>) + Send + Sync + 'static,
    ) -> Self {
        Self { store, push: Arc::new(push) }
    }

    /// Returns the store.
    pub fn store(&self) -> &IndexedStore<K, O, R> {
        &self.store
    }

    fn shown(&self, done: Result<(), StoreError>) -> Result<(), StoreError> {
        done?;
        (self.push)(self.store.list());
        Ok(())
    }

    /// Stores an object.
    ///
    /// # Errors
    /// As [`IndexedStore::add`]; then `push` is not called.
    pub fn add(&self, object: O) -> Result<(), StoreError> {
        self.shown(self.store.add(object))
    }

    /// Stores an object.
    ///
    /// # Errors
    /// As [`IndexedStore::update`]; then `push` is not called.
    pub fn update(&self, object: O) -> Result<(), StoreError> {
        self.shown(self.store.update(object))
    }

    /// Removes an object.
    ///
    /// # Errors
    /// As [`IndexedStore::delete`]; then `push` is not called.
    pub fn delete(&self, object: &O) -> Result<(), StoreError> {
        self.shown(self.store.delete(object))
    }

    /// Replaces the content by a list.
    ///
    /// # Errors
    /// As [`IndexedStore::replace`]; then `push` is not called.
    pub fn replace(&self, objects: Vec<O>, resource_version: &str) -> Result<(), StoreError> {
        self.shown(self.store.replace(objects, resource_version))
    }
}

impl<K: Key, O: Handle, R: Runtime> fmt::Debug for UndeltaStore<K, O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UndeltaStore")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::NoMetadata;
    use parking_lot::Mutex;

    #[test]
    fn every_change_that_succeeds_shows_the_whole_content() {
        let key_of = |object: &(&'static str, u32)| match object.0 {
            "" => Err(Arc::new(NoMetadata) as _),
            name => Ok(name),
        };
        let store = Arc::new(IndexedStore::new(&System::new(), key_of));
        let shown = Arc::new(Mutex::new(vec![]));
        let push = {
            let shown = Arc::clone(&shown);
            move |content: Snapshot<_, (&'static str, u32)>| {
                let mut names: Vec<_> = content.iter().map(|(_, object)| *object).collect();
                names.sort_unstable();
                shown.lock().push(names);
            }
        };
        let undelta = UndeltaStore::new(store, push);
        undelta.add(("a", 1)).unwrap();
        undelta.update(("b", 1)).unwrap();
        assert!(undelta.add(("", 1)).is_err());
        undelta.delete(&("a", 1)).unwrap();
        undelta.replace(vec![("c", 1)], "").unwrap();
        assert_eq!(undelta.store().len(), 1);
        let contents = [vec![("a", 1)], vec![("a", 1), ("b", 1)], vec![("b", 1)], vec![("c", 1)]];
        assert_eq!(*shown.lock(), contents);
        assert_eq!(format!("{undelta:?}"), "UndeltaStore");
    }
}
