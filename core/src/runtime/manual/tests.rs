//! The clock that is moved by hand (`workqueue:CK`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use super::{Manual, ManualTimer};
use crate::runtime::bell::{Bell, Breaks};
use crate::runtime::{Ambient, Instant, Runtime, System, WallTime};

const SECOND: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);

/// How often [`Again`] is woken before it stops.
const TIMES: usize = 20;

/// Arms itself again whenever it is woken, and notes on which threads that happens.
struct Again {
    runtime: Manual,
    /// How long after its own time it is due again.
    delay: Duration,
    woken: parking_lot::Mutex<Vec<std::thread::ThreadId>>,
    armed: parking_lot::Mutex<Vec<ManualTimer>>,
}

impl Again {
    fn arm(self: &Arc<Self>) {
        let waker = Waker::from(Arc::clone(self));
        let timer = self.runtime.wake_at(self.runtime.now() + self.delay, waker);
        self.armed.lock().push(timer);
    }
}

impl Wake for Again {
    fn wake(self: Arc<Self>) {
        let mut woken = self.woken.lock();
        woken.push(std::thread::current().id());
        let enough = woken.len() == TIMES;
        drop(woken);
        if !enough {
            self.arm();
        }
    }
}

fn again(delay: Duration) -> Arc<Again> {
    let runtime = Manual::new();
    let (woken, armed) = Default::default();
    Arc::new(Again { runtime, delay, woken, armed })
}

fn bell() -> (Arc<Bell>, Waker) {
    let bell = Arc::new(Bell::default());
    (Arc::clone(&bell), Waker::from(bell))
}

#[test]
fn time_stands_still_until_it_is_moved() {
    let runtime = Manual::new();
    assert_eq!(runtime.now(), Instant::ZERO);
    std::thread::yield_now();
    assert_eq!(runtime.now(), Instant::ZERO);
    runtime.advance(SECOND);
    assert_eq!(runtime.now(), Instant::ZERO + SECOND);
}

#[test]
fn both_clocks_advance_and_the_wall_clock_can_be_set() {
    let runtime = Manual::new();
    let wall = runtime.wall();
    runtime.advance(SECOND);
    assert_eq!(runtime.wall(), wall + SECOND);
    assert_eq!(runtime.wall().as_nanos(), wall.as_nanos() + 1_000_000_000);
    runtime.set_wall(WallTime::from_nanos(-7));
    assert_eq!((runtime.wall(), runtime.now()), (WallTime::from_nanos(-7), Instant::ZERO + SECOND));
}

#[test]
fn a_step_fires_every_timer_that_is_due_and_no_other() {
    let runtime = Manual::new();
    let (bell, waker) = bell();
    let timers = [1, 2, 3].map(|s| runtime.wake_at(Instant::ZERO + s * SECOND, waker.clone()));
    assert_eq!(runtime.waiters(), 3);
    runtime.advance(2 * SECOND);
    assert_eq!((bell.rings(), runtime.waiters()), (2, 1));
    drop(timers);
    assert_eq!(runtime.waiters(), 0, "a dropped timer does not wait");
    runtime.advance(2 * SECOND);
    assert_eq!(bell.rings(), 2);
}

#[test]
fn a_timer_that_panics_keeps_nobody_waiting() {
    let runtime = Manual::new();
    let (bell, waker) = bell();
    let breaks = || Breaks::waker("a waker of a test");
    let timers = [waker.clone(), breaks(), waker]
        .map(|waker| runtime.wake_at(Instant::ZERO + SECOND, waker));
    let stepped = catch_unwind(AssertUnwindSafe(|| runtime.advance(SECOND)));
    assert!(stepped.is_err(), "the panic goes on");
    assert_eq!((bell.rings(), runtime.waiters()), (2, 0));
    drop(timers);
}

#[test]
fn a_timer_armed_by_a_waker_fires_in_a_later_step() {
    let again = again(SECOND);
    again.arm();
    again.runtime.advance(10 * SECOND);
    assert_eq!((again.woken.lock().len(), again.runtime.waiters()), (1, 1));
    again.runtime.advance(SECOND);
    assert_eq!(again.woken.lock().len(), 2);
}

