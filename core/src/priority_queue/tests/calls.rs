//! The calls of the queue: each does what its operation does, on threads and as a future.

use std::hash::{BuildHasher, DefaultHasher};
use std::num::NonZeroUsize;

use super::*;
use crate::runtime::{Ambient, Manual};

fn two() -> NonZeroUsize {
    NonZeroUsize::new(2).unwrap()
}

/// A queue with three items, the one with the larger number first.
fn three() -> PriorityQueue<u8> {
    let queue = PriorityQueue::new(&System::new());
    (1..=3).for_each(|key| queue.add_with(key, priority(key.into())));
    queue
}

#[test]
fn a_batch_is_added_in_one_call() {
    let queue = PriorityQueue::new(&System::new());
    queue.add_all([1, 2, 1], priority(7));
    assert_eq!(queue.len(), 2);
    let (token, key, priority) = queue.take_with_priority().unwrap();
    assert_eq!((key, priority), (1, 7));
    queue.add_all([3], failed(8));
    assert_eq!((queue.num_requeues(&3), queue.retries()), (1, 1));
    assert!(queue.settle(token, Outcome::Retry, 0));
    assert_eq!((queue.num_requeues(&1), queue.retries()), (1, 2));
}

#[test]
fn a_batch_is_taken_with_its_priorities_and_done_when_it_is_let_go_of() {
    let queue = three();
    let (batch, priorities) = queue.get_batch(two()).unwrap();
    assert_eq!((&*batch, priorities), (&[3, 2][..], vec![3, 2]));
    assert_eq!(queue.len(), 1);
    drop(batch);
    assert!(!queue.done_key(&3) && !queue.done_key(&2), "they are done");
    let (batch, priorities) = System::new().block_on(queue.get_batch_async(two())).unwrap();
    assert_eq!((&*batch, priorities), (&[1][..], vec![1]));
    batch.done();
    queue.shut_down();
    assert!(queue.get_batch(two()).is_none() && queue.take_batch(two()).is_empty());
    assert!(System::new().block_on(queue.get_batch_async(two())).is_none());
}

#[test]
fn done_all_says_how_many_deliveries_it_ended() {
    let queue = three();
    let tokens: Vec<_> = queue.take_batch(two()).iter().map(|(token, ..)| *token).collect();
    assert_eq!(tokens.len(), 2);
    assert!(queue.done_key(&2));
    assert_eq!(queue.done_all(tokens.clone()), 1);
    assert_eq!(queue.done_all(tokens), 0);
}

#[test]
fn a_task_takes_the_first_with_its_priority() {
    let queue = three();
    let (work, priority) = System::new().block_on(queue.get_async()).unwrap();
    assert_eq!((*work, priority), (3, 3));
    drop(work);
    assert!(!queue.done_key(&3), "it is done");
    queue.shut_down();
    assert!(System::new().block_on(queue.get_async()).is_none(), "PQ-31");
}

#[test]
fn a_worker_settles_what_it_was_handed_out() {
    let queue = three();
    let mut runs = 0;
    assert!(!queue.is_shutting_down());
    queue.work(|key, priority| {
        runs += 1;
        if runs == 1 {
            assert_eq!((*key, priority), (3, 3));
            return Outcome::Retry;
        }
        queue.shut_down();
        Outcome::RequeueAfter(ms(1))
    });
    assert_eq!((runs, queue.num_requeues(&3), queue.retries()), (2, 1, 1), "PQ-42, PQ-2");
    assert!(!queue.done_key(&3) && !queue.done_key(&2), "every delivery has ended");
}

#[test]
fn what_succeeds_while_the_queue_shuts_down_is_forgotten() {
    let runtime = Manual::new();
    let queue = PriorityQueue::new(&runtime);
    queue.add_rate_limited(1);
    runtime.advance(Duration::from_secs(1));
    assert_eq!(queue.num_requeues(&1), 1);
    queue.work(|_, _| {
        queue.shut_down();
        Outcome::Success
    });
    assert_eq!(queue.num_requeues(&1), 0, "CL-3");
}

/// Checks that the only item becomes ready after this delay and not sooner; takes and ends it.
fn is_handed_out_after(delay: Duration, queue: &PriorityQueue<u8, Manual>, runtime: &Manual) {
    if let Some(before) = delay.checked_sub(Duration::from_nanos(1)) {
        runtime.advance(before);
        assert!(queue.is_empty(), "not before {delay:?}");
        runtime.advance(Duration::from_nanos(1));
    }
    assert!(!queue.is_empty(), "after {delay:?}");
    let (token, ..) = queue.take_with_priority().unwrap();
    assert!(queue.done(token));
}

#[test]
fn failures_in_a_new_queue_wait_from_five_milliseconds_to_a_thousand_seconds() {
    let runtime = Manual::new();
    let queue = PriorityQueue::new(&runtime);
    for failures in 0..20 {
        queue.add_rate_limited(1);
        let delay = (ms(5) * 2_u32.pow(failures)).min(Duration::from_secs(1000));
        is_handed_out_after(delay, &queue, &runtime);
    }
}

#[test]
fn an_item_is_added_after_a_delay_or_at_once() {
    let runtime = Manual::new();
    let queue = PriorityQueue::new(&runtime);
    queue.add_after(1, ms(3));
    is_handed_out_after(ms(3), &queue, &runtime);
    queue.add(1);
    is_handed_out_after(Duration::ZERO, &queue, &runtime);
    assert_eq!((queue.num_requeues(&1), queue.retries()), (0, 1));
}

/// Takes seven milliseconds for every hash.
struct Slow(Manual);

impl BuildHasher for Slow {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> Self::Hasher {
        self.0.advance(ms(7));
        DefaultHasher::new()
    }
}

#[test]
fn a_delay_counts_from_the_call_and_not_from_when_the_item_is_hashed() {
    let runtime = Manual::new();
    runtime.advance(ms(1000));
    let machine = Prioritized::new(Exponential::new(ms(10), ms(1000)), ());
    let queue = PriorityQueue::with_host(&runtime, Slow(runtime.clone()), machine);
    let called = runtime.now();
    queue.add_after(1, ms(10));
    queue.add_all([2], failed(0));
    assert_eq!(queue.len(), 1, "PQ-16");
    runtime.advance(ms(3));
    assert_eq!((queue.len(), runtime.now()), (2, called + ms(17)), "PQ-16");
}

#[test]
fn what_is_forgotten_has_never_failed() {
    let queue = PriorityQueue::new(&System::new());
    queue.add_rate_limited(1);
    assert_eq!(queue.num_requeues(&1), 1);
    queue.forget(&1);
    assert_eq!(queue.num_requeues(&1), 0, "PQ-17");
    assert_eq!(format!("{queue:?}"), "PriorityQueue");
}

#[test]
fn whatever_comes_back_does_with_the_priority_that_it_was_handed_out_with() {
    for outcome in [Outcome::Retry, Outcome::RequeueAfter(ms(1)), Outcome::RequeueAfter(ms(0))] {
        let mut seen = vec![];
        let queue = PriorityQueue::with_limiter(&System::new(), Exponential::new(ms(1), ms(1)));
        queue.add_with(1, priority(7));
        queue.work(|_, priority| {
            seen.push(priority);
            if seen.len() == 1 {
                return outcome;
            }
            queue.shut_down();
            Outcome::Success
        });
        assert_eq!(seen, [7, 7], "{outcome:?}: PQ-42");
    }
}
