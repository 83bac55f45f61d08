//! A vector that grows in chunks, so that growing moves nothing and wastes little.

/// How many elements a chunk holds; a power of two.
const CHUNK: usize = 64;

/// A vector whose spare room is less than a chunk; a doubling vector may waste half.
///
/// Growing happens under a lock. A new chunk is one small allocation whatever the length; a
/// doubling vector would copy its whole content.
#[derive(Debug)]
pub(crate) struct Chunked<T> {
    /// Arrays and not slices, because an index within a chunk then needs no check.
    chunks: Vec<Box<[T; CHUNK]>>,
    /// How many elements were pushed; the elements after them are defaults.
    len: usize,
}

impl<T: Default> Chunked<T> {
    pub(crate) const fn new() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Appends a default and returns its position. It already exists, unless it is the first of its
    /// chunk.
    #[inline(always)]
    pub(crate) fn extend_by_one(&mut self) -> u32 {
        let at = self.len;
        if at.is_multiple_of(CHUNK) && at == self.chunks.len() * CHUNK {
            self.push_chunk();
        }
        self.len += 1;
        at as u32
    }

    #[cold]
    #[inline(never)]
    fn push_chunk(&mut self) {
        assert!(self.len < u32::MAX as usize - CHUNK, "fewer than 2^32 items are alive");
        // Collected in place: an array would be built on the stack and copied.
        let chunk: Box<[T]> = (0..CHUNK).map(|_| T::default()).collect();
        self.chunks.extend(chunk.try_into());
    }

    /// Removes the last element, and frees its chunk if another chunk is spare.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let last = self.len.checked_sub(1)?;
        let value = std::mem::take(&mut self[last as u32]);
        self.len = last;
        if last.is_multiple_of(CHUNK) {
            self.chunks.truncate(last / CHUNK + 1);
        }
        Some(value)
    }

    /// Returns consecutive elements, which must be in one chunk.
    #[inline(always)]
    pub(crate) fn run<const COUNT: usize>(&self, first: u32) -> Option<&[T; COUNT]> {
        self.chunks.get(first as usize / CHUNK)?[first as usize % CHUNK..].first_chunk()
    }

    /// Returns an element. If it is beyond the last one, fills the vector up to it with defaults.
    #[inline(always)]
    pub(crate) fn reach(&mut self, at: u32) -> &mut T {
        if self.len == at as usize {
            self.extend_by_one();
        } else if self.len < at as usize {
            self.extend_to(at);
        }
        &mut self[at]
    }

    #[cold]
    #[inline(never)]
    fn extend_to(&mut self, at: u32) {
        while self.len <= at as usize {
            self.extend_by_one();
        }
    }

    /// Returns an element. After the last one there may be defaults.
    #[inline(always)]
    pub(crate) fn get(&self, at: u32) -> Option<&T> {
        Some(&self.chunks.get(at as usize / CHUNK)?[at as usize % CHUNK])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map(|at| &self.chunks[at / CHUNK][at % CHUNK])
    }
}

#[cfg(test)]
impl<T: Default> Chunked<T> {
    pub(crate) fn push(&mut self, value: T) {
        let at = self.extend_by_one();
        self[at] = value;
    }

    /// Returns the capacity in elements.
    pub(crate) fn room(&self) -> usize {
        self.chunks.len() * CHUNK
    }
}

impl<T: Clone> Clone for Chunked<T> {
    fn clone(&self) -> Self {
        Self { chunks: self.chunks.clone(), len: self.len }
    }

    /// Reuses the existing chunks.
    fn clone_from(&mut self, source: &Self) {
        let used = self.len.max(source.len); // behind it both hold defaults
        self.chunks.truncate(source.chunks.len());
        let (old, new) = source.chunks.split_at(self.chunks.len());
        for (nth, (to, from)) in self.chunks.iter_mut().zip(old).enumerate() {
            let used = used.saturating_sub(nth * CHUNK).min(CHUNK);
            to[..used].clone_from_slice(&from[..used]);
        }
        self.chunks.extend_from_slice(new);
        self.len = source.len;
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
        *numbers.reach(5 * CHUNK as u32) += 7;
        assert_eq!((numbers.len(), numbers[5 * CHUNK as u32]), (5 * CHUNK + 1, 7));
        *numbers.reach(CHUNK as u32) += 1;
        assert_eq!((numbers.len(), numbers[CHUNK as u32]), (5 * CHUNK + 1, CHUNK as u32 + 8));
    }

    #[test]
    fn what_is_taken_away_leaves_defaults_and_one_chunk_to_spare() {
        let mut numbers = Chunked::new();
        (0..3 * CHUNK as u32).for_each(|n| numbers.push(n + 1));
        for n in (0..3 * CHUNK as u32).rev() {
            assert_eq!(numbers.pop(), Some(n + 1));
            assert_eq!(numbers.get(n), numbers.chunks.get(n as usize / CHUNK).map(|_| &0));
            let needed = numbers.len().div_ceil(CHUNK);
            assert!((needed..=needed + 1).contains(&numbers.chunks.len()), "{n}");
        }
        assert_eq!((numbers.pop(), numbers.len()), (None, 0));
        let spare = numbers.chunks.len();
        (0..CHUNK as u32).for_each(|n| assert_eq!(numbers.extend_by_one(), n));
        assert_eq!(numbers.chunks.len(), spare, "what is spare is used");
        assert!(numbers.iter().all(|number| *number == 0));
    }

    #[test]
    fn a_run_lies_in_one_chunk() {
        let mut numbers = Chunked::new();
        (0..2 * CHUNK as u32).for_each(|n| numbers.push(n));
        let first = CHUNK as u32;
        assert_eq!(numbers.run::<2>(first), Some(&[first, first + 1]));
        assert_eq!((numbers.run::<2>(first - 1), numbers.run::<2>(2 * first)), (None, None));
    }

    #[test]
    fn a_copy_made_in_place_is_the_original() {
        let of = |len: u32| {
            let mut numbers = Chunked::new();
            (0..len).for_each(|n| numbers.push(n + 1));
            numbers
        };
        let lengths = [0, 3, CHUNK as u32, CHUNK as u32 + 5, 4 * CHUNK as u32 - 1];
        for (from, to) in lengths.into_iter().flat_map(|from| lengths.map(|to| (from, to))) {
            let (source, mut copy) = (of(from), of(to));
            (0..to).for_each(|at| copy[at] += 1_000);
            copy.clone_from(&source);
            assert_eq!(copy.len(), source.len());
            assert!(copy.iter().eq(source.iter()), "{to} become {from}");
            copy.push(7);
            assert_eq!((copy.len(), copy[from]), (source.len() + 1, 7));
            assert_eq!(copy.get(from + 1).copied().unwrap_or(0), 0, "the next is a default");
        }
    }
}
