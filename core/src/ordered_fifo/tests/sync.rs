//! When the first list counts as processed.

use super::*;
use crate::events::fixtures::a_wait_for_a_list_ends_with_the_queue;

#[test]
fn a_plain_list_is_processed_when_its_last_event_is() {
    let queue = plain(&Store::of(&[("gone", 1)]));
    queue.replace(vec![("a", 1), ("a", 2)], "1").unwrap();
    for left in (0..3).rev() {
        assert!(!queue.has_synced());
        let (popped, initial) = queue.pop(|popped| popped.initial).unwrap();
        assert!(initial);
        assert_eq!(popped.left, left);
    }
    assert!(queue.has_synced());
}

#[test]
fn an_empty_plain_list_is_processed_at_once_an_atomic_one_is_an_event() {
    let queue = plain(&Store::of(&[]));
    queue.replace(vec![], "1").unwrap();
    assert!(queue.has_synced());
    let queue = atomic();
    queue.replace(vec![], "1").unwrap();
    assert!(!queue.has_synced());
    pop(&queue);
    assert!(queue.has_synced());
}

#[test]
fn what_was_queued_before_the_first_list_belongs_to_it() {
    let queue = atomic();
    queue.resync().unwrap();
    queue.bookmark("1");
    queue.replace(vec![], "2").unwrap();
    queue.add(("later", 1)).unwrap();
    for _ in 0..3 {
        assert!(!queue.has_synced());
        pop(&queue);
    }
    assert!(queue.has_synced());
}

#[test]
fn a_write_before_the_first_list_makes_the_queue_synced_at_once() {
    let queue = atomic();
    queue.delete(("a", 1)).unwrap();
    assert!(queue.has_synced());
    queue.replace(vec![("b", 1)], "1").unwrap();
    assert!(queue.has_synced());
    assert!(!queue.pop(|popped| popped.initial).unwrap().1);
}

#[test]
fn a_later_list_changes_nothing() {
    let queue = atomic();
    queue.replace(vec![], "1").unwrap();
    queue.replace(vec![], "2").unwrap();
    pop(&queue);
    assert!(queue.has_synced());
    queue.replace(vec![], "3").unwrap();
    assert!(queue.has_synced());
}

#[test]
fn waiting_for_a_sync_that_never_comes_ends_when_the_queue_is_closed_and_drained() {
    let queue = atomic();
    queue.resync().unwrap();
    a_wait_for_a_list_ends_with_the_queue(queue);
}
