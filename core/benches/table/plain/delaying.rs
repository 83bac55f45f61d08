//! The delaying queue: a binary heap of times, and a map that finds an item's place in it.
//!
//! The reference passes items to a thread; here the caller inserts them, which is less work.

use parking_lot::Mutex;
use seatrial_core::runtime::Instant;

use super::queue::Plain as Queue;
use super::{HashMap, Hashing};
use crate::measure::Key;

struct Entry {
    key: Key,
    ready_at: Instant,
    /// The place of the entry in the heap.
    index: usize,
}

#[derive(Default)]
struct Waiting<S> {
    entries: Vec<Entry>,
    free: Vec<usize>,
    heap: Vec<usize>,
    known: HashMap<Key, usize, S>,
}

#[derive(Default)]
pub(crate) struct Plain<S: Hashing> {
    pub(crate) queue: Queue<Key, S>,
    waiting: Mutex<Waiting<S>>,
}

impl<S: Hashing> Plain<S> {
    pub(crate) fn add_at(&self, key: Key, ready_at: Instant) {
        self.waiting.lock().insert(key, ready_at);
    }

    /// Adds the items whose time has come.
    pub(crate) fn move_due(&self, now: Instant) {
        let mut waiting = self.waiting.lock();
        while let Some(key) = waiting.pop_due(now) {
            self.queue.add(key);
        }
    }
}

impl<S: Hashing> Waiting<S> {
    fn insert(&mut self, key: Key, ready_at: Instant) {
        if let Some(&at) = self.known.get(&key) {
            if self.entries[at].ready_at > ready_at {
                self.entries[at].ready_at = ready_at;
                self.rise(self.entries[at].index);
            }
            return;
        }
        let entry = Entry { key: key.clone(), ready_at, index: self.heap.len() };
        let at = match self.free.pop() {
            Some(at) => {
                self.entries[at] = entry;
                at
            }
            None => {
                self.entries.push(entry);
                self.entries.len() - 1
            }
        };
        self.known.insert(key, at);
        self.heap.push(at);
        self.rise(self.heap.len() - 1);
    }

    fn pop_due(&mut self, now: Instant) -> Option<Key> {
        let &first = self.heap.first()?;
        if self.entries[first].ready_at > now {
            return None;
        }
        let last = self.heap.pop()?;
        if last != first {
            self.heap[0] = last;
            self.entries[last].index = 0;
            self.sink();
        }
        let key = self.entries[first].key.clone();
        self.known.remove(&key);
        self.free.push(first);
        Some(key)
    }

    fn is_before(&self, one: usize, other: usize) -> bool {
        self.entries[self.heap[one]].ready_at < self.entries[self.heap[other]].ready_at
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.heap.swap(one, other);
        self.entries[self.heap[one]].index = one;
        self.entries[self.heap[other]].index = other;
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.is_before(at, (at - 1) / 2) {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn sink(&mut self) {
        let mut at = 0;
        loop {
            let mut child = 2 * at + 1;
            if child >= self.heap.len() {
                return;
            }
            if child + 1 < self.heap.len() && self.is_before(child + 1, child) {
                child += 1;
            }
            if !self.is_before(child, at) {
                return;
            }
            self.swap(at, child);
            at = child;
        }
    }
}
