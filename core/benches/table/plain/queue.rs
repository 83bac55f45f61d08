//! The work queue: a FIFO and two sets.

use std::collections::VecDeque;
use std::hash::Hash;

use parking_lot::{Condvar, Mutex};

use super::{HashSet, Hashing};

struct Sets<K, S> {
    queue: VecDeque<K>,
    dirty: HashSet<K, S>,
    processing: HashSet<K, S>,
    shutting_down: bool,
}

pub(crate) struct Plain<K, S> {
    sets: Mutex<Sets<K, S>>,
    changed: Condvar,
}

impl<K, S: Hashing> Default for Plain<K, S> {
    fn default() -> Self {
        let sets = Sets {
            queue: VecDeque::new(),
            dirty: HashSet::default(),
            processing: HashSet::default(),
            shutting_down: false,
        };
        Self { sets: Mutex::new(sets), changed: Condvar::new() }
    }
}

impl<K: Eq + Hash + Clone, S: Hashing> Plain<K, S> {
    pub(crate) fn add(&self, key: K) {
        let mut sets = self.sets.lock();
        if sets.shutting_down || sets.dirty.contains(&key) {
            return;
        }
        sets.dirty.insert(key.clone());
        if sets.processing.contains(&key) {
            return;
        }
        sets.queue.push_back(key);
        self.changed.notify_one();
    }

    pub(crate) fn get(&self) -> Option<K> {
        let mut sets = self.sets.lock();
        while sets.queue.is_empty() && !sets.shutting_down {
            self.changed.wait(&mut sets);
        }
        let key = sets.queue.pop_front()?;
        sets.processing.insert(key.clone());
        sets.dirty.remove(&key);
        Some(key)
    }

    pub(crate) fn done(&self, key: &K) {
        let mut sets = self.sets.lock();
        sets.processing.remove(key);
        if sets.dirty.contains(key) {
            sets.queue.push_back(key.clone());
            self.changed.notify_one();
        } else if sets.processing.is_empty() {
            self.changed.notify_one();
        }
    }

    pub(crate) fn shut_down(&self) {
        self.sets.lock().shutting_down = true;
        self.changed.notify_all();
    }
}
