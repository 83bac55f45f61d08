//! The virtual clock, deadlines, timers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

use seatrial_core::runtime::{Ambient, Instant, Runtime};

use super::super::{Config, ShuttleRuntime};
use super::{end_of, outcomes};
use crate::engine::End;

const fn millis(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// A body that needs no real time however long it sleeps.
#[test]
fn the_clock_jumps_to_the_earliest_deadline_when_nobody_can_move() {
    let times = outcomes(&Config::default(), |runtime| {
        let late = {
            let runtime = *runtime;
            runtime.spawn("late", move || {
                runtime.sleep_until(millis(3_600_000));
                runtime.now()
            })
        };
        runtime.sleep_until(millis(5));
        let early = runtime.now();
        (early, runtime.join(late).unwrap(), runtime.wall().as_nanos())
    });
    let wall = 1_700_000_000_000_000_000 + 3_600_000_000_000;
    assert_eq!(times, BTreeSet::from([(millis(5), millis(3_600_000), wall)]));
}

/// A notifier that works for a while, and a waiter with a deadline; returns whether it timed out.
fn wait_or_time_out(runtime: &ShuttleRuntime, notify_at: Instant) -> (bool, Instant) {
    let state = Arc::new((runtime.mutex(false), runtime.condvar()));
    let notifier = {
        let (runtime, state) = (*runtime, Arc::clone(&state));
        runtime.spawn("notifier", move || {
            runtime.sleep_until(notify_at);
            let mut done = runtime.lock(&state.0);
            *done = true;
            runtime.notify_one(&state.1);
        })
    };
    let mut done = runtime.lock(&state.0);
    let mut late = false;
    while !*done && !late {
        (done, late) = runtime.wait_until(&state.1, done, millis(10));
    }
    let now = runtime.now();
    drop(done);
    runtime.join(notifier).unwrap();
    (late, now)
}

#[test]
fn a_wait_ends_by_notification_or_by_its_deadline() {
    let early = outcomes(&Config::default(), |runtime| wait_or_time_out(runtime, millis(4)));
    assert_eq!(early, BTreeSet::from([(false, millis(4))]));
    let late = outcomes(&Config::default(), |runtime| wait_or_time_out(runtime, millis(20)));
    assert_eq!(late, BTreeSet::from([(true, millis(10))]));
    // Both at once: the waiter may look before or after the notifier.
    let both = outcomes(&Config::default(), |runtime| wait_or_time_out(runtime, millis(10)));
    assert_eq!(both, BTreeSet::from([(false, millis(10)), (true, millis(10))]));
}

#[test]
fn a_free_clock_lets_a_deadline_pass_in_the_middle_of_other_work() {
    let at_once = |runtime: &ShuttleRuntime| wait_or_time_out(runtime, Instant::ZERO).0;
    assert_eq!(outcomes(&Config::default(), at_once), BTreeSet::from([false]));
    let free = Config { free_jumps: 1, ..Config::default() };
    assert_eq!(outcomes(&free, at_once), BTreeSet::from([false, true]));
}

#[test]
fn with_a_free_clock_two_readings_can_differ() {
    let readings = |runtime: &ShuttleRuntime| {
        let sleeper = {
            let runtime = *runtime;
            runtime.spawn("sleeper", move || runtime.sleep_until(millis(1)))
        };
        let first = runtime.now();
        let second = runtime.now();
        runtime.join(sleeper).unwrap();
        (first, second)
    };
    let (zero, one) = (Instant::ZERO, millis(1));
    assert_eq!(outcomes(&Config::default(), readings), BTreeSet::from([(zero, zero)]));
    let free = Config { free_jumps: 1, ..Config::default() };
    let all = BTreeSet::from([(zero, zero), (zero, one), (one, one)]);
    assert_eq!(outcomes(&free, readings), all);
}

#[test]
fn a_very_long_sleep_ends_when_nobody_can_move_even_if_the_clock_is_free() {
    let free = Config { free_jumps: 3, ..Config::default() };
    let counts = outcomes(&free, |runtime| {
        let count = Arc::new(runtime.mutex(0));
        let worker = {
            let (runtime, count) = (*runtime, Arc::clone(&count));
            runtime.spawn("worker", move || {
                for step in 1..4 {
                    *runtime.lock(&count) += 1;
                    runtime.sleep_until(millis(step));
                }
            })
        };
        runtime.sleep_until(runtime.now() + Duration::from_secs(3_600));
        let seen = *runtime.lock(&count);
        runtime.join(worker).unwrap();
        seen
    });
    assert_eq!(counts, BTreeSet::from([3]));
}

#[test]
fn a_deadline_that_has_passed_ends_the_wait_at_once() {
    let late = outcomes(&Config::default(), |runtime| {
        let (mutex, condvar) = (runtime.mutex(()), runtime.condvar());
        runtime.wait_until(&condvar, runtime.lock(&mutex), Instant::ZERO).1
    });
    assert_eq!(late, BTreeSet::from([true]));
}

#[test]
fn waiting_for_ever_is_a_deadlock_and_no_deadline() {
    let end = end_of(|runtime| runtime.sleep_until(Instant::NEVER));
    assert!(matches!(end, End::Deadlock(_)), "{end:?}");
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_timer_wakes_at_its_deadline_unless_it_was_dropped() {
    let woken = outcomes(&Config::default(), |runtime| {
        let flags: Vec<_> = (0..3).map(|_| Arc::new(Flag(AtomicBool::new(false)))).collect();
        let timer = |at, flag: &Arc<Flag>| runtime.wake_at(at, Waker::from(Arc::clone(flag)));
        let _kept = timer(millis(10), &flags[0]);
        drop(timer(millis(5), &flags[1]));
        let _late = timer(millis(30), &flags[2]);
        let woken = |flags: &[Arc<Flag>]| {
            flags.iter().map(|flag| flag.0.load(Ordering::Relaxed)).collect::<Vec<_>>()
        };
        runtime.sleep_until(millis(9));
        let before = woken(&flags);
        runtime.sleep_until(millis(20));
        (before, woken(&flags))
    });
    let expected = (vec![false; 3], vec![true, false, false]);
    assert_eq!(woken, BTreeSet::from([expected]));
}

#[test]
fn an_armed_timer_does_not_keep_an_execution_alive() {
    let end = end_of(|runtime| {
        let flag = Arc::new(Flag(AtomicBool::new(false)));
        let timer = runtime.wake_at(millis(10), Waker::from(flag));
        std::mem::forget(timer);
    });
    assert_eq!(end, End::Finished);
}

#[test]
fn a_future_can_sleep_by_a_timer() {
    let times = outcomes(&Config::default(), |runtime| {
        let mut timer = None;
        runtime.block_on(std::future::poll_fn(|cx| {
            if runtime.now() >= millis(50) {
                return std::task::Poll::Ready(());
            }
            timer = Some(runtime.wake_at(millis(50), cx.waker().clone()));
            std::task::Poll::Pending
        }));
        drop(timer);
        runtime.now().since(Instant::ZERO)
    });
    assert_eq!(times, BTreeSet::from([Duration::from_millis(50)]));
}
