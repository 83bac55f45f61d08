//! `std`'s condition variable.

use std::sync::{Condvar as RealCondvar, LockResult, PoisonError};
use std::time::Duration;

use super::fault::{Fault, has};
use super::lock::{Label, Locked, Sleepers, outside_only};
use super::moment::Moment;
use super::mutex::MutexGuard;

/// Threads that sleep until notified, for which no lock is needed.
#[derive(Debug)]
pub(crate) struct Line {
    label: Label,
    /// Who goes to sleep holds it until asleep.
    door: Locked<()>,
    sleepers: Sleepers,
}

impl Line {
    /// Unlocks by `unlock` and sleeps; true if the moment ended the wait.
    pub(crate) fn sleep(&self, unlock: impl FnOnce(), until: Option<Moment>) -> bool {
        self.label.note("waits on");
        let mut unlock = Some(unlock);
        if has(Fault::WaitsInTwoSteps) {
            unlock.take().expect("just put there")();
        }
        let door = self.door.lock();
        if let Some(unlock) = unlock {
            unlock();
        }
        let (door, is_late) = self.sleepers.wait_until(door, until);
        drop(door);
        self.label.note(if is_late { "its time ended the wait on" } else { "is woken by" });
        is_late
    }

    pub(crate) fn notify(&self, all: bool) {
        self.label.note(if all { "wakes all of" } else { "wakes one of" });
        let door = self.door.lock();
        if all {
            self.sleepers.notify_all(&door);
        } else {
            self.sleepers.notify_one(&door);
        }
    }
}

impl Default for Line {
    fn default() -> Self {
        Self { label: Label::new(), door: Locked::new(()), sleepers: Sleepers::new() }
    }
}

/// [`std::sync::WaitTimeoutResult`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult(pub(crate) bool);

impl WaitTimeoutResult {
    /// Tells whether the time ended the wait.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// [`std::sync::Condvar`].
#[derive(Default, Debug)]
pub struct Condvar {
    line: Line,
    real: RealCondvar,
}

impl Condvar {
    /// Makes one where nobody waits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn sleep_on<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Option<Duration>,
    ) -> (LockResult<MutexGuard<'a, T>>, bool) {
        let mutex = guard.mutex;
        if mutex.turn.is_some() || self.line.label.is_of_run() {
            let until = time.and_then(|time| Moment::now().after(time));
            let is_late = self.line.sleep(|| drop(guard), until);
            return (mutex.lock(), is_late);
        }
        outside_only();
        let data = guard.data.take().expect("taken only by a wait or the end");
        let (data, is_late) = match time {
            None => (self.real.wait(data).unwrap_or_else(PoisonError::into_inner), false),
            Some(time) => {
                let waited = self.real.wait_timeout(data, time);
                let (data, ended) = waited.unwrap_or_else(PoisonError::into_inner);
                (data, ended.timed_out())
            }
        };
        guard.data = Some(data);
        (mutex.judged(guard), is_late)
    }

    /// Unlocks, sleeps until notified, locks again. It may wake without a reason.
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.sleep_on(guard, None).0
    }

    /// Waits as long as the condition holds.
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn wait_while<'a, T, F: FnMut(&mut T) -> bool>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As [`wait`](Self::wait), for a time at most.
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, is_late) = self.sleep_on(guard, Some(time));
        match guard {
            Ok(guard) => Ok((guard, WaitTimeoutResult(is_late))),
            Err(poisoned) => {
                Err(PoisonError::new((poisoned.into_inner(), WaitTimeoutResult(is_late))))
            }
        }
    }

    /// Waits as long as the condition holds, for a time at most.
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn wait_timeout_while<'a, T, F: FnMut(&mut T) -> bool>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let end = Moment::now().after(time);
        loop {
            if !condition(&mut guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let left = end.map_or(Duration::MAX, Moment::left);
            if left.is_zero() {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            guard = self.wait_timeout(guard, left)?.0;
        }
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        if self.line.label.is_of_run() {
            self.line.notify(false);
        } else {
            self.real.notify_one();
        }
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        if self.line.label.is_of_run() {
            self.line.notify(true);
        } else {
            self.real.notify_all();
        }
    }
}
