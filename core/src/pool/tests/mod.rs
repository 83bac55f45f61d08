//! Workers under a clock that is moved by hand, one behaviour a test.

mod answers;
mod sources;
#[cfg(feature = "tracing")]
mod spans;
#[cfg(feature = "tokio")]
mod tasks;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use parking_lot::Mutex;

use super::*;
use crate::limited_queue::LimitedQueue;
use crate::limiter::Exponential;
use crate::priority_queue::{AddOptions, PriorityQueue};
use crate::runtime::millis::ms;
use crate::runtime::{Ambient, Instant, Manual, System};

const PATIENCE: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(3600);

fn workers(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

type Queue<R> = Arc<LimitedQueue<u8, R, Exponential<u8>>>;

fn queue<R: Runtime>(runtime: &R) -> Queue<R> {
    Arc::new(LimitedQueue::new(runtime, Exponential::new(ms(10), ms(1000))))
}

/// When each item was processed.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<BTreeMap<u8, Vec<Instant>>>>);

impl Log {
    /// Notes an attempt; returns how many there have been.
    fn note(&self, key: u8, at: Instant) -> usize {
        let mut log = self.0.lock();
        let attempts = log.entry(key).or_default();
        attempts.push(at);
        attempts.len()
    }

    fn millis(&self, key: u8) -> Vec<u64> {
        let log = self.0.lock();
        log.get(&key).into_iter().flatten().map(|at| at.as_nanos() / 1_000_000).collect()
    }
}

/// Waits until every worker sleeps, then moves the clock on.
fn advance(runtime: &Manual, workers: usize, by: Duration) {
    assert!(runtime.until_asleep(workers, PATIENCE), "the workers are busy");
    runtime.advance(by);
    assert!(runtime.until_asleep(workers, PATIENCE), "the workers are busy");
}

#[test]
fn errors_and_panics_are_tried_again_later_each_time_until_success_forgets_them() {
    let (runtime, log) = (Manual::new(), Log::default());
    let queue = queue(&runtime);
    let (inner, clock) = (log.clone(), runtime.clone());
    let pool = Pool::start(&runtime, &queue, workers(1), move |key: &u8| {
        match inner.note(*key, clock.now()) {
            1 => Err("an error"),
            2 => panic!("a panic"),
            3 => Err("an error again"),
            _ => Ok(Action::Done),
        }
    });
    queue.add(1);
    for _ in 0..100 {
        advance(&runtime, 1, ms(1));
    }
    assert_eq!(log.millis(1), [0, 10, 30, 70]);
    assert_eq!(queue.num_requeues(&1), 0, "CL-3");
    assert!(pool.shut_down(PATIENCE).is_complete());
}

#[test]
fn an_item_that_asks_for_it_comes_back_and_its_failures_are_forgotten() {
    let (runtime, log) = (Manual::new(), Log::default());
    let queue = queue(&runtime);
    let (inner, clock) = (log.clone(), runtime.clone());
    let pool = Pool::start(&runtime, &queue, workers(1), move |key: &u8| {
        match inner.note(*key, clock.now()) {
            1 => Err("an error"),
            2 => Ok(Action::RequeueAfter(ms(3))),
            3 => Err("an error"),
            _ => Ok(Action::Done),
        }
    });
    queue.add(1);
    for _ in 0..40 {
        advance(&runtime, 1, ms(1));
    }
    assert_eq!(log.millis(1), [0, 10, 13, 23], "CL-9");
    assert!(pool.shut_down(PATIENCE).is_complete());
}

/// Fails, and records the failures that it is told of.
struct Failing(Mutex<Vec<String>>);

impl Reconcile<u8> for Arc<Failing> {
    type Error = &'static str;

    fn reconcile(&self, key: &u8, _: Attempt<'_>) -> Result<Action, Fault<Self::Error>> {
        assert_ne!(*key, 2, "two");
        Err(Fault::Retry("not two"))
    }

    fn failed(&self, key: &u8, failure: &Failure<Self::Error>) {
        self.0.lock().push(format!("{key}: {:?}", failure.cause));
        assert_ne!(*key, 3, "a log that panics");
    }
}

#[test]
fn failures_are_told_and_a_panic_of_the_listener_changes_nothing() {
    let runtime = Manual::new();
    let queue = queue(&runtime);
    let failing = Arc::new(Failing(Mutex::default()));
    let pool = Pool::start(&runtime, &queue, workers(1), Arc::clone(&failing));
    queue.add_all([1, 2, 3]);
    assert!(runtime.until_asleep(1, PATIENCE));
    while (1..=3).any(|key| queue.num_requeues(&key) == 0) {
        std::thread::yield_now();
    }
    let told = failing.0.lock().join("; ");
    assert!(told.starts_with("1: Error(\"not two\"); 2: Panic(Some(\"assertion"), "{told}");
    assert!(told.ends_with("3: Error(\"not two\")"), "{told}");
    assert!(pool.shut_down(PATIENCE).is_complete());
}

impl awaited::ReconcileAsync<u8> for Arc<Failing> {
    type Error = &'static str;

    async fn reconcile(
        &self,
        key: &u8,
        attempt: Attempt<'_>,
    ) -> Result<Action, Fault<Self::Error>> {
        Reconcile::reconcile(self, key, attempt)
    }

    fn failed(&self, key: &u8, failure: &Failure<Self::Error>) {
        Reconcile::failed(self, key, failure);
    }
}

#[test]
fn a_function_is_given_somebody_who_learns_of_its_failures() {
    let told = Arc::new(Mutex::new(vec![]));
    let tell = {
        let told = Arc::clone(&told);
        move |key: &u8, failure: &Failure<&str>| told.lock().push((*key, failure.to_string()))
    };
    let runtime = System::new();
    let filled = || {
        let queue = queue(&runtime);
        queue.add_all([1, 2, 3]);
        queue.shut_down();
        queue
    };
    let fails = |key: &u8| if *key == 2 { Err("two") } else { Ok(Action::Done) };
    let pool = Pool::start(&runtime, &filled(), workers(1), policy(fails).telling(tell.clone()));
    assert!(pool.shut_down(PATIENCE).is_complete());
    let fails = async |key: u8| if key == 3 { Err("three") } else { Ok(Action::Done) };
    runtime.block_on(awaited::work(&*filled(), &policy(fails).telling(tell)));
    let errors =
        [(2, "attempt 1: two; it is tried again"), (3, "attempt 1: three; it is tried again")];
    assert_eq!(*told.lock(), errors.map(|(key, error)| (key, error.to_owned())));
}

#[test]
fn what_a_priority_queue_has_left_at_the_end_is_said() {
    let runtime = System::new();
    let queue = Arc::new(PriorityQueue::<u8>::new(&runtime));
    let (began, stuck) = (CancelToken::new(&runtime), CancelToken::new(&runtime));
    let (begins, goes_on) = (began.clone(), stuck.clone());
    let pool = Pool::start(&runtime, &queue, workers(1), move |_: &u8| {
        begins.cancel();
        goes_on.wait();
        Ok::<_, ()>(Action::Done)
    });
    queue.add_all(0..3, AddOptions::default());
    began.wait();
    let ending = {
        let queue = Arc::clone(&queue);
        runtime.spawn("ending", move || {
            while !queue.is_shutting_down() {
                std::thread::yield_now();
            }
            stuck.cancel();
        })
    };
    let end = pool.shut_down(PATIENCE);
    runtime.join(ending).expect("it does not panic");
    assert_eq!(end, End { running: 0, waiting: 2 });
    assert!(!end.is_complete(), "PQ-31");
}

#[test]
fn a_task_tells_errors_and_panics_as_well() {
    let (runtime, failing) = (System::new(), Arc::new(Failing(Mutex::default())));
    let queue = queue(&runtime);
    queue.add_all([1, 2]);
    queue.shut_down();
    runtime.block_on(awaited::work(&*queue, &failing));
    let told = failing.0.lock().join("; ");
    assert!(told.starts_with("1: Error(\"not two\"); 2: Panic(Some(\"assertion"), "{told}");
}

#[test]
fn what_waits_is_processed_before_the_end_and_what_fails_then_is_not_tried_again() {
    let (runtime, log) = (System::new(), Log::default());
    let queue = queue(&runtime);
    queue.add_all(0..20);
    queue.add_after(200, ms(1));
    let inner = log.clone();
    let slow = move |key: &u8| {
        inner.note(*key, Instant::ZERO);
        std::thread::yield_now();
        Err::<Action, _>(())
    };
    let pool = Pool::start(&runtime, &queue, workers(3), slow);
    let end = pool.shut_down(PATIENCE);
    assert_eq!(end, End { running: 0, waiting: 0 });
    assert!((0..20).all(|key| !log.millis(key).is_empty()), "each was processed");
    queue.add(1);
    assert!(queue.is_empty() && queue.is_shutting_down());
}

#[test]
fn at_the_deadline_it_returns_and_says_what_it_left() {
    let runtime = Manual::new();
    let queue = queue(&runtime);
    let stuck = CancelToken::new(&runtime);
    let (inner, log) = (stuck.clone(), Log::default());
    let noted = log.clone();
    let pool = Pool::start(&runtime, &queue, workers(1), move |key: &u8| {
        noted.note(*key, Instant::ZERO);
        inner.wait();
        Ok::<_, ()>(Action::Done)
    });
    queue.add_all([1, 2, 3]);
    assert!(runtime.until_asleep(1, PATIENCE), "the worker is stuck");
    let (clock, waits) = (runtime.clone(), 1);
    let stopper = runtime.spawn("stopper", move || pool.shut_down(LONG));
    assert!(clock.until_waiting(waits, PATIENCE), "it waits for the deadline");
    clock.advance(LONG);
    assert_eq!(runtime.join(stopper).unwrap(), End { running: 1, waiting: 2 });
    stuck.cancel();
    queue.shut_down_with_drain(); // the worker ends its item, and takes no further one
    while Arc::strong_count(&log.0) > 1 {
        std::thread::yield_now(); // it has not left yet
    }
    assert_eq!(queue.len(), 2);
    assert!(log.millis(2).is_empty());
}

#[test]
fn without_patience_it_returns_at_once() {
    let runtime = Manual::new();
    let queue = queue(&runtime);
    let stuck = CancelToken::new(&runtime);
    let inner = stuck.clone();
    let pool = Pool::start(&runtime, &queue, workers(1), move |_: &u8| {
        inner.wait();
        Ok::<_, ()>(Action::Done)
    });
    queue.add(1);
    assert!(runtime.until_asleep(1, PATIENCE));
    while !queue.is_empty() {
        std::thread::yield_now();
    }
    assert_eq!(pool.shut_down(Duration::ZERO), End { running: 1, waiting: 0 });
    stuck.cancel();
}

#[test]
fn patience_beyond_the_end_of_time_is_for_ever() {
    let runtime = System::new();
    let queue = queue(&runtime);
    let pool = Pool::start(&runtime, &queue, workers(2), |_: &u8| Ok::<_, ()>(Action::Done));
    queue.add_all(0..50);
    assert!(pool.shut_down(Duration::MAX).is_complete());
}

#[test]
fn a_dropped_pool_shuts_its_queue_down() {
    let runtime = System::new();
    let queue = queue(&runtime);
    drop(Pool::start(&runtime, &queue, workers(2), |_: &u8| Ok::<_, ()>(Action::Done)));
    assert!(queue.is_shutting_down());
}

#[test]
fn an_item_of_a_priority_queue_comes_back_with_its_priority() {
    let (runtime, order) = (Manual::new(), Arc::new(Mutex::new(vec![])));
    let limiter = Exponential::new(ms(10), ms(1000));
    let queue = Arc::new(PriorityQueue::with_limiter(&runtime, limiter));
    let with = |priority| AddOptions { priority, ..AddOptions::default() };
    queue.add_with(1, with(-100));
    let gate = CancelToken::new(&runtime);
    let (inner, closed) = (Arc::clone(&order), gate.clone());
    let pool = Pool::start(&runtime, &queue, workers(1), move |key: &u8| {
        let mut order = inner.lock();
        order.push(*key);
        let is_first = order.len() == 1;
        drop(order);
        if *key == 9 {
            closed.wait();
        }
        if is_first { Err(()) } else { Ok(Action::Done) }
    });
    assert!(runtime.until_waiting(1, PATIENCE), "it failed and waits for its time");
    queue.add_with(9, with(100));
    while order.lock().len() < 2 {
        std::thread::yield_now();
    }
    runtime.advance(ms(10));
    queue.add_with(2, with(-50));
    gate.cancel();
    assert!(runtime.until_asleep(1, PATIENCE));
    while order.lock().len() < 4 {
        std::thread::yield_now();
    }
    assert_eq!(*order.lock(), [1, 9, 2, 1], "PQ-42");
    assert!(pool.shut_down(PATIENCE).is_complete());
}

#[test]
fn an_end_is_complete_if_nobody_runs_and_nothing_waits() {
    for (running, waiting) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let end = End { running, waiting };
        assert_eq!(end.is_complete(), (running, waiting) == (0, 0), "{end:?}");
    }
}

#[test]
fn a_pool_shows_how_many_threads_it_has() {
    let runtime = System::new();
    let queue = queue(&runtime);
    let pool = Pool::start(&runtime, &queue, workers(2), |_: &u8| Ok::<_, ()>(Action::Done));
    assert!(format!("{pool:?}").contains("threads: 2"), "{pool:?}");
    assert!(pool.shut_down(PATIENCE).is_complete());
}

#[test]
fn one_task_of_any_executor_processes_what_waits_and_ends_with_its_queue() {
    let (runtime, log) = (System::new(), Log::default());
    let queue = queue(&runtime);
    queue.add_all(0..3);
    queue.shut_down();
    let inner = log.clone();
    let reconciler = move |key: u8| {
        inner.note(key, Instant::ZERO);
        std::future::ready(Ok::<_, ()>(Action::Done))
    };
    runtime.block_on(awaited::work(&*queue, &reconciler));
    assert!((0..3).all(|key| log.millis(key).len() == 1));
    assert!(queue.is_empty());
}
