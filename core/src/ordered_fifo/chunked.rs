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
    /// What is taken out next.
    first: VecDeque<ManuallyDrop<E>>,
    /// The chunks between, none of which is empty.
    full: VecDeque<Chunk<E>>,
    /// How many entries are in them.
    between: usize,
    /// What was pushed last. It grows on demand, so a small queue is small; whoever pushes looks at
    /// its end alone. A short queue is in it and in `first`, which change places when one is empty.
    last: Chunk<E>,
}

type Chunk<E> = Vec<ManuallyDrop<E>>;

impl<E> Chunked<E> {
    pub(super) fn new() -> Self {
        Self { first: VecDeque::new(), full: VecDeque::new(), between: 0, last: Vec::new() }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.first.len() + self.between + self.last.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    pub(super) fn push_back(&mut self, entry: E) {
        let entry = ManuallyDrop::new(entry);
        if self.last.len() == self.last.capacity() {
            self.make_room();
        }
        self.last.push(entry);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        if self.last.len() < CHUNK {
            self.last.reserve(1);
        } else {
            self.between += self.last.len();
            self.full.push_back(mem::replace(&mut self.last, Vec::with_capacity(CHUNK)));
        }
    }

    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<E> {
        if self.first.is_empty() {
            self.turn_to_next();
        }
        self.first.pop_front().map(ManuallyDrop::into_inner)
    }

    /// Makes the chunk that is next the first. The last one leaves its place to the empty one.
    fn turn_to_next(&mut self) {
        if let Some(next) = self.full.pop_front() {
            self.between -= next.len();
            self.first = next.into();
        } else if !self.last.is_empty() {
            let empty = mem::take(&mut self.first);
            self.first = mem::replace(&mut self.last, empty.into()).into();
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<&E> {
        let Some(mut at) = at.checked_sub(self.first.len()) else {
            return self.first.get(at).map(|entry| &**entry);
        };
        for chunk in self.behind() {
            match at.checked_sub(chunk.len()) {
                None => return chunk.get(at).map(|entry| &**entry),
                Some(behind) => at = behind,
            }
        }
        None
    }

    /// Returns the entries that lie side by side from a place on: in the first chunk all do, since
    /// nothing is pushed there.
    pub(super) fn run_mut(&mut self, mut at: usize) -> &mut [ManuallyDrop<E>] {
        let first = [self.first.make_contiguous()].into_iter();
        let behind = self.full.iter_mut().chain([&mut self.last]).map(Vec::as_mut_slice);
        for chunk in first.chain(behind) {
            match at.checked_sub(chunk.len()) {
                None => return &mut chunk[at..],
                Some(behind) => at = behind,
            }
        }
        &mut []
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &E> {
        self.first.iter().chain(self.behind().flatten()).map(|entry| &**entry)
    }

    /// Goes through all chunks but the first.
    fn behind(&self) -> impl Iterator<Item = &Chunk<E>> {
        self.full.iter().chain([&self.last])
    }

    pub(super) fn check(&self) {
        let between: usize = self.full.iter().map(Vec::len).sum();
        assert_eq!(between, self.between, "the entries between are counted");
        assert!(self.full.iter().all(|chunk| !chunk.is_empty()), "no chunk between is empty");
        assert!(self.behind().all(|chunk| chunk.len() < 2 * CHUNK), "no chunk is too long");
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
            let (mut copy, len) = (queue.clone(), queue.len());
            let got = (0..len).map_while(|at| copy.run_mut(at).first().map(|entry| **entry));
            assert!(got.eq(expected..next));
            assert_eq!(
                (queue.get(len), copy.run_mut(len).len(), queue.iter().count()),
                (None, 0, len)
            );
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
        let breaks: [fn(&mut Chunked<usize>); 4] = [
            |queue| queue.full.push_front(Vec::new()),
            |queue| queue.full[1].truncate(CHUNK - 1),
            |queue| queue.between += 1,
            |queue| queue.last.extend(vec![ManuallyDrop::new(0); 2 * CHUNK]),
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
        assert!(queue.full.is_empty());
        assert!(queue.first.capacity() + queue.last.capacity() <= 2 * CHUNK);
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
