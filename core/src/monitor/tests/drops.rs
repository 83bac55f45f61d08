//! Destructors of keys and wakers that panic. The call returns its result all the same, and every
//! value is dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::cancel::CancelToken;
use crate::limited_queue::{LimitedQueue, Outcome};
use crate::limiter::Exponential;
use crate::priority_queue::{AddOptions, PriorityQueue};
use crate::queue::Deliver;
use crate::runtime::bursting::{Bursting, Fuse};

const LATER: Duration = Duration::from_secs(1);

fn bursting() -> (Arc<Fuse>, impl Fn(u8) -> Bursting) {
    let fuse = Arc::<Fuse>::default();
    let of = Arc::clone(&fuse);
    (fuse, move |number| Bursting(number, Arc::clone(&of)))
}

/// Makes a call while destructors panic. Returns its result and how many of them did.
fn during<T>(fuse: &Fuse, call: impl FnOnce() -> T) -> (T, usize) {
    fuse.light();
    let result = catch_unwind(AssertUnwindSafe(call));
    let bursts = fuse.bursts();
    (result.unwrap_or_else(|_| panic!("the panic of a destructor took the result")), bursts)
}

/// Takes an item; the copy of its key is dropped.
fn token<Q: Deliver>(queue: &Q) -> Token {
    queue.take().expect("one item waits").0
}

/// Tests for every queue: how to make it, and how to add two items in one call.
macro_rules! every_queue {
    ($($queue:ident: $make:expr, $add_all:expr;)*) => {$(
        mod $queue {
            use super::*;

            #[test]
            fn a_delivery_ends_although_the_key_that_leaves_cannot_be_dropped() {
                let (fuse, key) = bursting();
                let queue = $make;
                queue.add(key(1));
                let first = token(&queue);
                assert_eq!(during(&fuse, || queue.done(first)), (true, 1));
                assert!(!queue.done(first));
                queue.add(key(2));
                let (second, named) = (token(&queue), key(2));
                let done = during(&fuse, || queue.done_key(&named));
                assert_eq!(done, (true, 2), "the key of the queue and the copy of the call");
                assert!(!queue.done(second));
            }

            #[test]
            fn many_deliveries_end_although_their_keys_cannot_be_dropped() {
                let (fuse, key) = bursting();
                let queue = $make;
                (1..=2).for_each(|number| queue.add(key(number)));
                let tokens = [token(&queue), token(&queue)];
                assert_eq!(during(&fuse, || queue.done_all(tokens)), (2, 2));
                assert_eq!(queue.done_all(tokens), 0);
            }

            #[test]
            fn the_next_item_is_taken_although_the_key_that_leaves_cannot_be_dropped() {
                let (fuse, key) = bursting();
                let queue = $make;
                (1..=2).for_each(|number| queue.add(key(number)));
                let first = token(&queue);
                let (next, bursts) = during(&fuse, || queue.done_then_take(first));
                let next = next.expect("one waits");
                assert_eq!((next.1.0, bursts), (2, 1));
                assert!(queue.done(next.0) && !queue.done(first));
            }

            #[test]
            fn keys_that_come_after_the_shutdown_are_all_dropped_although_they_panic() {
                let (fuse, key) = bursting();
                let queue = $make;
                queue.shut_down();
                let keys = [key(1), key(2)];
                assert_eq!(during(&fuse, || $add_all(&queue, keys)), ((), 2));
            }
        }
    )*};
}

every_queue! {
    work: WorkQueue::new(&System::new()),
        |queue: &WorkQueue<_>, keys: [Bursting; 2]| queue.add_all(keys);
    delaying: DelayingQueue::new(&System::new()),
        |queue: &DelayingQueue<_>, keys: [Bursting; 2]| queue.add_all(keys);
    limited: LimitedQueue::with_default_limiter(&System::new()),
        |queue: &LimitedQueue<_>, keys: [Bursting; 2]| queue.add_all(keys);
    priority: PriorityQueue::new(&System::new()),
        |queue: &PriorityQueue<_>, keys: [Bursting; 2]| {
            queue.add_all(keys, AddOptions::default());
        };
}

#[test]
fn a_delivery_is_settled_although_the_keys_of_queue_and_limiter_cannot_be_dropped() {
    let limiter = || Exponential::new(Duration::ZERO, Duration::ZERO);
    for outcome in [Outcome::Success, Outcome::GiveUp] {
        let (fuse, key) = bursting();
        let queue = LimitedQueue::new(&System::new(), limiter());
        queue.add_rate_limited(key(1));
        let taken = token(&queue);
        assert_eq!(during(&fuse, || queue.settle(taken, outcome)), (true, 2));
        assert_eq!((queue.settle(taken, outcome), queue.num_requeues(&key(1))), (false, 0));

        let (fuse, key) = bursting();
        let queue = PriorityQueue::with_limiter(&System::new(), limiter());
        queue.add_rate_limited(key(1));
        let taken = token(&queue);
        assert_eq!(during(&fuse, || queue.settle(taken, outcome, 0)), (true, 2));
        assert_eq!((queue.settle(taken, outcome, 0), queue.num_requeues(&key(1))), (false, 0));
    }
}

