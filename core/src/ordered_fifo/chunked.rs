//! A queue in chunks, so that growing copies nothing and a burst leaves no memory behind.

use std::collections::VecDeque;

/// How many entries lie in one chunk.
const CHUNK: usize = 1024;

/// Entries in the order in which they were pushed.
#[derive(Clone, Debug)]
pub(super) struct Chunked<E> {
    /// No chunk is empty, and all between the first and the last are full. The first one grows on
    /// demand, so a small queue is small; it is a ring, so a short queue stays in it.
    chunks: VecDeque<VecDeque<E>>,
    /// An empty chunk, kept for the next that is needed.
    spare: Option<VecDeque<E>>,
    len: usize,
}

impl<E> Chunked<E> {
    pub(super) fn new() -> Self {
        Self { chunks: VecDeque::new(), spare: Some(VecDeque::new()), len: 0 }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Room is made first and apart: an entry whose address a call may want is put together in
    /// memory, and copying it from there waits for every write before it.
    #[inline(always)]
    pub(super) fn push_back(&mut self, entry: E) {
        if self.chunks.back().is_none_or(|last| last.len() >= CHUNK) {
            self.push_chunk();
        }
        if let Some(last) = self.chunks.back_mut() {
            last.push_back(entry);
            self.len += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn push_chunk(&mut self) {
        let chunk = self.spare.take().unwrap_or_else(|| VecDeque::with_capacity(CHUNK));
        self.chunks.push_back(chunk);
    }

    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<E> {
        let first = self.chunks.front_mut()?;
        let entry = first.pop_front();
        if first.is_empty() {
            self.spare = self.chunks.pop_front();
        }
        self.len -= usize::from(entry.is_some());
        entry
    }

    pub(super) fn get(&self, at: usize) -> Option<&E> {
        let first = self.chunks.front()?;
        match at.checked_sub(first.len()) {
            None => first.get(at),
            Some(behind) => self.chunks.get(1 + behind / CHUNK)?.get(behind % CHUNK),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &E> {
        self.chunks.iter().flatten()
    }

    pub(super) fn check(&self) {
        assert_eq!(self.iter().count(), self.len, "the entries are counted");
        assert!(self.chunks.iter().all(|chunk| !chunk.is_empty()), "no chunk is empty");
        assert!(self.chunks.iter().all(|chunk| chunk.len() <= CHUNK), "no chunk is too long");
        let full = self.chunks.iter().skip(1).rev().skip(1);
        assert!(full.into_iter().all(|chunk| chunk.len() == CHUNK), "inner chunks are full");
        assert!(self.spare.as_ref().is_none_or(VecDeque::is_empty), "the spare chunk is empty");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::by_hand::each_is_noticed;

    #[test]
    fn entries_come_out_in_order_however_many_wait() {
        let (mut queue, mut next, mut expected) = (Chunked::new(), 0_u32, 0_u32);
        for burst in [1, 1023, 1, 5000, 3, 2048] {
            for _ in 0..burst {
                queue.push_back(next);
                next += 1;
            }
            queue.check();
            for _ in 0..burst * 2 / 3 {
                assert_eq!(queue.pop_front(), Some(expected));
                expected += 1;
            }
            queue.check();
            assert!(queue.iter().copied().eq(expected..next));
            let got = (0..queue.len()).map_while(|at| queue.get(at).copied());
            assert!(got.eq(expected..next));
            assert_eq!(queue.get(queue.len()), None);
        }
        while let Some(entry) = queue.pop_front() {
            assert_eq!(entry, expected);
            expected += 1;
        }
        assert_eq!((expected, queue.len(), queue.is_empty()), (next, 0, true));
        queue.check();
    }

    #[test]
    fn a_queue_that_is_wrong_is_noticed() {
        let breaks: [fn(&mut Chunked<usize>); 5] = [
            |queue| queue.len += 1,
            |queue| queue.chunks.push_back(VecDeque::new()),
            |queue| {
                queue.chunks[0].push_front(0);
                queue.len += 1;
            },
            |queue| {
                queue.chunks[1].pop_front();
                queue.len -= 1;
            },
            |queue| queue.spare = Some(VecDeque::from([0])),
        ];
        each_is_noticed(
            || {
                let mut queue = Chunked::new();
                (0..2 * CHUNK + 1).for_each(|entry| queue.push_back(entry));
                queue
            },
            breaks,
            Chunked::check,
        );
    }

    #[test]
    fn a_burst_leaves_one_chunk_behind() {
        let mut queue = Chunked::new();
        (0..100_000).for_each(|number| queue.push_back(number));
        while queue.pop_front().is_some() {}
        assert!(queue.chunks.is_empty());
        assert!(queue.spare.is_some_and(|spare| spare.capacity() <= 2 * CHUNK));
    }
}
