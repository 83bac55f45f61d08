//! Laws of the queue, in the view of callers.

use quickcheck::{QuickCheck, Testable};
use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::System;

type Items = WorkQueue<u8>;

fn queue() -> Items {
    WorkQueue::new(&System::new())
}

/// A queue with these items.
fn queue_of(items: &[u8]) -> Items {
    let queue = queue();
    items.iter().for_each(|item| queue.add(*item));
    queue
}

/// Takes and ends all waiting items; returns them in the order of delivery.
fn drained(queue: &Items) -> Vec<u8> {
    let mut items = vec![];
    while !queue.is_empty() {
        let (token, item) = queue.take().expect("something waits");
        items.push(item);
        queue.done(token);
    }
    items
}

/// The first occurrence of each item.
fn distinct(items: &[u8]) -> Vec<u8> {
    let mut distinct = vec![];
    for item in items {
        if !distinct.contains(item) {
            distinct.push(*item);
        }
    }
    distinct
}

fn holds(law: impl Testable) {
    QuickCheck::new().tests(300).quickcheck(law);
}

fn items_come_out_once_each_in_the_order_of_their_first_add() {
    fn law(items: Vec<u8>) -> bool {
        drained(&queue_of(&items)) == distinct(&items)
    }
    holds(law as fn(_) -> _);
}

fn adding_twice_while_waiting_is_adding_once() {
    fn law(early: Vec<u8>, item: u8, late: Vec<u8>) -> bool {
        let once = [early.clone(), vec![item], late.clone()].concat();
        let twice = [early, vec![item], late, vec![item]].concat();
        drained(&queue_of(&once)) == drained(&queue_of(&twice))
    }
    holds(law as fn(_, _, _) -> _);
}

fn however_often_an_item_is_added_while_processed_it_comes_once_more_and_last() {
    fn law(item: u8, others: Vec<u8>, times: u8) -> bool {
        let queue = queue();
        queue.add(item);
        let (token, _) = queue.take().expect("it waits");
        for _ in 0..=times % 5 {
            queue.add(item);
        }
        let others: Vec<_> = others.into_iter().filter(|other| *other != item).collect();
        others.iter().for_each(|other| queue.add(*other));
        let hidden = queue.len() == distinct(&others).len();
        queue.done(token);
        hidden && drained(&queue) == [distinct(&others), vec![item]].concat()
    }
    holds(law as fn(_, _, _) -> _);
}

fn done_after_done_changes_nothing() {
    fn law(items: Vec<u8>, again: Vec<bool>) -> bool {
        let (plain, twice) = (queue_of(&items), queue_of(&items));
        for again in again {
            if plain.is_empty() {
                break;
            }
            let ((one, _), (other, item)) = (plain.take().unwrap(), twice.take().unwrap());
            let ended = plain.done(one) && twice.done(other);
            if !ended || (again && (twice.done(other) || twice.done_key(&item))) {
                return false;
            }
        }
        drained(&plain) == drained(&twice)
    }
    holds(law as fn(_, _) -> _);
}

fn done_of_what_is_not_in_processing_changes_nothing() {
    fn law(items: Vec<u8>, done: Vec<u8>) -> bool {
        let queue = queue_of(&items);
        let refused = done.iter().all(|item| !queue.done_key(item));
        refused && drained(&queue) == distinct(&items)
    }
    holds(law as fn(_, _) -> _);
}

fn shutdown_keeps_what_waits_and_refuses_the_rest() {
    fn law(early: Vec<u8>, late: Vec<u8>, times: u8) -> bool {
        let queue = queue_of(&early);
        for _ in 0..=times % 3 {
            queue.shut_down();
        }
        late.iter().for_each(|item| queue.add(*item));
        drained(&queue) == distinct(&early) && queue.take().is_none() && queue.take().is_none()
    }
    holds(law as fn(_, _, _) -> _);
}

fn len_is_what_was_queued_and_not_taken() {
    fn law(items: Vec<u8>, takes: u8) -> bool {
        let queue = queue_of(&items);
        let takes = usize::from(takes).min(queue.len());
        let tokens: Vec<_> = (0..takes).filter_map(|_| queue.take()).collect();
        let left = distinct(&items).len() - takes;
        let while_processed = queue.len();
        tokens.into_iter().for_each(|(token, _)| assert!(queue.done(token)));
        while_processed == left && queue.len() == left
    }
    holds(law as fn(_, _) -> _);
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    items_come_out_once_each_in_the_order_of_their_first_add,
    adding_twice_while_waiting_is_adding_once,
    however_often_an_item_is_added_while_processed_it_comes_once_more_and_last,
    done_after_done_changes_nothing,
    done_of_what_is_not_in_processing_changes_nothing,
    shutdown_keeps_what_waits_and_refuses_the_rest,
    len_is_what_was_queued_and_not_taken
];
