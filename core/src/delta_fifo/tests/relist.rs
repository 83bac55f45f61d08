//! A complete list compared with the pending and known objects.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

#[test]
fn known_objects_missing_from_the_list_get_tombstones() {
    let queue = with_store(&Store::of(&[("foo", 5), ("bar", 6), ("baz", 7)]));
    queue.replace(vec![("foo", 5)]).unwrap();
    for key in ["foo", "bar", "baz"] {
        assert!(!queue.has_synced(), "not before all three are processed");
        let popped = pop(&queue);
        assert_eq!(popped.key, key);
        assert!(popped.initial, "{key}");
        match key {
            "foo" => assert_eq!(*popped.deltas, [Delta::Replaced(("foo", 5))]),
            "bar" => assert_eq!(*popped.deltas, [tombstone("bar", Some(("bar", 6)))]),
            _ => assert_eq!(*popped.deltas, [tombstone("baz", Some(("baz", 7)))]),
        }
    }
    assert!(queue.has_synced());
}

#[test]
fn a_list_is_shown_as_replaced_or_as_sync() {
    let queue = plain();
    queue.replace(vec![("a", 1)]).unwrap();
    assert_eq!(drain(&queue), [vec![Delta::Sync(("a", 1))]]);
    let queue = with_store(&Store::of(&[]));
    queue.replace(vec![("a", 1)]).unwrap();
    assert_eq!(drain(&queue), [vec![Delta::Replaced(("a", 1))]]);
}

#[test]
fn an_object_that_is_only_pending_gets_a_tombstone() {
    let queue = with_store(&Store::of(&[]));
    queue.add(("x", 1)).unwrap();
    queue.replace(vec![]).unwrap();
    assert_eq!(drain(&queue), [vec![Delta::Added(("x", 1)), tombstone("x", Some(("x", 1)))]]);
}

#[test]
fn the_newest_pending_state_goes_into_the_tombstone_not_the_known_one() {
    let queue = with_store(&Store::of(&[("x", 1)]));
    queue.delete(("x", 2)).unwrap();
    queue.add(("x", 3)).unwrap();
    queue.replace(vec![]).unwrap();
    let stone = tombstone("x", Some(("x", 3)));
    assert_eq!(
        drain(&queue),
        [vec![deleted(("x", 2)), Delta::Added(("x", 3)), stone]],
        "cache:TR-10"
    );
}

#[test]
fn tombstones_never_nest() {
    let queue = with_store(&Store::of(&[("x", 1)]));
    queue.replace(vec![]).unwrap();
    queue.replace(vec![]).unwrap();
    assert_eq!(drain(&queue), [vec![tombstone("x", Some(("x", 1)))]], "cache:TR-13");
}

#[test]
fn a_pending_deletion_outlives_a_tombstone_and_replaces_one() {
    let queue = with_store(&Store::of(&[("x", 1)]));
    queue.delete(("x", 2)).unwrap();
    queue.replace(vec![]).unwrap();
    assert_eq!(drain(&queue), [vec![deleted(("x", 2))]]);
    queue.replace(vec![]).unwrap();
    queue.delete(("x", 3)).unwrap();
    assert_eq!(drain(&queue), [vec![deleted(("x", 3))]], "cache:TR-5");
}

#[test]
fn an_object_recreated_unseen_is_shown_after_its_deletion() {
    let queue = with_store(&Store::of(&[("a", 1)]));
    queue.delete(("a", 1)).unwrap();
    queue.replace(vec![("a", 2)]).unwrap();
    assert_eq!(drain(&queue), [vec![deleted(("a", 1)), Delta::Replaced(("a", 2))]], "cache:TR-9");
}

#[test]
fn an_object_that_cannot_be_looked_up_gets_an_empty_tombstone() {
    let queue = with_store(&Store::of(&[("lost", 1)]));
    queue.replace(vec![]).unwrap();
    assert_eq!(drain(&queue), [vec![tombstone("lost", None)]]);
}

#[test]
fn listed_objects_come_before_deletions_and_pending_keys_keep_their_place() {
    let queue = with_store(&Store::of(&[("known", 1)]));
    queue.add(("pending", 1)).unwrap();
    queue.replace(vec![("b", 1), ("a", 1), ("b", 2)]).unwrap();
    let keys: Vec<_> = queue.list().into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["pending", "b", "a", "known"]);
    assert_eq!(queue.get(&"b").unwrap().len(), 2, "listed twice, queued twice (DF-19)");
}

#[test]
fn a_list_that_is_refused_stays_half_queued_and_is_no_first_list() {
    let queue = transforming(&Store::of(&[("known", 1)]));
    let list = vec![("a", 1), ("b", 13), ("c", 1)];
    assert!(matches!(queue.replace(list), Err(EnqueueError::Transform(_))));
    assert_eq!(queue.list().len(), 1, "a, and no tombstone for known");
    assert!(!queue.has_synced());
    assert_eq!(drain(&queue), [vec![Delta::Replaced(("a", 101))]]);
    assert!(!queue.has_synced(), "the first list is still to come");
}

#[test]
fn a_panicking_store_leaves_the_queue_as_it_was() {
    let queue = with_store(&Store::of(&[("bomb", 1)]));
    let list = || queue.replace(vec![("a", 1)]);
    assert!(catch_unwind(AssertUnwindSafe(list)).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| queue.resync())).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| queue.delete(("bomb", 2)))).is_err());
    assert!(queue.is_empty());
    assert!(!queue.has_synced());
    queue.add(("a", 2)).unwrap();
    assert_eq!(drain(&queue), [vec![Delta::Added(("a", 2))]]);
    let queue = with_store(&Store::of(&[("a", 1), ("bomb", 1)]));
    assert!(catch_unwind(AssertUnwindSafe(|| queue.resync())).is_err());
    assert!(queue.is_empty(), "though it had been told of another object");
}
