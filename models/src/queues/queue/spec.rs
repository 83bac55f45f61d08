//! The queue as a sequential object: the meaning of every call when nothing overlaps.
//!
//! It is the reference's three containers, written for readers. The machine that ships must agree
//! with it step by step.

use std::collections::{BTreeSet, VecDeque};

/// Three containers and a flag (`workqueue:WQ`, section 1.1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec<K> {
    /// The items that can be handed out now, in this order.
    pub waiting: VecDeque<K>,
    /// The items that need (another) processing.
    pub dirty: BTreeSet<K>,
    /// The items that are handed out and not done.
    pub processing: BTreeSet<K>,
    /// Whether new items are refused.
    pub shutting_down: bool,
}

impl<K: Ord + Clone> Spec<K> {
    /// Makes an empty, running queue.
    pub fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            dirty: BTreeSet::new(),
            processing: BTreeSet::new(),
            shutting_down: false,
        }
    }

    /// Accepts an item; tells whether it became dirty (`workqueue:WQ-4`).
    pub fn add(&mut self, key: &K) -> bool {
        if self.shutting_down || !self.dirty.insert(key.clone()) {
            return false;
        }
        if !self.processing.contains(key) {
            self.waiting.push_back(key.clone());
        }
        true
    }

    /// Hands out the next item (`workqueue:WQ-10`, `WQ-11`).
    pub fn get(&mut self) -> Option<K> {
        let key = self.waiting.pop_front()?;
        self.dirty.remove(&key);
        self.processing.insert(key.clone());
        Some(key)
    }

    /// Ends a delivery; tells whether there was one (`workqueue:WQ-16`, `WQ-21`).
    pub fn done(&mut self, key: &K) -> bool {
        let ended = self.processing.remove(key);
        if ended && self.dirty.contains(key) {
            self.waiting.push_back(key.clone());
        }
        ended
    }
}

impl<K: Ord + Clone> Default for Spec<K> {
    fn default() -> Self {
        Self::new()
    }
}
