//! The DeltaFIFO: a map of changes, and a queue of keys.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::{HashMap, HashSet, Hashing};
use crate::measure::Key;
use crate::objects::Object;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Added,
    Replaced,
    Deleted,
}

pub(crate) struct Delta {
    pub(crate) kind: Kind,
    pub(crate) object: Arc<Object>,
}

#[derive(Default)]
struct Inside<S> {
    items: HashMap<Key, Vec<Delta>, S>,
    queue: VecDeque<Key>,
    populated: bool,
    initial: usize,
}

#[derive(Default)]
pub(crate) struct Plain<S> {
    inside: Mutex<Inside<S>>,
    changed: Condvar,
}

impl<S: Hashing> Plain<S> {
    pub(crate) fn add(&self, object: Arc<Object>) {
        let mut inside = self.inside.lock();
        inside.populated = true;
        self.queue_action(&mut inside, Kind::Added, object);
    }

    fn queue_action(&self, inside: &mut Inside<S>, kind: Kind, object: Arc<Object>) {
        let key = Arc::clone(&object.key);
        let old = inside.items.get_mut(&key);
        let is_new = old.is_none();
        match old {
            Some(deltas) => {
                deltas.push(Delta { kind, object });
                let newest = deltas.len() - 1;
                let twice = newest > 0
                    && deltas[newest].kind == Kind::Deleted
                    && deltas[newest - 1].kind == Kind::Deleted;
                if twice {
                    deltas.remove(newest - 1);
                }
            }
            None => drop(inside.items.insert(Arc::clone(&key), vec![Delta { kind, object }])),
        }
        if is_new {
            inside.queue.push_back(key);
        }
        self.changed.notify_all();
    }

    pub(crate) fn replace(&self, list: Vec<Arc<Object>>) {
        let mut inside = self.inside.lock();
        let mut keys = HashSet::<_, S>::default();
        for object in list {
            keys.insert(Arc::clone(&object.key));
            self.queue_action(&mut inside, Kind::Replaced, object);
        }
        let gone = inside.items.iter().filter(|(key, _)| !keys.contains(*key));
        let gone: Vec<_> =
            gone.filter_map(|(_, deltas)| Some(Arc::clone(&deltas.last()?.object))).collect();
        let deletions = gone.len();
        for object in gone {
            self.queue_action(&mut inside, Kind::Deleted, object);
        }
        if !inside.populated {
            inside.populated = true;
            inside.initial = keys.len() + deletions;
        }
    }

    pub(crate) fn pop<T>(&self, process: impl FnOnce(&[Delta]) -> T) -> T {
        let mut inside = self.inside.lock();
        loop {
            while inside.queue.is_empty() {
                self.changed.wait(&mut inside);
            }
            let Some(key) = inside.queue.pop_front() else { continue };
            inside.initial = inside.initial.saturating_sub(1);
            if let Some(deltas) = inside.items.remove(&key) {
                return process(&deltas);
            }
        }
    }
}
