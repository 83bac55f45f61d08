//! The order of delivery.

use super::*;

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
fn a_priority_that_rises_while_waiting_counts_when_ready() {
    let mut queue = machine();
    queue.add_all(&[1, 2], after(0, 10));
    queue.add(2, after(3, 10));
    assert_eq!(queue.told(), ["retried", "retried", "retried"], "PQ-38: nothing is ready yet");
    queue.advance(ms(10));
    assert_eq!(queue.drain(), [(2, 3), (1, 0)]);
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
fn an_equal_priority_is_no_rise_neither_waiting_nor_set_aside() {
    let mut queue = machine();
    queue.add(1, priority(3));
    queue.told();
    queue.add(1, priority(3));
    assert!(queue.told().is_empty(), "PQ-38");
    queue.get();
    queue.add(1, priority(3));
    queue.told();
    queue.add(1, priority(3));
    assert!(queue.told().is_empty(), "PQ-38, while it is locked");
}

#[test]
fn a_new_priority_has_its_place_although_many_before_it_are_gone() {
    let mut queue = machine();
    (0..64).for_each(|key| queue.add(key, priority(2 * i32::from(key)))); // all places are taken
    queue.drain();
    for (key, rank) in [(100, 120), (101, 122), (102, 124), (103, 51)] {
        queue.add(key, priority(rank)); // the last makes room for itself
    }
    assert_eq!(queue.drain(), [(102, 124), (101, 122), (100, 120), (103, 51)], "PQ-22");
}
