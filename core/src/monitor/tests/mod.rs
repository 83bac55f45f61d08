//! Tasks and threads as sleepers of one monitor.
#![cfg(feature = "informers")]

mod drops;
mod foreign;
mod halves;
mod many;
mod panics;
mod sleepers;
mod then;

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::Monitor;
use crate::delaying_queue::DelayingQueue;
use crate::machine::{Cx, Embed, Machine, Operation, Step};
use crate::queue::{Add, Get, Queue, Token, WorkQueue};
use crate::runtime::bell::{Bell, poll};
use crate::runtime::{Ambient as _, Instant, Manual, Runtime, System};

fn taken(polled: Poll<Option<(Token, u8)>>) -> Option<u8> {
    match polled {
        Poll::Ready(Some((_, key))) => Some(key),
        _ => None,
    }
}

#[test]
fn the_longest_sleeper_is_woken_and_only_once() {
    let queue = WorkQueue::<u8>::new(&System::new());
    let (first, second) = (Arc::<Bell>::default(), Arc::<Bell>::default());
    let (mut one, mut two) = (pin!(queue.take_async()), pin!(queue.take_async()));
    assert!(poll(one.as_mut(), &first).is_pending() && poll(two.as_mut(), &second).is_pending());
    queue.add(1);
    assert_eq!((first.rings(), second.rings()), (1, 0));
    queue.add(2);
    assert_eq!((first.rings(), second.rings()), (1, 1));
    assert_eq!(taken(poll(one.as_mut(), &first)), Some(1));
    assert_eq!(taken(poll(two.as_mut(), &second)), Some(2));
}

#[test]
fn a_dropped_getter_passes_its_wake_up_on() {
    let queue = WorkQueue::<u8>::new(&System::new());
    let (first, second) = (Arc::<Bell>::default(), Arc::<Bell>::default());
    let mut one = Box::pin(queue.take_async());
    let mut two = pin!(queue.take_async());
    assert!(poll(one.as_mut(), &first).is_pending() && poll(two.as_mut(), &second).is_pending());
    queue.add(1);
    drop(one);
    assert_eq!((first.rings(), second.rings()), (1, 1));
    assert_eq!(taken(poll(two.as_mut(), &second)), Some(1));
}

#[test]
fn a_getter_that_is_dropped_asleep_wakes_nobody_and_is_woken_by_nobody() {
    let queue = WorkQueue::<u8>::new(&System::new());
    let (first, second) = (Arc::<Bell>::default(), Arc::<Bell>::default());
    let mut one = Box::pin(queue.take_async());
    let mut two = pin!(queue.take_async());
    assert!(poll(one.as_mut(), &first).is_pending() && poll(two.as_mut(), &second).is_pending());
    drop(one);
    assert_eq!((first.rings(), second.rings()), (0, 0));
    queue.add(1);
    assert_eq!((first.rings(), second.rings()), (0, 1));
}

#[test]
fn a_future_that_is_never_polled_does_nothing() {
    let queue = WorkQueue::<u8>::new(&System::new());
    drop(queue.drain_async());
    assert!(!queue.is_shutting_down());
}

#[test]
fn the_newest_waker_is_the_one_that_is_woken() {
    let queue = WorkQueue::<u8>::new(&System::new());
    let (old, new) = (Arc::<Bell>::default(), Arc::<Bell>::default());
    let mut getter = pin!(queue.take_async());
    assert!(poll(getter.as_mut(), &old).is_pending() && poll(getter.as_mut(), &new).is_pending());
    queue.add(1);
    assert_eq!((old.rings(), new.rings()), (0, 1));
}

#[test]
fn a_task_wakes_at_its_deadline() {
    let runtime = Manual::new();
    let queue = DelayingQueue::<u8, _>::new(&runtime);
    let bell = Arc::<Bell>::default();
    queue.add_after(1, Duration::from_millis(5));
    let mut getter = pin!(queue.take_async());
    assert!(poll(getter.as_mut(), &bell).is_pending());
    runtime.advance(Duration::from_millis(4));
    assert_eq!(bell.rings(), 0);
    runtime.advance(Duration::from_millis(1));
    assert_eq!(bell.rings(), 1);
    assert_eq!(taken(poll(getter.as_mut(), &bell)), Some(1));
}

#[test]
fn a_drain_is_awaited() {
    let queue = WorkQueue::<u8>::new(&System::new());
    let bell = Arc::<Bell>::default();
    queue.add(1);
    let (token, _) = queue.take().expect("one item waits");
    let mut drain = pin!(queue.drain_async());
    assert!(poll(drain.as_mut(), &bell).is_pending());
    queue.done(token);
    assert_eq!(bell.rings(), 1);
    assert!(poll(drain.as_mut(), &bell).is_ready());
}

