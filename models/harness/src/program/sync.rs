//! Locks, condition variables and shared numbers that say what happens to them.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;
use std::time::Duration;

use seatrial_core::runtime::{Atomic as Number, Runtime};

use super::Seam;
use crate::engine::AnyRuntime;

type Of<'a, T> = <AnyRuntime as Runtime>::Guard<'a, T>;

/// A value that one thread at a time may touch. A panic while it is locked does not poison it.
pub struct Mutex<T: Send + 'static> {
    seam: Seam,
    number: u64,
    inner: <AnyRuntime as Runtime>::Mutex<T>,
}

/// Access to the value of a [`Mutex`]; unlocks when dropped.
pub struct Guard<'a, T: Send + 'static> {
    mutex: &'a Mutex<T>,
    inner: Option<Of<'a, T>>,
}

impl<T: Send + 'static> Mutex<T> {
    pub(super) fn new(seam: &Seam, value: T) -> Self {
        let inner = seam.runtime().mutex(value);
        Self { seam: seam.clone(), number: seam.number(), inner }
    }

    /// Locks, waiting as long as another guard is alive.
    pub fn lock(&self) -> Guard<'_, T> {
        let inner = self.seam.runtime().lock(&self.inner);
        self.seam.act(format_args!("locks {}", self.number));
        Guard { mutex: self, inner: Some(inner) }
    }
}

impl<T: Send + 'static> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("taken only by a wait or the end")
    }
}

impl<T: Send + 'static> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("taken only by a wait or the end")
    }
}

impl<T: Send + 'static> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        if self.inner.is_some() {
            self.mutex.seam.act(format_args!("unlocks {}", self.mutex.number));
        }
    }
}

/// A place where threads sleep until notified; used with one mutex only.
pub struct Condvar {
    seam: Seam,
    number: u64,
    inner: <AnyRuntime as Runtime>::Condvar,
}

impl Condvar {
    pub(super) fn new(seam: &Seam) -> Self {
        let inner = seam.runtime().condvar();
        Self { seam: seam.clone(), number: seam.number(), inner }
    }

    /// Unlocks, sleeps until notified, locks again. It may wake without a reason: call it in a loop.
    pub fn wait<'a, T: Send + 'static>(&self, mut guard: Guard<'a, T>) -> Guard<'a, T> {
        let (mutex, inner) = (guard.mutex, guard.inner.take());
        self.seam.act(format_args!("waits on {}", self.number));
        let inner = self.seam.runtime().wait(&self.inner, inner.expect("a guard holds one"));
        self.seam.act(format_args!("is woken by {}", self.number));
        Guard { mutex, inner: Some(inner) }
    }

    /// As [`wait`](Self::wait), for a time at most; true if the time ended the wait.
    pub fn wait_for<'a, T: Send + 'static>(
        &self,
        mut guard: Guard<'a, T>,
        time: Duration,
    ) -> (Guard<'a, T>, bool) {
        let (mutex, inner) = (guard.mutex, guard.inner.take());
        self.seam.act(format_args!("waits on {} for {time:?}", self.number));
        let (runtime, inner) = (self.seam.runtime(), inner.expect("a guard holds one"));
        let (inner, is_late) = runtime.wait_until(&self.inner, inner, self.seam.now() + time);
        let why = if is_late { "its time ended the wait on" } else { "is woken by" };
        self.seam.act(format_args!("{why} {}", self.number));
        (Guard { mutex, inner: Some(inner) }, is_late)
    }

    /// Wakes one waiter, with the mutex locked.
    pub fn notify_one<T: Send + 'static>(&self, _locked: &Guard<'_, T>) {
        self.seam.act(format_args!("wakes one of {}", self.number));
        self.seam.runtime().notify_one(&self.inner);
    }

    /// Wakes all waiters, with the mutex locked.
    pub fn notify_all<T: Send + 'static>(&self, _locked: &Guard<'_, T>) {
        self.seam.act(format_args!("wakes all of {}", self.number));
        self.seam.runtime().notify_all(&self.inner);
    }
}

/// A value that one thread may write, or any number may read.
pub struct RwLock<T: Send + Sync + 'static> {
    seam: Seam,
    number: u64,
    inner: <AnyRuntime as Runtime>::RwLock<T>,
}

