//! A queue in chunks, so that growing copies nothing and a burst leaves no memory behind.

use std::collections::VecDeque;
use std::mem::{self, ManuallyDrop};

/// How many entries lie in one chunk.
const CHUNK: usize = 1024;

/// Entries in the order in which they were pushed.
///
/// None is dropped by the queue while it grows, which says [`ManuallyDrop`]: what may have to be
/// dropped has an address, so it would be put together in memory, and copying it from there waits
/// for every write before it.
#[derive(Clone, Debug)]
pub(super) struct Chunked<E> {
    /// What is in front of the last chunk. No chunk is empty, all but the first are full.
    chunks: VecDeque<Chunk<E>>,
    /// The last chunk. It grows on demand, so a small queue is small; it is a ring, so a short
    /// queue stays in it.
    last: Chunk<E>,
    len: usize,
}

type Chunk<E> = VecDeque<ManuallyDrop<E>>;

impl<E> Chunked<E> {
    pub(super) fn new() -> Self {
        Self { chunks: VecDeque::new(), last: VecDeque::new(), len: 0 }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    pub(super) fn push_back(&mut self, entry: E) {
        let entry = ManuallyDrop::new(entry);
        if self.last.len() >= CHUNK {
            self.begin_chunk();
        }
        self.last.push_back(entry);
        self.len += 1;
    }

    #[cold]
    #[inline(never)]
    fn begin_chunk(&mut self) {
        let full = mem::replace(&mut self.last, VecDeque::with_capacity(CHUNK));
        self.chunks.push_back(full);
    }

    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<E> {
        let entry = match self.chunks.front_mut() {
            None => self.last.pop_front()?,
            Some(first) => {
                let entry = first.pop_front()?;
                if first.is_empty() {
                    self.chunks.pop_front();
                }
                entry
            }
        };
        self.len -= 1;
        Some(ManuallyDrop::into_inner(entry))
    }

    pub(super) fn get(&self, at: usize) -> Option<&E> {
        let mut chunks = self.chunks.iter().chain([&self.last]);
        let first = chunks.next()?;
        let entry = match at.checked_sub(first.len()) {
            None => first.get(at)?,
            Some(behind) => chunks.nth(behind / CHUNK)?.get(behind % CHUNK)?,
        };
        Some(entry)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &E> {
        self.chunks.iter().chain([&self.last]).flatten().map(|entry| &**entry)
    }

    pub(super) fn check(&self) {
        assert_eq!(self.iter().count(), self.len, "the entries are counted");
        assert!(self.chunks.iter().all(|chunk| !chunk.is_empty()), "no chunk is empty");
        let chunks = || self.chunks.iter().chain([&self.last]);
        assert!(chunks().all(|chunk| chunk.len() <= CHUNK), "no chunk is too long");
        let full = self.chunks.iter().skip(1);
        assert!(full.into_iter().all(|chunk| chunk.len() == CHUNK), "inner chunks are full");
    }
}

impl<E> Drop for Chunked<E> {
    fn drop(&mut self) {
        Rest(self).drop_all();
    }
}

/// What is still to be dropped. An entry may panic when it is; those behind it are dropped as well.
struct Rest<'a, E>(&'a mut Chunked<E>);

impl<E> Rest<'_, E> {
    fn drop_all(&mut self) {
        while self.0.pop_front().is_some() {}
    }
}

impl<E> Drop for Rest<'_, E> {
    fn drop(&mut self) {
        self.drop_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

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
            |queue| queue.chunks.push_front(VecDeque::new()),
            |queue| {
                queue.chunks[0].push_front(ManuallyDrop::new(0));
                queue.len += 1;
            },
            |queue| {
                queue.last.extend(vec![ManuallyDrop::new(0); CHUNK]);
                queue.len += CHUNK;
            },
            |queue| {
                queue.chunks[1].pop_front();
                queue.len -= 1;
            },
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
        assert!(queue.last.capacity() <= 2 * CHUNK);
    }

    #[test]
    fn what_is_left_is_dropped_with_the_queue() {
        let entry = Arc::new(());
        let mut queue = Chunked::new();
        (0..2 * CHUNK + 10).for_each(|_| queue.push_back(Arc::clone(&entry)));
        drop(queue.pop_front());
        let copy = queue.clone();
        assert_eq!(Arc::strong_count(&entry), 1 + 2 * (2 * CHUNK + 9));
        drop(queue);
        assert_eq!(Arc::strong_count(&entry), 1 + 2 * CHUNK + 9);
        drop(copy);
        assert_eq!(Arc::strong_count(&entry), 1);
    }

    #[test]
    fn an_entry_that_panics_when_it_is_dropped_keeps_nobody_alive() {
        struct Bomb {
            _alive: Arc<()>,
            armed: bool,
        }
        impl Drop for Bomb {
            fn drop(&mut self) {
                assert!(!self.armed, "as it is told");
            }
        }
        let entry = Arc::new(());
        let mut queue = Chunked::new();
        for number in 0..2 * CHUNK {
            queue.push_back(Bomb { _alive: Arc::clone(&entry), armed: number == 5 });
        }
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(queue)));
        assert!(dropped.is_err());
        assert_eq!(Arc::strong_count(&entry), 1);
    }
}
