//! parking_lot's names: locks without poisoning, a condition variable that keeps the guard.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{
    Mutex as RealMutex, MutexGuard as RealGuard, PoisonError, RwLock as RealLock,
    RwLockReadGuard as RealRead, RwLockWriteGuard as RealWrite,
};
use std::time::Duration;

use super::clock::Instant;
use super::condvar::Line;
pub use super::condvar::WaitTimeoutResult;
use super::lock::{Held, free};
use super::moment::Moment;
use super::mutex::Turn;
use super::rw_lock::{Room, Share};

const TAKEN: &str = "taken only by a wait or the end";

/// `parking_lot::Mutex`.
pub struct Mutex<T: ?Sized> {
    turn: Turn,
    data: RealMutex<T>,
}

/// `parking_lot::MutexGuard`.
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    data: Option<RealGuard<'a, T>>,
    line: Option<Held<'a, ()>>,
}

impl<T> Mutex<T> {
    /// Makes an unlocked mutex.
    pub fn new(value: T) -> Self {
        Self { turn: Turn::new(), data: RealMutex::new(value) }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.data.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> Mutex<T> {
    fn data(&self) -> RealGuard<'_, T> {
        let wait = || self.data.lock().unwrap_or_else(PoisonError::into_inner);
        free(|| self.data.try_lock(), wait)
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, data: Some(self.data()), line: None }
    }

    /// Locks, waiting as long as another guard is alive.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let line = Some(self.turn.take());
        MutexGuard { mutex: self, data: Some(self.data()), line }
    }

    /// Locks if no other guard is alive.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.turn.try_take().then(|| self.guard())
    }

    /// Locks, waiting for a time at most.
    pub fn try_lock_for(&self, time: Duration) -> Option<MutexGuard<'_, T>> {
        match Moment::now().after(time) {
            Some(until) => self.turn.take_until(until).then(|| self.guard()),
            None => Some(self.lock()),
        }
    }

    /// Locks, waiting until a moment at most.
    pub fn try_lock_until(&self, until: Instant) -> Option<MutexGuard<'_, T>> {
        self.turn.take_until(until.0).then(|| self.guard())
    }

    /// Tells whether a guard is alive.
    pub fn is_locked(&self) -> bool {
        self.turn.is_taken()
    }

    /// Returns the value, which no thread can hold.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> MutexGuard<'_, T> {
    fn unlock(&mut self) {
        self.data = None;
        self.mutex.turn.give_back(self.line.take());
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.unlock();
    }
}

/// `parking_lot::Condvar`.
#[derive(Default, Debug)]
pub struct Condvar(Line);

impl Condvar {
    /// Makes one where nobody waits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn sleep<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, until: Option<Moment>) -> bool {
        let mutex = guard.mutex;
        let is_late = self.0.sleep(|| guard.unlock(), until);
        guard.line = Some(mutex.turn.take());
        guard.data = Some(mutex.data());
        is_late
    }

    /// Unlocks, sleeps until notified, locks again.
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.sleep(guard, None);
    }

    /// Waits as long as the condition holds.
    pub fn wait_while<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) {
        while condition(guard) {
            self.wait(guard);
        }
    }

    /// As [`wait`](Self::wait), for a time at most.
    pub fn wait_for<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        time: Duration,
    ) -> WaitTimeoutResult {
        WaitTimeoutResult(self.sleep(guard, Moment::now().after(time)))
    }

    /// As [`wait`](Self::wait), until a moment at most.
    pub fn wait_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        until: Instant,
    ) -> WaitTimeoutResult {
        WaitTimeoutResult(self.sleep(guard, Some(until.0)))
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        self.0.notify(false);
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.0.notify(true);
    }
}

/// `parking_lot::RwLock`.
pub struct RwLock<T: ?Sized> {
    room: Room,
    data: RealLock<T>,
}

/// `parking_lot::RwLockReadGuard`.
pub struct RwLockReadGuard<'a, T: ?Sized>(&'a RwLock<T>, Option<RealRead<'a, T>>);

/// `parking_lot::RwLockUpgradableReadGuard`.
pub struct RwLockUpgradableReadGuard<'a, T: ?Sized>(&'a RwLock<T>, Option<RealRead<'a, T>>);

/// `parking_lot::RwLockWriteGuard`.
pub struct RwLockWriteGuard<'a, T: ?Sized>(&'a RwLock<T>, Option<RealWrite<'a, T>>);

