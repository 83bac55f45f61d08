//! Where entries wait: one hash table over one slab, threaded by a list in the order of delivery.
//!
//! The reference keeps a map and a slice of keys, which can disagree. Here an entry is in the list
//! if and only if it is in the table (`cache:DF-1`), because it is the same entry.

use hashbrown::HashTable;

use crate::slab::Chunked;
use crate::store::{Hashed, spread};

use super::Deltas;

const NONE: u32 = u32::MAX;

/// An entry in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot(u32);

#[derive(Clone, Debug)]
struct Entry<K, O> {
    /// `None` in a free entry.
    key: Option<K>,
    deltas: Deltas<K, O>,
    hash: u32,
    /// The entry that is delivered next; in a free entry, the next free one.
    next: u32,
}

impl<K, O> Default for Entry<K, O> {
    fn default() -> Self {
        Self { key: None, deltas: Deltas::new(), hash: 0, next: NONE }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Pending<K, O> {
    /// Hash and place of every entry; with the hash at hand, growing does not visit the entries.
    table: HashTable<(u32, u32)>,
    entries: Chunked<Entry<K, O>>,
    free: u32,
    head: u32,
    tail: u32,
}

impl<K: Eq, O> Pending<K, O> {
    pub(super) fn new() -> Self {
        Self {
            table: HashTable::new(),
            entries: Chunked::new(),
            free: NONE,
            head: NONE,
            tail: NONE,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head == NONE
    }

    #[inline]
    pub(super) fn find(&self, key: &Hashed<K>) -> Option<Slot> {
        let same = |&(hash, at): &(u32, u32)| {
            hash == key.hash() && self.entries[at].key.as_ref() == Some(key.key())
        };
        self.table.find(spread(key.hash()), same).map(|&(_, at)| Slot(at))
    }

    #[inline]
    pub(super) fn deltas(&self, slot: Slot) -> &Deltas<K, O> {
        &self.entries[slot.0].deltas
    }

    #[inline]
    pub(super) fn deltas_mut(&mut self, slot: Slot) -> &mut Deltas<K, O> {
        &mut self.entries[slot.0].deltas
    }

    /// Appends an entry. Its key must not be there.
    #[inline]
    pub(super) fn push_back(&mut self, key: Hashed<K>, deltas: Deltas<K, O>) {
        let hash = key.hash();
        let entry = Entry { key: Some(key.into_key()), deltas, hash, next: NONE };
        let at = self.place(entry);
        self.table.insert_unique(spread(hash), (hash, at), |&(hash, _)| spread(hash));
        match self.tail {
            NONE => self.head = at,
            tail => self.entries[tail].next = at,
        }
        self.tail = at;
    }

    #[inline]
    fn place(&mut self, entry: Entry<K, O>) -> u32 {
        if self.free == NONE {
            self.entries.push(entry);
            return u32::try_from(self.entries.len() - 1).expect("fewer than 2^32 are pending");
        }
        let at = self.free;
        self.free = self.entries[at].next;
        self.entries[at] = entry;
        at
    }

    /// Takes the first entry out. Nothing of it stays behind (`cache:DF-25`, `cache:CX-19`).
    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<(Hashed<K>, Deltas<K, O>)> {
        if self.head == NONE {
            return None;
        }
        let at = self.head;
        let entry = &mut self.entries[at];
        let key = entry.key.take().expect("an entry in the queue has a key");
        let (deltas, hash) = (std::mem::take(&mut entry.deltas), entry.hash);
        self.head = std::mem::replace(&mut entry.next, self.free);
        self.free = at;
        if self.head == NONE {
            self.tail = NONE;
        }
        let found = self.table.find_entry(spread(hash), |&(_, entry)| entry == at);
        found.expect("an entry in the queue is in the table").remove();
        Some((Hashed::of(key, hash), deltas))
    }

    /// Goes through the entries in the order of delivery.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, u32, &Deltas<K, O>)> {
        let mut at = self.head;
        std::iter::from_fn(move || {
            let entry = (at != NONE).then(|| &self.entries[at])?;
            at = entry.next;
            Some((entry.key.as_ref()?, entry.hash, &entry.deltas))
        })
    }

    /// Checks that list, table and free entries are what they should be.
    pub(super) fn check(&self, hash_of: impl Fn(&K) -> u32) {
        let mut listed = 0;
        for (key, hash, _) in self.iter() {
            listed += 1;
            assert!(listed <= self.table.len(), "the list has no cycle");
            assert_eq!(hash, hash_of(key), "an entry keeps the hash of its key");
            let found = self
                .table
                .iter_hash(spread(hash))
                .filter(|&&(_, at)| self.entries[at].key.as_ref() == Some(key));
            assert_eq!(found.count(), 1, "an entry in the list is in the table once");
        }
        assert_eq!(listed, self.table.len(), "an entry in the table is in the list");
        assert_eq!(self.tail == NONE, self.head == NONE, "an empty list has no ends");
        let (mut free, mut at) = (0, self.free);
        while at != NONE {
            free += 1;
            let entry = &self.entries[at];
            assert!(entry.key.is_none(), "a free entry holds no key");
            assert!(entry.deltas.is_empty(), "a free entry pins no object");
            at = entry.next;
        }
        assert_eq!(listed + free, self.entries.len(), "an entry is in use or free");
    }
}
