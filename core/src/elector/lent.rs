//! The lock of an elector, while its driver borrows it.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::runtime::Runtime;

use super::Elector;

/// The lock of an elector during one run, attempt or release. It is returned when this drops.
pub(super) struct Lent<'a, L: Send + 'static, R: Runtime> {
    runtime: &'a R,
    place: &'a R::Mutex<Option<L>>,
    /// `None` only at the very end of the drop.
    lock: Option<L>,
}

impl<L: Send + 'static, R: Runtime> Elector<L, R> {
    /// Lends the lock; `None` if it is already lent.
    pub(super) fn lend(&self) -> Option<Lent<'_, L, R>> {
        let runtime = self.runtime();
        let lock = runtime.lock(&self.lock).take()?;
        Some(Lent { runtime, place: &self.lock, lock: Some(lock) })
    }
}

impl<L: Send + 'static, R: Runtime> Deref for Lent<'_, L, R> {
    type Target = L;

    fn deref(&self) -> &L {
        self.lock.as_ref().expect("a lock that is lent is there")
    }
}

impl<L: Send + 'static, R: Runtime> DerefMut for Lent<'_, L, R> {
    fn deref_mut(&mut self) -> &mut L {
        self.lock.as_mut().expect("a lock that is lent is there")
    }
}

impl<L: Send + 'static, R: Runtime> Drop for Lent<'_, L, R> {
    fn drop(&mut self) {
        *self.runtime.lock(self.place) = self.lock.take();
    }
}

impl<L: Send + 'static, R: Runtime> fmt::Debug for Lent<'_, L, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lent")
    }
}
