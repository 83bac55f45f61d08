//! Add, update, delete and resync.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::store::LookupFailed;
use crate::store::tests::Colliding;

#[test]
fn changes_of_one_object_gather_in_one_entry() {
    let queue = plain();
    queue.add(("a", 1)).unwrap();
    queue.add(("b", 1)).unwrap();
    queue.update(("a", 2)).unwrap();
    queue.delete(("a", 2)).unwrap();
    let a = vec![Delta::Added(("a", 1)), Delta::Updated(("a", 2)), deleted(("a", 2))];
    assert_eq!(drain(&queue), [a, vec![Delta::Added(("b", 1))]]);
}

#[test]
fn an_object_changed_again_after_its_pop_goes_to_the_tail() {
    let queue = plain();
    queue.add(("a", 1)).unwrap();
    queue.add(("b", 1)).unwrap();
    assert_eq!(pop(&queue).key, "a");
    queue.add(("a", 2)).unwrap();
    assert_eq!(pop(&queue).key, "b");
    assert_eq!(*pop(&queue).deltas, [Delta::Added(("a", 2))]);
}

#[test]
fn deleting_what_is_neither_pending_nor_known_queues_nothing() {
    let queue = plain();
    queue.delete(("a", 1)).unwrap();
    assert!(queue.is_empty());
    assert!(queue.has_synced(), "but the queue was written to (DF-10)");

    let queue = with_store(&Store::of(&[]));
    queue.delete(("a", 1)).unwrap();
    assert!(queue.is_empty());
}

#[test]
fn deleting_what_is_pending_or_known_is_queued() {
    let queue = plain();
    queue.add(("a", 1)).unwrap();
    queue.delete(("a", 2)).unwrap();
    assert_eq!(drain(&queue), [vec![Delta::Added(("a", 1)), deleted(("a", 2))]]);

    let queue = with_store(&Store::of(&[("a", 1)]));
    queue.delete(("a", 2)).unwrap();
    queue.delete(("a", 3)).unwrap();
    assert_eq!(drain(&queue), [vec![deleted(("a", 2))]], "the two became one (cache:TR-5)");
}

#[test]
fn deleting_what_cannot_be_looked_up_is_queued() {
    let queue = with_store(&Store::of(&[]));
    queue.delete(("lost", 1)).unwrap();
    assert_eq!(drain(&queue), [vec![deleted(("lost", 1))]]);
}

#[test]
fn a_deletion_removes_nothing_itself() {
    let store = Store::of(&[("a", 1)]);
    let queue = with_store(&store);
    queue.delete(("a", 2)).unwrap();
    assert_eq!(store.objects(), [("a", 1)]);
    queue.pop(|entry| store.apply(entry)).unwrap();
    assert_eq!(store.objects(), []);
}

#[test]
fn a_tombstone_is_queued_under_the_key_it_names() {
    let queue = with_store(&Store::of(&[("a", 1)]));
    queue.delete_last_state(LastState::unknown("a", Some(("", 7)))).unwrap();
    assert_eq!(drain(&queue), [vec![tombstone("a", Some(("", 7)))]]);
}

#[test]
fn an_object_without_a_key_is_refused() {
    let queue = plain();
    assert!(matches!(queue.delete(("", 1)), Err(EnqueueError::Key(_))));
    assert!(matches!(queue.replace(vec![("", 1)]), Err(EnqueueError::Key(_))));
    assert!(!queue.has_synced(), "these two do not count as a write (QU-19)");
    let error = queue.add(("", 1)).unwrap_err();
    assert!(error.to_string().contains("(\"\", 1)"), "{error}");
    assert!(queue.has_synced(), "an add does");
    assert!(queue.is_empty());
    let queue = plain();
    assert!(queue.update(("", 1)).is_err());
    assert!(queue.has_synced(), "and so does an update");
}

#[test]
fn a_panicking_key_function_leaves_the_queue_as_it_was() {
    let queue = plain();
    queue.add(("a", 1)).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| queue.add(("panic", 1)))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| queue.replace(vec![("panic", 1)]))).is_err());
    assert_eq!(drain(&queue), [vec![Delta::Added(("a", 1))]]);
}

#[test]
fn every_object_is_transformed_but_those_shown_before() {
    let store = Store::of(&[("known", 1), ("gone", 1)]);
    let queue = transforming(&store);
    queue.add(("a", 1)).unwrap();
    queue.update(("a", 2)).unwrap();
    queue.delete(("a", 3)).unwrap();
    queue.delete_last_state(LastState::unknown("gone", Some(("gone", 1)))).unwrap();
    queue.resync();
    assert_eq!(
        drain(&queue),
        [
            vec![Delta::Added(("a", 101)), Delta::Updated(("a", 102)), deleted(("a", 103))],
            vec![tombstone("gone", Some(("gone", 1)))],
            vec![Delta::Sync(("known", 1))],
        ]
    );
    queue.replace(vec![("a", 4), ("known", 5), ("gone", 6)]).unwrap();
    assert_eq!(pop(&queue).deltas.newest(), Some(&Delta::Replaced(("a", 104))));
}

#[test]
fn a_list_is_transformed_also_where_it_is_shown_as_sync() {
    let runtime = System::new();
    let intake = Intake::new(&runtime, key_of).with_transform(add_hundred);
    let queue = DeltaFifo::with_options(&runtime, intake, Options::default());
    queue.replace(vec![("a", 1)]).unwrap();
    assert_eq!(*pop(&queue).deltas, [Delta::Sync(("a", 101))]);
}

