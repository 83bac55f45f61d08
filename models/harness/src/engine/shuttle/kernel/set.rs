//! Sets of threads, small enough to copy.

use std::fmt;

use crate::engine::MAX_THREADS;

/// A set of threads of one execution.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ThreadSet(u128);

const _: () = assert!(MAX_THREADS <= u128::BITS as usize);

impl ThreadSet {
    pub(crate) const EMPTY: Self = Self(0);

    pub(crate) fn insert(&mut self, thread: usize) {
        self.0 |= 1 << thread;
    }

    pub(crate) fn remove(&mut self, thread: usize) {
        self.0 &= !(1 << thread);
    }

    pub(crate) const fn contains(self, thread: usize) -> bool {
        self.0 >> thread & 1 == 1
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(crate) const fn without(self, thread: usize) -> Self {
        Self(self.0 & !(1 << thread))
    }

    pub(crate) const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn first(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }

    /// Returns the member after `nth` others.
    pub(crate) fn member(self, nth: usize) -> usize {
        Iterator::nth(&mut { self }, nth).expect("the set has more members than that")
    }
}

impl Iterator for ThreadSet {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let first = self.first()?;
        self.0 &= self.0 - 1;
        Some(first)
    }
}

impl fmt::Debug for ThreadSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(*self).finish()
    }
}
