//! The ends of deliveries, and of the queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::limiter::Item;
use crate::machine::Wakes;
use crate::queue::UPDATERS;
use crate::queue::items::{DELAYED, DIRTY, PROCESSING};
use crate::runtime::Ambient;

#[test]
fn after_shutdown_nothing_is_added_or_handed_out() {
    let mut queue = machine();
    queue.add(1, priority(0));
    let (token, ..) = queue.get();
    queue.add_all(&[1, 2], priority(0));
    queue.add(3, after(0, 10));
    queue.call(ShutDown);
    assert_eq!(queue.woken.get(GETTERS), Wakes::ALL);
    assert!(queue.call(ShuttingDown));
    queue.add(4, failed(0));
    queue.add_all(&[5], priority(0));
    assert_eq!(queue.failures(4), 0, "PQ-2: the limiter is not asked");
    queue.advance(ms(10));
    assert_eq!((queue.len(), queue.call(Get).is_none()), (2, true), "PQ-31");
    queue.done(token); // PQ-35
    assert_eq!(queue.len(), 2);
    queue.call(ShutDown); // PQ-33
}

#[test]
fn what_was_due_before_a_shutdown_is_ready_and_nothing_becomes_ready_after_it() {
    let mut queue = machine();
    queue.add(1, after(0, 10));
    queue.add(2, after(0, 11));
    queue.advance(ms(10));
    queue.call(ShutDown);
    assert_eq!((queue.woken.get(GETTERS), queue.woken.get(UPDATERS)), (Wakes::ALL, Wakes::ALL));
    queue.advance(ms(100));
    assert_eq!((queue.len(), queue.machine.waiting()), (1, 1), "PQ-31");
}

#[test]
fn done_of_what_is_not_locked_is_harmless() {
    let mut queue = machine();
    queue.add(1, priority(0));
    assert_eq!(queue.call(DoneKey { key: 1, hash: 1 }), Finished::NotInProcessing);
    assert_eq!(queue.call(DoneKey { key: 2, hash: 2 }), Finished::NotInProcessing);
    let (token, ..) = queue.get();
    assert_eq!(queue.call(DoneKey { key: 1, hash: 1 }), Finished::Ended(Some(1)));
    assert_eq!(queue.call(Done(token)), Finished::NotInProcessing);
    let settle = Settle::new(token, Outcome::Retry, 0);
    assert_eq!(queue.call(settle), Finished::NotInProcessing);
    assert_eq!(queue.failures(1), 0);
}

#[test]
fn failures_are_counted_from_delivery_to_delivery_until_one_succeeds() {
    let mut queue = machine();
    queue.add(1, priority(0));
    for (outcome, failures) in [
        (Outcome::Retry, 1),
        (Outcome::Retry, 2),
        (Outcome::RequeueAfter(ms(1)), 0),
        (Outcome::Retry, 1),
        (Outcome::Success, 0),
    ] {
        queue.advance(ms(1000));
        let (token, ..) = queue.get();
        queue.call(Settle::new(token, outcome, 0));
        assert_eq!(queue.failures(1), failures, "after {outcome:?}");
    }
    assert_eq!((queue.machine.waiting(), queue.machine.locked()), (0, 0));
}

#[test]
fn what_is_settled_after_shutdown_neither_comes_back_nor_counts() {
    for outcome in [Outcome::Retry, Outcome::RetryAfter(ms(1))] {
        let mut queue = machine();
        queue.add(1, priority(0));
        let (token, ..) = queue.get();
        assert_eq!(queue.machine.locked(), 1);
        queue.call(ShutDown);
        queue.call(Settle::new(token, outcome, 0));
        assert_eq!((queue.failures(1), queue.call(Retries)), (0, 0), "PQ-2: {outcome:?}");
        assert_eq!((queue.machine.waiting(), queue.machine.locked()), (0, 0));
    }
}

/// Panics when it is called for one item.
struct Picky(u8);

