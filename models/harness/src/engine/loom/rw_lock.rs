//! Locks that many threads may read under at once.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult};

use super::books::Wanted;
use super::session::{Point, Session};

/// A lock whose acquisitions loom puts into every order, those of readers included.
pub struct LoomRwLock<T> {
    lock: usize,
    point: Point,
    data: RwLock<T>,
    session: Arc<Session>,
}

impl<T> LoomRwLock<T> {
    pub(super) fn new(session: &Arc<Session>, value: T) -> Self {
        Self {
            lock: session.books().new_lock(),
            point: Point::new(()),
            data: RwLock::new(value),
            session: Arc::clone(session),
        }
    }

    pub(super) fn read(&self) -> LoomReadGuard<'_, T> {
        self.session.acquire(Wanted::share(self.lock), &self.point);
        LoomReadGuard { data: Some(granted(self.data.try_read())), lock: self }
    }

    pub(super) fn write(&self) -> LoomWriteGuard<'_, T> {
        self.session.acquire(Wanted::whole(self.lock), &self.point);
        LoomWriteGuard { data: Some(granted(self.data.try_write())), lock: self }
    }
}

/// Takes the lock that the bookkeeping has granted. A panic while it was held does not poison it.
pub(super) fn granted<G>(taken: TryLockResult<G>) -> G {
    match taken {
        Ok(data) => data,
        Err(TryLockError::Poisoned(data)) => data.into_inner(),
        Err(TryLockError::WouldBlock) => unreachable!("the holder of a lock keeps others out"),
    }
}

impl<T> fmt::Debug for LoomRwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LoomRwLock").field(&self.lock).finish()
    }
}

/// Access to the value of a [`LoomRwLock`] that others may read as well.
pub struct LoomReadGuard<'a, T> {
    /// `None` only while it is dropped.
    data: Option<RwLockReadGuard<'a, T>>,
    lock: &'a LoomRwLock<T>,
}

/// Exclusive access to the value of a [`LoomRwLock`].
pub struct LoomWriteGuard<'a, T> {
    /// `None` only while it is dropped.
    data: Option<RwLockWriteGuard<'a, T>>,
    lock: &'a LoomRwLock<T>,
}

impl<T> Deref for LoomReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_deref().expect("present until the guard is gone")
    }
}

impl<T> Deref for LoomWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_deref().expect("present until the guard is gone")
    }
}

impl<T> DerefMut for LoomWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.data.as_deref_mut().expect("present until the guard is gone")
    }
}

impl<T> Drop for LoomReadGuard<'_, T> {
    fn drop(&mut self) {
        self.data = None;
        self.lock.session.release_share(self.lock.lock);
    }
}

impl<T> Drop for LoomWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.data = None;
        self.lock.session.release(self.lock.lock);
    }
}

impl<T> fmt::Debug for LoomReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LoomReadGuard").field(&self.lock.lock).finish()
    }
}

impl<T> fmt::Debug for LoomWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LoomWriteGuard").field(&self.lock.lock).finish()
    }
}
