//! When the first list counts as processed.

use super::*;
use crate::events::fixtures::a_wait_for_a_list_ends_with_the_queue;

#[test]
fn an_untouched_queue_is_not_synced() {
    let queue = with_store(&Store::of(&[("a", 1)]));
    assert!(!queue.has_synced());
    queue.resync();
    assert!(pop(&queue).initial, "a resync is no write (QU-14)");
    assert!(!queue.has_synced());
}

#[test]
fn a_write_before_the_first_list_makes_the_queue_synced_at_once() {
    let queue = plain();
    queue.add(("a", 1)).unwrap();
    assert!(queue.has_synced());
    assert!(!pop(&queue).initial);
    queue.replace(vec![("b", 1)]).unwrap();
    assert!(queue.has_synced(), "and so it stays");
}

#[test]
fn changes_added_back_before_the_first_list_are_a_write_although_their_key_waits_already() {
    let queue = with_store(&Store::of(&[("a", 1)]));
    queue.resync();
    queue.add_if_absent(Delta::Added(("a", 2)).into()).unwrap();
    assert!(queue.has_synced(), "QU-10");
}

#[test]
fn an_empty_first_list_is_processed_at_once() {
    let queue = plain();
    queue.replace(vec![]).unwrap();
    assert!(queue.has_synced());
}

#[test]
fn a_key_listed_twice_counts_once() {
    let queue = plain();
    queue.replace(vec![("a", 1), ("a", 2), ("b", 1)]).unwrap();
    pop(&queue);
    assert!(!queue.has_synced());
    pop(&queue);
    assert!(queue.has_synced());
}

#[test]
fn what_a_resync_or_a_refused_list_left_belongs_to_the_first_list() {
    let queue = transforming(&Store::of(&[("known", 1)]));
    queue.resync();
    assert!(queue.replace(vec![("a", 1), ("b", 13)]).is_err());
    queue.replace(vec![("c", 1)]).unwrap();
    for key in ["known", "a", "c"] {
        assert!(!queue.has_synced());
        assert_eq!(pop(&queue).key, key);
    }
    assert!(queue.has_synced());
}

#[test]
fn an_entry_taken_before_the_first_list_takes_no_place_of_it() {
    let store = Store::of(&[("a", 1)]);
    let queue = with_store(&store);
    queue.resync();
    pop(&queue);
    queue.replace(vec![("a", 2)]).unwrap();
    assert!(!queue.has_synced());
    pop(&queue);
    assert!(queue.has_synced());
}

#[test]
fn a_later_list_changes_nothing() {
    let queue = plain();
    queue.replace(vec![("a", 1)]).unwrap();
    queue.replace(vec![("a", 2), ("b", 1)]).unwrap();
    pop(&queue);
    assert!(queue.has_synced(), "the first list was one entry");
    queue.replace(vec![("c", 1)]).unwrap();
    queue.close();
    assert!(queue.has_synced());
}

#[test]
fn a_waiter_for_sync_finds_every_object_in_the_store() {
    let store = Store::of(&[]);
    let queue = Arc::new(with_store(&store));
    let runtime = System::new();
    let waiter = {
        let (queue, store) = (Arc::clone(&queue), Arc::clone(&store));
        runtime.spawn("waiter", move || queue.wait_for_sync().then(|| store.objects()))
    };
    queue.replace(vec![("a", 1), ("b", 1)]).unwrap();
    for _ in 0..2 {
        queue.pop(|entry| store.apply(entry)).unwrap();
    }
    assert_eq!(runtime.join(waiter).unwrap(), Some(vec![("a", 1), ("b", 1)]));
    assert!(queue.wait_for_sync(), "at once");
}

#[test]
fn waiting_for_a_sync_that_never_comes_ends_when_the_queue_is_closed_and_drained() {
    let queue = with_store(&Store::of(&[("a", 1)]));
    queue.resync();
    a_wait_for_a_list_ends_with_the_queue(queue);
}

#[test]
fn a_resync_through_the_contract_of_all_queues_shows_what_is_known() {
    let queue = with_store(&Store::of(&[("a", 1)]));
    crate::fifo::Queue::resync(&queue).unwrap();
    assert_eq!(drain(&queue), [vec![Delta::Sync(("a", 1))]]);
}
