//! A complete list, in both modes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::runtime::probe::{Probe, Probing};
use crate::store::tests::Colliding;

#[test]
fn tombstones_come_before_the_list() {
    let queue = plain(&Store::of(&[("a", 1), ("b", 1)]));
    queue.add(("c", 1)).unwrap();
    queue.replace(vec![("a", 2)], "9").unwrap();
    let tombstones = [tombstone("c", Some(("c", 1))), tombstone("b", Some(("b", 1)))];
    let [c, b] = tombstones;
    assert_eq!(queue.list(), [added(("c", 1)), c, b, replaced(("a", 2))], "cache:TR-15");
}

#[test]
fn a_queued_deletion_needs_no_tombstone() {
    for (list, behind) in [(vec![("a", 2)], vec![replaced(("a", 2))]), (vec![], vec![])] {
        let queue = plain(&Store::of(&[("a", 1)]));
        queue.delete(("a", 1)).unwrap();
        queue.replace(list, "9").unwrap();
        assert_eq!(queue.list(), [vec![deleted(("a", 1))], behind].concat(), "cache:TR-16");
    }
}

#[test]
fn the_newest_queued_state_decides_and_goes_into_the_tombstone() {
    let queue = plain(&Store::of(&[("x", 1), ("y", 1)]));
    queue.delete(("x", 2)).unwrap();
    queue.update(("y", 2)).unwrap();
    queue.add(("x", 3)).unwrap();
    queue.replace(vec![], "9").unwrap();
    let stones = [tombstone("x", Some(("x", 3))), tombstone("y", Some(("y", 2)))];
    assert_eq!(queue.list()[3..], stones, "in the order of their first event");
}

#[test]
fn an_object_that_cannot_be_looked_up_gets_an_empty_tombstone() {
    let queue = plain(&Store::of(&[("lost", 1)]));
    queue.replace(vec![], "9").unwrap();
    assert_eq!(queue.list(), [tombstone("lost", None)]);
}

#[test]
fn a_list_in_which_an_object_has_no_key_changes_nothing() {
    let queue = plain(&Store::of(&[("a", 1)]));
    let list = vec![("b", 1), ("", 1)];
    assert!(matches!(queue.replace(list, "9"), Err(EnqueueError::Key(_))));
    assert!(queue.is_empty());
    assert!(!queue.has_synced());
}

#[test]
fn a_list_that_the_transformer_refuses_stays_half_queued_and_is_no_first_list() {
    let queue = transforming(&Store::of(&[("known", 1), ("late", 1)]));
    let list = vec![("a", 1), ("b", 13), ("late", 2)];
    assert!(matches!(queue.replace(list, "9"), Err(EnqueueError::Transform(_))));
    let stone = tombstone("known", Some(("known", 1)));
    assert_eq!(queue.list(), [stone, replaced(("a", 101))], "and none for late, which is listed");
    pop(&queue);
    pop(&queue);
    assert!(!queue.has_synced());
}

#[test]
fn an_object_listed_twice_is_queued_twice() {
    let queue = plain(&Store::of(&[]));
    queue.replace(vec![("a", 1), ("a", 2)], "9").unwrap();
    assert_eq!(queue.list(), [replaced(("a", 1)), replaced(("a", 2))]);
}

#[test]
fn a_panicking_store_leaves_the_queue_as_it_was() {
    let queue = plain(&Store::of(&[("bomb", 1)]));
    let list = || queue.replace(vec![("a", 1)], "9");
    assert!(catch_unwind(AssertUnwindSafe(list)).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| queue.resync())).is_err());
    assert!(queue.is_empty());
    assert!(!queue.has_synced());
}

#[test]
fn an_atomic_list_is_one_event_and_asks_for_no_key() {
    let queue = atomic();
    queue.add(("queued", 1)).unwrap();
    queue.replace(vec![("", 1), ("a", 1)], "9").unwrap();
    let snapshot = Snapshot { resource_version: "9".to_owned(), objects: vec![("", 1), ("a", 1)] };
    let list = Event::ReplacedAll(Arc::new(snapshot));
    assert_eq!(queue.list(), [added(("queued", 1)), list]);
}

#[test]
fn an_atomic_list_that_the_transformer_refuses_changes_nothing() {
    let runtime = System::new();
    let intake = Intake::new(&runtime, key_of).with_transform(transform);
    let queue = OrderedFifo::with_options(&runtime, intake, Options::default());
    let refused = queue.replace(vec![("a", 1), ("b", 13)], "9");
    assert!(matches!(refused, Err(EnqueueError::Transform(_))));
    assert!(queue.is_empty());
    assert!(!queue.has_synced());
    queue.replace(vec![("a", 1)], "9").unwrap();
    let Event::ReplacedAll(list) = pop(&queue) else { panic!("a list was queued") };
    assert_eq!(list.objects, [("a", 101)]);
}

#[test]
fn what_the_transformer_refuses_in_a_list_is_not_deleted_by_it() {
    let queue = transforming(&Store::of(&[("a", 1), ("b", 1), ("gone", 1)]));
    assert!(queue.replace(vec![("a", 13), ("b", 2)], "").is_err());
    assert_eq!(queue.list(), [tombstone("gone", Some(("gone", 1)))]);
}

/// A store whose two objects have keys with the same hash, and which names one of them twice.
struct Alike;

impl KnownObjects<Colliding, Object> for Alike {
    fn keys(&self) -> Vec<Colliding> {
        ["a", "b", "a"].map(Colliding).into()
    }

    fn get(&self, key: &Colliding) -> Result<Option<Object>, LookupFailed> {
        Ok(Some((key.0, 1)))
    }
}

#[test]
fn keys_that_collide_are_kept_apart_and_one_that_is_named_twice_is_shown_once() {
    let runtime = System::new();
    let intake = Intake::new(&runtime, |object: &Object| Ok(Colliding(object.0)));
    let queue = OrderedFifo::with_options(&runtime, intake, Options::plain(Alike));
    let drain =
        || std::iter::from_fn(|| (!queue.is_empty()).then(|| queue.pop(|_| ()).unwrap().0.event));
    queue.resync().unwrap();
    let shown = [("a", 1), ("b", 1)].map(|object| Event::Delta(Delta::Sync(object)));
    assert_eq!(drain().collect::<Vec<_>>(), shown);
    queue.update(("b", 2)).unwrap();
    queue.replace(vec![], "").unwrap();
    let gone =
        |name, object| Event::Delta(Delta::Deleted(LastState::unknown(Colliding(name), object)));
    let expected = [
        Event::Delta(Delta::Updated(("b", 2))),
        gone("b", Some(("b", 2))),
        gone("a", Some(("a", 1))),
    ];
    assert_eq!(drain().collect::<Vec<_>>(), expected);
}

/// Knows nothing.
struct Empty;

impl KnownObjects<Probing, Probing> for Empty {
    fn keys(&self) -> Vec<Probing> {
        vec![]
    }

    fn get(&self, _: &Probing) -> Result<Option<Probing>, LookupFailed> {
        Ok(None)
    }
}

#[test]
fn the_keys_of_a_list_are_dropped_without_the_lock() {
    let (system, probe) = (System::new(), Arc::<Probe>::default());
    let intake = Intake::new(&system, |object: &Probing| Ok(object.clone()));
    let queue = Arc::new(OrderedFifo::with_options(&system, intake, Options::plain(Empty)));
    let new = |number| Probing(number, Arc::clone(&probe));
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    queue.replace(vec![new(1), new(1), new(2)], "").unwrap();
    probe.all_got_through();
    assert_eq!(queue.len(), 3);
}
