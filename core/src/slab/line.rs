//! A queue in chunks: growing moves nothing, and memory that a burst took is given back.

use std::collections::VecDeque;

/// How many elements lie in one chunk.
const CHUNK: usize = 1024;

/// Elements in the order in which they were pushed.
///
/// A queue grows under a lock. In a single piece, all of it would be copied then, and its memory
/// kept for ever.
#[derive(Clone, Debug)]
pub(crate) struct Line<T> {
    /// Only the first may have given out elements, and only the last has room.
    chunks: VecDeque<VecDeque<T>>,
    len: usize,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Line<T> {
    pub(crate) const fn new() -> Self {
        Self { chunks: VecDeque::new(), len: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(crate) fn push_back(&mut self, element: T) {
        match self.chunks.back_mut() {
            Some(last) if last.len() < CHUNK => last.push_back(element),
            _ => self.push_chunk(element),
        }
        self.len += 1;
    }

    /// Begins a chunk. The first one grows on demand, so a short queue is small.
    #[cold]
    fn push_chunk(&mut self, element: T) {
        let room = if self.chunks.is_empty() { 0 } else { CHUNK };
        let mut chunk = VecDeque::with_capacity(room);
        chunk.push_back(element);
        self.chunks.push_back(chunk);
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        let first = self.chunks.front_mut()?;
        let element = first.pop_front()?;
        if first.is_empty() && self.chunks.len() > 1 {
            self.pop_chunk();
        }
        self.len -= 1;
        Some(element)
    }

    #[cold]
    fn pop_chunk(&mut self) {
        self.chunks.pop_front();
        if self.chunks.len() < self.chunks.capacity() / 4 {
            self.chunks.shrink_to(self.chunks.capacity() / 2);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl<T> Line<T> {
        /// Returns the capacity in elements and in chunks.
        fn room(&self) -> (usize, usize) {
            (self.chunks.iter().map(VecDeque::capacity).sum(), self.chunks.capacity())
        }
    }

    #[test]
    fn elements_come_out_in_order_however_many_wait() {
        let (mut line, mut next, mut expected) = (Line::new(), 0_u32, 0_u32);
        for burst in [1, 1023, 1, 5000, 3, 2048] {
            for _ in 0..burst {
                line.push_back(next);
                next += 1;
            }
            for _ in 0..burst * 2 / 3 {
                assert_eq!(line.pop_front(), Some(expected));
                expected += 1;
            }
            assert!(line.iter().copied().eq(expected..next));
            assert_eq!(line.len(), (next - expected) as usize);
        }
        let rest: Vec<u32> = std::iter::from_fn(|| line.pop_front()).collect();
        assert!(rest.into_iter().eq(expected..next));
        assert!(line.is_empty());
    }

    #[test]
    fn a_burst_leaves_one_chunk_behind_and_a_short_queue_is_small() {
        let mut line = Line::new();
        (0..1_000_000).for_each(|number| line.push_back(number));
        while line.pop_front().is_some() {}
        let (elements, chunks) = line.room();
        assert!(elements <= 2 * CHUNK && chunks <= 16, "{elements} {chunks}");
        let mut line = Line::new();
        (0..3).for_each(|number| line.push_back(number));
        assert!(line.room().0 < 10);
    }
}
