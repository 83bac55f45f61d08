//! The queues of a pool: their deliveries and how these end.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::limited_queue::Outcome;

/// Takes two of three items, one in each way, and lets go of them without an outcome.
fn taken_and_let_go_of<Q: Source<Key = u8>>(runtime: &Manual, queue: &Q) {
    assert_eq!(queue.waiting(), 3);
    let (first, delivery) = queue.next().unwrap();
    let (second, other) = runtime.block_on(queue.next_async()).unwrap();
    assert_eq!((first, second, queue.waiting()), (1, 2, 1));
    queue.release(delivery);
    queue.release(other);
    assert_eq!(queue.waiting(), 1, "they are not tried again");
    queue.shut_down();
}

#[test]
fn a_limited_queue_hands_out_and_takes_back() {
    let runtime = Manual::new();
    let queue = queue(&runtime);
    queue.add_all([1, 2, 3]);
    taken_and_let_go_of(&runtime, &*queue);
    assert!(!queue.done_key(&1) && !queue.done_key(&2), "they are done");
    assert_eq!((queue.num_requeues(&1), queue.retries()), (0, 0));
    assert_eq!(queue.next().map(|(key, _)| key), Some(3), "workqueue:WQ-26");
    assert!(runtime.block_on(queue.next_async()).is_none());
}

#[test]
fn a_priority_queue_hands_out_and_takes_back() {
    let runtime = Manual::new();
    let queue = PriorityQueue::new(&runtime);
    queue.add_all([1, 2, 3], AddOptions::default());
    taken_and_let_go_of(&runtime, &queue);
    assert!(!queue.done_key(&1) && !queue.done_key(&2), "they are done");
    assert_eq!((queue.num_requeues(&1), queue.retries()), (0, 0));
    assert!(
        queue.next().is_none() && runtime.block_on(queue.next_async()).is_none(),
        "workqueue:PQ-31"
    );
}

#[test]
fn an_item_of_a_priority_queue_comes_back_with_its_priority_whatever_brings_it_back() {
    let later = Outcome::RequeueAfter(ms(1));
    for outcome in [Outcome::Retry, later, Outcome::RequeueAfter(Duration::ZERO)] {
        let runtime = Manual::new();
        let queue = PriorityQueue::with_limiter(&runtime, Exponential::new(ms(1), ms(1)));
        queue.add_with(1, AddOptions { priority: 7, ..AddOptions::default() });
        let (_, delivery) = queue.next().unwrap();
        Source::settle(&queue, delivery, outcome, None);
        runtime.advance(ms(1));
        let (_, (_, priority)) = queue.next().unwrap();
        assert_eq!(priority, 7, "{outcome:?}: PQ-42");
    }
}

#[test]
fn an_item_that_a_task_takes_comes_back_with_its_priority_too() {
    let runtime = Manual::new();
    let queue = PriorityQueue::with_limiter(&runtime, Exponential::new(ms(1), ms(1)));
    queue.add_with(1, AddOptions { priority: 7, ..AddOptions::default() });
    let (_, delivery) = runtime.block_on(queue.next_async()).unwrap();
    Source::settle(&queue, delivery, Outcome::Retry, None);
    runtime.advance(ms(1));
    let (_, (_, priority)) = runtime.block_on(queue.next_async()).unwrap();
    assert_eq!(priority, 7, "PQ-42");
}

#[test]
fn a_pool_that_is_let_go_of_stops_after_the_items_that_its_workers_have() {
    let runtime = System::new();
    let queue = queue(&runtime);
    let (begun, begins) = channel();
    let (go_on, goes_on) = channel::<()>();
    let goes_on = Mutex::new(goes_on);
    queue.add_all([1, 2, 3]);
    let pool = Pool::start(&runtime, &queue, workers(1), move |key: &u8| -> Result<_, ()> {
        begun.send(*key).unwrap();
        goes_on.lock().recv().unwrap();
        Ok(Action::Done)
    });
    assert_eq!(begins.recv(), Ok(1));
    drop(pool);
    assert!(queue.is_shutting_down());
    go_on.send(()).unwrap();
    assert!(begins.recv().is_err(), "the worker has ended, and nothing else has begun");
    assert_eq!(queue.len(), 2);
}

/// A queue that panics some times, and then has one item. Its delivery panics as well.
#[derive(Default)]
pub(super) struct Broken {
    pub(super) panics: AtomicU32,
    pub(super) rested: Mutex<Vec<Duration>>,
}

impl Source for Broken {
    type Key = u8;
    type Delivery = ();

    fn next(&self) -> Option<(u8, ())> {
        match self.panics.fetch_add(1, Ordering::Relaxed) {
            0..3 | 5..20 => panic!("the queue has a bug"),
            3 | 4 => Some((1, ())),
            _ => None,
        }
    }
    async fn next_async(&self) -> Option<(u8, ())> {
        self.next()
    }
    fn settle(&self, (): (), _: Outcome, _: Option<i32>) {
        assert!(self.panics.load(Ordering::Relaxed) != 4, "the queue has another bug");
    }
    fn failures(&self, _: &u8) -> u32 {
        0
    }
    async fn rest(&self, time: Duration) {
        self.rested.lock().push(time);
    }
    fn release(&self, (): ()) {}
    fn shut_down(&self) {}
    fn waiting(&self) -> usize {
        0
    }
}

impl Broken {
    /// The rests of a worker: longer each time, until an item succeeds.
    pub(super) fn check(&self) {
        let millis: Vec<_> = self.rested.lock().iter().map(Duration::as_millis).collect();
        assert_eq!(millis[..4], [5, 10, 20, 40], "the last one after the item");
        assert_eq!(millis[4..9], [5, 10, 20, 40, 80]);
        assert_eq!(millis[9..], [100; 10], "not longer");
    }
}

#[test]
fn a_panic_of_the_queue_ends_no_worker() {
    let (runtime, queue) = (System::new(), Arc::new(Broken::default()));
    let pool =
        Pool::start(&runtime, &queue, workers(1), |_: &u8| -> Result<_, ()> { Ok(Action::Done) });
    assert!(pool.shut_down(PATIENCE).is_complete());
    queue.check();
}

/// Records how its only delivery ended.
#[derive(Default)]
struct Once(Mutex<Vec<&'static str>>);

impl Source for Once {
    type Key = u8;
    type Delivery = ();

    fn next(&self) -> Option<(u8, ())> {
        None
    }
    async fn next_async(&self) -> Option<(u8, ())> {
        None
    }
    fn settle(&self, (): (), _: Outcome, _: Option<i32>) {
        self.0.lock().push("settled");
    }
    fn failures(&self, _: &u8) -> u32 {
        0
    }
    async fn rest(&self, _: Duration) {}
    fn release(&self, (): ()) {
        self.0.lock().push("released");
    }
    fn shut_down(&self) {}
    fn waiting(&self) -> usize {
        0
    }
}

#[test]
fn a_delivery_that_nobody_settles_is_released_once() {
    let queue = Once::default();
    drop(reconcile::Held { queue: &queue, delivery: Some(()) });
    assert_eq!(*queue.0.lock(), ["released"]);
    let held = reconcile::Held { queue: &queue, delivery: Some(()) };
    held.settle::<()>(Ok(Ok(Action::Done)), Attempt(&|| 0), || None, |_| {});
    assert_eq!(*queue.0.lock(), ["released", "settled"], "and not both");
}