impl Limiter<u8> for Picky {
    fn when(&mut self, item: Item<'_, u8>, _: Instant) -> Duration {
        assert_ne!(*item.key(), self.0, "a bug of the limiter");
        ms(1)
    }
    fn forget(&mut self, _: Item<'_, u8>, _: &mut Vec<u8>) {}
    fn num_requeues(&self, _: Item<'_, u8>) -> u32 {
        0
    }
}

#[test]
fn an_item_whose_limiter_panics_is_not_kept() {
    let mut queue = Stepped::new(Prioritized::new(Picky(2), Journal::default()));
    let add = AssertUnwindSafe(|| queue.add_all(&[1, 2, 3], failed(0)));
    assert!(catch_unwind(add).is_err());
    queue.machine.check();
    assert_eq!((queue.machine.items.len(), queue.machine.waiting()), (1, 1), "the first waits");
    queue.machine.limiter.0 = 0;
    queue.add(2, failed(0));
    queue.advance(ms(1));
    assert_eq!(queue.drain(), [(1, 0), (2, 0)]);
    assert_eq!(queue.machine.items.len(), 0);
}

#[test]
fn a_state_tells_how_many_are_ready_wait_and_are_locked() {
    let mut queue = machine();
    queue.add_all(&[1, 2, 3], priority(0));
    queue.add_all(&[4, 5], after(0, 10));
    queue.get();
    queue.get();
    queue.add(1, priority(0));
    let state = &queue.machine;
    assert_eq!((state.len(), state.waiting(), state.locked()), (2, 2, 2));
    assert!(!state.is_empty());
    let shown = format!("{state:?}");
    assert!(shown.contains("ready: 1, parked: 1, waiting: 2, locked: 2"), "{shown}");
    assert!(machine().machine.is_empty());
}

#[test]
fn threads_receive_every_item_until_shutdown() {
    let runtime = System::new();
    let queue = Arc::new(PriorityQueue::new(&runtime));
    let processed = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let (queue, processed) = (Arc::clone(&queue), Arc::clone(&processed));
            runtime.spawn("worker", move || {
                let mut seen = vec![];
                queue.work(|key, priority| {
                    assert_eq!(priority, i32::from(*key % 3));
                    seen.push(*key);
                    processed.fetch_add(1, Ordering::Relaxed);
                    Outcome::Success
                });
                seen
            })
        })
        .collect();
    for key in 0..30_u8 {
        let options = after(i32::from(key % 3), u64::from(key % 10));
        queue.add_with(key, options);
    }
    while processed.load(Ordering::Relaxed) < 30 {
        runtime.sleep_until(runtime.now() + ms(1));
    }
    assert_eq!(queue.retries(), 27, "zero delays do not count");
    queue.shut_down();
    let seen = workers.into_iter().map(|worker| runtime.join(worker).unwrap());
    let mut seen: Vec<_> = seen.flatten().collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..30).collect::<Vec<_>>());
}

#[test]
fn a_panicking_worker_unlocks_its_item() {
    let queue = PriorityQueue::new(&System::new());
    queue.add(1);
    let worker = AssertUnwindSafe(|| queue.work(|_, _| panic!("reconcile failed")));
    assert!(catch_unwind(worker).is_err());
    assert_eq!(queue.num_requeues(&1), 0);
    queue.add_rate_limited(1);
    assert_eq!(queue.num_requeues(&1), 1);
    queue.forget(&1);
    queue.add_after(1, ms(1));
    let (work, priority) = queue.get().unwrap();
    assert_eq!((*work, priority), (1, 0));
    drop(work);
    queue.add(1);
    assert_eq!(queue.take().map(|(token, key)| (queue.done(token), key)), Some((true, 1)));
    assert!(!queue.done_key(&1));
    queue.add_all([], AddOptions::default());
    queue.shut_down();
    assert!(queue.take().is_none() && queue.is_shutting_down());
}

#[test]
fn a_state_whose_marks_are_wrong_is_noticed() {
    for wrong in [0, DELAYED, PROCESSING, DIRTY | DELAYED, DIRTY | PROCESSING] {
        let mut queue = machine();
        queue.add(1, priority(0));
        *queue.machine.items.marked(Slot(0)).1 = wrong;
        let check = AssertUnwindSafe(|| queue.machine.check());
        assert!(catch_unwind(check).is_err(), "{wrong:b}");
    }
}
