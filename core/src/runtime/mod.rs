//! The only connection to the outside: locks, waiting, time, threads and randomness.
//!
//! Every part of this crate is generic over [`Runtime`] and reaches the outside only through it. So
//! the code that ships (with [`System`], real threads over `parking_lot`) is the same code that
//! tests run against a clock moved by hand ([`Manual`]) and that checkers explore with their own
//! implementations. This crate knows none of those.

mod atomic;
#[cfg(test)]
pub(crate) mod bell;
mod block_on;
#[cfg(test)]
pub(crate) mod bursting;
mod manual;
#[cfg(test)]
pub(crate) mod millis;
#[cfg(test)]
pub(crate) mod peeking;
#[cfg(test)]
pub(crate) mod probe;
mod sequence;
mod system;
mod through_system;
mod time;
#[cfg(feature = "tokio")]
mod tokio;

#[cfg(test)]
mod tests;

use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::task::Waker;

pub use crate::caught::Panic;
pub use atomic::Atomic;
pub use manual::Manual;
pub(crate) use manual::ManualCondvar;
pub use system::System;
pub use time::{Instant, WallTime};
#[cfg(feature = "tokio")]
pub use tokio::Tokio;

/// The environment of a pure machine: clocks, random numbers and choices. Object-safe.
pub trait Ambient: Send + Sync {
    /// Reads the monotonic clock. Only this clock decides anything (`election:ENV-1`).
    fn now(&self) -> Instant;

    /// Reads the wall clock, which only fills timestamps.
    fn wall(&self) -> WallTime;

    /// Returns a random number.
    fn entropy(&self) -> u64;

    /// Returns a number below `options`, which must not be zero.
    ///
    /// This is nondeterminism of *data* (a reply that is lost or late): a checker tries every
    /// answer, whereas [`entropy`](Self::entropy) depends only on the seed.
    fn choose(&self, options: u32) -> u32 {
        assert!(options > 0, "a choice needs at least one option");
        (self.entropy() % u64::from(options)) as u32
    }

