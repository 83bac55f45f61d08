//! A part of a slab; its memory can be freed.

use super::NONE;

/// The number of items in a chunk: the number of bits of a `u64`.
pub(super) const CHUNK: usize = u64::BITS as usize;

/// The value that is stored with an item. A slot keeps it after its item is gone.
pub(crate) trait Value: Default {
    /// Notes the value of a slot whose memory is freed.
    fn note(&mut self, _kept: &Self) {}

    /// Returns the first value of a slot, from the noted values.
    fn begin(&self) -> Self {
        Self::default()
    }
}

/// Counts continue, so an old count never becomes valid again.
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
    /// `None` if it was freed.
    pub(super) entries: Option<Box<[Entry<K, V>; CHUNK]>>,
    /// A bit for every free entry.
    pub(super) free: u64,
    /// The next chunk with a free entry.
    pub(super) next: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<K, V> {
    /// `None` in a free entry.
    pub(super) key: Option<K>,
    pub(super) hash: u32,
    /// Kept while the entry is free, so that its counts continue with the next item.
    pub(super) value: V,
}

impl<K, V: Value> Chunk<K, V> {
    pub(super) const fn new() -> Self {
        Self { entries: None, free: u64::MAX, next: NONE }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.free == u64::MAX
    }

    /// Returns its entries; makes new ones if they were freed.
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
        // Collected in place: an array would be built on the stack and copied.
        let entry = |_| Entry { key: None, hash: 0, value: noted.begin() };
        let entries: Box<[_]> = (0..CHUNK).map(entry).collect();
        self.entries = entries.try_into().ok();
    }
}

/// Splits the number of a slot into its chunk and its place in the chunk.
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
