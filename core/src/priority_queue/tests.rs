//! The rules of the priority queue, one behaviour a test.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::limiter::{Bucket, FOREVER, Rate};
use crate::machine::by_hand::ByHand;
use crate::machine::{Cx, Wakes};
use crate::runtime::Ambient;
use crate::slab::Slot;

type Machine<L = Exponential<u8>> = ByHand<Prioritized<u8, L, Journal>>;

/// Writes down what it is told.
#[derive(Clone, Default)]
struct Journal(Vec<String>);

impl Observer for Journal {
    fn ready(&mut self, entry: Slot, priority: i32, _: &mut Cx<'_>) {
        self.0.push(format!("{} ready {priority}", entry.0));
    }
    fn rose(&mut self, entry: Slot, priority: i32) {
        self.0.push(format!("{} rose {priority}", entry.0));
    }
    fn handed_out(&mut self, entry: Slot, _: &mut Cx<'_>) {
        self.0.push(format!("{} out", entry.0));
    }
    fn done(&mut self, entry: Slot, _: &mut Cx<'_>) {
        self.0.push(format!("{} done", entry.0));
    }
    fn retried(&mut self) {
        self.0.push("retried".to_owned());
    }
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

fn machine() -> Machine {
    ByHand::new(Prioritized::new(Exponential::new(ms(10), ms(1000)), Journal::default()))
}

fn priority(priority: i32) -> AddOptions {
    AddOptions { priority, ..AddOptions::default() }
}

fn after(priority: i32, delay: u64) -> AddOptions {
    AddOptions { after: Some(ms(delay)), ..self::priority(priority) }
}

fn failed(priority: i32) -> AddOptions {
    AddOptions { rate_limited: true, ..self::priority(priority) }
}

impl<L: Limiter<u8>> Machine<L> {
    fn add(&mut self, key: u8, options: AddOptions) {
        self.call(Add { key: Some(key), hash: key.into(), options, called: None });
    }

    fn add_all(&mut self, keys: &[u8], options: AddOptions) {
        let items = keys.iter().map(|key| (Some(*key), u64::from(*key))).collect();
        self.call(AddBatch { items, options, called: None });
    }

    fn get(&mut self) -> (Token, u8, i32) {
        self.call(Get).expect("an item, not shutdown")
    }

    fn done(&mut self, token: Token) {
        assert!(matches!(self.call(Done(token)), Finished::Ended(_)));
    }

    fn len(&mut self) -> usize {
        self.call(Len)
    }

    fn failures(&mut self, key: u8) -> u32 {
        self.call(NumRequeues { key, hash: key.into() })
    }

    /// Takes and ends everything that can be handed out: items and priorities.
    fn drain(&mut self) -> Vec<(u8, i32)> {
        (0..self.len())
            .map(|_| {
                let (token, key, priority) = self.get();
                self.done(token);
                (key, priority)
            })
            .collect()
    }

    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.machine.observer.0)
    }
}

#[test]
fn the_highest_priority_comes_first_and_equals_in_order() {
    let mut queue = machine();
    for (key, rank) in [(1, 0), (2, 5), (3, 5), (4, -100), (5, i32::MAX), (6, i32::MIN)] {
        queue.add(key, priority(rank));
    }
    assert_eq!(
        queue.drain(),
        [(5, i32::MAX), (2, 5), (3, 5), (1, 0), (4, -100), (6, i32::MIN)],
        "PQ-22"
    );
}

#[test]
fn an_item_added_again_keeps_the_higher_priority_and_its_place() {
    let mut queue = machine();
    queue.add_all(&[1, 2, 3], priority(5));
    queue.add(1, priority(5));
    queue.add(2, priority(0));
    assert_eq!(queue.len(), 3);
    assert_eq!(queue.drain(), [(1, 5), (2, 5), (3, 5)], "PQ-11, PQ-12: no rise, same place");
}

#[test]
fn a_rise_puts_an_item_behind_its_new_equals() {
    let mut queue = machine();
    queue.add(1, priority(0));
    queue.add_all(&[2, 3], priority(5));
    queue.add(1, priority(5));
    queue.add(4, priority(5));
    assert_eq!(queue.drain(), [(2, 5), (3, 5), (1, 5), (4, 5)], "PQ-12");
}

#[test]
fn a_ready_item_never_goes_back_to_waiting() {
    let mut queue = machine();
    queue.add(1, priority(0));
    queue.add(1, after(7, 50));
    assert_eq!((queue.len(), queue.machine.waiting()), (1, 0), "PQ-10");
    assert_eq!(queue.drain(), [(1, 7)]);
    assert_eq!(queue.call(Retries), 1, "PQ-8: counted though a duplicate");
}

#[test]
fn a_waiting_item_keeps_the_earlier_time() {
    let mut queue = machine();
    queue.add(1, after(0, 10));
    queue.add(1, after(0, 20));
    queue.add(1, after(0, 5));
    queue.advance(ms(5));
    assert_eq!((queue.len(), queue.machine.waiting()), (1, 0));
}

