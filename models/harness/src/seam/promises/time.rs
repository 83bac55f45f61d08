//! Deadlines and sleep.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::runtime::{Instant, Runtime};

use crate::seam::{Facts, Promise};

const MS: Duration = Duration::from_millis(1);

/// A wait that no notification ends is ended by its deadline, not early. A wait whose deadline has
/// passed ends at once.
#[derive(Clone, Copy, Debug)]
pub struct DeadlinesEndWaits;

impl Promise for DeadlinesEndWaits {
    const NAME: &'static str = "deadlines_end_waits";

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let (lock, condvar) = (runtime.mutex(()), runtime.condvar());
        for deadline in [runtime.now() + 2 * MS, runtime.now()] {
            let mut guard = runtime.lock(&lock);
            loop {
                let timed_out;
                (guard, timed_out) = runtime.wait_until(&condvar, guard, deadline);
                if timed_out {
                    break;
                }
                // It may wake for no reason, but not say that it was notified for ever.
                assert!(runtime.now() < deadline + 10_000 * MS, "the deadline was passed over");
            }
            assert!(runtime.now() >= deadline, "too early");
        }
        0
    }
}

/// A sleep is at least as long as asked for, and one until the past is over at once.
#[derive(Clone, Copy, Debug)]
pub struct SleepsLongEnough;

impl Promise for SleepsLongEnough {
    const NAME: &'static str = "sleeps_long_enough";

    fn check<R: Runtime>(runtime: &R, facts: Facts) -> u32 {
        let began = runtime.now();
        let (inner, theirs) = (runtime.clone(), began + 3 * MS);
        let other = runtime.spawn("other", move || {
            inner.sleep_until(theirs);
            inner.now()
        });
        runtime.sleep_until(began + 2 * MS);
        let woke = runtime.now();
        assert!(woke >= began + 2 * MS, "too early");
        let other = runtime.join(other).expect("a sleeper does not panic");
        assert!(other >= theirs, "too early");
        if facts.exact_time {
            assert_eq!((woke, other), (began + 2 * MS, theirs));
        }
        runtime.sleep_until(Instant::ZERO);
        assert!(runtime.now() >= other.max(woke), "the clock does not go back");
        0
    }
}

/// The shorter sleep ends first.
#[derive(Clone, Copy, Debug)]
pub struct SleepersInOrder;

impl Promise for SleepersInOrder {
    const NAME: &'static str = "sleepers_in_order";

    fn check<R: Runtime>(runtime: &R, facts: Facts) -> u32 {
        let began = runtime.now();
        let woken = Arc::new(runtime.mutex(Vec::new()));
        let sleepers = [3, 1, 2].map(|ms| {
            let (inner, woken) = (runtime.clone(), Arc::clone(&woken));
            runtime.spawn("sleeper", move || {
                inner.sleep_until(began + ms * MS);
                inner.lock(&woken).push(ms);
            })
        });
        for sleeper in sleepers {
            runtime.join(sleeper).expect("a sleeper does not panic");
        }
        let mut woken = runtime.lock(&woken).clone();
        if !facts.exact_time {
            woken.sort_unstable(); // the operating system may be late for some
        }
        assert_eq!(woken, [1, 2, 3]);
        0
    }
}

/// A thread that sleeps with a lock in its hands wakes although another one waits for the lock.
/// The course is whether that one had to wait.
#[derive(Clone, Copy, Debug)]
pub struct DeadlineUnderLock;

impl Promise for DeadlineUnderLock {
    const NAME: &'static str = "deadline_under_lock";
    const COURSES: &'static [u32] = &[0, 1];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let lock = Arc::new(runtime.mutex(0));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&lock));
        let sleeper = runtime.spawn("sleeper", move || {
            let mut guard = inner.lock(&theirs);
            inner.sleep_until(inner.now() + 2 * MS);
            *guard = 1;
        });
        let waited = *runtime.lock(&lock);
        runtime.join(sleeper).expect("a sleeper does not panic");
        waited
    }
}
