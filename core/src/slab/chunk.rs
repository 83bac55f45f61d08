//! A part of a slab, whose memory can be given back.

use super::NONE;

/// How many items lie in one chunk; as many as a number has bits.
pub(super) const CHUNK: usize = u64::BITS as usize;

/// What lies beside an item. A slot keeps it when its item is gone.
pub(crate) trait Value: Default {
    /// Notes what a slot kept whose memory is given back.
    fn note(&mut self, _kept: &Self) {}

    /// Returns what a slot begins with, given what was noted.
    fn begin(&self) -> Self {
        Self::default()
    }
}

/// Counts go on: what counted as old stays old.
impl Value for u32 {
    fn note(&mut self, kept: &Self) {
        *self = (*self).max(*kept);
    }

    fn begin(&self) -> Self {
        *self
    }
}

impl Value for () {}
impl<T> Value for Option<T> {}

#[derive(Debug)]
pub(super) struct Chunk<K, V> {
    /// `None` if it was given back.
    pub(super) entries: Option<Box<[Entry<K, V>; CHUNK]>>,
    /// A bit for every entry that is free.
    pub(super) free: u64,
    /// The next chunk with a free entry.
    pub(super) next: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<K, V> {
    /// `None` in a free entry.
    pub(super) key: Option<K>,
    pub(super) hash: u32,
    /// Kept while the entry is free: what counts in it goes on counting for the next item.
    pub(super) value: V,
}

impl<K, V: Value> Chunk<K, V> {
    pub(super) const fn new() -> Self {
        Self { entries: None, free: u64::MAX, next: NONE }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.free == u64::MAX
    }

    /// Returns its entries, made anew if they were given back.
    #[inline(always)]
    pub(super) fn entries_mut(&mut self, noted: &V) -> &mut [Entry<K, V>; CHUNK] {
        if self.entries.is_none() {
            self.make_entries(noted);
        }
        self.entries.as_mut().expect("they were just made")
    }

    #[cold]
    #[inline(never)]
    fn make_entries(&mut self, noted: &V) {
        // Collected where it is to stay: an array would be put together on the stack and copied.
        let entry = |_| Entry { key: None, hash: 0, value: noted.begin() };
        let entries: Box<[_]> = (0..CHUNK).map(entry).collect();
        self.entries = entries.try_into().ok();
    }
}

/// Splits the number of a slot: its chunk, its place in there.
#[inline(always)]
pub(super) fn split(slot: u32) -> (usize, usize) {
    (slot as usize / CHUNK, slot as usize % CHUNK)
}

impl<K: Clone, V: Clone> Clone for Chunk<K, V> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        self.entries.clone_from(&source.entries);
        (self.free, self.next) = (source.free, source.next);
    }
}
