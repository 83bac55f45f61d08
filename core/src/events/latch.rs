//! Detects when the first list has been processed.

use crate::machine::{Channel, Wakes};

/// Tells whether the initial batch has been processed (`cache:QU-15`): the entries of the first
/// successful `Replace`, if no other write came before it. Once set it stays set (`cache:QU-16`).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct SyncLatch {
    populated: bool,
    /// Entries of the initial batch that are not processed. An entry counts until `process` has
    /// returned, not only until it is taken (`cache:QU-18`).
    left: usize,
}

impl SyncLatch {
    /// Tells whether the initial batch has been processed.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.populated && self.left == 0
    }

    /// Tells whether a write has populated the queue (`cache:QU-14`).
    #[inline]
    pub fn is_populated(&self) -> bool {
        self.populated
    }

    /// Returns how many entries of the initial batch are not processed.
    #[inline]
    pub fn left(&self) -> usize {
        self.left
    }

    /// Notes a write. The first one makes `batch` entries the initial batch.
    #[inline]
    pub(crate) fn populate(&mut self, batch: usize, wakes: &mut Wakes, waiters: Channel) {
        if !self.populated {
            self.populated = true;
            self.left = batch;
            self.wake(wakes, waiters);
        }
    }

    /// Notes that entries of the initial batch were processed or turned out to be stale.
    #[inline]
    pub(crate) fn finish(&mut self, entries: usize, wakes: &mut Wakes, waiters: Channel) {
        if self.left > 0 {
            self.left = self.left.saturating_sub(entries);
            self.wake(wakes, waiters);
        }
    }

    #[inline]
    fn wake(&self, wakes: &mut Wakes, waiters: Channel) {
        if self.is_set() {
            wakes.all(waiters);
        }
    }
}