#[test]
fn adding_at_once_ends_the_waiting_and_keeps_the_place() {
    let mut queue = machine();
    queue.add(1, after(0, 10));
    queue.add(2, priority(0));
    queue.add(1, priority(0));
    assert_eq!(queue.drain(), [(1, 0), (2, 0)], "PQ-13: the sequence of its first add");
    queue.add(1, after(0, 10));
    queue.add(2, priority(5));
    queue.add(1, priority(5));
    assert_eq!(queue.drain(), [(2, 5), (1, 5)], "unless its priority rises");
    queue.advance(ms(100));
    assert_eq!(queue.len(), 0, "the time is forgotten");
}

#[test]
fn items_become_ready_in_the_order_of_their_times_behind_those_that_are() {
    let mut queue = machine();
    queue.add(1, after(0, 20));
    queue.add(2, after(0, 10));
    queue.add(3, after(5, 10));
    queue.add(4, priority(0));
    queue.advance(ms(20) - Duration::from_nanos(1));
    assert_eq!(queue.len(), 3);
    queue.advance(Duration::from_nanos(1));
    assert_eq!(queue.drain(), [(3, 5), (4, 0), (2, 0), (1, 0)], "PQ-18");
}

#[test]
fn what_became_ready_before_an_add_is_before_it() {
    let mut queue = machine();
    queue.add(1, after(0, 10));
    queue.advance(ms(10));
    queue.add(2, priority(0));
    assert_eq!(queue.drain(), [(1, 0), (2, 0)]);
}

#[test]
fn a_priority_that_rises_while_waiting_counts_when_ready() {
    let mut queue = machine();
    queue.add_all(&[1, 2], after(0, 10));
    queue.add(2, after(3, 10));
    assert_eq!(queue.told(), ["retried", "retried", "retried"], "PQ-38: nothing is ready yet");
    queue.advance(ms(10));
    assert_eq!(queue.drain(), [(2, 3), (1, 0)]);
}

#[test]
fn a_locked_item_added_again_is_handed_out_after_done() {
    let mut queue = machine();
    queue.add(1, priority(0));
    let (token, ..) = queue.get();
    queue.add(1, priority(2));
    queue.add(2, priority(1));
    queue.add(1, priority(3));
    assert_eq!(queue.len(), 2, "PQ-29");
    assert_eq!(queue.get().1, 2, "PQ-25: skipped, and not in the way");
    queue.waits(Get);
    queue.done(token);
    assert_eq!(queue.woken.get(GETTERS), 1);
    let (token, key, rank) = queue.get();
    assert_eq!((key, rank), (1, 3), "PQ-15: not merged with the priority handed out");
    assert_eq!(queue.call(Done(token)), Finished::Ended(Some(1)));
}

#[test]
fn a_parked_item_keeps_its_place_among_equals() {
    let mut queue = machine();
    queue.add(1, priority(0));
    let (token, ..) = queue.get();
    queue.add(1, priority(0));
    queue.add(2, priority(0));
    queue.add(1, priority(0));
    queue.done(token);
    assert_eq!(queue.drain(), [(1, 0), (2, 0)]);
}

#[test]
fn a_locked_item_becomes_ready_while_it_is_locked() {
    let mut queue = machine();
    queue.add(1, priority(0));
    let (token, ..) = queue.get();
    queue.add(1, after(0, 10));
    queue.advance(ms(10));
    assert_eq!(queue.len(), 1, "PQ-20");
    queue.waits(Get);
    queue.done(token);
    let (token, ..) = queue.get();
    queue.add(1, after(0, 10));
    assert_eq!(queue.call(Done(token)), Finished::Ended(None), "it waits for its time");
    assert_eq!(queue.waits(Get), Some(at(20)));
}

#[test]
fn the_shorter_of_delay_and_limiter_counts() {
    let mut queue = machine();
    queue.add(1, AddOptions { after: Some(ms(4)), ..failed(0) });
    queue.add(2, AddOptions { after: Some(ms(400)), ..failed(0) });
    queue.add(3, AddOptions { after: Some(Duration::ZERO), ..failed(0) });
    assert_eq!(queue.drain(), [(3, 0)]);
    queue.advance(ms(4));
    assert_eq!(queue.drain(), [(1, 0)]);
    queue.advance(ms(6));
    assert_eq!(queue.drain(), [(2, 0)]);
    assert_eq!([1, 2, 3].map(|key| queue.failures(key)), [1, 1, 1], "PQ-7: it is always asked");
}

#[test]
fn the_limiters_answer_for_one_item_does_not_leak_to_the_next() {
    let mut queue = machine();
    for _ in 0..3 {
        queue.add(1, failed(0));
    }
    queue.add_all(&[1, 2], failed(0));
    queue.advance(ms(10));
    assert_eq!(queue.drain(), [(1, 0), (2, 0)], "PQ-6: 2 waits 10 ms, not 80");
}

