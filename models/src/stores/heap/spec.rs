//! The keyed heap as a sequential object.

use std::collections::BTreeMap;

/// Objects by key, searched for the least one (`cache:HP`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec<K, O> {
    /// The objects.
    pub items: BTreeMap<K, O>,
    /// Whether new objects are refused.
    pub closed: bool,
}

impl<K: Ord + Clone, O: Clone> Spec<K, O> {
    /// Makes an empty, open heap.
    pub fn new() -> Self {
        Self { items: BTreeMap::new(), closed: false }
    }

    /// Adds an object, or replaces the one with its key; false if the heap is closed.
    pub fn put(&mut self, key: K, object: O) -> bool {
        if !self.closed {
            self.items.insert(key, object);
        }
        !self.closed
    }

    /// Adds an object unless there is one with its key; false if the heap is closed.
    pub fn add_if_absent(&mut self, key: K, object: O) -> bool {
        if self.items.contains_key(&key) { !self.closed } else { self.put(key, object) }
    }

    /// Takes the least object.
    pub fn pop<R: Ord>(&mut self, rank: impl Fn(&O) -> R) -> Option<O> {
        let least = self.items.iter().min_by_key(|(_, object)| rank(object));
        let key = least.map(|(key, _)| key.clone())?;
        self.items.remove(&key)
    }
}

impl<K: Ord + Clone, O: Clone> Default for Spec<K, O> {
    fn default() -> Self {
        Self::new()
    }
}
