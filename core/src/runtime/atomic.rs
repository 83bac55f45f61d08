//! Numbers that threads share without a lock.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that threads share without a lock, with the methods of [`AtomicU64`].
///
/// No part of this crate uses one: they are for your own components. A checker that knows weak
/// memory explores everything that an ordering allows. Other checkers execute one access after the
/// other, as if every ordering were [`Ordering::SeqCst`].
///
/// # Panics
/// As in the standard library, on an ordering that the access cannot have.
pub trait Atomic: Send + Sync + 'static {
    /// Reads the number.
    fn load(&self, order: Ordering) -> u64;
    /// Writes the number.
    fn store(&self, value: u64, order: Ordering);
    /// Writes the number and returns the old one.
    fn swap(&self, value: u64, order: Ordering) -> u64;
    /// Adds to the number, wrapping around, and returns the old one.
    fn fetch_add(&self, more: u64, order: Ordering) -> u64;
    /// Writes `new` if the number is `current`; returns the old one.
    ///
    /// # Errors
    /// The number is a different one, which is returned.
    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64>;
}

impl Atomic for AtomicU64 {
    #[inline]
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }

    #[inline]
    fn store(&self, value: u64, order: Ordering) {
        self.store(value, order);
    }

    #[inline]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.swap(value, order)
    }

    #[inline]
    fn fetch_add(&self, more: u64, order: Ordering) -> u64 {
        self.fetch_add(more, order)
    }

    #[inline]
    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.compare_exchange(current, new, success, failure)
    }
}

#[cfg(test)]
mod tests {
    use super::Ordering::SeqCst;
    use super::*;

    #[test]
    fn a_number_is_read_and_changed() {
        let number: &dyn Atomic = &AtomicU64::new(5);
        assert_eq!(number.load(SeqCst), 5);
        number.store(7, SeqCst);
        assert_eq!((number.swap(9, SeqCst), number.load(SeqCst)), (7, 9));
        assert_eq!((number.fetch_add(2, SeqCst), number.load(SeqCst)), (9, 11));
        assert_eq!(number.compare_exchange(9, 1, SeqCst, SeqCst), Err(11));
        assert_eq!(number.compare_exchange(11, 2, SeqCst, SeqCst), Ok(11));
        assert_eq!(number.load(SeqCst), 2);
    }
}
