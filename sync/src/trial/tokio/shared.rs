//! tokio's read-write lock: a real one, behind a semaphore of which a writer takes all permits.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use ::tokio::sync::{
    OwnedRwLockReadGuard as RealRead, OwnedRwLockWriteGuard as RealWrite, RwLock as Real,
};

use super::exclusive::TryLockError;
use super::semaphore::Semaphore;

/// More readers than any program has.
const ALL: usize = u32::MAX as usize >> 3;
const FREE: &str = "only those with a permit touch it";
const TAKEN: &str = "taken only by the end";

/// `tokio::sync::RwLock`.
pub struct RwLock<T> {
    turn: Semaphore,
    data: Arc<Real<T>>,
}

/// `tokio::sync::RwLockReadGuard`.
pub struct RwLockReadGuard<'a, T>(&'a RwLock<T>, Option<RealRead<T>>);

/// `tokio::sync::RwLockWriteGuard`.
pub struct RwLockWriteGuard<'a, T>(&'a RwLock<T>, Option<RealWrite<T>>);

/// `tokio::sync::OwnedRwLockReadGuard`.
pub struct OwnedRwLockReadGuard<T>(Arc<RwLock<T>>, Option<RealRead<T>>);

/// `tokio::sync::OwnedRwLockWriteGuard`.
pub struct OwnedRwLockWriteGuard<T>(Arc<RwLock<T>>, Option<RealWrite<T>>);

impl<T> RwLock<T> {
    /// Makes an unlocked lock.
    pub fn new(value: T) -> Self {
        Self { turn: Semaphore::new(ALL), data: Arc::new(Real::new(value)) }
    }

    async fn reads(&self) -> RealRead<T> {
        self.turn.take(1).await.expect("it is never closed");
        Arc::clone(&self.data).try_read_owned().expect(FREE)
    }

    async fn writes(&self) -> RealWrite<T> {
        self.turn.take(ALL).await.expect("it is never closed");
        Arc::clone(&self.data).try_write_owned().expect(FREE)
    }

    /// Locks for reading, behind writers that wait already.
    pub async fn read(&self) -> RwLockReadGuard<'_, T> {
        RwLockReadGuard(self, Some(self.reads().await))
    }

    /// Locks for writing.
    pub async fn write(&self) -> RwLockWriteGuard<'_, T> {
        RwLockWriteGuard(self, Some(self.writes().await))
    }

    /// Locks for reading, with a guard that keeps the lock alive.
    pub async fn read_owned(self: Arc<Self>) -> OwnedRwLockReadGuard<T> {
        let data = Some(self.reads().await);
        OwnedRwLockReadGuard(self, data)
    }

    /// Locks for writing, with a guard that keeps the lock alive.
    pub async fn write_owned(self: Arc<Self>) -> OwnedRwLockWriteGuard<T> {
        let data = Some(self.writes().await);
        OwnedRwLockWriteGuard(self, data)
    }

    /// Locks for reading if nobody writes or waits to.
    ///
    /// # Errors
    /// Somebody does.
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        self.turn.try_take(1).map_err(|_| TryLockError::new())?;
        Ok(RwLockReadGuard(self, Some(Arc::clone(&self.data).try_read_owned().expect(FREE))))
    }

    /// Locks for writing if it is free.
    ///
    /// # Errors
    /// It is not.
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        self.turn.try_take(ALL).map_err(|_| TryLockError::new())?;
        Ok(RwLockWriteGuard(self, Some(Arc::clone(&self.data).try_write_owned().expect(FREE))))
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        Arc::into_inner(self.data).expect("guards borrow the lock").into_inner()
    }
}

/// What a guard is, with the number of its permits.
macro_rules! guard {
    ($($guard:ty, $permits:expr);*) => {$(
        impl<T> Deref for $guard {
            type Target = T;

            fn deref(&self) -> &T {
                self.1.as_ref().expect(TAKEN)
            }
        }

        impl<T> Drop for $guard {
            fn drop(&mut self) {
                self.1 = None;
                self.0.turn.add_permits($permits);
            }
        }

        impl<T: fmt::Debug> fmt::Debug for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                T::fmt(self, f)
            }
        }
    )*};
}

guard! {
    RwLockReadGuard<'_, T>, 1;
    RwLockWriteGuard<'_, T>, ALL;
    OwnedRwLockReadGuard<T>, 1;
    OwnedRwLockWriteGuard<T>, ALL
}

impl<T> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.1.as_mut().expect(TAKEN)
    }
}

impl<T> DerefMut for OwnedRwLockWriteGuard<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.1.as_mut().expect(TAKEN)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.data.fmt(f)
    }
}
