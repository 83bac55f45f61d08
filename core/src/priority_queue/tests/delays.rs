//! Times, failures, and wake-ups.

use std::pin::pin;
use std::sync::Arc;

use super::*;
use crate::limiter::{Bucket, FOREVER, Rate};
use crate::machine::Wakes;
use crate::runtime::Manual;
use crate::runtime::bell::{Bell, poll};

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
    queue.call(Forget::new(1, 1));
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
    let mut queue = Stepped::new(Prioritized::new(limiter, Journal::default()));
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
fn a_settled_item_comes_back_with_the_priority_it_is_given() {
    let mut queue = machine();
    let mut settle = |outcome, delay| {
        queue.add(1, priority(0));
        let (token, ..) = queue.get();
        queue.call(Settle::new(token, outcome, -100));
        queue.advance(ms(delay) - Duration::from_nanos(1));
        assert_eq!(queue.len(), 0, "no sooner");
        queue.advance(Duration::from_nanos(1));
        (queue.drain(), queue.failures(1))
    };
    assert_eq!(settle(Outcome::Retry, 10), (vec![(1, -100)], 1), "PQ-42");
    assert_eq!(settle(Outcome::Success, 1000), (vec![], 0));
    assert_eq!(settle(Outcome::Retry, 10), (vec![(1, -100)], 1));
    assert_eq!(settle(Outcome::RequeueAfter(ms(3)), 3), (vec![(1, -100)], 0), "CL-9");
    assert_eq!(settle(Outcome::GiveUp, 1000), (vec![], 0));
}

#[test]
fn the_first_to_come_keeps_its_time_and_wakes_nobody_again() {
    let mut queue = machine();
    queue.add(1, after(0, 5));
    assert!(queue.woken.any());
    for delay in [5, 6] {
        queue.add(1, after(0, delay));
        assert!(!queue.woken.any(), "PQ-21: no sleeper has to learn of {delay}");
    }
    assert_eq!(queue.waits(Get), Some(at(5)));
}

#[test]
fn a_sleeper_learns_of_the_first_time_although_an_item_is_ready_for_another() {
    let runtime = Manual::new();
    let queue = PriorityQueue::<u8, _>::new(&runtime);
    let [first, second]: [Arc<Bell>; 2] = Default::default();
    let (mut one, mut two) = (pin!(queue.take_async()), pin!(queue.take_async()));
    assert!(poll(one.as_mut(), &first).is_pending() && poll(two.as_mut(), &second).is_pending());
    queue.add(1);
    queue.add_after(2, ms(10));
    assert_eq!((first.rings(), second.rings()), (1, 1));
    assert!(poll(one.as_mut(), &first).is_ready() && poll(two.as_mut(), &second).is_pending());
    runtime.advance(ms(10));
    assert_eq!(second.rings(), 2, "PQ-21: the first is busy when the time comes");
    assert!(poll(two.as_mut(), &second).is_ready());
}
