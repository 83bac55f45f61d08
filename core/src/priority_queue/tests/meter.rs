//! The metrics, by priority.

use std::collections::BTreeMap;

use super::*;
use crate::metrics::{Figures, Label};

/// Counts its reports; keeps the sums of times in milliseconds.
#[derive(Clone, Default)]
struct Counts {
    depth: BTreeMap<Label, u32>,
    added: u32,
    retried: u32,
    latency: u128,
    work: u128,
}

impl Figures for Counts {
    fn more(&mut self, label: Label) {
        *self.depth.entry(label).or_default() += 1;
    }
    fn less(&mut self, label: Label) {
        let depth = self.depth.get_mut(&label).expect("counted up under this label before");
        *depth = depth.checked_sub(1).expect("never below zero");
    }
    fn added(&mut self) {
        self.added += 1;
    }
    fn latency(&mut self, ready: Duration) {
        self.latency += ready.as_millis();
    }
    fn work(&mut self, took: Duration) {
        self.work += took.as_millis();
    }
    fn retried(&mut self) {
        self.retried += 1;
    }
}

type Metered = Stepped<Prioritized<u8, Exponential<u8>, Meter<Counts>>>;

fn metered() -> Metered {
    let limiter = Exponential::new(ms(10), ms(1000));
    Stepped::new(Prioritized::new(limiter, Meter::new(Counts::default())))
}

impl Metered {
    fn put(&mut self, key: u8, options: AddOptions) {
        self.call(Add { key: Some(key), hash: key.into(), options, called: None });
        self.depth_is_what_is_ready();
    }

    fn depth_is_what_is_ready(&mut self) {
        let ready = self.call(Len);
        let sum: u32 = self.counts().depth.values().sum();
        assert_eq!(sum as usize, ready, "PQ-39");
    }

    fn counts(&self) -> &Counts {
        self.machine.observer.figures()
    }

    fn depth(&self, label: Label) -> u32 {
        self.counts().depth.get(&label).copied().unwrap_or(0)
    }
}

#[test]
fn depth_counts_the_ready_by_priority() {
    let mut queue = metered();
    queue.put(1, priority(0));
    queue.put(2, after(5, 10));
    assert_eq!(queue.depth(Label::Priority(5)), 0, "PQ-37: it waits");
    queue.put(2, after(7, 10));
    queue.put(1, priority(3));
    assert_eq!((queue.depth(Label::Priority(0)), queue.depth(Label::Priority(3))), (0, 1), "PQ-38");
    queue.advance(ms(10));
    queue.depth_is_what_is_ready();
    assert_eq!(queue.depth(Label::Priority(7)), 1, "PQ-19: with the priority it has then");
    assert_eq!((queue.counts().added, queue.counts().retried), (2, 2));
}

#[test]
fn latency_counts_from_when_an_entry_became_ready_and_work_from_hand_out() {
    let mut queue = metered();
    queue.put(1, after(0, 10));
    queue.advance(ms(17)); // there is no call when its time comes
    let (token, ..) = queue.call(Get).unwrap();
    assert_eq!(queue.counts().latency, 7, "PQ-40");
    queue.advance(ms(5));
    queue.put(1, priority(0)); // while it is locked
    queue.advance(ms(2));
    queue.call(Done(token));
    assert_eq!(queue.counts().work, 7);
    queue.call(Get).unwrap();
    assert_eq!(queue.counts().latency, 9);
    queue.depth_is_what_is_ready();
}

#[test]
fn an_entry_that_is_added_at_once_while_it_waits_is_ready_from_there() {
    let mut queue = metered();
    queue.put(1, after(0, 10));
    queue.advance(ms(4));
    queue.put(1, priority(2));
    assert_eq!(queue.depth(Label::Priority(2)), 1, "PQ-13: with the priority that results");
    queue.advance(ms(3));
    queue.call(Get).unwrap();
    assert_eq!((queue.counts().latency, queue.counts().added), (3, 1));
}

#[test]
fn what_is_due_while_its_item_is_locked_is_told_by_whatever_call_comes_next() {
    let mut queue = metered();
    queue.put(1, priority(0));
    let (token, ..) = queue.call(Get).unwrap();
    queue.put(1, after(0, 10));
    queue.advance(ms(15));
    queue.call(Done(token));
    assert_eq!((queue.depth(Label::Priority(0)), queue.counts().added), (1, 2), "PQ-20");
    queue.advance(ms(1));
    queue.call(Get).unwrap();
    assert_eq!(queue.counts().latency, 6);
}

#[test]
fn too_many_priorities_share_a_label_and_are_counted_down_under_the_old_one() {
    let mut queue = metered();
    for rank in 0..25_u8 {
        queue.put(rank, priority(rank.into()));
    }
    assert_eq!(queue.depth(Label::Other), 0);
    queue.put(25, priority(25));
    queue.put(26, priority(0));
    assert_eq!(queue.depth(Label::Other), 2, "PQ-41: from then on all");
    queue.put(3, priority(100)); // rises
    assert_eq!((queue.depth(Label::Priority(3)), queue.depth(Label::Other)), (0, 3));
    for _ in 0..27 {
        queue.call(Get).unwrap();
        queue.depth_is_what_is_ready();
    }
    assert!(queue.counts().depth.values().all(|depth| *depth == 0));
}