#[test]
fn failures_count_also_for_queued_and_locked_items() {
    let mut queue = machine();
    queue.add(1, failed(0));
    queue.add(1, failed(0));
    queue.advance(ms(20));
    let (token, ..) = queue.get();
    queue.add(1, failed(0));
    assert_eq!(queue.failures(1), 3);
    queue.call(Forget { key: 1, hash: 1 });
    assert_eq!(queue.failures(1), 0, "PQ-17");
    queue.done(token);
}

#[test]
fn delays_count_from_the_call() {
    let mut queue = machine();
    queue.advance(ms(7));
    let called = Some(Instant::ZERO);
    queue.call(Add { key: Some(1), hash: 1, options: after(0, 10), called });
    queue.call(Add { key: None, hash: 1, options: after(0, 10), called });
    queue.advance(ms(3));
    assert_eq!(queue.len(), 1, "PQ-16");
}

#[test]
fn the_limiter_reads_the_clock_of_the_queue() {
    let limiter = Bucket::new(Rate::per_second(10.0), 1);
    let mut queue = ByHand::new(Prioritized::new(limiter, Journal::default()));
    queue.advance(Duration::from_secs(1000));
    queue.add_all(&[1, 2], failed(0));
    assert_eq!(queue.len(), 1);
    queue.advance(ms(100));
    assert_eq!(queue.len(), 2, "PQ-34");
}

#[test]
fn an_endless_delay_ends_never() {
    let mut queue = machine();
    queue.add(1, AddOptions { after: Some(Duration::MAX), ..priority(0) });
    queue.add(2, AddOptions { after: Some(FOREVER), ..priority(0) });
    assert_eq!(queue.waits(Get), Some(Instant::ZERO + FOREVER));
    queue.advance(Duration::MAX);
    assert_eq!(queue.len(), 1);
}

#[test]
fn consumers_wake_for_what_becomes_ready_and_for_an_earlier_time() {
    let mut queue = machine();
    queue.add(1, after(0, 10));
    assert_eq!(queue.woken.get(GETTERS), Wakes::ALL);
    queue.add(2, after(0, 10));
    queue.add(3, after(0, 11));
    queue.add(3, after(1, 11));
    assert!(!queue.woken.any());
    assert_eq!(queue.waits(Get), Some(at(10)));
    queue.add(3, after(0, 9));
    assert_eq!(queue.woken.get(GETTERS), Wakes::ALL, "brought forward to the front");
    queue.add(2, after(0, 9));
    assert!(!queue.woken.any(), "brought forward, but not to the front");
    queue.add(4, priority(0));
    assert_eq!(queue.woken.get(GETTERS), 1);
    queue.add(4, priority(1));
    assert!(!queue.woken.any(), "ready already");
    queue.advance(ms(10));
    queue.get();
    assert_eq!(queue.woken.get(GETTERS), 2, "three became ready, one is taken here");
}

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
fn done_of_what_is_not_locked_is_harmless() {
    let mut queue = machine();
    queue.add(1, priority(0));
    assert_eq!(queue.call(DoneKey { key: 1, hash: 1 }), Finished::NotInProcessing);
    assert_eq!(queue.call(DoneKey { key: 2, hash: 2 }), Finished::NotInProcessing);
    let (token, ..) = queue.get();
    assert_eq!(queue.call(DoneKey { key: 1, hash: 1 }), Finished::Ended(Some(1)));
    assert_eq!(queue.call(Done(token)), Finished::NotInProcessing);
    let settle = Settle { token, outcome: Outcome::Retry, priority: 0 };
    assert_eq!(queue.call(settle), Finished::NotInProcessing);
    assert_eq!(queue.failures(1), 0);
}

#[test]
fn a_settled_item_comes_back_with_the_priority_it_is_given() {
    let mut queue = machine();
    let mut settle = |outcome, delay| {
        queue.add(1, priority(0));
        let (token, ..) = queue.get();
        queue.call(Settle { token, outcome, priority: -100 });
        queue.advance(ms(delay));
        (queue.drain(), queue.failures(1))
    };
    assert_eq!(settle(Outcome::Retry, 10), (vec![(1, -100)], 1), "PQ-42");
    assert_eq!(settle(Outcome::Success, 1000), (vec![], 0));
    assert_eq!(settle(Outcome::Retry, 10), (vec![(1, -100)], 1));
    assert_eq!(settle(Outcome::RequeueAfter(ms(3)), 3), (vec![(1, -100)], 0), "CL-9");
    assert_eq!(settle(Outcome::GiveUp, 1000), (vec![], 0));
}

#[test]
fn the_observer_sees_every_entry_become_ready_and_leave() {
    let mut queue = machine();
    queue.add(1, priority(2));
    queue.add(1, priority(1));
    queue.add(1, priority(3));
    let (token, ..) = queue.get();
    queue.add(1, after(0, 10));
    queue.advance(ms(10));
    queue.add(1, priority(4));
    queue.done(token);
    assert_eq!(
        queue.told(),
        ["0 ready 2", "0 rose 3", "0 out", "retried", "0 ready 0", "0 rose 4", "0 done"]
    );
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
