//! Queues: the cost of a call does not depend on the number of due items, and memory that a burst
//! took is given back.

use std::time::Duration;

use seatrial_core::delaying_queue::{AddAfter, Delaying, DelayingQueue, ShutDown};
use seatrial_core::limiter::{Exponential, RateLimiter};
use seatrial_core::machine::{Cx, Machine, Operation, Step};
use seatrial_core::priority_queue::{Add, AddOptions, Prioritized, PriorityQueue};
use seatrial_core::queue::{Len, WorkQueue};
use seatrial_core::runtime::{Ambient, Instant, Manual, Runtime, System};

use crate::longest::{indexed_store, placed};
use crate::measure::{
    allocated, assert_given_back, assert_growth, empty_caches, shortest, tell, timed,
};

/// The numbers of due items, and how much longer a call may take with the most of them: then a heap
/// is a little deeper, and less of it is in the caches.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const FACTOR: f64 = 8.0;
const DELAY: Duration = Duration::from_millis(1);

/// Adds an item while many are due in a delaying queue. The caches are emptied at every size;
/// otherwise few items would be in them, and many would not.
pub(crate) fn add_beside_due() {
    let [small, .., large] = SIZES.map(|size| {
        let one = shortest(|| {
            let runtime = Manual::new();
            let queue = DelayingQueue::<u64, _>::new(&runtime);
            (0..size as u64).for_each(|key| queue.add_after(key, DELAY));
            runtime.advance(DELAY);
            empty_caches();
            timed(|| queue.add(u64::MAX))
        });
        tell(size, "add one", one);
        one
    });
    assert_growth(small, large, FACTOR);
}

/// Steps a call until it is over, as a caller does that releases the lock in between. Prints the
/// longest step, and returns the mean, which other programs disturb less.
fn mean_step<M: Machine, O: Operation<M>>(size: usize, machine: &mut M, mut call: O) -> Duration {
    let system = System::new();
    let (mut steps, mut sum, mut worst) = (0, Duration::ZERO, Duration::ZERO);
    loop {
        let mut over = false;
        let took = timed(|| {
            let step = call.step(machine, &mut Cx::new(&system));
            over = matches!(step, Step::Done(_));
        });
        (steps, sum, worst) = (steps + 1, sum + took, worst.max(took));
        if over {
            tell(size, "worst step", worst);
            return sum / steps;
        }
    }
}

/// Counts the items of a priority queue when many are due.
pub(crate) fn length_of_due() {
    let [small, .., large] = SIZES.map(|size| {
        let one = shortest(|| {
            let limiter = Exponential::new(DELAY, DELAY);
            let mut machine = Prioritized::<u64, Exponential<u64>>::new(limiter, ());
            let options = AddOptions { after: Some(DELAY), ..AddOptions::default() };
            for key in 0..size as u64 {
                let called = Some(Instant::ZERO); // so all are due by now
                let mut add = Add { key: Some(key), hash: key << 7, options, called };
                let _added = add.step(&mut machine, &mut Cx::new(&Manual::new()));
            }
            let system = System::new();
            system.sleep_until(system.now() + DELAY);
            mean_step(size, &mut machine, Len)
        });
        tell(size, "mean step", one);
        one
    });
    assert_growth(small, large, FACTOR);
}

/// Shuts down a delaying queue in which many items wait for their time.
pub(crate) fn shut_down_beside_delayed() {
    let [small, .., large] = SIZES.map(|size| {
        let one = shortest(|| {
            let mut machine = Delaying::<u64>::default();
            for key in 0..size as u64 {
                let (delay, called) = (Duration::from_secs(3_600), Some(Instant::ZERO));
                let mut add = AddAfter { key: Some(key), hash: key << 7, delay, called };
                let _added = add.step(&mut machine, &mut Cx::new(&Manual::new()));
            }
            mean_step(size, &mut machine, ShutDown::new())
        });
        tell(size, "mean step", one);
        one
    });
    assert_growth(small, large, FACTOR);
}

/// Fills queues and empties them: afterwards they hold only a small part of their memory.
pub(crate) fn bytes_after_emptying() {
    const MANY: u64 = 200_000;
    let runtime = Manual::new();
    let before = allocated();
    let queue = WorkQueue::<u64, _>::new(&runtime);
    (0..MANY).for_each(|key| queue.add(key));
    let full = allocated() - before;
    (0..MANY).for_each(|_| drop(queue.get()));
    assert_given_back(MANY as usize, "a work queue", full, allocated() - before);
    drop(queue);

    let before = allocated();
    let queue = DelayingQueue::<u64, _>::new(&runtime);
    (0..MANY).for_each(|key| queue.add_after(key, DELAY));
    let full = allocated() - before;
    runtime.advance(DELAY);
    (0..MANY).for_each(|_| drop(queue.get()));
    assert_given_back(MANY as usize, "a delaying queue", full, allocated() - before);
    drop(queue);

    let before = allocated();
    let queue = PriorityQueue::<u64, _>::new(&runtime);
    (0..MANY).for_each(|key| queue.add_after(key, DELAY));
    let full = allocated() - before;
    runtime.advance(DELAY);
    (0..MANY).for_each(|_| drop(queue.get()));
    assert_given_back(MANY as usize, "a priority queue", full, allocated() - before);
}

/// Fills a store and empties it, and forgets the failures of many items.
pub(crate) fn bytes_of_a_store() {
    const MANY: u64 = 200_000;
    let before = allocated();
    let store = indexed_store();
    placed(MANY).for_each(|object| assert!(store.add(object).is_ok()));
    let full = allocated() - before;
    placed(MANY).for_each(|object| assert!(store.delete(&object).is_ok()));
    assert_given_back(MANY as usize, "an indexed store", full, allocated() - before);
    assert_eq!(store.list().len(), 0);
    drop(store);

    let before = allocated();
    let limiter = RateLimiter::new(&Manual::new(), Exponential::new(DELAY, DELAY));
    (0..MANY).for_each(|key| assert_eq!(limiter.when(&key), DELAY));
    let full = allocated() - before;
    (0..MANY).for_each(|key| limiter.forget(&key));
    assert_given_back(MANY as usize, "a limiter", full, allocated() - before);
}
