//! The indexed store as a sequential object: a map, in which every read looks at all objects.

use std::collections::{BTreeMap, BTreeSet};

/// Objects by key (`cache:ST`, `IX`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec<K, O> {
    /// The objects.
    pub items: BTreeMap<K, O>,
    /// The resource version of the content.
    pub version: String,
}

impl<K: Ord + Clone, O: Clone> Spec<K, O> {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self { items: BTreeMap::new(), version: String::new() }
    }

    /// Stores an object. The content takes over the object's version, if it has one.
    pub fn put(&mut self, key: K, object: O, version: Option<&str>) {
        self.items.insert(key, object);
        self.follow(version);
    }

    /// Removes an object by its key. The content takes over the given version, if there is one.
    pub fn delete(&mut self, key: &K, version: Option<&str>) {
        self.items.remove(key);
        self.follow(version);
    }

    fn follow(&mut self, version: Option<&str>) {
        if let Some(version) = version {
            version.clone_into(&mut self.version);
        }
    }

    /// Replaces the content by a list.
    pub fn replace(&mut self, list: impl IntoIterator<Item = (K, O)>, version: &str) {
        self.items = list.into_iter().collect();
        version.clone_into(&mut self.version);
    }

    /// Returns the keys of the objects that have one of the values.
    pub fn with_value(&self, values_of: impl Fn(&O) -> Vec<String>, wanted: &[String]) -> Vec<K> {
        let has = |object: &O| values_of(object).iter().any(|value| wanted.contains(value));
        self.items.iter().filter(|(_, object)| has(object)).map(|(key, _)| key.clone()).collect()
    }

    /// Returns every value that some object has.
    pub fn values(&self, values_of: impl Fn(&O) -> Vec<String>) -> BTreeSet<String> {
        self.items.values().flat_map(values_of).collect()
    }
}

impl<K: Ord + Clone, O: Clone> Default for Spec<K, O> {
    fn default() -> Self {
        Self::new()
    }
}