#[test]
fn tasks_and_threads_share_the_items() {
    let runtime = System::new();
    let queue = Arc::new(WorkQueue::<u32>::new(&runtime));
    let count = Arc::new(AtomicU32::new(0));
    let workers: Vec<_> = (0..4)
        .map(|number| {
            let (queue, count, runtime_of_task) = (Arc::clone(&queue), Arc::clone(&count), runtime);
            runtime.spawn("worker", move || {
                if number % 2 == 0 {
                    return queue.work(|_| {
                        count.fetch_add(1, Ordering::SeqCst);
                    });
                }
                runtime_of_task.block_on(async {
                    while let Some(item) = queue.get_async().await {
                        count.fetch_add(1, Ordering::SeqCst);
                        item.done();
                    }
                });
            })
        })
        .collect();
    (0..1_000).for_each(|item| queue.add(item));
    queue.shut_down();
    workers.into_iter().for_each(|worker| runtime.join(worker).expect("it does not panic"));
    assert_eq!(count.load(Ordering::SeqCst), 1_000);
}

#[test]
fn a_call_that_is_over_at_once_wakes_whom_it_names() {
    let queue = WorkQueue::<u8>::new(&System::new());
    let bell = Arc::<Bell>::default();
    let (mut getter, mut drain) = (pin!(queue.take_async()), pin!(queue.drain_async()));
    assert!(poll(getter.as_mut(), &bell).is_pending());
    assert!(poll(drain.as_mut(), &Arc::default()).is_ready(), "nothing is in flight");
    assert_eq!(bell.rings(), 1, "the queue is shut down");
    assert!(poll(getter.as_mut(), &bell).is_ready());
}

#[test]
fn a_thread_wakes_the_tasks_that_its_call_names_before_it_sleeps() {
    let (runtime, bell) = (System::new(), Arc::<Bell>::default());
    let queue = Arc::new(WorkQueue::<u8>::new(&runtime));
    queue.add(1);
    let (token, _) = queue.take().expect("one item waits");
    let mut getter = pin!(queue.take_async());
    assert!(poll(getter.as_mut(), &bell).is_pending());
    let drain = {
        let queue = Arc::clone(&queue);
        runtime.spawn("drain", move || queue.shut_down_with_drain())
    };
    let late = runtime.now() + Duration::from_secs(60);
    while bell.rings() == 0 {
        assert!(runtime.now() < late, "the queue is shut down, and nobody tells the getter");
        std::thread::yield_now();
    }
    queue.done(token);
    runtime.join(drain).expect("it does not panic");
    assert_eq!(taken(poll(getter.as_mut(), &bell)), None);
}

#[test]
fn a_dropped_getter_passes_its_wake_up_to_one_other() {
    let queue = WorkQueue::<u8>::new(&System::new());
    let (first, second, third) = (Arc::<Bell>::default(), Arc::default(), Arc::default());
    let mut one = Box::pin(queue.take_async());
    let (mut two, mut three) = (pin!(queue.take_async()), pin!(queue.take_async()));
    assert!(poll(one.as_mut(), &first).is_pending() && poll(two.as_mut(), &second).is_pending());
    assert!(poll(three.as_mut(), &third).is_pending());
    queue.add(1);
    drop(one);
    assert_eq!((first.rings(), second.rings(), third.rings()), (1, 1, 0));
}

#[test]
fn nobody_counts_as_asleep_who_is_awake() {
    let runtime = System::new();
    let monitor = Arc::new(Monitor::new(&runtime, Queue::<u8>::default()));
    let asleep = || runtime.lock(&monitor.inside).sleepers.counts();
    let getter = {
        let monitor = Arc::clone(&monitor);
        runtime.spawn("getter", move || monitor.call(Get))
    };
    while asleep() != (1, 0) {
        std::thread::yield_now();
    }
    let bell = Arc::<Bell>::default();
    let mut task = pin!(monitor.call_async(Get));
    assert!(poll(task.as_mut(), &bell).is_pending());
    assert_eq!(asleep(), (1, 1));
    monitor.call(Add { key: Some(1), hash: 1 });
    assert_eq!(
        (bell.rings(), asleep()),
        (0, (0, 1)),
        "the thread came first, and it alone is told"
    );
    assert!(runtime.join(getter).expect("it does not panic").is_some());
    monitor.call(Add { key: Some(2), hash: 2 });
    assert_eq!((bell.rings(), asleep()), (1, (0, 0)));
    assert!(taken(poll(task.as_mut(), &bell)).is_some());
    assert_eq!(asleep(), (0, 0));
    let mut gone = Box::pin(monitor.call_async(Get));
    assert!(poll(gone.as_mut(), &bell).is_pending());
    assert_eq!(asleep(), (0, 1));
    drop(gone);
    assert_eq!(asleep(), (0, 0), "nor who has given up");
}

