//! Storage of items: one hash table over one slab.
//!
//! An item is hashed once, by the caller and outside the lock, and is stored in one slot together
//! with a small value, such as a queue's state bits or a limiter's count. Everywhere else the
//! slot's number identifies the item, so orders and heaps hold plain numbers and need no hashing.

mod chunk;
mod chunked;
mod heap;
mod line;
mod slot_heap;
mod sparse;
mod table;
#[cfg(test)]
mod tests;

use foldhash::SharedSeed;
use foldhash::fast::SeedableRandomState;

use crate::runtime::Runtime;

use chunk::{CHUNK, Chunk, Entry, split};

pub(crate) use chunk::Value;
pub(crate) use chunked::Chunked;
pub(crate) use heap::Heap;
pub(crate) use line::Line;
pub(crate) use slot_heap::{Ranked, SlotHeap};
pub(crate) use sparse::Sparse;
pub(crate) use table::{Stands, Table};

const NONE: u32 = u32::MAX;

/// Spreads a stored hash over the 64 bits that a hash table needs.
#[inline]
pub(crate) fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The place of an item. It does not change while the item is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Slot(pub(crate) u32);

impl Slot {
    /// The place of no item.
    pub(crate) const NONE: Self = Self(NONE);
}

/// An item and its hash, computed by the caller: equal items have equal hashes.
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
    /// Makes an item. The hash is folded to 32 bits; a folded hash does not change.
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

/// The vacancy for an item that is not stored; valid until the next change.
#[derive(Debug)]
pub(crate) struct Vacancy {
    hash: u32,
}

/// Items, each with a value. They are in chunks. A chunk without items is freed, except for one
/// that is kept for the next items.
#[derive(Debug)]
pub(crate) struct Slab<K, V> {
    table: Table,
    chunks: Vec<Chunk<K, V>>,
    /// The first chunk with a free entry; others follow it.
    open: u32,
    /// The chunk that was emptied last.
    emptied: u32,
    /// Notes from the values in chunks that were freed.
    noted: V,
}

impl<K: Eq, V: Value> Slab<K, V> {
    pub(crate) fn new() -> Self {
        let (open, emptied) = (NONE, NONE);
        Self { table: Table::new(), chunks: Vec::new(), open, emptied, noted: V::default() }
    }

    /// Returns an entry of a chunk that was not freed.
    #[inline(always)]
    fn entry(&self, slot: u32) -> &Entry<K, V> {
        let (chunk, place) = split(slot);
        &self.chunks[chunk].entries.as_ref().expect("a slot in use has memory")[place]
    }

    #[inline(always)]
    fn entry_mut(&mut self, slot: u32) -> &mut Entry<K, V> {
        let (chunk, place) = split(slot);
        &mut self.chunks[chunk].entries.as_mut().expect("a slot in use has memory")[place]
    }

    #[inline]
    pub(crate) fn find(&self, item: Item<'_, K>) -> Option<Slot> {
        self.seek(item).ok()
    }

    /// Returns the slot of an item, taking the key out of `key` if the item is new. `None` if there
    /// is no key.
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

    /// Returns the slot of an item; a new item is copied.
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

    /// Looks up an item: one search finds its slot or its vacancy.
    #[inline(always)]
    pub(crate) fn seek(&self, item: Item<'_, K>) -> Result<Slot, Vacancy> {
        let same = |&(_, at): &_| self.entry(at).key.as_ref() == Some(item.key);
        let found = self.table.find(item.hash, same);
        found.map(|&(_, at)| Slot(at)).ok_or(Vacancy { hash: item.hash })
    }

    /// Stores a new item in a free entry; the value is the one that was left there.
    #[inline(always)]
    pub(crate) fn fill(&mut self, vacancy: Vacancy, key: K) -> Slot {
        self.fill_both(vacancy, key).0
    }

    /// As [`fill`](Self::fill), and returns the item and its value as well.
    #[inline(always)]
    pub(crate) fn fill_both(&mut self, vacancy: Vacancy, key: K) -> (Slot, &K, &mut V) {
        if self.open == NONE {
            self.push_chunk();
        }
        let number = self.open;
        let chunk = &mut self.chunks[number as usize];
        let place = chunk.free.trailing_zeros();
        let entry = &mut chunk.entries_mut(&self.noted)[place as usize];
        entry.hash = vacancy.hash;
        let at = number * CHUNK as u32 + place;
        self.table.insert((vacancy.hash, at));
        chunk.free &= chunk.free - 1;
        if chunk.free == 0 {
            self.open = chunk.next;
        }
        let (key, value) = self.put_key(at, key);
        (Slot(at), key, value)
    }

    #[inline(always)]
    fn put_key(&mut self, at: u32, key: K) -> (&K, &mut V) {
        let entry = self.entry_mut(at);
        (entry.key.insert(key), &mut entry.value)
    }

