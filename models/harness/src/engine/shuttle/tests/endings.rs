//! The ends of executions: deadlock, endless, panic, and what is left behind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::{Ambient, Runtime};

use super::super::{Config, ShuttleMutex, ShuttleRuntime};
use super::{end_of, outcomes, random, run};
use crate::engine::End;

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let opposite = |runtime: &ShuttleRuntime| {
        let locks = Arc::new((runtime.mutex(()), runtime.mutex(())));
        let other = {
            let (runtime, locks) = (*runtime, Arc::clone(&locks));
            runtime.spawn("other", move || {
                let _first = runtime.lock(&locks.0);
                let _second = runtime.lock(&locks.1);
            })
        };
        let second = runtime.lock(&locks.1);
        let first = runtime.lock(&locks.0);
        drop((first, second));
        runtime.join(other).unwrap();
    };
    let ends = run(&Config::default(), random(100), opposite);
    let deadlock = ends.iter().find_map(|seen| match &seen.end {
        End::Deadlock(text) => Some(text.as_str()),
        _ => None,
    });
    let text = "a `main` waits for mutex 0, held by b `other`; \
                b `other` waits for mutex 1, held by a `main`";
    assert_eq!(deadlock, Some(text));
    assert!(ends.iter().any(|seen| seen.end == End::Finished));
}

#[test]
fn a_lost_wake_up_is_a_deadlock() {
    let end = end_of(|runtime| {
        let (mutex, condvar) = (runtime.mutex(()), runtime.condvar());
        drop(runtime.wait(&condvar, runtime.lock(&mutex)));
    });
    let text = "a `main` waits to be notified on condition variable 0";
    assert_eq!(end, End::Deadlock(text.to_owned()));
}

#[test]
fn an_execution_beyond_the_limit_of_steps_is_endless() {
    let config = Config { max_steps: 100, ..Config::default() };
    let seen = run(&config, random(1), |runtime| {
        let mutex = runtime.mutex(());
        loop {
            drop(runtime.lock(&mutex));
        }
    });
    assert!(matches!(seen[0].end, End::Endless(_)), "{:?}", seen[0].end);
    assert_eq!(seen[0].schedule.to_string(), "a100");
}

#[test]
fn a_thread_that_spins_on_the_clock_is_endless() {
    let config = Config { max_steps: 100, ..Config::default() };
    let seen = run(&config, random(1), |runtime| while runtime.now() == runtime.now() {});
    let End::Endless(text) = &seen[0].end else { panic!("{:?}", seen[0].end) };
    assert!(text.contains("a `main` spins"), "{text}");
}

#[test]
fn a_panic_goes_to_the_joiner() {
    let texts = outcomes(&Config::default(), |runtime| {
        let thread = runtime.spawn("unlucky", || panic!("out of luck"));
        let panic: Result<(), _> = runtime.join(thread);
        crate::engine::panic_text(panic.unwrap_err().as_ref())
    });
    assert_eq!(texts.into_iter().collect::<Vec<_>>(), ["out of luck"]);
}

#[test]
fn a_panic_that_nobody_joins_is_the_end() {
    let end = end_of(|runtime| {
        let unlucky: super::super::Join<()> = runtime.spawn("unlucky", || panic!("out of luck"));
        drop(unlucky);
    });
    assert_eq!(end, End::Panicked("b `unlucky` panicked: out of luck".to_owned()));
    let end = end_of(|_| panic!("number {}", 5));
    assert_eq!(end, End::Panicked("a `main` panicked: number 5".to_owned()));
}

#[test]
fn a_panic_explains_the_deadlock_that_follows_it() {
    let end = end_of(|runtime| {
        let queue = Arc::new(WorkQueue::<u8, ShuttleRuntime>::new(runtime));
        let worker = Arc::clone(&queue);
        let worker = runtime.spawn("worker", move || worker.work(|_| {}));
        assert!(queue.is_shutting_down(), "never shut down");
        runtime.join(worker).unwrap();
    });
    assert_eq!(end, End::Panicked("a `main` panicked: never shut down".to_owned()));
}

