//! The one lock and the one place to sleep that everything else stands on: the engine's in a run, real ones
//! elsewhere.
//!
//! The value lies behind a real lock in any case. In a run the engine decides who may take it, so it is free then.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{
    Condvar as RealCondvar, Mutex as RealMutex, MutexGuard as RealGuard, PoisonError, TryLockError,
    TryLockResult,
};

use seatrial::engine::AnyRuntime;
use seatrial::program::Seam;
use seatrial_core::runtime::Runtime;

use super::moment::Moment;

type EngineGuard<'a> = <AnyRuntime as Runtime>::Guard<'a, ()>;

/// A value that one thread at a time may touch; never poisoned.
pub(crate) struct Locked<T: ?Sized> {
    gate: Option<(Seam, <AnyRuntime as Runtime>::Mutex<()>)>,
    data: RealMutex<T>,
}

/// Access to the value of a [`Locked`].
pub(crate) struct Held<'a, T: ?Sized> {
    // In this order they are dropped: the value is free before the engine lets the next one in.
    data: Option<RealGuard<'a, T>>,
    gate: Option<EngineGuard<'a>>,
    of: &'a Locked<T>,
}

impl<T> Locked<T> {
    pub(crate) fn new(value: T) -> Self {
        let gate = Seam::current().map(|seam| {
            let lock = seam.runtime().mutex(());
            (seam, lock)
        });
        Self { gate, data: RealMutex::new(value) }
    }
}

impl<T: ?Sized> Locked<T> {
    pub(crate) fn lock(&self) -> Held<'_, T> {
        let gate = self.gate.as_ref().map(|(seam, lock)| seam.runtime().lock(lock));
        let data = free(
            || self.data.try_lock(),
            || self.data.lock().unwrap_or_else(PoisonError::into_inner),
        );
        Held { data: Some(data), gate, of: self }
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.data.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes what should be free in a run, and what may be waited for outside of one.
///
/// # Panics
/// If it would have to be waited for in a run.
pub(crate) fn free<G>(take: impl Fn() -> TryLockResult<G>, wait: impl Fn() -> G) -> G {
    match take() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            outside_only();
            wait()
        }
    }
}

/// A thread is about to wait for what no engine knows.
///
/// # Panics
/// In a run: it would wait for ever.
pub(crate) fn outside_only() {
    let inside = Seam::current().is_some();
    assert!(!inside, "a thread of a trial has to wait for what was made outside of this run");
}

impl<T: ?Sized> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_ref().expect("taken only by a wait")
    }
}

impl<T: ?Sized> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.data.as_mut().expect("taken only by a wait")
    }
}

impl<T: ?Sized> Drop for Held<'_, T> {
    fn drop(&mut self) {
        if let (Some((seam, _)), true) = (&self.of.gate, self.gate.is_some()) {
            let _noted = seam.is_unwinding(); // others may run when it is unlocked
        }
    }
}

/// A place where threads sleep that hold one certain [`Locked`].
pub(crate) struct Sleepers {
    gate: Option<(Seam, <AnyRuntime as Runtime>::Condvar)>,
    real: RealCondvar,
}

impl Sleepers {
    pub(crate) fn new() -> Self {
        let gate = Seam::current().map(|seam| {
            let condvar = seam.runtime().condvar();
            (seam, condvar)
        });
        Self { gate, real: RealCondvar::new() }
    }

    /// Unlocks, sleeps until notified, locks again. It may wake without a reason.
    pub(crate) fn wait<'a, T>(&self, held: Held<'a, T>) -> Held<'a, T> {
        self.wait_until(held, None).0
    }

    /// The same, until a moment at most; true if the moment ended the wait.
    pub(crate) fn wait_until<'a, T>(
        &self,
        mut held: Held<'a, T>,
        until: Option<Moment>,
    ) -> (Held<'a, T>, bool) {
        let (of, data) = (held.of, held.data.take().expect("taken only by a wait"));
        let (Some((seam, condvar)), Some(gate)) = (&self.gate, held.gate.take()) else {
            outside_only();
            let (data, is_late) = match until {
                None => (self.real.wait(data).unwrap_or_else(PoisonError::into_inner), false),
                Some(until) => {
                    let waited = self.real.wait_timeout(data, until.left());
                    let (data, ended) = waited.unwrap_or_else(PoisonError::into_inner);
                    (data, ended.timed_out())
                }
            };
            return (Held { data: Some(data), gate: None, of }, is_late);
        };
        drop(data);
        let (gate, is_late) = match until {
            None => (seam.runtime().wait(condvar, gate), false),
            Some(until) => seam.runtime().wait_until(condvar, gate, until.of_engine()),
        };
        let data =
            free(|| of.data.try_lock(), || of.data.lock().unwrap_or_else(PoisonError::into_inner));
        (Held { data: Some(data), gate: Some(gate), of }, is_late)
    }

    /// Wakes one thread.
    pub(crate) fn notify_one<T: ?Sized>(&self, _locked: &Held<'_, T>) {
        match &self.gate {
            Some((seam, condvar)) => seam.runtime().notify_one(condvar),
            None => self.real.notify_one(),
        }
    }

    /// Wakes all threads.
    pub(crate) fn notify_all<T: ?Sized>(&self, _locked: &Held<'_, T>) {
        match &self.gate {
            Some((seam, condvar)) => seam.runtime().notify_all(condvar),
            None => self.real.notify_all(),
        }
    }
}

/// A name for the picture of a failure, of what was made in a run.
pub(crate) struct Label(Option<(Seam, u64)>);

impl Label {
    pub(crate) fn new() -> Self {
        Self(Seam::current().map(|seam| {
            let number = seam.number();
            (seam, number)
        }))
    }

    pub(crate) fn is_of_run(&self) -> bool {
        self.0.is_some()
    }

    /// Writes into the picture that something happens to it.
    pub(crate) fn note(&self, does: &str) {
        if let Some((seam, number)) = &self.0 {
            seam.note(format_args!("{does} {number}"));
        }
    }

    /// Tells whether this thread unwinds from a panic.
    pub(crate) fn is_unwinding(&self) -> bool {
        self.0.as_ref().is_some_and(|(seam, _)| seam.is_unwinding())
    }
}

impl<T: ?Sized> fmt::Debug for Locked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locked").finish_non_exhaustive()
    }
}

impl fmt::Debug for Sleepers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleepers").finish_non_exhaustive()
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_ref().map_or(0, |(_, number)| *number))
    }
}
