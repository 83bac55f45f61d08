//! The newest queued change of every object.

use hashbrown::HashTable;

use crate::delta_fifo::Delta;
use crate::slab::spread;
use crate::store::Hashed;

/// Newest changes, in the order in which their keys first appeared.
pub(super) struct Newest<'a, K, O> {
    changes: Vec<(Hashed<K>, &'a Delta<K, O>)>,
    places: HashTable<usize>,
}

impl<'a, K: Eq, O> Newest<'a, K, O> {
    pub(super) fn new() -> Self {
        Self { changes: Vec::new(), places: HashTable::new() }
    }

    fn place(&self, key: &Hashed<K>) -> Option<usize> {
        self.places.find(spread(key.hash()), |&at| self.changes[at].0 == *key).copied()
    }

    pub(super) fn contains(&self, key: &Hashed<K>) -> bool {
        self.place(key).is_some()
    }

    pub(super) fn insert(&mut self, key: Hashed<K>, change: &'a Delta<K, O>) {
        if let Some(at) = self.place(&key) {
            self.changes[at].1 = change;
            return;
        }
        let changes = &self.changes;
        let hash_of = |&at: &usize| spread(changes[at].0.hash());
        self.places.insert_unique(spread(key.hash()), changes.len(), hash_of);
        self.changes.push((key, change));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Hashed<K>, &'a Delta<K, O>)> {
        self.changes.iter().map(|(key, change)| (key, *change))
    }
}
