//! The runtime over real threads and clocks, and the random numbers of every runtime.

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use super::bell::{Bell, Breaks};
use super::millis::ms;
use super::probe::Probe;
use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

/// Sleeps briefly until a condition is true, at most for `PATIENCE`.
fn until(so: impl Fn() -> bool) -> bool {
    let system = System::new();
    let end = system.now() + PATIENCE;
    while !so() && system.now() < end {
        system.sleep_until(system.now() + ms(1));
    }
    so()
}

#[test]
fn a_choice_is_among_the_options_and_a_fraction_below_one() {
    let runtime = Manual::seeded(3);
    let mut chosen = [0; 3];
    for _ in 0..300 {
        chosen[runtime.choose(3) as usize] += 1;
    }
    assert!(chosen.iter().all(|times| *times > 60), "{chosen:?}");
    let fractions: Vec<f64> = (0..1000).map(|_| runtime.uniform()).collect();
    assert!(fractions.iter().all(|fraction| (0.0..1.0).contains(fraction)));
    let mean = fractions.iter().sum::<f64>() / 1000.0;
    assert!((0.45..0.55).contains(&mean), "{mean}");
    assert!(fractions.iter().any(|fraction| *fraction > 0.98));
}

#[test]
fn the_clocks_of_the_machine_move_on() {
    let system = System::default();
    let (began, wall) = (system.now(), system.wall());
    assert!(wall > WallTime::from_nanos(1_600_000_000_000_000_000), "it is later than 2020");
    system.sleep_until(began + ms(20));
    assert!(system.now() >= began + ms(20), "never early");
    assert!(system.wall() > wall);
    system.sleep_until(began); // returns, being past
    assert_eq!(format!("{system:?}"), "System");
    assert!(format!("{:?}", Manual::new()).starts_with("Manual("));
}

#[test]
fn an_instant_means_the_same_to_every_runtime_of_the_process() {
    let first = System::new();
    first.sleep_until(first.now() + ms(20));
    let before = first.now();
    let second = System::new().now();
    assert!(before <= second && second <= first.now(), "{before:?}, {second:?}");
}

#[test]
fn the_machine_draws_a_different_number_every_time() {
    let system = System::new();
    let mut drawn: Vec<u64> = (0..100).map(|_| system.entropy()).collect();
    drawn.sort_unstable();
    drawn.dedup();
    assert_eq!(drawn.len(), 100);
}

#[test]
fn a_thread_sleeps_until_it_is_notified_however_long() {
    let system = System::new();
    let shared = Arc::new((system.mutex(0), system.condvar()));
    let sleep = |timed: bool| {
        let shared = Arc::clone(&shared);
        system.spawn("sleeps", move || {
            let mut woken = system.lock(&shared.0);
            *woken += 1;
            let mut wakes = 0;
            while *woken > 0 {
                wakes += 1;
                let timed_out;
                (woken, timed_out) = match timed {
                    true => system.wait_until(&shared.1, woken, Instant::NEVER),
                    false => (system.wait(&shared.1, woken), false),
                };
                assert!(!timed_out, "it has no deadline");
            }
            wakes
        })
    };
    let sleepers = [sleep(true), sleep(false)];
    assert!(until(|| *system.lock(&shared.0) == 2));
    *system.lock(&shared.0) = 0;
    system.notify_all(&shared.1);
    for sleeper in sleepers {
        assert_eq!(system.join(sleeper).unwrap(), 1, "it slept, and was woken once");
    }
}

#[test]
fn what_is_published_is_what_is_loaded() {
    let (system, manual) = (System::new(), Manual::new());
    let (here, there) = (system.published(Arc::new(1)), manual.published(Arc::new(1)));
    system.publish(&here, Arc::new(2));
    manual.publish(&there, Arc::new(3));
    assert_eq!((*system.load(&here), *manual.load(&there)), (2, 3));
    assert_eq!(system.atomic(7).into_inner() + manual.atomic(8).into_inner(), 15);
}