#[test]
fn a_step_ends_although_its_wakers_arm_others_that_are_due() {
    let again = again(Duration::ZERO);
    let waker = Waker::from(Arc::clone(&again));
    let first = again.runtime.wake_at(Instant::ZERO + SECOND, waker);
    again.runtime.advance(SECOND);
    let woken = loop {
        let woken = again.woken.lock().clone();
        if woken.len() == TIMES {
            break woken;
        }
        std::thread::yield_now();
    };
    let stepping = std::thread::current().id();
    assert_eq!(woken.iter().filter(|thread| **thread == stepping).count(), 1, "{woken:?}");
    drop(first);
}

#[test]
fn an_overdue_timer_fires_although_the_clock_stands() {
    let runtime = Manual::new();
    runtime.advance(SECOND);
    let mut polls = 0;
    let mut timer = None;
    runtime.block_on(std::future::poll_fn(|context| {
        polls += 1;
        if polls == 2 {
            return std::task::Poll::Ready(());
        }
        timer = Some(runtime.wake_at(Instant::ZERO, context.waker().clone()));
        std::task::Poll::Pending
    }));
    drop(timer);
}

#[test]
fn what_is_never_due_does_not_fire_at_the_end_of_time() {
    let runtime = Manual::new();
    let (bell, waker) = bell();
    let timer = runtime.wake_at(Instant::NEVER, waker);
    runtime.advance(Duration::MAX);
    runtime.advance(Duration::MAX);
    assert!(runtime.now() < Instant::NEVER);
    assert_eq!((bell.rings(), runtime.waiters()), (0, 1));
    drop(timer);
}

#[test]
fn a_test_can_wait_until_a_thread_is_parked() {
    let runtime = Manual::new();
    let shared = Arc::new((runtime.mutex(false), runtime.condvar()));
    let (inner, theirs) = (runtime.clone(), Arc::clone(&shared));
    let thread = runtime.spawn("waits", move || {
        let mut done = inner.lock(&theirs.0);
        while !*done {
            done = inner.wait(&theirs.1, done);
        }
    });
    assert!(runtime.until_asleep(1, PATIENCE));
    assert_eq!((runtime.asleep(), runtime.waiters()), (1, 0), "it waits for no clock");
    assert!(!runtime.until_waiting(1, Duration::from_millis(1)));
    *runtime.lock(&shared.0) = true;
    runtime.notify_one(&shared.1);
    assert_eq!(runtime.asleep(), 0, "from the moment of the notification");
    runtime.join(thread).unwrap();
}

#[test]
fn a_timed_wait_ends_with_the_clock_or_with_a_notification() {
    for notified in [false, true] {
        let runtime = Manual::new();
        let shared = Arc::new((runtime.mutex(()), runtime.condvar()));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&shared));
        let thread = runtime.spawn("waits", move || {
            let guard = inner.lock(&theirs.0);
            inner.wait_until(&theirs.1, guard, Instant::ZERO + SECOND).1
        });
        assert!(runtime.until_waiting(1, PATIENCE));
        if notified {
            let guard = runtime.lock(&shared.0);
            runtime.notify_all(&shared.1);
            drop(guard);
            assert_eq!(runtime.waiters(), 0, "from the moment of the notification");
        }
        runtime.advance(SECOND);
        assert_eq!(runtime.join(thread).unwrap(), !notified);
    }
}

#[test]
fn a_notification_passes_over_a_sleeper_that_the_clock_has_roused() {
    let runtime = Manual::new();
    let shared = Arc::new((runtime.mutex(()), runtime.condvar()));
    let sleep = |until| {
        let (inner, theirs) = (runtime.clone(), Arc::clone(&shared));
        runtime.spawn("waits", move || {
            let guard = inner.lock(&theirs.0);
            inner.wait_until(&theirs.1, guard, until).1
        })
    };
    let first = sleep(Instant::ZERO + SECOND);
    assert!(runtime.until_asleep(1, PATIENCE));
    let second = sleep(Instant::NEVER);
    assert!(runtime.until_asleep(2, PATIENCE));
    let guard = runtime.lock(&shared.0);
    runtime.advance(SECOND);
    runtime.notify_one(&shared.1);
    drop(guard);
    assert!(!runtime.join(second).unwrap());
    assert!(runtime.join(first).unwrap());
}

#[test]
fn random_numbers_follow_from_the_seed() {
    let draw = |runtime: Manual| [0; 4].map(|_| runtime.entropy());
    assert_eq!(draw(Manual::seeded(7)), draw(Manual::seeded(7)));
    assert_ne!(draw(Manual::seeded(7)), draw(Manual::seeded(8)));
}

