//! Wakers that go off at a time.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use seatrial_core::runtime::{Instant, Runtime};

use crate::seam::{Facts, Promise};

const MS: Duration = Duration::from_millis(1);

#[derive(Default)]
struct Counter(AtomicU32);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A timer wakes a task at its time, not early; one whose time has come already wakes it, too.
#[derive(Clone, Copy, Debug)]
pub struct TimersWake;

impl Promise for TimersWake {
    const NAME: &'static str = "timers_wake";

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        for deadline in [runtime.now() + 2 * MS, runtime.now()] {
            let mut timer = None;
            runtime.block_on(poll_fn(|context| {
                if timer.is_none() {
                    timer = Some(runtime.wake_at(deadline, context.waker().clone()));
                    return Poll::Pending;
                }
                assert!(runtime.now() >= deadline, "too early");
                Poll::Ready(())
            }));
        }
        0
    }
}

/// A timer that is dropped before its time never wakes, and a timer set to [`Instant::NEVER`] never
/// fires.
#[derive(Clone, Copy, Debug)]
pub struct DroppedTimers;

impl Promise for DroppedTimers {
    const NAME: &'static str = "dropped_timers";

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let counter = Arc::new(Counter::default());
        let waker = Waker::from(Arc::clone(&counter));
        let began = runtime.now();
        let never = runtime.wake_at(Instant::NEVER, waker.clone());
        // Far enough away that a busy machine drops it in time.
        let dropped = runtime.wake_at(began + 50 * MS, waker.clone());
        drop(dropped);
        let kept = runtime.wake_at(began + 51 * MS, waker);
        runtime.sleep_until(began + 60 * MS);
        let woken = counter.0.load(Ordering::SeqCst);
        assert!(woken <= 1, "a dropped timer woke somebody");
        drop((never, kept));
        0
    }
}
