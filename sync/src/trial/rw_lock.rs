//! `std`'s read-write lock.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{
    LockResult, PoisonError, RwLock as RealLock, RwLockReadGuard as RealRead,
    RwLockWriteGuard as RealWrite, TryLockError, TryLockResult,
};

use super::lock::{Label, Locked, Sleepers, free};
use super::moment::Moment;

/// How a thread has a read-write lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Share {
    Read,
    /// A reader that may become the writer.
    Upgradable,
    Write,
}

#[derive(Default, Debug)]
struct Crowd {
    readers: usize,
    has_upgradable: bool,
    has_writer: bool,
}

impl Crowd {
    /// Lets one in, if it may come in.
    fn admits(&mut self, share: Share) -> bool {
        let is_admitted = match share {
            Share::Read => !self.has_writer,
            Share::Upgradable => !self.has_writer && !self.has_upgradable,
            Share::Write => !self.has_writer && !self.has_upgradable && self.readers == 0,
        };
        if is_admitted {
            match share {
                Share::Read => self.readers += 1,
                Share::Upgradable => self.has_upgradable = true,
                Share::Write => self.has_writer = true,
            }
        }
        is_admitted
    }

    fn leaves(&mut self, share: Share) {
        match share {
            Share::Read => self.readers -= 1,
            Share::Upgradable => self.has_upgradable = false,
            Share::Write => self.has_writer = false,
        }
    }
}

/// Who may have a read-write lock. It prefers nobody.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) label: Label,
    crowd: Locked<Crowd>,
    changed: Sleepers,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self { label: Label::new(), crowd: Locked::new(Crowd::default()), changed: Sleepers::new() }
    }

    /// Waits for a share, until a moment at most.
    pub(crate) fn enter(&self, share: Share, until: Option<Moment>) -> bool {
        let mut crowd = self.crowd.lock();
        while !crowd.admits(share) {
            let is_late;
            (crowd, is_late) = self.changed.wait_until(crowd, until);
            if is_late {
                let is_admitted = crowd.admits(share);
                drop(crowd);
                return is_admitted;
            }
        }
        drop(crowd);
        self.note(share);
        true
    }

    pub(crate) fn try_enter(&self, share: Share) -> bool {
        let is_admitted = self.crowd.lock().admits(share);
        if is_admitted {
            self.note(share);
        }
        is_admitted
    }

    /// Exchanges a share for another one, waiting until that can be had and nobody came in between; at once, or not
    /// at all, if it must not wait.
    pub(crate) fn exchange(&self, from: Share, to: Share, waits: bool) -> bool {
        let mut crowd = self.crowd.lock();
        loop {
            crowd.leaves(from);
            if crowd.admits(to) {
                self.changed.notify_all(&crowd);
                return true;
            }
            let is_back = crowd.admits(from);
            debug_assert!(is_back, "it was in before");
            if !waits {
                return false;
            }
            crowd = self.changed.wait(crowd);
        }
    }

    pub(crate) fn leave(&self, share: Share) {
        self.label.note("unlocks");
        let mut crowd = self.crowd.lock();
        crowd.leaves(share);
        self.changed.notify_all(&crowd);
    }

    fn note(&self, share: Share) {
        self.label.note(match share {
            Share::Read => "reads under",
            Share::Upgradable => "reads, and may write, under",
            Share::Write => "writes under",
        });
    }
}

/// [`std::sync::RwLock`].
pub struct RwLock<T: ?Sized> {
    room: Option<Room>,
    /// In a run, as with a mutex.
    poisoned: AtomicBool,
    data: RealLock<T>,
}

/// [`std::sync::RwLockReadGuard`].
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    data: Option<RealRead<'a, T>>,
}

/// [`std::sync::RwLockWriteGuard`].
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    data: Option<RealWrite<'a, T>>,
    unwound: bool,
}

impl<T> RwLock<T> {
    /// Makes an unlocked lock.
    pub fn new(value: T) -> Self {
        let room = Some(Room::new()).filter(|room| room.label.is_of_run());
        Self { room, poisoned: AtomicBool::new(false), data: RealLock::new(value) }
    }

