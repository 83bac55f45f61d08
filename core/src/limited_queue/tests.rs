//! The rules of the rate-limiting queue, one behaviour a test.

use crate::queue::{Add, Done, Finished, Len};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::*;
use crate::limiter::{Bucket, Exponential, Item, Rate};
use crate::machine::Cx;
use crate::machine::single_step::Stepped;
use crate::queue::Slot;
use crate::runtime::millis::ms;
use crate::runtime::{Ambient, Instant, Manual};

type Machine<L> = Stepped<Limited<u8, L>>;

fn machine() -> Machine<Exponential<u8>> {
    Stepped::new(Limited::new(Exponential::new(ms(10), ms(1000)), Fifo::default()))
}

impl<L: Limiter<u8>> Machine<L> {
    fn add(&mut self, key: u8) {
        self.call(Add { key: Some(key), hash: key.into() });
    }

    fn fail(&mut self, key: u8) -> u32 {
        self.call(AddRateLimited { key: Some(key), hash: key.into(), called: None });
        self.failures(key)
    }

    fn forget(&mut self, key: u8) {
        self.call(Forget::new(key, key.into()));
    }

    fn failures(&mut self, key: u8) -> u32 {
        self.call(NumRequeues { key, hash: key.into() })
    }

    fn get(&mut self) -> Token {
        self.call(Get).expect("an item, not shutdown").0
    }

    fn settle(&mut self, token: Token, outcome: Outcome) -> Finished<u8> {
        self.call(Settle::new(token, outcome))
    }

    fn len(&mut self) -> usize {
        self.call(Len)
    }
}

#[test]
fn a_failed_item_comes_back_later_every_time() {
    let mut queue = machine();
    for (k, delay) in [(1, 10), (2, 20), (3, 40)] {
        assert_eq!(queue.fail(1), k);
        queue.advance(ms(delay) - Duration::from_nanos(1));
        assert_eq!(queue.len(), 0);
        queue.advance(Duration::from_nanos(1));
        let token = queue.get();
        queue.call(Done(token));
    }
    queue.forget(1);
    assert_eq!(queue.fail(1), 1);
}

#[test]
fn forget_neither_removes_an_item_nor_ends_its_delivery() {
    let mut queue = machine();
    queue.add(1);
    let token = queue.get();
    queue.fail(1);
    queue.forget(1);
    queue.advance(ms(10));
    assert_eq!(queue.len(), 0, "still in processing");
    assert_eq!(queue.call(Done(token)), Finished::Ended(None), "RQ-3: the delay went on");
    assert_eq!(queue.len(), 1);
}

#[test]
fn a_waiting_item_that_fails_again_keeps_its_time_and_counts() {
    let mut queue = machine();
    queue.fail(1);
    assert_eq!(queue.fail(1), 2, "RQ-6");
    queue.advance(ms(10));
    assert_eq!(queue.len(), 1);
    assert_eq!(queue.machine.delaying().delayed(), 0);
}

#[test]
fn after_shutdown_a_failure_counts_and_adds_nothing() {
    let mut queue = machine();
    queue.fail(1);
    queue.call(ShutDown::new());
    assert_eq!(queue.fail(1), 2, "RQ-1");
    queue.advance(ms(1000));
    assert_eq!(queue.len(), 0);
    assert_eq!(queue.call(Get), None);
    assert_eq!(queue.call(Retries), 1);
}

#[test]
fn the_limiter_reads_the_clock_of_the_queue() {
    let limiter = Bucket::new(Rate::per_second(10.0), 1);
    let mut queue = Stepped::new(Limited::<u8, _>::new(limiter, Fifo::default()));
    queue.advance(Duration::from_secs(1000));
    queue.fail(1);
    assert_eq!(queue.len(), 1, "at once: a token was there");
    queue.fail(2);
    assert_eq!(queue.len(), 1, "RQ-8: in 100 ms");
    queue.advance(ms(100));
    assert_eq!(queue.len(), 2);
}

#[test]
fn a_failure_counts_from_the_call() {
    let mut queue = machine();
    queue.advance(ms(7));
    let called = Some(crate::runtime::Instant::ZERO);
    queue.call(AddRateLimited { key: Some(1), hash: 1, called });
    queue.call(AddRateLimited { key: None, hash: 1, called });
    assert_eq!(queue.failures(1), 1, "a call without an item is none");
    queue.advance(ms(3));
    assert_eq!(queue.len(), 1);
}