    /// Returns a random number, uniform from zero up to but not including one.
    fn uniform(&self) -> f64 {
        // The upper 53 bits: a fraction below one has room for that many.
        (self.entropy() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Locks, condition variables, atomic numbers, time, threads and randomness.
///
/// The contract; a suite in the checking crate tests every implementation against it:
///
/// * Mutual exclusion: at most one guard of a mutex is alive. A guard dropped by a panic unlocks;
///   there is no poisoning (`workqueue:LIV-13`).
/// * `wait` releases the guard and sleeps in one step. It may wake spuriously, so callers loop.
///   `notify_one` wakes at least one of the threads that wait at that moment, `notify_all` all.
/// * `wait_until` and `sleep_until` return no earlier than the deadline unless notified.
/// * A read-write lock has at a time one guard that writes, or any number that read; it is not
///   poisoned either. A thread must not lock it for reading a second time: with a writer waiting in
///   between, that would be a deadlock.
/// * A timer that is dropped before it fires wakes nobody.
pub trait Runtime: Ambient + Clone + 'static {
    /// Mutual exclusion around a value.
    ///
    /// There is no bound on the lifetime of the value, here and below. The compiler has lost such a
    /// bound where it checks whether a future may move between threads, and would refuse keys such
    /// as `&'static str`.
    type Mutex<T: Send>: Send + Sync;
    /// Access to the value of a locked mutex; unlocks when dropped.
    type Guard<'a, T: Send + 'static>: DerefMut<Target = T>;
    /// Exclusion around a value that many may read at once.
    type RwLock<T: Send + Sync>: Send + Sync;
    /// Read access to the value of a lock, shared with other readers; unlocks when dropped.
    type ReadGuard<'a, T: Send + Sync + 'static>: Deref<Target = T>;
    /// Exclusive access to the value of a lock; unlocks when dropped.
    type WriteGuard<'a, T: Send + Sync + 'static>: DerefMut<Target = T>;
    /// A number that threads share without a lock.
    type Atomic: Atomic;
    /// A place where threads sleep until notified; used with one mutex only.
    type Condvar: Send + Sync + 'static;
    /// A thread that can be joined.
    type Join<T: Send + 'static>: Send + 'static;
    /// A waker armed for a deadline; dropping it disarms it.
    type Timer: Send + 'static;
    /// A value that is replaced as a whole and read without blocking a writer.
    type Published<T: Send + Sync>: Send + Sync;

    /// How often a call yields to other threads and looks again before it sleeps. This affects only
    /// speed, so runtimes without real time use zero.
    fn turns(&self) -> u32 {
        0
    }

    /// Yields to other threads.
    fn give_turn(&self) {}

    /// Makes an unlocked mutex.
    fn mutex<T: Send + 'static>(&self, value: T) -> Self::Mutex<T>;
    /// Makes a condition variable.
    fn condvar(&self) -> Self::Condvar;
    /// Locks, waiting as long as another guard is alive.
    fn lock<'a, T: Send + 'static>(&self, mutex: &'a Self::Mutex<T>) -> Self::Guard<'a, T>;
    /// Unlocks, sleeps until notified, locks again.
    fn wait<'a, T: Send + 'static>(
        &self,
        condvar: &Self::Condvar,
        guard: Self::Guard<'a, T>,
    ) -> Self::Guard<'a, T>;
    /// As [`wait`](Self::wait), at most until `deadline`; true if the deadline ended the wait.
    fn wait_until<'a, T: Send + 'static>(
        &self,
        condvar: &Self::Condvar,
        guard: Self::Guard<'a, T>,
        deadline: Instant,
    ) -> (Self::Guard<'a, T>, bool);
    /// Wakes one waiter. Called with the mutex held.
    fn notify_one(&self, condvar: &Self::Condvar);
    /// Wakes all waiters. Called with the mutex held.
    fn notify_all(&self, condvar: &Self::Condvar);

    /// Makes an unlocked read-write lock.
    fn rw_lock<T: Send + Sync + 'static>(&self, value: T) -> Self::RwLock<T>;
    /// Locks for reading, waiting as long as a guard that writes is alive.
    fn read<'a, T: Send + Sync + 'static>(
        &self,
        lock: &'a Self::RwLock<T>,
    ) -> Self::ReadGuard<'a, T>;
    /// Locks for writing, waiting as long as another guard is alive.
    fn write<'a, T: Send + Sync + 'static>(
        &self,
        lock: &'a Self::RwLock<T>,
    ) -> Self::WriteGuard<'a, T>;
    /// Makes an atomic number.
    fn atomic(&self, value: u64) -> Self::Atomic;

    /// Publishes a first value.
    fn published<T: Send + Sync + 'static>(&self, value: Arc<T>) -> Self::Published<T>;
    /// Replaces the published value; readers see the old or the new one, never a mixture.
    fn publish<T: Send + Sync + 'static>(&self, cell: &Self::Published<T>, value: Arc<T>);
    /// Returns the newest published value.
    fn load<T: Send + Sync + 'static>(&self, cell: &Self::Published<T>) -> Arc<T>;

    /// Wakes `waker` at `deadline`, from a thread of the runtime. Wakers that are due together run
    /// one after the other: a slow one delays the others, and if one panics the others are still
    /// woken, now or later.
    fn wake_at(&self, deadline: Instant, waker: Waker) -> Self::Timer;
    /// Sleeps until the monotonic clock reads `deadline` or later.
    fn sleep_until(&self, deadline: Instant);
    /// Starts a thread. The name appears in panics and in diagrams of interleavings.
    fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Self::Join<T>;
    /// Waits for a thread to end.
    ///
    /// # Errors
    /// The thread panicked; the payload is returned.
    fn join<T: Send + 'static>(&self, thread: Self::Join<T>) -> Result<T, Panic>;
    /// Runs a future to its end on this thread. On a worker of a tokio runtime with several threads the
    /// others go on with its tasks. On the only thread of one, a future that waits for a task of that
    /// runtime, such as a request or an informer's stream, waits for ever: await it, or use
    /// `spawn_blocking`.
    fn block_on<F: Future>(&self, future: F) -> F::Output {
        block_on::block_on(self, future)
    }
}

/// Access to the value of a mutex `R::Mutex<T>`.
pub type GuardOf<'a, R, T> = <R as Runtime>::Guard<'a, T>;
