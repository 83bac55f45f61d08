//! The priority queue: a map of entries, a tree of the ready ones, and a set of those in
//! processing.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use parking_lot::{Condvar, Mutex};

use super::{HashMap, HashSet, Hashing};
use crate::measure::Key;

/// The place of an entry in the tree.
type Place = (Reverse<i32>, u64);

#[derive(Default)]
struct Inside<S> {
    entries: HashMap<Key, Place, S>,
    ready: BTreeMap<Place, Key>,
    locked: HashSet<Key, S>,
    sequence: u64,
    shut_down: bool,
}

#[derive(Default)]
pub(crate) struct Plain<S> {
    inside: Mutex<Inside<S>>,
    changed: Condvar,
}

impl<S: Hashing> Plain<S> {
    pub(crate) fn add(&self, key: Key, priority: i32) {
        let mut inside = self.inside.lock();
        if inside.shut_down {
            return;
        }
        inside.sequence += 1;
        let place = (Reverse(priority), inside.sequence);
        match inside.entries.get(&key).copied() {
            Some(old) if old.0 <= place.0 => return,
            Some(old) => drop(inside.ready.remove(&old)),
            None => {}
        }
        inside.entries.insert(key.clone(), place);
        inside.ready.insert(place, key);
        self.changed.notify_one();
    }

    pub(crate) fn get(&self) -> Option<(Key, i32)> {
        let mut inside = self.inside.lock();
        loop {
            if inside.shut_down {
                return None;
            }
            let Inside { entries, ready, locked, .. } = &mut *inside;
            let free = ready.iter().find(|(_, key)| !locked.contains(*key));
            if let Some((&place, _)) = free {
                let key = ready.remove(&place)?;
                entries.remove(&key);
                locked.insert(key.clone());
                return Some((key, place.0.0));
            }
            self.changed.wait(&mut inside);
        }
    }

    pub(crate) fn done(&self, key: &Key) {
        self.inside.lock().locked.remove(key);
        self.changed.notify_one();
    }

    pub(crate) fn is_empty(&self) -> bool {
        let inside = self.inside.lock();
        inside.ready.is_empty() && inside.locked.is_empty()
    }

    pub(crate) fn shut_down(&self) {
        self.inside.lock().shut_down = true;
        self.changed.notify_all();
    }
}