/// Counts how often it was stepped.
struct Looks(u32);

/// Waits until it was stepped this often; nothing wakes it before its deadline.
#[derive(Clone)]
struct Look {
    times: u32,
    deadline: Instant,
}

impl Machine for Looks {
    type Op = Look;
    type Ret = ();

    fn step(&mut self, op: &mut Look, cx: &mut Cx<'_>) -> Step<()> {
        Operation::step(op, self, cx)
    }
}

impl Embed<Looks> for Look {
    type Ret = ();

    fn embed(self) -> Look {
        self
    }

    fn project(op: Look) -> Self {
        op
    }

    fn result((): ()) {}
}

impl Operation<Looks> for Look {
    fn step(&mut self, looks: &mut Looks, _: &mut Cx<'_>) -> Step<()> {
        looks.0 += 1;
        if looks.0 == self.times {
            return Step::Done(());
        }
        Step::Wait { on: 0, until: Some(self.deadline) }
    }
}

#[test]
fn a_thread_looks_again_before_it_sleeps_and_not_for_ever() {
    let runtime = System::new();
    let monitor = Monitor::new(&runtime, Looks(0));
    let late = runtime.now() + Duration::from_secs(10);
    monitor.call(Look { times: 1 + runtime.turns(), deadline: late });
    assert!(runtime.now() < late, "it did not sleep");

    let monitor = Monitor::new(&runtime, Looks(0));
    let soon = runtime.now() + Duration::from_millis(20);
    monitor.call(Look { times: 2 + runtime.turns(), deadline: soon });
    assert!(runtime.now() >= soon, "it slept");
}

#[test]
fn a_call_shows_whether_it_sleeps() {
    let monitor = Monitor::new(&Manual::new(), Queue::<u8>::default());
    assert_eq!(format!("{monitor:?}"), "Monitor");
    let mut call = pin!(monitor.call_async(Get));
    assert_eq!(format!("{call:?}"), "Call { asleep: false, .. }");
    assert!(poll(call.as_mut(), &Arc::default()).is_pending());
    assert_eq!(format!("{call:?}"), "Call { asleep: true, .. }");
    monitor.call(Add { key: Some(1), hash: 1 });
    assert_eq!(taken(poll(call.as_mut(), &Arc::default())), Some(1));
    assert_eq!(format!("{call:?}"), "Call { asleep: false, .. }");
}

#[test]
fn tasks_on_other_channels_sleep_on_until_they_are_named() {
    let queue = WorkQueue::<u8, _>::new(&Manual::new());
    let [first, second, third]: [Arc<Bell>; 3] = Default::default();
    let rings = || [&first, &second, &third].map(|bell| bell.rings());
    let mut updater = pin!(queue.refresh_metrics_async(Duration::from_secs(60)));
    let (mut getter, mut other) = (pin!(queue.take_async()), pin!(queue.take_async()));
    assert!(poll(updater.as_mut(), &first).is_pending());
    assert!(poll(getter.as_mut(), &second).is_pending());
    assert!(poll(other.as_mut(), &third).is_pending());
    queue.add(1);
    assert_eq!(rings(), [0, 1, 0], "the updater sleeps elsewhere");
    assert_eq!(taken(poll(getter.as_mut(), &second)), Some(1));
    queue.shut_down();
    assert_eq!(rings(), [1, 1, 1], "one call names two channels");
    assert!(poll(updater.as_mut(), &first).is_ready());
    assert!(poll(other.as_mut(), &third).is_ready());
}

#[test]
fn a_task_wakes_whom_its_call_names_before_it_sleeps() {
    let queue = WorkQueue::<u8>::new(&System::new());
    let (first, second) = (Arc::<Bell>::default(), Arc::<Bell>::default());
    queue.add(1);
    let (token, _) = queue.take().expect("one item waits");
    let (mut getter, mut drain) = (pin!(queue.take_async()), pin!(queue.drain_async()));
    assert!(poll(getter.as_mut(), &first).is_pending());
    assert!(poll(drain.as_mut(), &second).is_pending());
    assert_eq!((first.rings(), second.rings()), (1, 0), "the queue is shut down");
    assert!(poll(getter.as_mut(), &first).is_ready());
    assert!(queue.done(token));
    assert_eq!((first.rings(), second.rings()), (1, 1));
    assert!(poll(drain.as_mut(), &second).is_ready());
}
