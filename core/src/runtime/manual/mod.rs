//! Real threads under a clock that a test moves by hand.
//!
//! Time stands still until [`Manual::advance`] is called; then everything that is due fires: timed
//! waits, sleeps and timers (`workqueue:CK-4`). If a test moves the clock before its component has
//! gone to sleep, it waits in vain. So it first waits for the sleep with [`Manual::until_waiting`]
//! (`workqueue:CK-6`):
//!
//! ```
//! use std::time::Duration;
//! use seatrial_core::runtime::{Ambient, Manual, Runtime};
//!
//! let runtime = Manual::new();
//! let (inner, at) = (runtime.clone(), runtime.now() + Duration::from_secs(3600));
//! let sleeper = runtime.spawn("sleeper", move || inner.sleep_until(at));
//!
//! assert!(runtime.until_waiting(1, Duration::from_secs(10)));
//! runtime.advance(Duration::from_secs(3600));
//! runtime.join(sleeper).unwrap();
//! assert_eq!(runtime.waiters(), 0);
//! ```
//!
//! Random numbers follow from a seed, so a test of jitter is repeatable on one thread. Schedules
//! are not repeatable: use a checker for those.

mod clock;
mod sleeper;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use super::through_system::through_system;
use super::{Ambient, Instant, Runtime, System, WallTime};
use clock::{Clock, Key};
pub(super) use sleeper::{Roused, Sleeper};

/// The wall clock at the beginning: 2023-11-14T22:13:20Z.
const WALL_EPOCH: WallTime = WallTime::from_nanos(1_700_000_000_000_000_000);

/// Real threads, and time that moves only by hand. Copies share one clock.
#[derive(Clone)]
pub struct Manual {
    clock: Arc<Clock>,
    system: System,
}

impl Manual {
    /// Makes a runtime whose monotonic clock reads zero.
    #[must_use]
    pub fn new() -> Self {
        Self::seeded(0)
    }

    /// As [`new`](Self::new), with another sequence of random numbers.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { clock: Arc::new(Clock::new(WALL_EPOCH, seed)), system: System::new() }
    }

    /// Moves both clocks and fires everything that is due, in the order of deadlines: threads are
    /// woken, wakers run on this thread (`workqueue:CK-4`, `CK-5`).
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Sets the wall clock, forwards or backwards. Nothing waits for it, so nothing fires.
    pub fn set_wall(&self, wall: WallTime) {
        self.clock.set_wall(wall);
    }

    /// Counts the waiters for the clock: timed waits, sleeps, armed timers (`workqueue:CK-6`).
    #[must_use]
    pub fn waiters(&self) -> usize {
        self.clock.waiters()
    }

    /// Counts the threads that sleep, with or without a deadline.
    #[must_use]
    pub fn asleep(&self) -> usize {
        self.clock.asleep()
    }

    /// Waits until there are at least `count` waiters for the clock; false if that takes longer
    /// than `patience`, which is real time.
    #[must_use = "false says that the test went wrong"]
    pub fn until_waiting(&self, count: usize, patience: Duration) -> bool {
        self.clock.until_waiting(count, patience)
    }

    /// Waits until at least `count` threads sleep, with or without a deadline; false if that takes
    /// longer than `patience`, which is real time.
    #[must_use = "false says that the test went wrong"]
    pub fn until_asleep(&self, count: usize, patience: Duration) -> bool {
        self.clock.until_asleep(count, patience)
    }
}

impl Default for Manual {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Manual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Manual").field(&self.clock.now()).finish()
    }
}

/// Threads asleep until notified; the one that has slept longest is notified first.
#[derive(Debug, Default)]
pub struct ManualCondvar {
    asleep: Mutex<VecDeque<Arc<Sleeper>>>,
}

impl ManualCondvar {
    /// Adds a sleeper.
    pub(super) fn enter(&self, sleeper: Arc<Sleeper>) {
        self.asleep.lock().push_back(sleeper);
    }

    /// Forgets a sleeper that the clock has roused.
    pub(super) fn forget(&self, sleeper: &Arc<Sleeper>) {
        self.asleep.lock().retain(|other| !Arc::ptr_eq(other, sleeper));
    }

    pub(super) fn next(&self) -> Option<Arc<Sleeper>> {
        self.asleep.lock().pop_front()
    }
}

/// An armed waker.
#[derive(Debug)]
pub struct ManualTimer {
    clock: Arc<Clock>,
    key: Key,
}

impl Drop for ManualTimer {
    fn drop(&mut self) {
        let waker = self.clock.disarm(self.key);
        crate::caught::drop_caught(waker); // outside the lock: dropping a waker runs foreign code
    }
}

impl Ambient for Manual {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn wall(&self) -> WallTime {
        self.clock.wall()
    }

    fn entropy(&self) -> u64 {
        self.clock.entropy()
    }
}

impl Runtime for Manual {
    type Timer = ManualTimer;

    through_system!();

    fn wait_until<'a, T: Send + 'static>(
        &self,
        condvar: &ManualCondvar,
        mut guard: Self::Guard<'a, T>,
        deadline: Instant,
    ) -> (Self::Guard<'a, T>, bool) {
        let Some(sleeper) = self.clock.begin_sleep(deadline) else { return (guard, true) };
        condvar.enter(Arc::clone(&sleeper));
        let roused = MutexGuard::unlocked(&mut guard, || sleeper.sleep());
        if roused == Roused::ByClock {
            condvar.forget(&sleeper);
        }
        (guard, roused == Roused::ByClock)
    }

    fn notify_one(&self, condvar: &ManualCondvar) {
        // A sleeper that the clock roused a moment ago has not consumed the notification.
        while let Some(sleeper) = condvar.next() {
            if self.clock.rouse(&sleeper, Roused::ByNotice) {
                return;
            }
        }
    }

    fn notify_all(&self, condvar: &ManualCondvar) {
        while let Some(sleeper) = condvar.next() {
            self.clock.rouse(&sleeper, Roused::ByNotice);
        }
    }

    fn wake_at(&self, deadline: Instant, waker: Waker) -> ManualTimer {
        let (key, is_due) = self.clock.arm(deadline, waker);
        if is_due {
            // A timer that is due fires on a thread of its own: the clock may never move again, and
            // a waker must not run inside the call that arms it.
            let clock = Arc::clone(&self.clock);
            drop(self.spawn("overdue timer", move || {
                if let Some(waker) = clock.disarm(key) {
                    waker.wake();
                }
            }));
        }
        ManualTimer { clock: Arc::clone(&self.clock), key }
    }

    fn sleep_until(&self, deadline: Instant) {
        if let Some(sleeper) = self.clock.begin_sleep(deadline) {
            sleeper.sleep();
        }
    }
}
