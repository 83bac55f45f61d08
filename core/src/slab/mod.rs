//! Where items live: one hash table over one slab.
//!
//! An item is hashed once, by the caller and outside the lock, and lives in one slot together
//! with a small value: the queues' state bits, a limiter's count. The slot's number stands for
//! the item everywhere else, so orders and heaps hold plain numbers and need no hashing.

mod chunked;
mod heap;
#[cfg(test)]
mod tests;

use foldhash::SharedSeed;
use foldhash::fast::SeedableRandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Place;

use crate::runtime::Runtime;

pub(crate) use chunked::Chunked;
pub(crate) use heap::{Ranked, SlotHeap};

const NONE: u32 = u32::MAX;

/// An item's place; stays the same as long as the item is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Slot(pub(crate) u32);

/// An item and its hash, which the caller computed: equal items come with equal hashes.
#[derive(Debug)]
pub struct Item<'a, K> {
    key: &'a K,
    hash: u32,
}

impl<K> Clone for Item<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Item<'_, K> {}

impl<'a, K> Item<'a, K> {
    /// Names an item. The hash is folded to 32 bits; a folded one stays as it is.
    #[inline]
    #[must_use]
    pub fn new(key: &'a K, hash: u64) -> Self {
        Self { key, hash: (hash ^ (hash >> 32)) as u32 }
    }

    /// Returns the item.
    #[inline]
    #[must_use]
    pub fn key(self) -> &'a K {
        self.key
    }

    /// Returns the hash.
    #[inline]
    #[must_use]
    pub fn hash(self) -> u32 {
        self.hash
    }
}

/// Items, each with a value.
#[derive(Debug)]
pub(crate) struct Slab<K, V> {
    table: HashTable<u32>,
    entries: Chunked<Entry<K, V>>,
    free: u32,
}

#[derive(Clone, Debug)]
struct Entry<K, V> {
    /// `None` in a free entry, as in one that was never filled.
    key: Option<K>,
    /// The item's hash; in a free entry the number of the next free one.
    hash: u32,
    /// Kept while the entry is free: what counts in it goes on counting for the next item.
    value: V,
}

impl<K, V: Default> Default for Entry<K, V> {
    fn default() -> Self {
        Self { key: None, hash: 0, value: V::default() }
    }
}

