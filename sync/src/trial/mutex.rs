//! `std`'s mutex.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{
    LockResult, Mutex as RealMutex, MutexGuard as RealGuard, PoisonError, TryLockError,
    TryLockResult,
};

use super::fault::{Fault, has};
use super::lock::{Held, Label, Locked, Sleepers, free};
use super::moment::Moment;

/// Who may have a lock, in a run.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) label: Label,
    /// Those who wait stand in this line, which the engine knows; who tries does not.
    line: Locked<()>,
    taken: Locked<bool>,
    freed: Sleepers,
}

impl Turn {
    pub(crate) fn new() -> Self {
        Self {
            label: Label::new(),
            line: Locked::new(()),
            taken: Locked::new(false),
            freed: Sleepers::new(),
        }
    }

    /// Waits for it; what it returns is to be given back.
    pub(crate) fn take(&self) -> Held<'_, ()> {
        let line = self.line.lock();
        let mut taken = self.taken.lock();
        while *taken {
            taken = self.freed.wait(taken);
        }
        *taken = true;
        drop(taken);
        self.label.note("locks");
        line
    }

    /// The same, until a moment at most.
    pub(crate) fn take_until(&self, until: Moment) -> bool {
        let mut taken = self.taken.lock();
        while *taken {
            let is_late;
            (taken, is_late) = self.freed.wait_until(taken, Some(until));
            if is_late && *taken {
                return false;
            }
        }
        *taken = true;
        drop(taken);
        self.label.note("locks");
        true
    }

    /// Takes it if it is free.
    pub(crate) fn try_take(&self) -> bool {
        let mut taken = self.taken.lock();
        if has(Fault::TriesWait) {
            while *taken {
                taken = self.freed.wait(taken);
            }
        }
        let is_free = !*taken;
        *taken = true;
        drop(taken);
        self.label.note(if is_free { "locks" } else { "could not lock" });
        is_free
    }

    pub(crate) fn is_taken(&self) -> bool {
        *self.taken.lock()
    }

    pub(crate) fn give_back(&self, line: Option<Held<'_, ()>>) {
        self.label.note("unlocks");
        let mut taken = self.taken.lock();
        *taken = false;
        self.freed.notify_all(&taken);
        drop(taken);
        drop(line);
    }
}

/// [`std::sync::Mutex`].
pub struct Mutex<T: ?Sized> {
    pub(super) turn: Option<Turn>,
    /// In a run: the real one would take the panic of another thread for that of its own.
    poisoned: AtomicBool,
    data: RealMutex<T>,
}

/// [`std::sync::MutexGuard`].
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) mutex: &'a Mutex<T>,
    pub(super) data: Option<RealGuard<'a, T>>,
    line: Option<Held<'a, ()>>,
    /// Whether the thread unwound from a panic already when it locked.
    unwound: bool,
}

impl<T> Mutex<T> {
    /// Makes an unlocked mutex.
    pub fn new(value: T) -> Self {
        let turn = Some(Turn::new()).filter(|turn| turn.label.is_of_run());
        Self { turn, poisoned: AtomicBool::new(false), data: RealMutex::new(value) }
    }

    /// Returns the value.
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn into_inner(self) -> LockResult<T> {
        let is_poisoned = self.is_poisoned();
        let value = self.data.into_inner().unwrap_or_else(PoisonError::into_inner);
        if is_poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks, waiting as long as another guard is alive.
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        match &self.turn {
            Some(turn) => {
                let line = turn.take();
                self.guard(Some(line))
            }
            None => {
                let data = free(
                    || self.data.try_lock(),
                    || self.data.lock().unwrap_or_else(PoisonError::into_inner),
                );
                self.judged(MutexGuard {
                    mutex: self,
                    data: Some(data),
                    line: None,
                    unwound: false,
                })
            }
        }
    }

    /// Locks if no other guard is alive.
    ///
    /// # Errors
    /// Another guard is alive, or a thread panicked while it held the lock.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let guard = match &self.turn {
            Some(turn) if turn.try_take() => self.guard(None),
            Some(_) => return Err(TryLockError::WouldBlock),
            None => match self.data.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
                Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
                Ok(data) => Ok(data),
            }
            .and_then(|data| {
                self.judged(MutexGuard {
                    mutex: self,
                    data: Some(data),
                    line: None,
                    unwound: false,
                })
            }),
        };
        Ok(guard?)
    }

    /// Makes the guard of a thread whose turn it is.
    fn guard<'a>(&'a self, line: Option<Held<'a, ()>>) -> LockResult<MutexGuard<'a, T>> {
        let unwound = self.turn.as_ref().is_some_and(|turn| turn.label.is_unwinding());
        let data = free(
            || self.data.try_lock(),
            || self.data.lock().unwrap_or_else(PoisonError::into_inner),
        );
        self.judged(MutexGuard { mutex: self, data: Some(data), line, unwound })
    }

    pub(super) fn judged<G>(&self, guard: G) -> LockResult<G> {
        // A destructor that does not expect an error would abort the whole process, where a run is given up.
        let is_poisoned = match &self.turn {
            Some(turn) => self.is_poisoned() && !turn.label.is_unwinding(),
            None => self.is_poisoned(),
        };
        if is_poisoned { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// Tells whether a thread panicked while it held the lock.
    pub fn is_poisoned(&self) -> bool {
        match &self.turn {
            Some(_) => self.poisoned.load(Ordering::Relaxed),
            None => self.data.is_poisoned(),
        }
    }

    /// Forgets that a thread panicked while it held the lock.
    pub fn clear_poison(&self) {
        self.poisoned.store(false, Ordering::Relaxed);
        self.data.clear_poison();
    }

    /// Returns the value, which no thread can hold.
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let is_poisoned = self.is_poisoned();
        let value = self.data.get_mut().unwrap_or_else(PoisonError::into_inner);
        if is_poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_ref().expect("taken only by a wait or the end")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.data.as_mut().expect("taken only by a wait or the end")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        let Some(turn) = &self.mutex.turn else { return };
        if !self.unwound && turn.label.is_unwinding() {
            self.mutex.poisoned.store(true, Ordering::Relaxed);
        }
        self.data = None;
        turn.give_back(self.line.take());
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.data.fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}