#[test]
fn a_guard_dropped_by_a_panic_unlocks() {
    let values = outcomes(&Config::default(), |runtime| {
        let mutex = Arc::new(runtime.mutex(1));
        let unlucky = {
            let (runtime, mutex) = (*runtime, Arc::clone(&mutex));
            runtime.spawn("unlucky", move || {
                *runtime.lock(&mutex) += 1;
                let _held = runtime.lock(&mutex);
                panic!("while holding");
            })
        };
        runtime.join(unlucky).unwrap_err();
        *runtime.lock(&mutex)
    });
    assert_eq!(values.into_iter().collect::<Vec<_>>(), [2]);
}

/// Counts how many are alive.
struct Counted(Arc<AtomicU64>);

impl Counted {
    fn new(alive: &Arc<AtomicU64>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(alive))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn an_execution_that_is_given_up_leaves_nothing_behind() {
    let alive = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&alive);
    let config = Config { max_steps: 500, ..Config::default() };
    let seen = run(&config, random(20), move |runtime| {
        let queue = Arc::new(WorkQueue::<u8, ShuttleRuntime>::new(runtime));
        queue.add(1);
        for _ in 0..3 {
            let (queue, counted) = (Arc::clone(&queue), Counted::new(&counted));
            let worker = runtime.spawn("worker", move || {
                queue.work(|_| queue.add(2)); // the drop of each item locks on the way out
                drop(counted);
            });
            drop(worker);
        }
        let mutex = runtime.mutex(());
        let _held = runtime.lock(&mutex);
        drop(runtime.lock(&mutex));
    });
    let endless_or_stuck = |end: &End| matches!(end, End::Deadlock(_) | End::Endless(_));
    assert!(seen.iter().all(|seen| endless_or_stuck(&seen.end)));
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn a_thread_that_catches_its_unwinding_is_abandoned() {
    let ends = run(&Config::default(), random(3), |runtime| {
        let mutex = runtime.mutex(());
        let held = runtime.lock(&mutex);
        loop {
            let caught = catch_unwind(AssertUnwindSafe(|| drop(runtime.lock(&mutex))));
            if caught.is_ok() {
                break;
            }
        }
        drop(held);
    });
    assert!(ends.iter().all(|seen| matches!(seen.end, End::Deadlock(_))));
    assert_eq!(ends.len(), 3, "the next execution is not disturbed");
}

#[test]
fn a_destructor_that_waits_on_the_way_out_does_not_hang() {
    struct Waits(ShuttleRuntime);
    impl Drop for Waits {
        fn drop(&mut self) {
            let (mutex, condvar) = (self.0.mutex(0), self.0.condvar());
            let mut inside = self.0.lock(&mutex);
            while *inside < 3 {
                inside = self.0.wait(&condvar, inside);
                *inside += 1;
            }
        }
    }
    let end = end_of(|runtime| {
        let _waits = Waits(*runtime);
        let (mutex, condvar) = (runtime.mutex(()), runtime.condvar());
        drop(runtime.wait(&condvar, runtime.lock(&mutex)));
    });
    assert!(matches!(end, End::Deadlock(_)));
}

/// The one way to a stack that can neither go on nor unwind: it is abandoned, and with it this
/// operating-system thread, on which the standard library counts an unfinished panic for ever.
#[test]
fn a_panic_whose_unwinding_deadlocks_ends_the_exploration() {
    struct Locks<'a>(&'a ShuttleMutex<()>);
    impl Drop for Locks<'_> {
        fn drop(&mut self) {
            drop(ShuttleRuntime.lock(self.0));
        }
    }
    let ends = std::thread::spawn(|| {
        run(&Config::default(), random(3), |runtime| {
            let mutex = runtime.mutex(());
            let held = runtime.lock(&mutex);
            let _locks = Locks(&mutex);
            let _held = held;
            let _locks = Locks(&mutex);
            panic!("while holding");
        })
    });
    let ends = ends.join().unwrap();
    assert_eq!(ends.len(), 1, "{ends:?}");
    let End::Deadlock(text) = &ends[0].end else { panic!("{:?}", ends[0].end) };
    assert!(text.contains("which it holds itself"), "{text}");
}

#[test]
fn an_object_of_another_execution_is_refused() {
    let kept = Arc::new(std::sync::Mutex::new(None));
    let seen = run(&Config::default(), random(2), move |runtime| {
        let mut kept = kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mutex = kept.get_or_insert_with(|| runtime.mutex(()));
        drop(runtime.lock(mutex));
    });
    assert_eq!(seen[0].end, End::Finished);
    assert!(matches!(seen[1].end, End::Panicked(_)), "{:?}", seen[1].end);
}
