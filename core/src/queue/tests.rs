//! The rules of the queue on real threads, one behaviour a test.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{
    Add, DRAINS, Done, GETTERS, Get, Queue, ShutDown, Slot, Storage, Token, UPDATERS, WorkQueue,
};
use crate::machine::Wakes;
use crate::machine::single_step::Stepped;
use crate::runtime::{Runtime, System};

fn queue() -> WorkQueue<u8> {
    WorkQueue::new(&System::new())
}

#[test]
fn items_come_out_in_the_order_they_went_in() {
    let queue = queue();
    for key in [3, 1, 2] {
        queue.add(key);
    }
    queue.shut_down();
    let mut seen = vec![];
    queue.work(|key| seen.push(*key));
    assert_eq!(seen, [3, 1, 2]);
}

#[test]
fn an_item_added_twice_while_waiting_is_delivered_once() {
    let queue = queue();
    queue.add(1);
    queue.add(1);
    assert_eq!(queue.len(), 1);
    let (token, _) = queue.take().unwrap();
    assert!(queue.done(token));
    assert_eq!(queue.len(), 0);
}

#[test]
fn done_requeues_an_item_added_while_processing() {
    let queue = queue();
    queue.add(1);
    let (token, _) = queue.take().unwrap();
    queue.add(1);
    queue.add(1);
    assert_eq!(queue.len(), 0, "not before done");
    queue.done(token);
    assert_eq!(queue.len(), 1, "exactly once");
}

#[test]
fn a_token_ends_its_own_delivery_only() {
    let queue = queue();
    queue.add(1);
    let (first, _) = queue.take().unwrap();
    assert!(queue.done(first));
    assert!(!queue.done(first), "ended already");
    queue.add(1);
    let (second, _) = queue.take().unwrap();
    assert!(!queue.done(first), "must not end the second delivery");
    assert!(queue.done(second));
}

#[test]
fn done_of_a_waiting_item_changes_nothing() {
    let queue = queue();
    queue.add(1);
    assert!(!queue.done_key(&1));
    assert!(!queue.done_key(&2));
    assert_eq!(queue.len(), 1);
}

#[test]
fn after_shutdown_items_left_are_delivered_and_new_ones_refused() {
    let queue = queue();
    queue.add(1);
    queue.shut_down();
    queue.add(2);
    assert!(queue.is_shutting_down());
    let (token, key) = queue.take().unwrap();
    assert_eq!(key, 1);
    queue.done(token);
    assert!(queue.take().is_none());
    assert!(queue.take().is_none(), "every time");
}

#[test]
fn a_panicking_worker_leaves_its_item_done() {
    let queue = queue();
    queue.add(1);
    let panicked = catch_unwind(AssertUnwindSafe(|| queue.work(|_| panic!("reconcile failed"))));
    assert!(panicked.is_err());
    queue.shut_down_with_drain(); // would hang if the item were still in processing
}

#[test]
fn drain_leaves_waiting_items_and_the_strict_drain_does_not() {
    let queue = Arc::new(queue());
    queue.add(1);
    queue.shut_down_with_drain();
    assert_eq!(queue.len(), 1);
    let runtime = System::new();
    let worker = {
        let queue = Arc::clone(&queue);
        runtime.spawn("worker", move || queue.work(|_| {}))
    };
    queue.shut_down_when_done();
    assert_eq!(queue.len(), 0);
    runtime.join(worker).unwrap();
}

/// Hands out the newest item first, and counts the touches.
#[derive(Default)]
struct Stack {
    slots: Vec<Slot>,
    touched: usize,
}

impl Storage<u8> for Stack {
    fn push(&mut self, slot: Slot, _: &u8) {
        self.slots.push(slot);
    }
    fn pop(&mut self) -> Option<Slot> {
        // An item that was touched goes first, whichever it is.
        if self.touched > 0 { Some(self.slots.remove(0)) } else { self.slots.pop() }
    }
    fn len(&self) -> usize {
        self.slots.len()
    }
    fn touch(&mut self, _: Slot, _: &u8) {
        self.touched += 1;
    }
}

#[test]
fn a_storage_of_your_own_decides_the_order() {
    let queue = WorkQueue::with_storage(&System::new(), Stack::default());
    queue.add(1);
    queue.add(2);
    let (token, key) = queue.take().unwrap();
    assert_eq!(key, 2, "newest first");
    queue.add(2); // in processing: no touch
    queue.add(3);
    queue.add(1); // waiting: touch
    let (_, key) = queue.take().unwrap();
    assert_eq!(key, 1, "touched first");
    assert!(queue.done(token));
}

#[test]
fn shutdown_wakes_everybody_whatever_they_wait_for() {
    let mut queue = Stepped::new(Queue::<u8>::default());
    queue.call(ShutDown);
    for channel in [GETTERS, DRAINS, UPDATERS] {
        assert_eq!(queue.woken.get(channel), Wakes::ALL, "{channel}: WQ-25");
    }
}

