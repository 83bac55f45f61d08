//! Ending one item and taking the next in one critical section: the values that remain of the first
//! call, and the wake-ups of both. Tests for every queue are in `every_queue.rs`.

use super::*;
use crate::limited_queue::{LimitedQueue, Outcome};
use crate::priority_queue::PriorityQueue;
use crate::runtime::probe::{Probe, Probing};

#[test]
fn nobody_comes_between_the_end_and_the_next_and_the_key_drops_without_the_lock() {
    let (queue, probe) = (Arc::new(WorkQueue::new(&System::new())), Arc::<Probe>::default());
    (1..=2).for_each(|number| queue.add(Probing(number, Arc::clone(&probe))));
    let (token, key) = queue.take().expect("two items wait");
    let (asked, left) = (Arc::clone(&queue), Arc::new(AtomicU32::new(u32::MAX)));
    let seen = Arc::clone(&left);
    probe.calls(move || seen.store(asked.len() as u32, Ordering::Relaxed));
    let (next, _second) = queue.done_then_take(token).expect("one item waits");
    assert_eq!(left.load(Ordering::Relaxed), 0, "the next was taken before the last was dropped");
    drop(key);
    assert!(queue.done(next));
}

#[test]
fn what_a_worker_made_of_its_item_is_settled_before_it_takes_the_next() {
    let clock = Manual::new();
    let queue = LimitedQueue::<u8, _>::with_default_limiter(&clock);
    (1..=2).for_each(|key| queue.add(key));
    let (token, _) = queue.take().expect("two items wait");
    let (token, second) = queue.settle_then_take(token, Outcome::Retry).expect("one waits");
    assert_eq!((second, queue.num_requeues(&1), queue.retries()), (2, 1, 1));
    clock.advance(Duration::from_millis(5));
    let (token, first) = queue.settle_then_take(token, Outcome::Success).expect("it is due");
    assert_eq!((first, queue.num_requeues(&2)), (1, 0));
    assert!(queue.settle(token, Outcome::Success));
    assert_eq!(queue.num_requeues(&1), 0);
}

#[test]
fn who_sleeps_learns_of_an_item_that_comes_later_although_its_worker_waits_for_it_too() {
    let queue = LimitedQueue::<u8>::with_default_limiter(&System::new());
    let bell = Arc::<Bell>::default();
    queue.add(1);
    let (token, _) = queue.take().expect("one item waits");
    let mut getter = pin!(queue.take_async());
    assert!(poll(getter.as_mut(), &bell).is_pending());
    let later = Outcome::RequeueAfter(Duration::from_millis(1));
    let next = queue.settle_then_take(token, later).expect("it comes again");
    assert_eq!((next.1, bell.rings()), (1, 1));
}

#[test]
fn who_sleeps_is_woken_for_what_has_become_due_besides_the_next() {
    let clock = Manual::new();
    let queue = DelayingQueue::<u8, _>::new(&clock);
    let bell = Arc::<Bell>::default();
    queue.add(1);
    let (token, _) = queue.take().expect("one item waits");
    (2..=3).for_each(|key| queue.add_after(key, Duration::from_millis(1)));
    let mut getter = pin!(queue.take_async());
    assert!(poll(getter.as_mut(), &bell).is_pending());
    clock.advance(Duration::from_millis(1));
    let before = bell.rings();
    assert!(queue.done_then_take(token).is_some());
    assert_eq!(bell.rings(), before + 1, "two are due, and this caller takes one");
}

#[test]
fn an_item_that_is_settled_comes_back_with_its_priority() {
    let clock = Manual::new();
    let queue = PriorityQueue::<u8, _>::new(&clock);
    (1..=2).for_each(|key| queue.add(key));
    let (token, ..) = queue.take_with_priority().expect("two items wait");
    let again = Outcome::RequeueAfter(Duration::ZERO);
    let next = queue.settle_then_take(token, again, 7).expect("two items wait");
    assert_eq!((next.1, next.2), (1, 7));
    queue.add_after(3, Duration::from_millis(1));
    clock.advance(Duration::from_millis(1));
    let next = queue.settle_then_take(next.0, Outcome::Success, 0).expect("two items wait");
    assert_eq!((next.1, queue.len()), (2, 1), "what is due by then is looked for as well");
}