impl<T> RwLock<T> {
    /// Makes an unlocked lock.
    pub fn new(value: T) -> Self {
        Self { room: Room::new(), data: RealLock::new(value) }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.data.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> RwLock<T> {
    fn reads(&self) -> Option<RealRead<'_, T>> {
        let wait = || self.data.read().unwrap_or_else(PoisonError::into_inner);
        Some(free(|| self.data.try_read(), wait))
    }

    fn writes(&self) -> Option<RealWrite<'_, T>> {
        let wait = || self.data.write().unwrap_or_else(PoisonError::into_inner);
        Some(free(|| self.data.try_write(), wait))
    }

    /// Locks for reading.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.room.enter(Share::Read, None);
        RwLockReadGuard(self, self.reads())
    }

    /// Locks for writing.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.room.enter(Share::Write, None);
        RwLockWriteGuard(self, self.writes())
    }

    /// Locks for reading, beside readers; one of these at a time may become the writer.
    pub fn upgradable_read(&self) -> RwLockUpgradableReadGuard<'_, T> {
        self.room.enter(Share::Upgradable, None);
        RwLockUpgradableReadGuard(self, self.reads())
    }

    /// Locks for reading if nobody writes.
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        self.room.try_enter(Share::Read).then(|| RwLockReadGuard(self, self.reads()))
    }

    /// Locks for writing if it is free.
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        self.room.try_enter(Share::Write).then(|| RwLockWriteGuard(self, self.writes()))
    }

    /// Locks for reading, and maybe writing later, if nobody else does or writes.
    pub fn try_upgradable_read(&self) -> Option<RwLockUpgradableReadGuard<'_, T>> {
        let is_in = self.room.try_enter(Share::Upgradable);
        is_in.then(|| RwLockUpgradableReadGuard(self, self.reads()))
    }

    /// Returns the value, which no thread can hold.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a, T: ?Sized> RwLockUpgradableReadGuard<'a, T> {
    /// Becomes the writer, once there are no readers.
    pub fn upgrade(mut this: Self) -> RwLockWriteGuard<'a, T> {
        this.1 = None;
        let lock = this.0;
        lock.room.exchange(Share::Upgradable, Share::Write, true);
        std::mem::forget(this); // it has nothing left to give back
        RwLockWriteGuard(lock, lock.writes())
    }

    /// Becomes the writer if there are no readers.
    ///
    /// # Errors
    /// There are: the guard comes back.
    pub fn try_upgrade(mut this: Self) -> Result<RwLockWriteGuard<'a, T>, Self> {
        let lock = this.0;
        this.1 = None;
        if !lock.room.exchange(Share::Upgradable, Share::Write, false) {
            this.1 = lock.reads();
            return Err(this);
        }
        std::mem::forget(this);
        Ok(RwLockWriteGuard(lock, lock.writes()))
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Becomes a reader; no writer comes in between.
    pub fn downgrade(mut this: Self) -> RwLockReadGuard<'a, T> {
        this.1 = None;
        let lock = this.0;
        lock.room.exchange(Share::Write, Share::Read, true);
        std::mem::forget(this);
        RwLockReadGuard(lock, lock.reads())
    }
}

/// What a guard of the read-write lock is.
macro_rules! guard {
    ($($guard:ident, $share:expr);*) => {$(
        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                self.1.as_ref().expect(TAKEN)
            }
        }

        impl<T: ?Sized> Drop for $guard<'_, T> {
            fn drop(&mut self) {
                self.1 = None;
                self.0.room.leave($share);
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                T::fmt(self, f)
            }
        }
    )*};
}

guard! {
    RwLockReadGuard, Share::Read;
    RwLockUpgradableReadGuard, Share::Upgradable;
    RwLockWriteGuard, Share::Write
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.1.as_mut().expect(TAKEN)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_ref().expect(TAKEN)
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.data.as_mut().expect(TAKEN)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

/// What both locks have.
macro_rules! lock {
    ($($lock:ident),*) => {$(
        impl<T: Default> Default for $lock<T> {
            fn default() -> Self {
                Self::new(T::default())
            }
        }

        impl<T> From<T> for $lock<T> {
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $lock<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.data.fmt(f)
            }
        }
    )*};
}

lock!(Mutex, RwLock);
