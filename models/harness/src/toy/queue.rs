//! The work queue in its plainest form: three sets, one lock, one condition variable.

use std::collections::{BTreeSet, VecDeque};

use seatrial_core::runtime::Runtime;

/// The mistakes of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mistake {
    /// Nothing.
    #[default]
    None,
    /// An item added while it is processed is forgotten.
    NoRequeue,
    /// Shutdown wakes one waiter.
    ShutDownWakesOne,
    /// `add` looks under one lock and acts under the next.
    CheckThenAct,
}

/// A queue of small numbers that keeps three sets: the waiting, the dirty, and the processed items.
#[derive(Debug)]
pub struct ThreeSets<R: Runtime> {
    runtime: R,
    inside: R::Mutex<Inside>,
    added: R::Condvar,
    mistake: Mistake,
}

#[derive(Debug, Default)]
struct Inside {
    waiting: VecDeque<u8>,
    dirty: BTreeSet<u8>,
    processing: BTreeSet<u8>,
    shut_down: bool,
}

impl<R: Runtime> ThreeSets<R> {
    /// Makes an empty queue.
    pub fn new(runtime: &R, mistake: Mistake) -> Self {
        let (inside, added) = (runtime.mutex(Inside::default()), runtime.condvar());
        Self { runtime: runtime.clone(), inside, added, mistake }
    }

    /// Adds an item, unless it waits already.
    pub fn add(&self, key: u8) {
        let mut inside = self.runtime.lock(&self.inside);
        if inside.shut_down || inside.dirty.contains(&key) {
            return;
        }
        let is_processed = inside.processing.contains(&key);
        if self.mistake == Mistake::CheckThenAct {
            drop(inside);
            inside = self.runtime.lock(&self.inside);
        }
        inside.dirty.insert(key);
        if !is_processed {
            inside.waiting.push_back(key);
            self.runtime.notify_one(&self.added);
        }
    }

    /// Takes the next item, waiting for one; `None` after shutdown.
    ///
    /// # Panics
    /// If the item is being processed.
    pub fn get(&self) -> Option<u8> {
        let mut inside = self.runtime.lock(&self.inside);
        while inside.waiting.is_empty() && !inside.shut_down {
            inside = self.runtime.wait(&self.added, inside);
        }
        let key = inside.waiting.pop_front()?;
        assert!(inside.processing.insert(key), "an item is processed concurrently");
        inside.dirty.remove(&key);
        Some(key)
    }

    /// Ends the processing of an item; it waits again if it was added meanwhile.
    pub fn done(&self, key: u8) {
        let mut inside = self.runtime.lock(&self.inside);
        inside.processing.remove(&key);
        if inside.dirty.contains(&key) && self.mistake != Mistake::NoRequeue {
            inside.waiting.push_back(key);
            self.runtime.notify_one(&self.added);
        }
    }

    /// Refuses new items and lets waiting workers go.
    pub fn shut_down(&self) {
        let mut inside = self.runtime.lock(&self.inside);
        inside.shut_down = true;
        if self.mistake == Mistake::ShutDownWakesOne {
            self.runtime.notify_one(&self.added);
        } else {
            self.runtime.notify_all(&self.added);
        }
    }

    /// Tells whether no item is left in any set.
    pub fn is_idle(&self) -> bool {
        let inside = self.runtime.lock(&self.inside);
        inside.waiting.is_empty() && inside.dirty.is_empty() && inside.processing.is_empty()
    }
}
