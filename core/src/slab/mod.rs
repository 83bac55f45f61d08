//! Where items live: one hash table over one slab.
//!
//! An item is hashed once, by the caller and outside the lock, and lives in one slot together
//! with a small value: the queues' state bits, a limiter's count. The slot's number stands for
//! the item everywhere else, so orders and heaps hold plain numbers and need no hashing.

pub(crate) mod ahead;
mod chunked;
mod heap;
mod slot_heap;
mod table;
#[cfg(test)]
mod tests;

use foldhash::SharedSeed;
use foldhash::fast::SeedableRandomState;

use crate::runtime::Runtime;

pub(crate) use chunked::Chunked;
#[cfg(test)]
pub(crate) use heap::FIRST;
pub(crate) use heap::Heap;
pub(crate) use slot_heap::{Ranked, SlotHeap};
pub(crate) use table::Table;

const NONE: u32 = u32::MAX;

/// An item's place; stays the same as long as the item is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Slot(pub(crate) u32);

impl Slot {
    /// No item's place.
    pub(crate) const NONE: Self = Self(NONE);
}

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

/// Where an item would be found that is not there; good until the next change.
#[derive(Debug)]
pub(crate) struct Vacancy {
    place: usize,
    hash: u32,
}

/// Items, each with a value.
#[derive(Debug)]
pub(crate) struct Slab<K, V> {
    table: Table,
    entries: Chunked<Entry<K, V>>,
    free: u32,
    /// How many of the next items to be taken were looked at.
    ahead: u32,
}

#[derive(Clone, Debug)]
struct Entry<K, V> {
    /// `None` in a free entry, as in one that was never filled.
    key: Option<K>,
    /// The item's hash; in a free entry the number of the next free one, if there is any.
    hash: u32,
    /// Kept while the entry is free: what counts in it goes on counting for the next item.
    value: V,
}

impl<K, V: Default> Default for Entry<K, V> {
    fn default() -> Self {
        Self { key: None, hash: NONE, value: V::default() }
    }
}

impl<K: Eq, V: Default> Slab<K, V> {
    pub(crate) const fn new() -> Self {
        Self { table: Table::new(), entries: Chunked::new(), free: NONE, ahead: 0 }
    }

    #[inline]
    pub(crate) fn find(&self, item: Item<'_, K>) -> Option<Slot> {
        self.seek(item).ok()
    }

    /// Returns the slot of an item, taking the key out of `key` if it is new. `None` if there is
    /// no key.
    #[inline(always)]
    pub(crate) fn intern(&mut self, key: &mut Option<K>, hash: u64) -> Option<Slot> {
        self.intern_both(key, hash).map(|(slot, ..)| slot)
    }

    /// As [`intern`](Self::intern), and returns the item and its value as well.
    #[inline(always)]
    pub(crate) fn intern_both(
        &mut self,
        key: &mut Option<K>,
        hash: u64,
    ) -> Option<(Slot, &K, &mut V)> {
        let slot = match self.seek(Item::new(key.as_ref()?, hash)) {
            Ok(known) => known,
            Err(vacancy) => return Some(self.fill_both(vacancy, key.take()?)),
        };
        let (key, value) = self.both(slot);
        Some((slot, key, value))
    }

    /// Returns the slot of an item; one that is new is copied.
    #[inline]
    pub(crate) fn intern_copy(&mut self, item: Item<'_, K>) -> Slot
    where
        K: Clone,
    {
        match self.seek(item) {
            Ok(known) => known,
            Err(vacancy) => self.fill(vacancy, item.key.clone()),
        }
    }

    /// Looks an item up: one search tells where it is or where it would be.
    #[inline(always)]
    pub(crate) fn seek(&self, item: Item<'_, K>) -> Result<Slot, Vacancy> {
        let same = |at| self.entries[at].key.as_ref() == Some(item.key);
        let place = self.table.find(item.hash, same);
        place.map(Slot).map_err(|place| Vacancy { place, hash: item.hash })
    }

    /// Puts a new item into a free entry; its value is what was left there.
    #[inline(always)]
    pub(crate) fn fill(&mut self, vacancy: Vacancy, key: K) -> Slot {
        self.fill_both(vacancy, key).0
    }

    /// As [`fill`](Self::fill), and returns the item and its value as well.
    #[inline(always)]
    pub(crate) fn fill_both(&mut self, vacancy: Vacancy, key: K) -> (Slot, &K, &mut V) {
        let Vacancy { place, hash } = vacancy;
        let at = if self.free == NONE { self.entries.extend_by_one() } else { self.free };
        let entry = &mut self.entries[at];
        self.free = entry.hash;
        entry.hash = hash;
        self.table.insert(place, hash, at, ());
        (Slot(at), entry.key.insert(key), &mut entry.value)
    }

    /// Removes an item; returns its key, to drop outside the lock. Its value stays in the slot.
    #[inline(always)]
    pub(crate) fn remove(&mut self, slot: Slot) -> Option<K> {
        self.remove_unless(slot, |_, _| false)
    }

    /// As [`remove`](Self::remove), but for an item of which `stays` says that it is still needed:
    /// one look at the slab to change its value and to decide.
    #[inline(always)]
    pub(crate) fn remove_unless(
        &mut self,
        slot: Slot,
        stays: impl FnOnce(&K, &mut V) -> bool,
    ) -> Option<K> {
        let entry = &mut self.entries[slot.0];
        if stays(entry.key.as_ref().expect("a slot in use has a key"), &mut entry.value) {
            return None;
        }
        let hash = std::mem::replace(&mut entry.hash, self.free);
        let key = entry.key.take();
        self.free = slot.0;
        self.table.remove(hash, slot.0);
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

    /// Visits what free slots keep.
    pub(crate) fn spare(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().filter(|entry| entry.key.is_none()).map(|entry| &entry.value)
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }
}

impl<K: Clone, V: Clone> Clone for Slab<K, V> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), entries: self.entries.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        let Self { table, entries, free, ahead } = self;
        table.clone_from(&source.table);
        entries.clone_from(&source.entries);
        (*free, *ahead) = (source.free, source.ahead);
    }
}

/// Makes a hasher keyed from the runtime's entropy: items are named by strangers.
pub(crate) fn hasher<R: Runtime>(runtime: &R) -> SeedableRandomState {
    SeedableRandomState::with_seed(runtime.entropy(), SharedSeed::global_random())
}
