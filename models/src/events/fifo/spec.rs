//! The FIFO as a sequential object: the meaning of every call when no calls overlap.

use std::collections::{BTreeMap, VecDeque};

/// The two containers of the reference, and the progress of the first list (`cache:FF`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec<K, O> {
    /// The newest state of every object that waits.
    pub items: BTreeMap<K, O>,
    /// Keys in the order of delivery. Some are stale, and some occur twice.
    pub queue: VecDeque<K>,
    /// Whether there was a write.
    pub populated: bool,
    /// How many places of the first list are neither processed nor skipped.
    pub initial_left: usize,
}

/// An object that was taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken<K, O> {
    /// Its key.
    pub key: K,
    /// Its newest state.
    pub object: O,
    /// Whether the first list was not yet processed.
    pub initial: bool,
    /// Whether a place skipped on the way was the last of the first list (`cache:FF-13`).
    pub skipped_last: bool,
}

impl<K: Ord + Clone, O: Clone> Spec<K, O> {
    /// Makes an empty queue.
    pub fn new() -> Self {
        Self { items: BTreeMap::new(), queue: VecDeque::new(), populated: false, initial_left: 0 }
    }

    /// Stores an object (`cache:FF-2`).
    pub fn put(&mut self, key: K, object: O) {
        self.populated = true;
        if self.items.insert(key.clone(), object).is_none() {
            self.queue.push_back(key);
        }
    }

    /// Takes an object away and leaves its place (`cache:FF-4`).
    pub fn delete(&mut self, key: &K) {
        self.populated = true;
        self.items.remove(key);
    }

    /// Replaces the content by a list (`cache:FF-9`).
    pub fn replace(&mut self, list: impl IntoIterator<Item = (K, O)>) {
        let was_populated = self.populated;
        (self.items, self.queue) = (BTreeMap::new(), VecDeque::new());
        list.into_iter().for_each(|(key, object)| self.put(key, object));
        self.populated = true;
        if !was_populated {
            self.initial_left = self.queue.len();
        }
    }

    /// Takes the next object. It skips stale places, but counts them (`cache:FF-6`, `FF-12`).
    pub fn pop(&mut self) -> Option<Taken<K, O>> {
        let mut skipped_last = false;
        loop {
            let key = self.queue.pop_front()?;
            if let Some(object) = self.items.remove(&key) {
                let initial = !self.has_synced();
                return Some(Taken { key, object, initial, skipped_last });
            }
            skipped_last |= self.initial_left == 1;
            self.processed();
        }
    }

    /// Ends the processing of an object.
    pub fn processed(&mut self) {
        self.initial_left = self.initial_left.saturating_sub(1);
    }

    /// Stores an object unless an object of the same key waits (`cache:QU-10`).
    pub fn add_if_absent(&mut self, key: K, object: O) {
        self.populated = true;
        if !self.items.contains_key(&key) {
            self.put(key, object);
        }
    }

    /// Tells whether the first list is processed (`cache:QU-15`).
    pub fn has_synced(&self) -> bool {
        self.populated && self.initial_left == 0
    }

    /// Returns the waiting objects, in the order of delivery.
    pub fn waiting(&self) -> Vec<(K, O)> {
        let mut waiting: Vec<(K, O)> = vec![];
        for key in &self.queue {
            if let Some(object) = self.items.get(key)
                && !waiting.iter().any(|(seen, _)| seen == key)
            {
                waiting.push((key.clone(), object.clone()));
            }
        }
        waiting
    }
}

impl<K: Ord + Clone, O: Clone> Default for Spec<K, O> {
    fn default() -> Self {
        Self::new()
    }
}
