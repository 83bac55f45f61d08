//! The DeltaFIFO as a sequential object: the meaning of every call when no calls overlap.
//!
//! Lists and a map, searched from the front, to be easy to read. The machine that ships must agree
//! with it step by step.

use std::collections::BTreeMap;

use seatrial_core::delta_fifo::Delta;
use seatrial_core::store::LastState;

use crate::events::fixtures::apply;

/// An entry that was taken: key, changes, and the flag for its processing.
pub type Taken<K, O> = (K, Vec<Delta<K, O>>, bool);

/// The pending changes, the consumer's objects, and the progress of the first list (`cache:DF`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec<K, O> {
    /// The pending changes of each object, in the order of delivery.
    pub pending: Vec<(K, Vec<Delta<K, O>>)>,
    /// The consumer's store, if the queue knows one.
    pub known: Option<BTreeMap<K, O>>,
    /// Whether the queue can look objects up there; it can always list the keys.
    pub readable: bool,
    /// Whether a list is told apart from a resync.
    pub emit_replaced: bool,
    /// Whether there was a write.
    pub populated: bool,
    /// How many entries of the first list are not processed yet.
    pub initial_left: usize,
}

impl<K: Ord + Clone, O: Clone> Spec<K, O> {
    /// Makes an empty queue.
    pub fn new(known: Option<BTreeMap<K, O>>, emit_replaced: bool) -> Self {
        let (populated, initial_left) = (false, 0);
        Self { pending: vec![], known, readable: true, emit_replaced, populated, initial_left }
    }

    fn position(&self, key: &K) -> Option<usize> {
        self.pending.iter().position(|(pending, _)| pending == key)
    }

    /// Tells whether an object is known, or its absence cannot be established.
    fn may_be_known(&self, key: &K) -> bool {
        self.known.as_ref().is_some_and(|known| !self.readable || known.contains_key(key))
    }

    /// Appends a change and compresses the tail (`cache:DF-5`, `DF-6`).
    fn enqueue(&mut self, key: K, delta: Delta<K, O>) {
        let Some(at) = self.position(&key) else {
            return self.pending.push((key, vec![delta]));
        };
        let deltas = &mut self.pending[at].1;
        deltas.push(delta);
        if let [.., Delta::Deleted(older), Delta::Deleted(_)] = deltas.as_slice() {
            let dropped = deltas.len() - if older.is_tombstone() { 2 } else { 1 };
            deltas.remove(dropped);
        }
    }

    /// Queues a change other than a deletion; `None` stands for a refused object.
    pub fn put(&mut self, change: Option<(K, Delta<K, O>)>) {
        self.populated = true;
        if let Some((key, delta)) = change {
            self.enqueue(key, delta);
        }
    }

    /// Queues a deletion of an object that may exist (`cache:DF-9`); tells whether it may.
    pub fn delete(&mut self, key: K, last: Option<LastState<K, O>>) -> bool {
        self.populated = true;
        let exists = self.position(&key).is_some() || self.may_be_known(&key);
        if let (true, Some(last)) = (exists, last) {
            self.enqueue(key, Delta::Deleted(last));
        }
        exists
    }

    /// Queues a list (`cache:DF-12`), or the part of it in front of a refused object.
    pub fn replace(&mut self, list: &[(K, O)], refused: bool) {
        for (key, object) in list {
            let show = if self.emit_replaced { Delta::Replaced } else { Delta::Sync };
            self.enqueue(key.clone(), show(object.clone()));
        }
        if refused {
            return;
        }
        let listed = |key: &K| list.iter().any(|(listed, _)| listed == key);
        let newest = self.pending.iter().map(|(key, deltas)| {
            (key.clone(), deltas.last().and_then(|delta| delta.object().cloned()))
        });
        let known = self.known.iter().flatten();
        let known = known.filter(|(key, _)| self.position(key).is_none());
        let known = known.map(|(key, object)| (key.clone(), self.readable.then(|| object.clone())));
        let gone: Vec<_> = newest.chain(known).filter(|(key, _)| !listed(key)).collect();
        for (key, object) in gone {
            self.enqueue(key.clone(), Delta::Deleted(LastState::unknown(key, object)));
        }
        if !self.populated {
            (self.populated, self.initial_left) = (true, self.pending.len());
        }
    }

    /// Shows the objects that are known and not pending (`cache:DF-21`).
    pub fn resync(&mut self) {
        for (key, object) in self.known.clone().into_iter().flatten() {
            if self.readable && self.position(&key).is_none() {
                self.enqueue(key, Delta::Sync(object));
            }
        }
    }

    /// Takes an entry (`cache:DF-24`, `QU-20`).
    pub fn pop(&mut self) -> Option<Taken<K, O>> {
        let initial = !self.has_synced();
        (!self.pending.is_empty()).then(|| {
            let (key, deltas) = self.pending.remove(0);
            (key, deltas, initial)
        })
    }

    /// Ends the processing of an entry; `applied` if the consumer's store took it in.
    pub fn processed(&mut self, key: &K, deltas: &[Delta<K, O>], applied: bool) {
        self.initial_left = self.initial_left.saturating_sub(1);
        if let Some(known) = self.known.as_mut().filter(|_| applied) {
            apply(known, key, deltas);
        }
    }

    /// Puts an entry back unless there is a newer one (`cache:QU-10`).
    pub fn add_if_absent(&mut self, key: K, deltas: Vec<Delta<K, O>>) {
        self.populated = true;
        if self.position(&key).is_none() {
            self.pending.push((key, deltas));
        }
    }

    /// Tells whether the first list is processed (`cache:QU-15`).
    pub fn has_synced(&self) -> bool {
        self.populated && self.initial_left == 0
    }
}

impl<K: Ord + Clone, O: Clone> Default for Spec<K, O> {
    fn default() -> Self {
        Self::new(None, false)
    }
}