/// Read access to the value of a [`RwLock`].
pub struct ReadGuard<'a, T: Send + Sync + 'static>(
    &'a RwLock<T>,
    <AnyRuntime as Runtime>::ReadGuard<'a, T>,
);

/// Exclusive access to the value of a [`RwLock`].
pub struct WriteGuard<'a, T: Send + Sync + 'static>(
    &'a RwLock<T>,
    <AnyRuntime as Runtime>::WriteGuard<'a, T>,
);

impl<T: Send + Sync + 'static> RwLock<T> {
    pub(super) fn new(seam: &Seam, value: T) -> Self {
        let inner = seam.runtime().rw_lock(value);
        Self { seam: seam.clone(), number: seam.number(), inner }
    }

    /// Locks for reading. A thread must not do so twice at a time: with a writer between, that is a deadlock.
    pub fn read(&self) -> ReadGuard<'_, T> {
        let guard = self.seam.runtime().read(&self.inner);
        self.seam.act(format_args!("locks {} for reading", self.number));
        ReadGuard(self, guard)
    }

    /// Locks for writing.
    pub fn write(&self) -> WriteGuard<'_, T> {
        let guard = self.seam.runtime().write(&self.inner);
        self.seam.act(format_args!("locks {} for writing", self.number));
        WriteGuard(self, guard)
    }

    fn unlocks(&self) {
        self.seam.act(format_args!("unlocks {}", self.number));
    }
}

impl<T: Send + Sync + 'static> Deref for ReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.1
    }
}

impl<T: Send + Sync + 'static> Drop for ReadGuard<'_, T> {
    fn drop(&mut self) {
        self.0.unlocks();
    }
}

impl<T: Send + Sync + 'static> Deref for WriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.1
    }
}

impl<T: Send + Sync + 'static> DerefMut for WriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.1
    }
}

impl<T: Send + Sync + 'static> Drop for WriteGuard<'_, T> {
    fn drop(&mut self) {
        self.0.unlocks();
    }
}

/// A number that threads share without a lock. loom explores what an ordering allows; the other engines take
/// every ordering for [`Ordering::SeqCst`].
pub struct Atomic {
    seam: Seam,
    number: u64,
    inner: <AnyRuntime as Runtime>::Atomic,
}

impl Atomic {
    pub(super) fn new(seam: &Seam, value: u64) -> Self {
        let inner = seam.runtime().atomic(value);
        Self { seam: seam.clone(), number: seam.number(), inner }
    }

    fn inner(&self) -> &<AnyRuntime as Runtime>::Atomic {
        let _noted = self.seam.is_unwinding(); // others may run from here on
        &self.inner
    }

    fn did<T: fmt::Debug>(&self, what: fmt::Arguments<'_>, value: T) -> T {
        self.seam.act(format_args!("{what} {}: {value:?}", self.number));
        value
    }

    /// Reads the number.
    pub fn load(&self, order: Ordering) -> u64 {
        self.did(format_args!("loads"), Number::load(self.inner(), order))
    }

    /// Writes the number.
    pub fn store(&self, value: u64, order: Ordering) {
        Number::store(self.inner(), value, order);
        self.did(format_args!("stores in"), value);
    }

    /// Writes the number and returns the old one.
    pub fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.did(format_args!("swaps {value} into"), Number::swap(self.inner(), value, order))
    }

    /// Adds to the number, wrapping around, and returns the old one.
    pub fn fetch_add(&self, more: u64, order: Ordering) -> u64 {
        self.did(format_args!("adds {more} to"), Number::fetch_add(self.inner(), more, order))
    }

    /// Writes `new` if the number is `current`; returns the old one.
    ///
    /// # Errors
    /// The number is a different one, which is returned.
    pub fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        let result = Number::compare_exchange(self.inner(), current, new, success, failure);
        self.did(format_args!("replaces {current} by {new} in"), result)
    }
}

impl<T: Send + 'static> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mutex {}", self.number)
    }
}

impl<T: fmt::Debug + Send + 'static> fmt::Debug for Guard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Condvar {}", self.number)
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RwLock {}", self.number)
    }
}

impl<T: fmt::Debug + Send + Sync + 'static> fmt::Debug for ReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl<T: fmt::Debug + Send + Sync + 'static> fmt::Debug for WriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl fmt::Debug for Atomic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Atomic {}", self.number)
    }
}
