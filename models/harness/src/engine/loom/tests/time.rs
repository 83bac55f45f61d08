//! The virtual clock and timers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use seatrial_core::runtime::{Ambient, Instant, Runtime};

use super::{MS, all, outcomes, unbounded};
use crate::engine::End;
use crate::engine::loom::{LoomRuntime, LoomTimer};

#[test]
fn time_jumps_to_the_earliest_deadline_when_nobody_can_move() {
    let woken = outcomes(&unbounded(), |runtime| {
        let log = Arc::new(runtime.mutex(vec![]));
        let threads: Vec<_> = [20, 10]
            .map(|ms| {
                let (inner, log) = (runtime.clone(), Arc::clone(&log));
                runtime.spawn("sleeper", move || {
                    inner.sleep_until(Instant::ZERO + ms * MS);
                    inner.lock(&log).push(inner.now().as_nanos() / 1_000_000);
                })
            })
            .into();
        threads.into_iter().for_each(|thread| runtime.join(thread).unwrap());
        runtime.lock(&log).clone()
    });
    assert_eq!(woken, BTreeSet::from([vec![10, 20]]));
}

#[test]
fn time_jumps_although_a_thread_waits_for_a_lock() {
    let seen = outcomes(&unbounded(), |runtime| {
        let lock = Arc::new(runtime.mutex(()));
        let (inner, other) = (runtime.clone(), Arc::clone(&lock));
        let thread = runtime.spawn("holder", move || {
            let _guard = inner.lock(&other);
            inner.sleep_until(inner.now() + MS);
        });
        drop(runtime.lock(&lock));
        let before_sleep = runtime.now() == Instant::ZERO;
        runtime.join(thread).unwrap();
        before_sleep
    });
    assert_eq!(seen, BTreeSet::from([false, true]), "main may come first or second");
}

#[test]
fn wakers_run_at_their_deadline_unless_disarmed() {
    let seen = outcomes(&unbounded(), |runtime| {
        let inner = runtime.clone();
        let thread = runtime.spawn("sleeper", move || inner.sleep_until(Instant::ZERO + 3 * MS));
        let now = runtime.block_on(async {
            let mut armed = None;
            std::future::poll_fn(|context| {
                if runtime.now() >= Instant::ZERO + 2 * MS {
                    return std::task::Poll::Ready(runtime.now());
                }
                let waker = context.waker().clone();
                drop(runtime.wake_at(Instant::ZERO + MS, waker.clone()));
                armed.get_or_insert_with(|| runtime.wake_at(Instant::ZERO + 2 * MS, waker));
                std::task::Poll::Pending
            })
            .await
        });
        runtime.join(thread).unwrap();
        (now.as_nanos(), runtime.now().as_nanos())
    });
    assert_eq!(seen, BTreeSet::from([(2_000_000, 3_000_000)]));
}

#[test]
fn a_wait_for_a_clock_that_stands_still_is_endless() {
    let ends = all(&unbounded(), |runtime| while runtime.now() == Instant::ZERO {});
    let text = "main reads the clock for ever".to_owned();
    assert_eq!(ends.iter().map(|end| &end.0).collect::<Vec<_>>(), [&End::Endless(text)]);
}

#[derive(Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Lets a timer come due at the moment at which a thread wakes that drops it; returns whether it
/// fired. The thread is main or another one, which main waits for.
fn drop_when_due(runtime: &LoomRuntime, in_main: bool) -> bool {
    let bell = Arc::<Bell>::default();
    let timer = runtime.wake_at(Instant::ZERO + MS, Waker::from(Arc::clone(&bell)));
    let sleep_and_drop = |runtime: &LoomRuntime, timer| {
        runtime.sleep_until(Instant::ZERO + MS);
        drop::<LoomTimer>(timer);
    };
    let inner = runtime.clone();
    if in_main {
        let other = runtime.spawn("idle", move || inner.sleep_until(Instant::ZERO + 2 * MS));
        sleep_and_drop(runtime, timer);
        runtime.join(other).unwrap();
    } else {
        let other = runtime.spawn("drops", move || sleep_and_drop(&inner, timer));
        runtime.join(other).unwrap();
    }
    bell.0.load(Ordering::SeqCst)
}

#[test]
fn a_timer_that_is_dropped_when_it_is_due_fires_or_not() {
    for in_main in [false, true] {
        let rung = outcomes(&unbounded(), move |runtime| drop_when_due(runtime, in_main));
        assert_eq!(rung, BTreeSet::from([false, true]), "{in_main}");
    }
}

#[test]
fn a_wait_that_its_deadline_ends_says_so_at_once() {
    let ended = outcomes(&unbounded(), |runtime| {
        let (lock, condvar) = (runtime.mutex(()), runtime.condvar());
        let until = |deadline| runtime.wait_until(&condvar, runtime.lock(&lock), deadline).1;
        (until(Instant::ZERO + MS), until(Instant::ZERO))
    });
    assert_eq!(ended, BTreeSet::from([(true, true)]));
}

#[test]
fn a_notification_reaches_the_longest_sleeper() {
    let order = outcomes(&unbounded(), |runtime| {
        let shared = Arc::new((runtime.mutex(vec![]), runtime.condvar()));
        let waiters: Vec<_> = [1, 0]
            .map(|ms| {
                let (inner, theirs) = (runtime.clone(), Arc::clone(&shared));
                runtime.spawn("waiter", move || {
                    inner.sleep_until(Instant::ZERO + ms * MS);
                    let guard = inner.lock(&theirs.0);
                    inner.wait(&theirs.1, guard).push(ms);
                })
            })
            .into();
        for ms in [2, 3] {
            runtime.sleep_until(Instant::ZERO + ms * MS);
            let _guard = runtime.lock(&shared.0);
            runtime.notify_one(&shared.1);
        }
        waiters.into_iter().for_each(|waiter| runtime.join(waiter).unwrap());
        runtime.lock(&shared.0).clone()
    });
    assert_eq!(order, BTreeSet::from([vec![0, 1]]));
}