#[test]
fn a_shutdown_drops_all_delayed_keys_although_they_panic() {
    let (fuse, key) = bursting();
    let queue = DelayingQueue::new(&Manual::new());
    (1..=2).for_each(|number| queue.add_after(key(number), LATER));
    assert_eq!(during(&fuse, || queue.shut_down()), ((), 2));
    assert!(queue.is_shutting_down() && queue.is_empty());

    let queue = LimitedQueue::with_default_limiter(&Manual::new());
    (1..=2).for_each(|number| queue.add_after(key(number), LATER));
    assert_eq!(during(&fuse, || queue.shut_down_with_drain()), ((), 2));
    assert!(queue.is_shutting_down() && queue.is_empty());
}

/// Polls a future that waits, with a waker that only this future has.
fn waits<F: Future>(future: Pin<&mut F>, waker: Bursting) {
    let waker = Waker::from(Arc::new(waker));
    assert!(future.poll(&mut Context::from_waker(&waker)).is_pending());
}

#[test]
fn a_waker_that_cannot_be_dropped_takes_nothing_from_the_future_that_had_it() {
    let (fuse, waker) = bursting();
    let (queue, bell) = (WorkQueue::new(&System::new()), Arc::<Bell>::default());
    let mut getter = Box::pin(queue.take_async());
    waits(getter.as_mut(), waker(1));
    let (again, bursts) = during(&fuse, || poll(getter.as_mut(), &bell));
    assert_eq!((again.is_pending(), bursts), (true, 1), "another one replaces it");
    queue.add(1);
    assert_eq!((bell.rings(), taken(poll(getter.as_mut(), &bell))), (1, Some(1)));

    let (mut given_up, mut other) = (Box::pin(queue.take_async()), pin!(queue.take_async()));
    waits(given_up.as_mut(), waker(1));
    assert!(poll(other.as_mut(), &bell).is_pending());
    assert_eq!(during(&fuse, || drop(given_up)), ((), 1));
    queue.add(2);
    assert_eq!(taken(poll(other.as_mut(), &bell)), Some(2));
}

#[test]
fn a_timer_whose_waker_cannot_be_dropped_takes_nothing_from_the_future_that_has_it() {
    let (fuse, waker) = bursting();
    let (clock, bell) = (Manual::new(), Arc::<Bell>::default());
    let queue = DelayingQueue::new(&clock);
    queue.add_after(1, LATER);
    let mut getter = pin!(queue.take_async());
    waits(getter.as_mut(), waker(1));
    let (again, bursts) = during(&fuse, || poll(getter.as_mut(), &bell));
    assert_eq!((again.is_pending(), bursts), (true, 1), "the timer had the last copy");
    clock.advance(LATER);
    assert_eq!(taken(poll(getter.as_mut(), &bell)), Some(1));
}

#[test]
fn a_waker_that_cannot_be_dropped_is_taken_from_a_token() {
    fn hook<R: Runtime>(fuse: &Arc<Fuse>, token: &CancelToken<R>) {
        let hook = token.on_end(Arc::new(Bursting(1, Arc::clone(fuse))).into());
        assert_eq!(during(fuse, || drop(hook)), ((), 1));
        let bell = Arc::<Bell>::default();
        let other = token.on_end(Arc::clone(&bell).into());
        token.cancel();
        assert_eq!(bell.rings(), 1);
        drop(other);
    }
    let (fuse, system) = (Arc::<Fuse>::default(), System::new());
    hook(&fuse, &CancelToken::new(&system));
    hook(&fuse, &CancelToken::with_deadline(&system, system.now() + Duration::from_secs(600)));
    let clock = Manual::new();
    hook(&fuse, &CancelToken::new(&clock));
    hook(&fuse, &CancelToken::with_deadline(&clock, clock.now() + LATER));
}

#[test]
fn a_wait_for_a_token_goes_on_with_another_waker_although_the_first_cannot_be_dropped() {
    let (fuse, waker) = bursting();
    let token = CancelToken::new(&System::new());
    let bell = Arc::<Bell>::default();
    let mut wait = pin!(token.wait_async());
    waits(wait.as_mut(), waker(1));
    // The hook and the future have a copy each; the future drops the last one.
    let (again, bursts) = during(&fuse, || poll(wait.as_mut(), &bell));
    assert_eq!((again.is_pending(), bursts), (true, 1));
    token.cancel();
    assert_eq!(bell.rings(), 1);
    assert!(poll(wait.as_mut(), &bell).is_ready());
}
