//! A vector that grows without moving what it holds.

use std::ops::{Index, IndexMut};

/// How many entries lie in one chunk.
const CHUNK: usize = 1024;
const SHIFT: u32 = CHUNK.trailing_zeros();

/// Entries in chunks. Against a plain vector it spares the copy of everything under a lock when
/// it is full, and the half of the memory that is then empty.
#[derive(Clone, Debug)]
pub(crate) struct Arena<E> {
    /// Every chunk but the last is full. The first grows on demand, so a small arena is small.
    chunks: Vec<Vec<E>>,
}

impl<E> Arena<E> {
    pub(crate) fn new() -> Self {
        Self { chunks: Vec::new() }
    }

    /// Appends an entry and returns its number.
    #[inline]
    pub(crate) fn push(&mut self, entry: E) -> u32 {
        let full = self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK);
        if full {
            let capacity = if self.chunks.is_empty() { 0 } else { CHUNK };
            self.chunks.push(Vec::with_capacity(capacity));
        }
        let at = self.len();
        let last = self.chunks.len() - 1;
        self.chunks[last].push(entry);
        u32::try_from(at).expect("fewer than 2^32 entries are alive")
    }

    pub(crate) fn len(&self) -> usize {
        match self.chunks.last() {
            None => 0,
            Some(last) => (self.chunks.len() - 1) * CHUNK + last.len(),
        }
    }
}

impl<E> Index<u32> for Arena<E> {
    type Output = E;

    #[inline]
    fn index(&self, at: u32) -> &E {
        &self.chunks[(at >> SHIFT) as usize][at as usize % CHUNK]
    }
}

impl<E> IndexMut<u32> for Arena<E> {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut E {
        &mut self.chunks[(at >> SHIFT) as usize][at as usize % CHUNK]
    }
}
