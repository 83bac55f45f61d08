//! Ending one item and taking the next in one critical section.

use super::*;
use crate::limited_queue::{LimitedQueue, Outcome};
use crate::priority_queue::PriorityQueue;
use crate::queue::Deliver as _;
use crate::runtime::probe::{Probe, Probing};

/// The calls that all queues have.
macro_rules! of_every_queue {
    ($($queue:ident: $make:expr;)*) => {$(
        mod $queue {
            use super::*;

            #[test]
            fn what_was_added_meanwhile_and_what_waits_wake_one_consumer_each() {
                let queue = $make;
                let [first, second]: [Arc<Bell>; 2] = Default::default();
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                let (mut one, mut two) = (pin!(queue.take_async()), pin!(queue.take_async()));
                assert!(poll(one.as_mut(), &first).is_pending());
                assert!(poll(two.as_mut(), &second).is_pending());
                queue.add(1); // in processing
                queue.add(2);
                assert_eq!((first.rings(), second.rings()), (1, 0));
                let next = queue.done_then_take(token).expect("two items wait").0;
                assert_eq!((first.rings(), second.rings()), (1, 1));
                assert_eq!(queue.len(), 1, "the other one");
                assert!(!queue.done(token) && queue.done(next));
            }

            #[test]
            fn a_worker_that_finds_nothing_has_ended_its_item_when_it_sleeps() {
                let queue = $make;
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                std::thread::scope(|threads| {
                    let worker = threads.spawn(|| queue.done_then_take(token));
                    while queue.done(token) {
                        std::thread::yield_now(); // it was not the worker's to end
                    }
                    queue.add(7);
                    assert_eq!(worker.join().expect("no panic").map(|next| next.1), Some(7));
                });
            }

            #[test]
            fn a_delivery_that_has_ended_does_not_keep_from_the_next() {
                let queue = $make;
                (1..=2).for_each(|key| queue.add(key));
                let (token, _) = queue.take().expect("two items wait");
                assert!(queue.done(token));
                assert_eq!(queue.done_then_take(token).map(|next| next.1), Some(2));
            }

            #[test]
            fn at_the_end_the_item_is_done_and_there_is_no_next() {
                let queue = $make;
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                queue.shut_down();
                assert!(queue.done_then_take(token).is_none());
                assert!(!queue.done(token));
            }
        }
    )*};
}

mod calls {
    use super::*;

    of_every_queue! {
        queue: WorkQueue::<u8>::new(&System::new());
        delaying_queue: DelayingQueue::<u8>::new(&System::new());
        limited_queue: LimitedQueue::<u8>::with_default_limiter(&System::new());
        priority_queue: PriorityQueue::<u8>::new(&System::new());
    }
}

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
