//! tokio's mutex: a real one, behind a semaphore with one permit.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use ::tokio::sync::{Mutex as Real, OwnedMutexGuard as RealGuard};

use super::semaphore::Semaphore;

/// `tokio::sync::TryLockError`.
#[derive(Debug)]
pub struct TryLockError(());

impl TryLockError {
    pub(super) fn new() -> Self {
        Self(())
    }
}

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl std::error::Error for TryLockError {}

/// `tokio::sync::Mutex`.
pub struct Mutex<T> {
    turn: Semaphore,
    data: Arc<Real<T>>,
}

/// `tokio::sync::MutexGuard`.
pub struct MutexGuard<'a, T>(&'a Mutex<T>, Option<RealGuard<T>>);

/// `tokio::sync::OwnedMutexGuard`.
pub struct OwnedMutexGuard<T>(Arc<Mutex<T>>, Option<RealGuard<T>>);

const FREE: &str = "only the one with the permit touches it";
const TAKEN: &str = "taken only by the end";

impl<T> Mutex<T> {
    /// Makes an unlocked mutex.
    pub fn new(value: T) -> Self {
        Self { turn: Semaphore::new(1), data: Arc::new(Real::new(value)) }
    }

    async fn data(&self) -> RealGuard<T> {
        self.turn.take(1).await.expect("it is never closed");
        Arc::clone(&self.data).try_lock_owned().expect(FREE)
    }

    fn try_data(&self) -> Result<RealGuard<T>, TryLockError> {
        self.turn.try_take(1).map_err(|_| TryLockError::new())?;
        Ok(Arc::clone(&self.data).try_lock_owned().expect(FREE))
    }

    /// Locks, waiting in the order of the calls.
    pub async fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(self, Some(self.data().await))
    }

    /// The same, for a guard that keeps the mutex alive.
    pub async fn lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        let data = Some(self.data().await);
        OwnedMutexGuard(self, data)
    }

    /// The same, on a thread that may wait.
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        super::block_on(self.lock())
    }

    /// Locks if it is free.
    ///
    /// # Errors
    /// It is not.
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        Ok(MutexGuard(self, Some(self.try_data()?)))
    }

    /// The same, for a guard that keeps the mutex alive.
    ///
    /// # Errors
    /// It is not free.
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let data = Some(self.try_data()?);
        Ok(OwnedMutexGuard(self, data))
    }

    /// Returns the value, which no task can hold.
    pub fn get_mut(&mut self) -> &mut T {
        Arc::get_mut(&mut self.data).expect("guards borrow the mutex").get_mut()
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        Arc::into_inner(self.data).expect("guards borrow the mutex").into_inner()
    }
}

/// What a guard is.
macro_rules! guard {
    ($($guard:ty),*) => {$(
        impl<T> Deref for $guard {
            type Target = T;

            fn deref(&self) -> &T {
                self.1.as_ref().expect(TAKEN)
            }
        }

        impl<T> DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut T {
                self.1.as_mut().expect(TAKEN)
            }
        }

        impl<T> Drop for $guard {
            fn drop(&mut self) {
                self.1 = None;
                self.0.turn.add_permits(1);
            }
        }

        impl<T: fmt::Debug> fmt::Debug for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                T::fmt(self, f)
            }
        }
    )*};
}

guard!(MutexGuard<'_, T>, OwnedMutexGuard<T>);

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.data.fmt(f)
    }
}