#[test]
fn a_state_tells_what_waits_and_what_is_processed() {
    let mut queue = Stepped::new(Queue::<u8>::default());
    let add = |key: u8| Add { key: Some(key), hash: key.into() };
    assert!(queue.machine.is_empty());
    (1..=3).for_each(|key| queue.call(add(key)));
    let (token, _) = queue.call(Get).unwrap();
    let (ended, _) = queue.call(Get).unwrap();
    queue.call(Done(ended));
    queue.call(Get).unwrap();
    queue.call(add(1));
    let state = &queue.machine;
    assert_eq!((state.in_flight(), state.len(), state.is_empty()), (2, 0, true));
    let mut processing: Vec<_> = state.processing().map(|(key, dirty)| (*key, dirty)).collect();
    processing.sort_unstable();
    assert_eq!(processing, [(1, true), (3, false)]);
    assert!(state.is_in_processing(token) && !state.is_in_processing(ended));
    queue.call(add(2));
    assert!(!queue.machine.is_empty());
    queue.call(ShutDown);
    queue.call(ShutDown);
    assert_eq!(queue.machine.shutdowns(), 2);
    let said = "waiting [2], in processing [3], again afterwards [1], shutting down";
    assert_eq!(queue.machine.describe(), said);
}

#[test]
fn what_a_consumer_holds_is_shown_with_its_items() {
    let queue = queue();
    queue.add_all([1, 2, 3]);
    assert_eq!(format!("{queue:?}"), "WorkQueue");
    assert_eq!(format!("{:?}", queue.get().unwrap()), "Work(1)");
    let all = NonZeroUsize::new(10).unwrap();
    assert_eq!(format!("{:?}", queue.get_batch(all).unwrap()), "Batch([2, 3])");
}

#[test]
fn the_end_of_a_delivery_wakes_a_getter_for_its_item_and_drains_for_the_last() {
    let mut queue = Stepped::new(Queue::<u8>::default());
    let add = |key: u8| Add { key: Some(key), hash: key.into() };
    let woken = |queue: &Stepped<Queue<u8>>| [GETTERS, DRAINS].map(|on| queue.woken.get(on));
    queue.call(add(1));
    let (token, _) = queue.call(Get).unwrap();
    queue.call(add(1));
    assert_eq!(woken(&queue), [0, 0], "it is in processing");
    queue.call(Done(token));
    assert_eq!(woken(&queue), [1, 0]);
    queue.call(add(2));
    let (first, _) = queue.call(Get).unwrap();
    let (second, _) = queue.call(Get).unwrap();
    queue.call(ShutDown);
    queue.call(Done(first));
    assert_eq!(woken(&queue), [0, 0], "another is in processing");
    queue.call(Done(second));
    assert_eq!(woken(&queue), [0, Wakes::ALL], "every drain (WQ-18)");
}

#[test]
fn a_copy_made_in_place_goes_on_as_its_original_would() {
    let add = |key: u8| Add { key: Some(key), hash: key.into() };
    let mut original = Stepped::new(Queue::<u8>::default());
    (1..=3).for_each(|key| original.call(add(key)));
    let (token, _) = original.call(Get).unwrap();
    original.call(add(1));
    original.call(ShutDown);
    let mut other = Stepped::new(Queue::default());
    (5..=9).for_each(|key| other.call(add(key)));
    for mut copy in [Queue::default(), original.machine.clone(), other.machine] {
        copy.clone_from(&original.machine);
        let mut copy = Stepped::new(copy);
        let state = &copy.machine;
        assert_eq!((state.in_flight(), state.shutdowns(), state.len()), (1, 1, 2));
        assert!(state.is_shutting_down() && state.is_in_processing(token));
        assert_eq!(state.waiting().collect::<Vec<_>>(), [&2, &3]);
        copy.call(Done(token));
        let left: Vec<_> = (0..3).filter_map(|_| Some(copy.call(Get)?.1)).collect();
        assert_eq!(left, [2, 3, 1]);
        assert_eq!((original.machine.in_flight(), original.machine.len()), (1, 2));
    }
    let token = Token::new(3, 4);
    assert_eq!((token.slot(), token.delivery()), (3, 4));
}

#[test]
fn a_token_stays_old_however_often_its_item_is_handed_out() {
    let queue = queue();
    let deliver = || {
        queue.add(1);
        queue.take().expect("it waits").0
    };
    let old = deliver();
    assert!(queue.done(old));
    for _ in 0..70_000 {
        let token = deliver();
        assert!(!queue.done(old), "{token:?} is not {old:?}");
        assert!(queue.done(token));
    }
}