#[test]
fn random_numbers_are_those_of_splitmix() {
    let runtime = Manual::seeded(0);
    let known = [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F];
    assert_eq!(known.map(|_| runtime.entropy()), known);
}

/// Notes its number when it is woken.
struct Numbered(u32, Arc<parking_lot::Mutex<Vec<u32>>>);

impl Wake for Numbered {
    fn wake(self: Arc<Self>) {
        self.1.lock().push(self.0);
    }
}

#[test]
fn timers_fire_in_the_order_of_their_times() {
    let (runtime, order) = (Manual::new(), Arc::default());
    let timers = [3, 1, 2].map(|second| {
        let waker = Waker::from(Arc::new(Numbered(second, Arc::clone(&order))));
        runtime.wake_at(Instant::ZERO + second * SECOND, waker)
    });
    runtime.advance(3 * SECOND);
    assert_eq!(*order.lock(), [1, 2, 3]);
    drop(timers);
}

#[test]
fn who_sleeps_until_now_does_not_sleep() {
    let runtime = Manual::new();
    runtime.advance(SECOND);
    let inner = runtime.clone();
    let thread = runtime.spawn("sleeps", move || {
        inner.sleep_until(inner.now());
        inner.sleep_until(Instant::ZERO);
    });
    assert!(!runtime.until_asleep(1, Duration::from_millis(20)));
    runtime.join(thread).unwrap();
}

#[test]
fn a_test_can_wait_until_a_timer_is_armed() {
    let runtime = Manual::new();
    let (inner, (_, waker)) = (runtime.clone(), bell());
    let thread = runtime.spawn("arms", move || {
        let system = System::new();
        system.sleep_until(system.now() + Duration::from_millis(20));
        inner.wake_at(Instant::ZERO + SECOND, waker)
    });
    assert!(runtime.until_waiting(1, PATIENCE));
    drop(runtime.join(thread).unwrap());
    assert_eq!(runtime.waiters(), 0);
}

#[test]
fn sleepers_are_notified_in_their_order() {
    let runtime = Manual::new();
    let shared = Arc::new((runtime.mutex(()), runtime.condvar()));
    let order = Arc::<parking_lot::Mutex<Vec<u32>>>::default();
    let sleep = |number: u32, until: Instant| {
        let (inner, theirs, order) = (runtime.clone(), Arc::clone(&shared), Arc::clone(&order));
        let before = runtime.asleep();
        let thread = runtime.spawn("waits", move || {
            let guard = inner.lock(&theirs.0);
            let (guard, _) = inner.wait_until(&theirs.1, guard, until);
            order.lock().push(number);
            drop(guard);
        });
        assert!(runtime.until_asleep(before + 1, PATIENCE));
        thread
    };
    let roused = sleep(0, Instant::ZERO + SECOND);
    let (first, second) = (sleep(1, Instant::NEVER), sleep(2, Instant::NEVER));
    runtime.advance(SECOND);
    runtime.join(roused).unwrap();
    runtime.notify_one(&shared.1);
    runtime.join(first).unwrap();
    runtime.notify_one(&shared.1);
    runtime.join(second).unwrap();
    assert_eq!(*order.lock(), [0, 1, 2]);
}

#[test]
fn who_sleeps_until_a_time_sleeps_until_then() {
    let runtime = Manual::new();
    let inner = runtime.clone();
    let thread = runtime.spawn("sleeps", move || {
        inner.sleep_until(Instant::ZERO + SECOND);
        inner.now()
    });
    assert!(runtime.until_waiting(1, PATIENCE));
    runtime.advance(SECOND);
    assert_eq!(runtime.join(thread).unwrap(), Instant::ZERO + SECOND);
}

#[test]
fn a_wait_until_now_has_timed_out() {
    let runtime = Manual::new();
    runtime.advance(SECOND);
    let (mutex, condvar) = (runtime.mutex(7), runtime.condvar());
    for deadline in [Instant::ZERO, runtime.now()] {
        let (guard, timed_out) = runtime.wait_until(&condvar, runtime.lock(&mutex), deadline);
        assert_eq!((*guard, timed_out), (7, true));
    }
}

#[test]
fn a_timer_wakes_nobody_before_its_time() {
    let runtime = Manual::new();
    let (bell, waker) = bell();
    let timer = runtime.wake_at(Instant::ZERO + SECOND, waker);
    let system = System::new();
    system.sleep_until(system.now() + Duration::from_millis(20));
    assert_eq!(bell.rings(), 0);
    drop(timer);
}
