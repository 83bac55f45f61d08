//! Condition variables.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::runtime::Runtime;

use crate::seam::{Facts, Promise};

const HOUR: Duration = Duration::from_secs(3_600);

type Shared<R, T> = Arc<(<R as Runtime>::Mutex<T>, <R as Runtime>::Condvar)>;

fn shared<R: Runtime, T: Send + 'static>(runtime: &R, value: T) -> Shared<R, T> {
    Arc::new((runtime.mutex(value), runtime.condvar()))
}

/// Sleeps until the value is not zero and returns how often it slept.
fn wait<R: Runtime>(runtime: &R, shared: &Shared<R, u32>) -> u32 {
    let mut slept = 0;
    let mut guard = runtime.lock(&shared.0);
    while *guard == 0 {
        slept += 1;
        guard = runtime.wait(&shared.1, guard);
    }
    slept
}

/// A thread that found nothing and went to sleep is woken by the thread that brings something. The course
/// is whether it had to sleep.
#[derive(Clone, Copy, Debug)]
pub struct NoLostWakeUp;

impl Promise for NoLostWakeUp {
    const NAME: &'static str = "no_lost_wake_up";
    const COURSES: &'static [u32] = &[0, 1];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let value = shared(runtime, 0);
        let (inner, theirs) = (runtime.clone(), Arc::clone(&value));
        let waiter = runtime.spawn("waiter", move || wait(&inner, &theirs));
        let mut guard = runtime.lock(&value.0);
        *guard = 1;
        runtime.notify_one(&value.1);
        drop(guard);
        runtime.join(waiter).expect("a waiter does not panic").min(1)
    }
}

/// No other thread gets the lock between the moment a waiter gives it back and the moment it can be
/// notified: two threads that wake each other in turn never both sleep.
#[derive(Clone, Copy, Debug)]
pub struct WaitsAtomically;

impl Promise for WaitsAtomically {
    const NAME: &'static str = "waits_atomically";

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let turn = shared(runtime, 0_u32);
        let (inner, theirs) = (runtime.clone(), Arc::clone(&turn));
        let other = runtime.spawn("other", move || take_turns(&inner, &theirs, 1));
        take_turns(runtime, &turn, 0);
        runtime.join(other).expect("turns do not panic");
        assert_eq!(*runtime.lock(&turn.0), 4);
        0
    }
}

fn take_turns<R: Runtime>(runtime: &R, turn: &Shared<R, u32>, mine: u32) {
    for _ in 0..2 {
        let mut guard = runtime.lock(&turn.0);
        while *guard % 2 != mine {
            guard = runtime.wait(&turn.1, guard);
        }
        *guard += 1;
        runtime.notify_one(&turn.1);
    }
}

/// Two waiters, two items, two notifications of one: both waiters get an item. The course is how
/// many of them had to sleep.
#[derive(Clone, Copy, Debug)]
pub struct NotifiesOne;

impl Promise for NotifiesOne {
    const NAME: &'static str = "notifies_one";
    const COURSES: &'static [u32] = &[0, 1, 2];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let items = shared(runtime, 0_u32);
        let waiters = [(); 2].map(|()| {
            let (inner, theirs) = (runtime.clone(), Arc::clone(&items));
            runtime.spawn("waiter", move || {
                let mut slept = 0;
                let mut guard = inner.lock(&theirs.0);
                while *guard == 0 {
                    slept = 1;
                    guard = inner.wait(&theirs.1, guard);
                }
                *guard -= 1;
                slept
            })
        });
        for _ in 0..2 {
            let mut guard = runtime.lock(&items.0);
            *guard += 1;
            runtime.notify_one(&items.1);
        }
        waiters.map(|waiter| runtime.join(waiter).expect("a waiter does not panic")).iter().sum()
    }
}

/// One notification of all wakes every waiter. The course is how many had to sleep.
#[derive(Clone, Copy, Debug)]
pub struct NotifiesAll;

impl Promise for NotifiesAll {
    const NAME: &'static str = "notifies_all";
    const COURSES: &'static [u32] = &[0, 1, 2];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let value = shared(runtime, 0);
        let waiters = [(); 2].map(|()| {
            let (inner, theirs) = (runtime.clone(), Arc::clone(&value));
            runtime.spawn("waiter", move || wait(&inner, &theirs))
        });
        let mut guard = runtime.lock(&value.0);
        *guard = 1;
        runtime.notify_all(&value.1);
        drop(guard);
        let slept = waiters.map(|waiter| runtime.join(waiter).expect("a waiter does not panic"));
        slept.iter().map(|times| times.min(&1)).sum()
    }
}

/// A timed wait that is notified long before its deadline says so. The course is whether the waiter
/// had to sleep.
#[derive(Clone, Copy, Debug)]
pub struct NotifiedInTime;

impl Promise for NotifiedInTime {
    const NAME: &'static str = "notified_in_time";
    const COURSES: &'static [u32] = &[0, 1];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let value = shared(runtime, 0_u32);
        let deadline = runtime.now() + HOUR;
        let (inner, theirs) = (runtime.clone(), Arc::clone(&value));
        let waiter = runtime.spawn("waiter", move || {
            let mut slept = 0;
            let mut guard = inner.lock(&theirs.0);
            while *guard == 0 {
                let timed_out;
                (guard, timed_out) = inner.wait_until(&theirs.1, guard, deadline);
                assert!(!timed_out, "it was notified");
                slept = 1;
            }
            drop(guard);
            assert!(inner.now() < deadline, "a notification is no matter of time");
            slept
        });
        let mut guard = runtime.lock(&value.0);
        *guard = 1;
        runtime.notify_one(&value.1);
        drop(guard);
        runtime.join(waiter).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
