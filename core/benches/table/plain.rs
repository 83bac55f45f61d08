//! The reference's own algorithm: a FIFO and two sets under one lock.

use std::collections::VecDeque;

use foldhash::fast::RandomState;
use hashbrown::HashSet;
use parking_lot::{Condvar, Mutex};

use crate::measure::Key;

#[derive(Default)]
struct Sets {
    queue: VecDeque<Key>,
    dirty: HashSet<Key, RandomState>,
    processing: HashSet<Key, RandomState>,
    shutting_down: bool,
}

#[derive(Default)]
pub(crate) struct Plain {
    sets: Mutex<Sets>,
    changed: Condvar,
}

impl Plain {
    pub(crate) fn add(&self, key: Key) {
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

    pub(crate) fn get(&self) -> Option<Key> {
        let mut sets = self.sets.lock();
        while sets.queue.is_empty() && !sets.shutting_down {
            self.changed.wait(&mut sets);
        }
        let key = sets.queue.pop_front()?;
        sets.processing.insert(key.clone());
        sets.dirty.remove(&key);
        Some(key)
    }

    pub(crate) fn done(&self, key: &Key) {
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