    #[cold]
    #[inline(never)]
    fn push_chunk(&mut self) {
        let most = u32::MAX as usize / CHUNK;
        assert!(self.chunks.len() < most, "fewer than 2^32 items are alive");
        self.open = self.chunks.len() as u32;
        self.chunks.push(Chunk::new());
    }

    /// Removes an item; returns its key, to be dropped outside the lock. Its value stays in the
    /// slot.
    #[inline(always)]
    pub(crate) fn remove(&mut self, slot: Slot) -> Option<K> {
        self.remove_unless(slot, |_, _| false)
    }

    /// As [`remove`](Self::remove), unless `stays` returns true. Changing the value and deciding
    /// takes only one access to the slab.
    #[inline(always)]
    pub(crate) fn remove_unless(
        &mut self,
        slot: Slot,
        stays: impl FnOnce(&K, &mut V) -> bool,
    ) -> Option<K> {
        let entry = self.entry_mut(slot.0);
        if stays(entry.key.as_ref().expect("a slot in use has a key"), &mut entry.value) {
            return None;
        }
        let (key, hash) = (entry.key.take(), entry.hash);
        let found = self.table.remove(hash, |place| place.1 == slot.0);
        debug_assert!(found.is_some(), "an item in use is in the table");
        let (number, place) = split(slot.0);
        let chunk = &mut self.chunks[number];
        if chunk.free == 0 {
            chunk.next = std::mem::replace(&mut self.open, number as u32);
        }
        chunk.free |= 1 << place;
        if chunk.is_empty() {
            self.give_back_other(number as u32);
        }
        key
    }

    /// Keeps a chunk that was emptied, and frees the one that was emptied before it.
    #[cold]
    fn give_back_other(&mut self, emptied: u32) {
        let before = std::mem::replace(&mut self.emptied, emptied);
        if before != emptied
            && let Some(chunk) = self.chunks.get_mut(before as usize)
            && chunk.is_empty()
            && let Some(entries) = chunk.entries.take()
        {
            entries.iter().for_each(|entry| self.noted.note(&entry.value));
        }
    }

    #[inline]
    pub(crate) fn item(&self, slot: Slot) -> Item<'_, K> {
        let entry = self.entry(slot.0);
        Item { key: entry.key.as_ref().expect("a slot in use has a key"), hash: entry.hash }
    }

    #[inline]
    pub(crate) fn value(&self, slot: Slot) -> &V {
        &self.entry(slot.0).value
    }

    #[inline]
    pub(crate) fn value_mut(&mut self, slot: Slot) -> &mut V {
        &mut self.entry_mut(slot.0).value
    }

    /// Returns an item and its value with one access to the slab.
    #[inline]
    pub(crate) fn both(&mut self, slot: Slot) -> (&K, &mut V) {
        let entry = self.entry_mut(slot.0);
        (entry.key.as_ref().expect("a slot in use has a key"), &mut entry.value)
    }

    /// Returns the value at a slot number from outside, which may be wrong.
    #[inline]
    pub(crate) fn at(&self, number: u32) -> Option<&V> {
        let (chunk, place) = split(number);
        Some(&self.chunks.get(chunk)?.entries.as_ref()?[place].value)
    }

    /// Visits every entry that has memory.
    fn entries(&self) -> impl Iterator<Item = (u32, &Entry<K, V>)> {
        let entries_of = |chunk| self.chunks[chunk as usize].entries.iter().flat_map(|all| &**all);
        let first = |chunk| chunk * CHUNK as u32;
        (0..self.chunks.len() as u32).flat_map(move |chunk| (first(chunk)..).zip(entries_of(chunk)))
    }

    /// Visits every item: its slot and its value, in the order of the slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, &V)> {
        let used = self.entries().filter(|(_, entry)| entry.key.is_some());
        used.map(|(at, entry)| (Slot(at), &entry.value))
    }

    /// Visits the values in free slots.
    pub(crate) fn spare(&self) -> impl Iterator<Item = &V> {
        let free = self.entries().filter(|(_, entry)| entry.key.is_none());
        free.map(|(_, entry)| &entry.value)
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns a number above those of all slots.
    pub(crate) fn end(&self) -> usize {
        self.chunks.len() * CHUNK
    }
}

impl<K: Clone, V: Clone> Clone for Slab<K, V> {
    fn clone(&self) -> Self {
        let Self { table, chunks, open, emptied, noted } = self;
        let (table, chunks, noted) = (table.clone(), chunks.clone(), noted.clone());
        Self { table, chunks, open: *open, emptied: *emptied, noted }
    }

    fn clone_from(&mut self, source: &Self) {
        self.table.clone_from(&source.table);
        self.chunks.clone_from(&source.chunks);
        self.noted.clone_from(&source.noted);
        (self.open, self.emptied) = (source.open, source.emptied);
    }
}

/// Makes a hasher keyed with the runtime's entropy, because items may be named by strangers.
pub(crate) fn hasher<R: Runtime>(runtime: &R) -> SeedableRandomState {
    SeedableRandomState::with_seed(runtime.entropy(), SharedSeed::global_random())
}