#[test]
fn alarms_wake_at_their_times_whichever_was_armed_first() {
    let system = System::new();
    let (late, early) = (Arc::<Bell>::default(), Arc::<Bell>::default());
    let began = system.now();
    let arm = |by, bell: &Arc<Bell>| system.wake_at(began + by, Waker::from(Arc::clone(bell)));
    let far = arm(PATIENCE, &late);
    system.sleep_until(began + ms(5)); // by now the alarm thread sleeps until then
    let near = arm(ms(20), &early);
    assert!(until(|| early.rings() == 1));
    assert!(system.now() >= began + ms(20));
    let together = [arm(ms(40), &early), arm(ms(40), &early)];
    assert!(until(|| early.rings() == 3), "each of two at the same time");
    assert_eq!(late.rings(), 0);
    drop((far, near, together));
    assert_eq!(Arc::strong_count(&late), 1, "a dropped alarm keeps nothing alive");
}

#[test]
fn an_alarm_rings_without_a_lock() {
    let (system, probe) = (System::new(), Arc::<Probe>::default());
    probe.calls(|| {
        let system = System::new();
        drop(system.wake_at(system.now() + PATIENCE, Waker::noop().clone()));
    });
    let timer = system.wake_at(system.now() + ms(1), Waker::from(Arc::clone(&probe)));
    assert!(until(|| Arc::strong_count(&probe) == 1), "its waker has run and is gone");
    assert_eq!(probe.ends(), (1, 1));
    drop(timer);
}

#[test]
fn an_alarm_that_panics_stops_no_other() {
    let (system, bell) = (System::new(), Arc::<Bell>::default());
    let soon = system.now() + ms(20);
    let ring = |at| system.wake_at(at, Waker::from(Arc::clone(&bell)));
    let breaks = || system.wake_at(soon, Breaks::waker("a waker of a test"));
    let together = [ring(soon), breaks(), ring(soon), breaks(), ring(soon + ms(20))];
    assert!(until(|| bell.rings() == 3), "{} of 3", bell.rings());
    let later = ring(system.now() + ms(1));
    assert!(until(|| bell.rings() == 4), "the thread is dead");
    drop((together, later));
}

#[test]
fn a_slow_alarm_delays_others_by_its_own_turn() {
    struct Sleeps;
    impl Wake for Sleeps {
        fn wake(self: Arc<Self>) {
            let system = System::new();
            system.sleep_until(system.now() + ms(300));
        }
    }
    let (system, bell) = (System::new(), Arc::<Bell>::default());
    let soon = system.now() + ms(20);
    let slow = system.wake_at(soon, Waker::from(Arc::new(Sleeps)));
    let behind = system.wake_at(soon + ms(1), Waker::from(Arc::clone(&bell)));
    assert!(until(|| bell.rings() == 1));
    assert!(system.now() >= soon + ms(300), "it had its turn first");
    drop((slow, behind));
}

#[test]
fn an_alarm_that_is_dropped_wakes_nobody() {
    let (system, bell) = (System::new(), Arc::<Bell>::default());
    drop(system.wake_at(system.now() + ms(300), Waker::from(Arc::clone(&bell))));
    let other = Arc::<Bell>::default();
    let timer = system.wake_at(system.now() + ms(320), Waker::from(Arc::clone(&other)));
    assert!(until(|| other.rings() == 1));
    assert_eq!((bell.rings(), Arc::strong_count(&bell)), (0, 1));
    drop(timer);
}

#[cfg(any(target_os = "linux", target_os = "android"))]
#[test]
fn the_time_in_suspend_counts() {
    use rustix::time::{ClockId, Timespec};
    // A machine that ran for a minute and was suspended for an hour.
    let clocks = |clock| Timespec {
        tv_sec: if clock == ClockId::Boottime { 3_660 } else { 60 },
        tv_nsec: 5,
    };
    assert_eq!(super::system::uptime_by(clocks), Duration::new(3_660, 5));
}