#[test]
fn an_object_has_the_key_that_it_had_before_it_was_transformed() {
    let runtime = System::new();
    let intake = Intake::new(&runtime, key_of).with_transform(|(_, version)| Ok(("", version)));
    let queue: DeltaFifo<_, _> = DeltaFifo::with_options(&runtime, intake, Options::default());
    queue.add(("a", 1)).unwrap();
    queue.update(("a", 2)).unwrap();
    queue.delete(("a", 3)).unwrap();
    queue.replace(vec![("a", 4)]).unwrap();
    assert_eq!(queue.get(&"a").unwrap().len(), 4);
    assert_eq!(queue.len(), 1);
}

#[test]
fn what_the_transformer_refuses_is_not_queued() {
    let queue = transforming(&Store::of(&[("a", 1)]));
    let refused = queue.add(("a", 13)).unwrap_err();
    assert_eq!(refused.to_string(), "transforming the object");
    assert!(matches!(queue.delete(("a", 13)), Err(EnqueueError::Transform(_))));
    queue.delete(("unknown", 13)).unwrap(); // ignored, so its refusal does not matter
    assert!(queue.is_empty());
    assert!(queue.has_synced(), "a refusal by the transformer comes after the write");
}

#[test]
fn a_panicking_transformer_leaves_the_queue_as_it_was() {
    let queue = transforming(&Store::of(&[("a", 1), ("b", 1)]));
    queue.add(("a", 2)).unwrap();
    let calls: [&dyn Fn(&Queue); 3] = [
        &|queue| drop(queue.update(("a", 66))),
        &|queue| drop(queue.delete(("b", 66))),
        &|queue| drop(queue.replace(vec![("b", 2), ("a", 66)])),
    ];
    for call in calls {
        assert!(catch_unwind(AssertUnwindSafe(|| call(&queue))).is_err());
    }
    assert_eq!(drain(&queue), [vec![Delta::Added(("a", 102))]]);
}

#[test]
fn a_resync_shows_what_is_known_and_not_pending() {
    let queue = with_store(&Store::of(&[("a", 1), ("b", 1), ("lost", 1)]));
    queue.update(("a", 2)).unwrap();
    queue.resync();
    queue.update(("b", 2)).unwrap();
    let b = vec![Delta::Sync(("b", 1)), Delta::Updated(("b", 2))];
    assert_eq!(drain(&queue), [vec![Delta::Updated(("a", 2))], b], "cache:TR-11, cache:TR-12");
}

#[test]
fn a_resync_without_known_objects_does_nothing() {
    let queue = plain();
    queue.add(("a", 1)).unwrap();
    pop(&queue);
    queue.resync();
    assert!(queue.is_empty());
}

/// Names its only key twice.
struct Stutter;

impl KnownObjects<&'static str, Object> for Stutter {
    fn keys(&self) -> Vec<&'static str> {
        vec!["a", "a"]
    }
    fn get(&self, _: &&'static str) -> Result<Option<Object>, LookupFailed> {
        Ok(Some(("a", 1)))
    }
}

#[test]
fn a_store_that_names_a_key_twice_has_it_queued_once() {
    let runtime = System::new();
    let intake = || Intake::new(&runtime, key_of);
    let queue = DeltaFifo::with_options(&runtime, intake(), Options::with_known(Stutter));
    queue.resync();
    assert_eq!(drain(&queue), [vec![Delta::Sync(("a", 1))]]);
    queue.replace(vec![]).unwrap();
    assert_eq!(drain(&queue), [vec![tombstone("a", Some(("a", 1)))]]);
}

#[test]
fn keys_that_collide_are_kept_apart() {
    let queue = DeltaFifo::new(&System::new(), |object: &Object| Ok(Colliding(object.0)));
    for object in [("a", 1), ("b", 1), ("a", 2)] {
        queue.update(object).unwrap();
    }
    queue.delete(("c", 1)).unwrap();
    queue.replace(vec![("b", 2)]).unwrap();
    let (first, ()) = queue.pop(|_| ()).unwrap();
    let stone = Delta::Deleted(LastState::unknown(Colliding("a"), Some(("a", 2))));
    assert_eq!(*first.deltas, [Delta::Updated(("a", 1)), Delta::Updated(("a", 2)), stone]);
    let (second, ()) = queue.pop(|_| ()).unwrap();
    assert_eq!(*second.deltas, [Delta::Updated(("b", 1)), Delta::Sync(("b", 2))]);
    assert!(queue.is_empty());
}

#[test]
fn what_a_user_sees_is_shown() {
    let queue = plain();
    queue.add(("a", 1)).unwrap();
    queue.update(("a", 2)).unwrap();
    assert_eq!(format!("{queue:?}"), "DeltaFifo");
    assert_eq!(format!("{:?}", pop(&queue).deltas), r#"[Added(("a", 1)), Updated(("a", 2))]"#);
    assert_eq!(format!("{:>8}", DeltaKind::Replaced), "Replaced");
    assert_eq!(NoDeltas.to_string(), "0 length Deltas object; can't get key");
    let options = Options::with_known(Store::of(&[]));
    let shown = "Options { known: true, emit_replaced: true, on_slow: false }";
    assert_eq!(format!("{options:?}"), shown);
    let shown = "Options { known: false, emit_replaced: false, on_slow: false }";
    assert_eq!(format!("{:?}", Options::default()), shown);
}