/// Spreads a folded hash over the 64 bits that the table wants.
#[inline]
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl<K: Eq, V: Default> Slab<K, V> {
    pub(crate) const fn new() -> Self {
        Self { table: HashTable::new(), entries: Chunked::new(), free: NONE }
    }

    #[inline]
    pub(crate) fn find(&self, item: Item<'_, K>) -> Option<Slot> {
        let same = |&at: &u32| self.entries[at].is(item);
        self.table.find(spread(item.hash), same).copied().map(Slot)
    }

    /// Returns the slot of an item, taking the key out of `key` if it is new. `None` if there is
    /// no key.
    #[inline(always)]
    pub(crate) fn intern(&mut self, key: &mut Option<K>, hash: u64) -> Option<Slot> {
        let item = Item::new(key.as_ref()?, hash);
        let (place, hash) = (place(&mut self.table, &self.entries, item), item.hash);
        Some(Slot(match place {
            Place::Occupied(found) => *found.get(),
            Place::Vacant(place) => {
                let at = fill(&mut self.entries, &mut self.free, key.take()?, hash);
                *place.insert(at).get()
            }
        }))
    }

    /// Returns the slot of an item; one that is new is copied.
    #[inline]
    pub(crate) fn intern_copy(&mut self, item: Item<'_, K>) -> Slot
    where
        K: Clone,
    {
        Slot(match place(&mut self.table, &self.entries, item) {
            Place::Occupied(found) => *found.get(),
            Place::Vacant(place) => {
                let at = fill(&mut self.entries, &mut self.free, item.key.clone(), item.hash);
                *place.insert(at).get()
            }
        })
    }

    /// Removes an item; returns its key, to drop outside the lock. Its value stays in the slot.
    #[inline(always)]
    pub(crate) fn remove(&mut self, slot: Slot) -> Option<K> {
        let entry = &mut self.entries[slot.0];
        let (key, hash) = (entry.key.take(), entry.hash);
        debug_assert!(key.is_some(), "only a slot in use can be freed");
        entry.hash = self.free;
        self.free = slot.0;
        if let Ok(found) = self.table.find_entry(spread(hash), |&at| at == slot.0) {
            found.remove();
        }
        key
    }

    #[inline]
    pub(crate) fn item(&self, slot: Slot) -> Item<'_, K> {
        let entry = &self.entries[slot.0];
        Item { key: entry.key.as_ref().expect("a slot in use has a key"), hash: entry.hash }
    }

    #[inline]
    pub(crate) fn value(&self, slot: Slot) -> &V {
        &self.entries[slot.0].value
    }

    #[inline]
    pub(crate) fn value_mut(&mut self, slot: Slot) -> &mut V {
        &mut self.entries[slot.0].value
    }

    /// Returns an item and its value with one look at the slab.
    #[inline]
    pub(crate) fn both(&mut self, slot: Slot) -> (&K, &mut V) {
        let entry = &mut self.entries[slot.0];
        (entry.key.as_ref().expect("a slot in use has a key"), &mut entry.value)
    }

    /// Returns the value under a number that came from outside.
    #[inline]
    pub(crate) fn at(&self, number: u32) -> Option<&V> {
        self.entries.get(number).map(|entry| &entry.value)
    }

    /// Visits every item: its slot and its value, in the order of the slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, &V)> {
        (0..).zip(self.entries.iter()).filter_map(|(at, entry)| {
            entry.key.as_ref()?;
            Some((Slot(at), &entry.value))
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }
}

impl<K: Clone, V: Clone> Clone for Slab<K, V> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), entries: self.entries.clone(), free: self.free }
    }

    fn clone_from(&mut self, source: &Self) {
        let Self { table, entries, free } = self;
        table.clone_from(&source.table);
        entries.clone_from(&source.entries);
        *free = source.free;
    }
}

impl<K: Eq, V> Entry<K, V> {
    #[inline]
    fn is(&self, item: Item<'_, K>) -> bool {
        self.hash == item.hash && self.key.as_ref() == Some(item.key)
    }
}

/// Looks an item up: one search tells where it is or where it would be.
#[inline(always)]
fn place<'t, K: Eq, V: Default>(
    table: &'t mut HashTable<u32>,
    entries: &Chunked<Entry<K, V>>,
    item: Item<'_, K>,
) -> Place<'t, u32> {
    let (same, hash) = (|&at: &u32| entries[at].is(item), |&at: &u32| spread(entries[at].hash));
    table.entry(spread(item.hash), same, hash)
}

/// Puts an item into a free entry.
#[inline(always)]
fn fill<K, V: Default>(
    entries: &mut Chunked<Entry<K, V>>,
    free: &mut u32,
    key: K,
    hash: u32,
) -> u32 {
    if *free == NONE {
        *free = grow(entries);
    }
    let at = *free;
    let entry = &mut entries[at];
    *free = entry.hash;
    entry.key = Some(key);
    entry.hash = hash;
    at
}

/// Makes one more free entry.
#[cold]
#[inline(never)]
fn grow<K, V: Default>(entries: &mut Chunked<Entry<K, V>>) -> u32 {
    let at = u32::try_from(entries.len()).expect("fewer than 2^32 items are alive");
    entries.push(Entry { key: None, hash: NONE, value: V::default() });
    at
}

/// Makes a hasher keyed from the runtime's entropy: items are named by strangers.
pub(crate) fn hasher<R: Runtime>(runtime: &R) -> SeedableRandomState {
    SeedableRandomState::with_seed(runtime.entropy(), SharedSeed::global_random())
}