    /// Returns the value.
    ///
    /// # Errors
    /// A thread panicked while it wrote.
    pub fn into_inner(self) -> LockResult<T> {
        let is_poisoned = self.is_poisoned();
        let value = self.data.into_inner().unwrap_or_else(PoisonError::into_inner);
        if is_poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks for reading.
    ///
    /// # Errors
    /// A thread panicked while it wrote.
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        if let Some(room) = &self.room {
            room.enter(Share::Read, None);
        }
        let wait = || self.data.read().unwrap_or_else(PoisonError::into_inner);
        let data = Some(free(|| self.data.try_read(), wait));
        self.judged(RwLockReadGuard { lock: self, data })
    }

    /// Locks for writing.
    ///
    /// # Errors
    /// A thread panicked while it wrote.
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        if let Some(room) = &self.room {
            room.enter(Share::Write, None);
        }
        let wait = || self.data.write().unwrap_or_else(PoisonError::into_inner);
        let data = Some(free(|| self.data.try_write(), wait));
        self.judged(RwLockWriteGuard { lock: self, data, unwound: self.is_unwinding() })
    }

    /// Locks for reading if no guard that writes is alive.
    ///
    /// # Errors
    /// One is, or a thread panicked while it wrote.
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        if self.room.as_ref().is_some_and(|room| !room.try_enter(Share::Read)) {
            return Err(TryLockError::WouldBlock);
        }
        let data = Some(unpoisoned(self.data.try_read())?);
        Ok(self.judged(RwLockReadGuard { lock: self, data })?)
    }

    /// Locks for writing if no other guard is alive.
    ///
    /// # Errors
    /// One is, or a thread panicked while it wrote.
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        if self.room.as_ref().is_some_and(|room| !room.try_enter(Share::Write)) {
            return Err(TryLockError::WouldBlock);
        }
        let data = Some(unpoisoned(self.data.try_write())?);
        Ok(self.judged(RwLockWriteGuard { lock: self, data, unwound: self.is_unwinding() })?)
    }

    fn is_unwinding(&self) -> bool {
        self.room.as_ref().is_some_and(|room| room.label.is_unwinding())
    }

    fn judged<G>(&self, guard: G) -> LockResult<G> {
        // As with a mutex: destructors go on where a run is given up.
        if self.is_poisoned() && !self.is_unwinding() {
            Err(PoisonError::new(guard))
        } else {
            Ok(guard)
        }
    }

    /// Tells whether a thread panicked while it wrote.
    pub fn is_poisoned(&self) -> bool {
        match &self.room {
            Some(_) => self.poisoned.load(Ordering::Relaxed),
            None => self.data.is_poisoned(),
        }
    }

    /// Forgets that a thread panicked while it wrote.
    pub fn clear_poison(&self) {
        self.poisoned.store(false, Ordering::Relaxed);
        self.data.clear_poison();
    }

    /// Returns the value, which no thread can hold.
    ///
    /// # Errors
    /// A thread panicked while it wrote.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let is_poisoned = self.is_poisoned();
        let value = self.data.get_mut().unwrap_or_else(PoisonError::into_inner);
        if is_poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

/// Leaves the judgement about poison to the lock.
fn unpoisoned<G, E>(taken: TryLockResult<G>) -> Result<G, TryLockError<E>> {
    match taken {
        Ok(data) => Ok(data),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_ref().expect("taken only by the end")
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_ref().expect("taken only by the end")
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.data.as_mut().expect("taken only by the end")
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.data = None;
        if let Some(room) = &self.lock.room {
            room.leave(Share::Read);
        }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        if !self.unwound && self.lock.is_unwinding() {
            self.lock.poisoned.store(true, Ordering::Relaxed);
        }
        self.data = None;
        if let Some(room) = &self.lock.room {
            room.leave(Share::Write);
        }
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.data.fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}
