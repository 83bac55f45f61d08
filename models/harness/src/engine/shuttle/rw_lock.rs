//! Locks that many threads may read under at once.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult};

use super::kernel::{Kernel, ObjectId, Operation};
use super::runtime::{index, is_inside, is_running};
use super::session;
use super::threads::{leave, perform};

/// Exclusion among the threads of one execution around a value that many may read at once.
pub struct ShuttleRwLock<T> {
    id: Option<ObjectId>,
    value: RwLock<T>,
}

impl<T> ShuttleRwLock<T> {
    pub(super) fn new(value: T) -> Self {
        let id = is_inside().then(|| session::with(|session| session.kernel.new_lock()));
        Self { id, value: RwLock::new(value) }
    }

    pub(super) fn read(&self) -> Shared<'_, T> {
        if is_running() {
            let lock = index(self.id);
            let has_share = session::with(|session| session.kernel.has_share(lock));
            assert!(!has_share, "a thread reads under a lock a second time: it may wait for ever");
            perform(Operation::Share(lock));
        }
        Shared { guard: Some(take_soon(|| self.value.try_read())), lock: self }
    }

    pub(super) fn write(&self) -> Whole<'_, T> {
        if is_running() {
            perform(Operation::Lock(index(self.id)));
        }
        Whole { guard: Some(take_soon(|| self.value.try_write())), lock: self }
    }
}

/// Tells the kernel, and then the strategy, that the running thread gives up what it had.
pub(super) fn released(lock: Option<ObjectId>, release: fn(&mut Kernel, usize)) {
    if is_running() {
        let lock = index(lock);
        session::with(|session| {
            release(&mut session.kernel, lock);
            session.chooser.released(&session.kernel, lock);
        });
    }
}

/// Takes what the kernel has granted; as soon as others have let go if it has granted nothing.
pub(super) fn take_soon<G>(take: impl Fn() -> TryLockResult<G>) -> G {
    loop {
        match take() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                assert!(!is_running(), "a lock is granted to those who can have it");
                assert!(is_inside(), "outside an execution nobody can wait for a lock");
                leave();
            }
        }
    }
}

impl<T> fmt::Debug for ShuttleRwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShuttleRwLock")
    }
}

/// Access to the value of a [`ShuttleRwLock`] that others may read as well.
pub struct Shared<'a, T> {
    /// `None` only while it is dropped.
    guard: Option<RwLockReadGuard<'a, T>>,
    lock: &'a ShuttleRwLock<T>,
}

/// Exclusive access to the value of a [`ShuttleRwLock`].
pub struct Whole<'a, T> {
    /// `None` only while it is dropped.
    guard: Option<RwLockWriteGuard<'a, T>>,
    lock: &'a ShuttleRwLock<T>,
}

impl<T> Deref for Shared<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_ref().expect("a guard holds the value until it is dropped")
    }
}

impl<T> Deref for Whole<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_ref().expect("a guard holds the value until it is dropped")
    }
}

impl<T> DerefMut for Whole<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_mut().expect("a guard holds the value until it is dropped")
    }
}

impl<T> Drop for Shared<'_, T> {
    fn drop(&mut self) {
        self.guard = None;
        released(self.lock.id, Kernel::release_share);
    }
}

impl<T> Drop for Whole<'_, T> {
    fn drop(&mut self) {
        self.guard = None;
        released(self.lock.id, Kernel::release);
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.guard.fmt(f)
    }
}

impl<T: fmt::Debug> fmt::Debug for Whole<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.guard.fmt(f)
    }
}