#[test]
fn a_settled_item_is_done_and_treated_by_its_outcome() {
    let mut queue = machine();
    for outcome in [Outcome::Success, Outcome::GiveUp] {
        queue.fail(1);
        queue.advance(ms(10));
        let token = queue.get();
        assert_eq!(queue.settle(token, outcome), Finished::Ended(Some(1)));
        assert_eq!(queue.failures(1), 0, "CL-3");
    }
    queue.add(1);
    let token = queue.get();
    assert_eq!(queue.settle(token, Outcome::Retry), Finished::Ended(None));
    assert_eq!(queue.failures(1), 1);
    queue.advance(ms(10) - Duration::from_nanos(1));
    assert_eq!(queue.len(), 0, "not before the limiter says so");
    queue.advance(Duration::from_nanos(1));
    let token = queue.get();
    queue.settle(token, Outcome::RequeueAfter(ms(5)));
    assert_eq!(queue.failures(1), 0, "CL-9: forget, then add after");
    queue.advance(ms(5) - Duration::from_nanos(1));
    assert_eq!(queue.len(), 0, "not before the time that was given");
    queue.advance(Duration::from_nanos(1));
    let token = queue.get();
    queue.settle(token, Outcome::RequeueAfter(Duration::ZERO));
    assert_eq!(queue.woken.get(crate::queue::GETTERS), 1, "somebody who waits for an item");
    assert_eq!(queue.len(), 1, "at once");
}

#[test]
fn settling_a_delivery_that_has_ended_changes_nothing() {
    let mut queue = machine();
    queue.add(1);
    let token = queue.get();
    queue.fail(1);
    queue.call(Done(token));
    for outcome in [Outcome::Success, Outcome::Retry, Outcome::RequeueAfter(Duration::ZERO)] {
        assert_eq!(queue.settle(token, outcome), Finished::NotInProcessing);
    }
    assert_eq!((queue.failures(1), queue.len()), (1, 0));
}

#[test]
fn settling_after_shutdown_ends_the_delivery_and_adds_nothing() {
    let mut queue = machine();
    for key in [1, 2] {
        queue.add(key);
    }
    let (first, second) = (queue.get(), queue.get());
    queue.call(ShutDown::new());
    assert_eq!(queue.settle(first, Outcome::Retry), Finished::Ended(Some(1)));
    assert_eq!(queue.settle(second, Outcome::RequeueAfter(ms(1))), Finished::Ended(Some(2)));
    assert_eq!((queue.failures(1), queue.machine.delaying().delayed()), (1, 0));
    assert_eq!(queue.call(Get), None);
}

#[test]
fn a_panicking_worker_ends_its_delivery_and_keeps_the_failures() {
    let limiter = Exponential::new(ms(1), ms(1));
    let queue = LimitedQueue::new(&System::new(), limiter);
    queue.add_rate_limited(1);
    let worker = AssertUnwindSafe(|| queue.work(|_| panic!("reconcile failed")));
    assert!(catch_unwind(worker).is_err());
    assert_eq!(queue.num_requeues(&1), 1);
    queue.shut_down_with_drain(); // would hang if the item were still in processing
}

#[test]
fn workers_retry_until_every_item_succeeded() {
    let runtime = System::new();
    let queue = Arc::new(LimitedQueue::with_default_limiter(&runtime));
    for key in 0..10_u8 {
        queue.add(key);
    }
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let queue = Arc::clone(&queue);
            runtime.spawn("worker", move || {
                queue.work(|key| {
                    let last_round = queue.num_requeues(key) == 2;
                    if last_round { Outcome::Success } else { Outcome::Retry }
                });
            })
        })
        .collect();
    while queue.retries() < 20 || (0..10).any(|key| queue.num_requeues(&key) > 0) {
        runtime.sleep_until(runtime.now() + ms(1));
    }
    queue.shut_down_when_done();
    for worker in workers {
        runtime.join(worker).unwrap();
    }
    assert_eq!(queue.retries(), 20);
}

/// A limiter that panics when an item fails for the second time.
struct Fragile(Exponential<u8>);

impl Limiter<u8> for Fragile {
    fn when(&mut self, item: Item<'_, u8>, now: Instant) -> Duration {
        assert!(self.0.num_requeues(item) == 0, "the limiter has a bug");
        self.0.when(item, now)
    }

    fn forget(&mut self, item: Item<'_, u8>, left: &mut Vec<u8>) {
        self.0.forget(item, left);
    }

    fn num_requeues(&self, item: Item<'_, u8>) -> u32 {
        self.0.num_requeues(item)
    }

