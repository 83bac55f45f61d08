//! A vector that grows in chunks, so that growing moves nothing and wastes little.

/// How many elements a chunk holds; a power of two.
const CHUNK: usize = 64;

/// A vector whose spare room is less than a chunk, where a doubling one may waste half.
///
/// Growing happens under somebody's lock: a new chunk is one small allocation, whatever the
/// length, where a doubling vector would copy all it holds.
#[derive(Clone, Debug)]
pub(crate) struct Chunked<T> {
    /// Arrays rather than slices: an index within a chunk needs no check.
    chunks: Vec<Box<[T; CHUNK]>>,
    /// How many elements were pushed; those behind are defaults.
    len: usize,
}

impl<T: Default> Chunked<T> {
    pub(crate) const fn new() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, value: T) {
        if self.len.is_multiple_of(CHUNK) {
            self.chunks.push(Box::new(std::array::from_fn(|_| T::default())));
        }
        self.chunks[self.len / CHUNK][self.len % CHUNK] = value;
        self.len += 1;
    }

    /// Returns an element; behind the last one there may be defaults.
    #[inline(always)]
    pub(crate) fn get(&self, at: u32) -> Option<&T> {
        Some(&self.chunks.get(at as usize / CHUNK)?[at as usize % CHUNK])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).take(self.len)
    }
}

impl<T> std::ops::Index<u32> for Chunked<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, at: u32) -> &T {
        &self.chunks[at as usize / CHUNK][at as usize % CHUNK]
    }
}

impl<T> std::ops::IndexMut<u32> for Chunked<T> {
    #[inline(always)]
    fn index_mut(&mut self, at: u32) -> &mut T {
        &mut self.chunks[at as usize / CHUNK][at as usize % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_where_they_were_put() {
        let mut numbers = Chunked::new();
        assert_eq!(numbers.len(), 0);
        for n in 0..3 * CHUNK as u32 + 1 {
            assert_eq!(numbers.len(), n as usize);
            assert_eq!(numbers.chunks.len(), numbers.len().div_ceil(CHUNK), "no spare chunk");
            numbers.push(n);
        }
        numbers[CHUNK as u32] += 7;
        assert_eq!(numbers[CHUNK as u32], CHUNK as u32 + 7);
        assert_eq!(numbers[CHUNK as u32 - 1], CHUNK as u32 - 1);
        assert_eq!(numbers.get(3 * CHUNK as u32), Some(&(3 * CHUNK as u32)));
        assert_eq!(numbers.get(3 * CHUNK as u32 + 1), Some(&0));
        assert_eq!(numbers.get(u32::MAX), None);
        assert_eq!(numbers.iter().count(), numbers.len());
    }
}
