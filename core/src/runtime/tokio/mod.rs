//! Real threads with tokio's time (feature `tokio`): for tests that pause tokio's clock.
//!
//! [`System`] reads the machine's clock and has its own thread for alarms, so `tokio::time::pause`
//! stops neither. [`Tokio`] reads tokio's clock, and its alarms are tokio tasks: a paused clock
//! jumps to the next alarm as soon as all tasks wait.
//!
//! ```
//! use std::time::Duration;
//! use seatrial_core::delaying_queue::DelayingQueue;
//! use seatrial_core::runtime::{Ambient, Tokio};
//!
//! # let mut paused = tokio::runtime::Builder::new_current_thread();
//! # paused.enable_time().start_paused(true).build().unwrap().block_on(async {
//! // In a test: #[tokio::test(start_paused = true)]
//! let runtime = Tokio::current();
//! let (queue, began) = (DelayingQueue::new(&runtime), runtime.now());
//! queue.add_after("default/web", Duration::from_secs(3600));
//! let item = queue.get_async().await.unwrap(); // at once
//! assert!(runtime.now() >= began + Duration::from_secs(3600));
//! # drop(item);
//! # });
//! ```
//!
//! Threads may use it as well, but not the thread that runs tokio's tasks: if that thread blocks,
//! it stops the clock that it waits for. Tokio does not know other threads, so a paused clock may
//! jump while one of them is working.
//!
//! Once tokio's runtime has shut down its clock stands still, so a wait for a time never ends.
//!
//! Random numbers come from the machine, so two runs of a test differ, for example in when a watch
//! ends and how long a back-off is. [`Tokio::seeded`] derives them from a seed. With a paused clock
//! and one thread, two runs are then the same.

use std::fmt;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use ::tokio::runtime::{Handle, RuntimeFlavor};
use ::tokio::task::AbortHandle;
use ::tokio::time::Instant as TokioInstant;
use parking_lot::MutexGuard;

use super::manual::{ManualCondvar, Roused, Sleeper};
use super::sequence::Sequence;
use super::through_system::through_system;
use super::{Ambient, Instant, Runtime, System, WallTime};

/// Leaves the task that is next on this thread to the other workers, if there are any. It is the task
/// that was woken last here, and none of them takes it until another replaces it. The thread is about
/// to sleep, perhaps until that task has run.
pub(super) fn give_way() {
    if let Ok(handle) = Handle::try_current()
        && handle.runtime_flavor() == RuntimeFlavor::MultiThread
    {
        drop(handle.spawn(async {}));
    }
}

/// Real threads, and the time of one tokio runtime.
#[derive(Clone)]
pub struct Tokio {
    handle: Handle,
    epoch: TokioInstant,
    system: System,
    /// The source of random numbers, if it is not the machine.
    seeded: Option<Arc<Sequence>>,
}

impl Tokio {
    /// Uses the time of the tokio runtime that this is called on. The epoch is now.
    ///
    /// # Panics
    /// If it is called outside of a tokio runtime: tokio's own panic.
    #[must_use]
    pub fn current() -> Self {
        let (handle, epoch, system) = (Handle::current(), TokioInstant::now(), System::new());
        Self { handle, epoch, system, seeded: None }
    }

    /// As [`current`](Self::current), with random numbers that depend only on a seed. Use it only
    /// for tests that must be repeatable: hash tables are keyed by these numbers, and keys that
    /// collide can be made from the seed.
    ///
    /// ```
    /// use seatrial_core::runtime::{Ambient, Tokio};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// assert_eq!(Tokio::seeded(7).entropy(), Tokio::seeded(7).entropy());
    /// # });
    /// ```
    ///
    /// # Panics
    /// If it is called outside of a tokio runtime: tokio's own panic.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { seeded: Some(Arc::new(Sequence::new(seed))), ..Self::current() }
    }

    /// Sleeps until notified or until the deadline.
    fn sleep(&self, sleeper: &Arc<Sleeper>) -> Roused {
        let rouse = Waker::from(Arc::new(Rouse(Arc::clone(sleeper))));
        let _timer = self.wake_at(sleeper.until, rouse);
        sleeper.sleep()
    }
}

/// Ends a sleep by the clock.
struct Rouse(Arc<Sleeper>);

impl Wake for Rouse {
    fn wake(self: Arc<Self>) {
        self.0.rouse(Roused::ByClock);
    }
}

impl fmt::Debug for Tokio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tokio").field(&self.now()).finish()
    }
}

/// An armed waker: a task that sleeps; `None` if its time never comes.
#[derive(Debug)]
pub struct TokioTimer(Option<AbortHandle>);

impl Drop for TokioTimer {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

impl Ambient for Tokio {
    fn now(&self) -> Instant {
        let _entered = self.handle.enter(); // elsewhere tokio reads a clock that is never paused
        Instant::ZERO + TokioInstant::now().saturating_duration_since(self.epoch)
    }

    fn wall(&self) -> WallTime {
        self.system.wall()
    }

    fn entropy(&self) -> u64 {
        self.seeded.as_ref().map_or_else(|| self.system.entropy(), |it| it.next())
    }
}

impl Runtime for Tokio {
    type Timer = TokioTimer;

    through_system!();

    fn wait_until<'a, T: Send + 'static>(
        &self,
        condvar: &ManualCondvar,
        mut guard: Self::Guard<'a, T>,
        deadline: Instant,
    ) -> (Self::Guard<'a, T>, bool) {
        let sleeper = Arc::new(Sleeper::new(deadline));
        condvar.enter(Arc::clone(&sleeper));
        let roused = MutexGuard::unlocked(&mut guard, || self.sleep(&sleeper));
        if roused == Roused::ByClock {
            condvar.forget(&sleeper);
        }
        (guard, roused == Roused::ByClock)
    }

    fn notify_one(&self, condvar: &ManualCondvar) {
        while condvar.next().is_some_and(|sleeper| !sleeper.rouse(Roused::ByNotice)) {}
    }

    fn notify_all(&self, condvar: &ManualCondvar) {
        while let Some(sleeper) = condvar.next() {
            sleeper.rouse(Roused::ByNotice);
        }
    }

    fn wake_at(&self, deadline: Instant, waker: Waker) -> TokioTimer {
        let after = Duration::from_nanos(deadline.as_nanos());
        let at = self.epoch.checked_add(after).filter(|_| deadline != Instant::NEVER);
        TokioTimer(at.map(|at| {
            let alarm = async move {
                ::tokio::time::sleep_until(at).await;
                waker.wake();
            };
            self.handle.spawn(alarm).abort_handle()
        }))
    }

    fn sleep_until(&self, deadline: Instant) {
        // Tokio counts whole milliseconds, and never wakes too early.
        self.sleep(&Arc::new(Sleeper::new(deadline)));
    }
}

#[cfg(test)]
mod tests;