    fn reads_time(&self) -> bool {
        false
    }
}

#[test]
fn a_panicking_limiter_leaves_nothing_undone() {
    let limiter = Fragile(Exponential::new(ms(10), ms(1000)));
    let queue = LimitedQueue::new(&System::new(), limiter);
    queue.add_rate_limited(1);
    assert!(catch_unwind(AssertUnwindSafe(|| queue.add_rate_limited(1))).is_err());
    assert_eq!((queue.num_requeues(&1), queue.retries()), (1, 1), "it has not failed again");
    let (token, _) = queue.take().expect("it comes back");
    let settle = || queue.settle(token, Outcome::Retry);
    assert!(catch_unwind(AssertUnwindSafe(settle)).is_err());
    assert!(!queue.settle(token, Outcome::GiveUp), "its delivery has ended");
    let (token, key) = queue.take().expect("and it waits again, without a delay");
    assert_eq!((key, queue.num_requeues(&1)), (1, 1));
    assert!(queue.settle(token, Outcome::Success));
}

/// An order that loses its items.
struct Forgetful;

impl Storage<u8> for Forgetful {
    fn push(&mut self, _: Slot, _: &u8) {}
    fn pop(&mut self) -> Option<Slot> {
        None
    }
    fn len(&self) -> usize {
        0
    }
}

#[test]
fn an_item_that_waits_nowhere_is_noticed() {
    let limiter = Exponential::<u8>::new(ms(10), ms(1000));
    let mut queue = Stepped::new(Limited::new(limiter, Forgetful));
    queue.machine.check();
    let mut cx = Cx::new(&queue.clock);
    queue.machine.delaying.add_after(&mut Some(1), 1, Instant::ZERO, Duration::ZERO, &mut cx);
    assert!(catch_unwind(AssertUnwindSafe(|| queue.machine.check())).is_err());
}

#[test]
fn a_queue_is_shown_by_what_it_holds() {
    let mut queue = machine();
    queue.add(1);
    queue.fail(2);
    let shown = format!("{:?}", queue.machine);
    assert!(
        shown.starts_with("Limited { delaying: Delaying { queue: Queue { waiting: 1,"),
        "{shown}"
    );
    assert!(shown.ends_with("delayed: 1, .. }, .. }"), "{shown}");
    let shell = LimitedQueue::<u8, _, _>::new(&Manual::new(), Exponential::new(ms(10), ms(1000)));
    assert_eq!(format!("{shell:?}"), "LimitedQueue");
}

#[test]
fn an_item_that_comes_back_is_a_retry_unless_the_queue_is_shut_down() {
    let mut queue = machine();
    queue.add(1);
    let token = queue.get();
    queue.settle(token, Outcome::RequeueAfter(ms(5)));
    let counts = |queue: &Machine<Exponential<u8>>| {
        let delaying = queue.machine.delaying();
        (delaying.retries(), delaying.delayed())
    };
    assert_eq!(counts(&queue), (1, 1));
    queue.advance(ms(5));
    let token = queue.get();
    queue.call(ShutDown::new());
    queue.settle(token, Outcome::Retry);
    assert_eq!(counts(&queue), (1, 0));
    assert_eq!(queue.failures(1), 1, "the limiter counts it all the same");
}

#[test]
fn calls_on_the_shell_reach_the_queue_and_its_limiter() {
    let runtime = Manual::new();
    let queue = LimitedQueue::<u8, _, _>::new(&runtime, Exponential::new(ms(10), ms(1000)));
    queue.add_after(1, ms(5));
    runtime.advance(ms(4));
    assert_eq!(queue.len(), 0);
    runtime.advance(ms(1));
    assert_eq!(queue.len(), 1);
    (0..2).for_each(|_| queue.add_rate_limited(2));
    assert_eq!(queue.num_requeues(&2), 2);
    queue.forget(&2);
    assert_eq!(queue.num_requeues(&2), 0);
}

#[test]
fn what_succeeds_while_the_queue_shuts_down_is_forgotten() {
    let runtime = Manual::new();
    let queue = LimitedQueue::<u8, _, _>::new(&runtime, Exponential::new(ms(10), ms(1000)));
    queue.add_rate_limited(1);
    runtime.advance(ms(10));
    assert_eq!(queue.num_requeues(&1), 1);
    queue.work(|_| {
        queue.shut_down();
        Outcome::Success
    });
    assert_eq!(queue.num_requeues(&1), 0, "CL-3");
}
