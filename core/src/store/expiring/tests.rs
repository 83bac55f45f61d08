//! The rules of the store whose objects expire, one behaviour a test.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::*;
use crate::runtime::probe::{Probe, Probing};
use crate::runtime::{Instant, Manual};
use crate::store::tests::{Object, key_of};

fn store(clock: &Manual) -> ExpiringStore<&'static str, Object, Manual> {
    ExpiringStore::new(clock, key_of, TimeToLive(Some(SECOND)))
}

const SECOND: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_nanos(1);

#[test]
fn an_object_lives_up_to_and_including_its_time() {
    let clock = Manual::new();
    let store = store(&clock);
    store.add(("a", 1)).unwrap();
    clock.advance(SECOND);
    assert_eq!(store.get(&"a"), Some(("a", 1)), "EX-2");
    clock.advance(TICK);
    assert_eq!(store.list_keys(), ["a"], "nobody has looked");
    assert_eq!(store.get(&"a"), None);
    assert_eq!(store.list_keys(), [""; 0], "now somebody has");
}

#[test]
fn listing_removes_what_has_expired() {
    let clock = Manual::new();
    let store = store(&clock);
    store.add(("a", 1)).unwrap();
    clock.advance(SECOND);
    store.add(("b", 1)).unwrap();
    clock.advance(TICK);
    assert_eq!(store.list(), [("b", 1)]);
    assert_eq!(store.list_keys(), ["b"]);
}

#[test]
fn every_write_starts_the_time_anew() {
    let clock = Manual::new();
    let store = store(&clock);
    store.add(("a", 1)).unwrap();
    clock.advance(SECOND);
    store.update(("a", 2)).unwrap();
    clock.advance(SECOND);
    assert_eq!(store.get(&"a"), Some(("a", 2)));
    store.replace(vec![("a", 3), ("b", 1), ("a", 4)]).unwrap();
    clock.advance(SECOND);
    assert_eq!(store.list(), [("a", 4), ("b", 1)]);
}

#[test]
fn an_object_added_after_the_expiry_of_another_is_safe_from_it() {
    let clock = Manual::new();
    let store = store(&clock);
    store.add(("a", 1)).unwrap();
    clock.advance(SECOND + TICK);
    store.add(("a", 2)).unwrap();
    assert_eq!(store.get(&"a"), Some(("a", 2)), "EX-4");
}

#[test]
fn without_a_time_objects_last_for_ever() {
    for forever in [None, Some(Duration::ZERO)] {
        let clock = Manual::new();
        let store = ExpiringStore::new(&clock, key_of, TimeToLive(forever));
        store.add(("a", 1)).unwrap();
        clock.advance(SECOND * 1_000_000);
        assert_eq!(store.list(), [("a", 1)]);
    }
}

#[test]
fn deleting_needs_no_object() {
    let clock = Manual::new();
    let store = store(&clock);
    store.add(("a", 1)).unwrap();
    store.delete(("a", 0)).unwrap();
    store.delete_last_state(&LastState::unknown("a", None)).unwrap();
    assert_eq!(store.get(&"a"), None);
}

#[test]
fn an_object_without_a_key_changes_nothing() {
    let clock = Manual::new();
    let store = store(&clock);
    store.add(("a", 1)).unwrap();
    assert!(store.add(("", 1)).is_err());
    assert!(store.update(("", 1)).is_err());
    assert!(store.delete(("", 1)).is_err());
    assert!(store.replace(vec![("b", 1), ("", 1)]).is_err());
    assert_eq!(store.list(), [("a", 1)]);
}

/// Panics for version 2.
struct Judge;

impl Expiry<Object> for Judge {
    fn is_expired(&self, object: &Object, _: Instant, _: Instant) -> bool {
        assert_ne!(object.1, 2, "the expiry has a bug");
        object.1 == 1
    }
}

#[test]
fn a_panicking_expiry_leaves_the_store_as_it_was() {
    let store = ExpiringStore::new(&Manual::new(), key_of, Judge);
    for object in [("a", 1), ("b", 2), ("c", 3)] {
        store.add(object).unwrap();
    }
    assert!(catch_unwind(AssertUnwindSafe(|| store.list())).is_err());
    assert_eq!(store.list_keys(), ["a", "b", "c"]);
    assert_eq!(store.get(&"a"), None);
    assert_eq!(store.get(&"c"), Some(("c", 3)));
}

#[test]
fn what_left_the_store_is_not_kept_alive() {
    let clock = Manual::new();
    let expiry = TimeToLive(Some(SECOND));
    let store = ExpiringStore::new(&clock, |object: &Arc<u32>| Ok(**object), expiry);
    let objects = [1, 2, 3, 3].map(Arc::new);
    store.add(Arc::clone(&objects[0])).unwrap();
    store.replace(vec![Arc::clone(&objects[1]), Arc::clone(&objects[2])]).unwrap();
    store.add(Arc::clone(&objects[3])).unwrap();
    store.delete(Arc::clone(&objects[1])).unwrap();
    clock.advance(SECOND + TICK);
    assert_eq!(store.get(&3), None);
    assert_eq!(objects.map(|object| Arc::strong_count(&object)), [1, 1, 1, 1]);
}

#[test]
fn a_store_is_shown_by_its_name() {
    assert_eq!(format!("{:?}", store(&Manual::new())), "ExpiringStore");
}

#[test]
fn all_that_have_expired_are_gone_however_many() {
    let runtime = Manual::new();
    let second = TimeToLive(Some(Duration::from_secs(1)));
    let store = ExpiringStore::new(&runtime, |object: &u32| Ok(*object), second);
    (0..1_000).for_each(|object| store.add(object).unwrap());
    runtime.advance(Duration::from_secs(2));
    (0..10).for_each(|object| store.add(object).unwrap());
    let mut alive = store.list();
    alive.sort_unstable();
    assert!(alive.into_iter().eq(0..10));
    assert_eq!(store.list_keys().len(), 10);
}

#[test]
fn keys_and_objects_that_leave_are_dropped_without_the_lock() {
    let (runtime, probe) = (Manual::new(), Arc::<Probe>::default());
    let second = TimeToLive(Some(Duration::from_secs(1)));
    let store = Arc::new(ExpiringStore::new(&runtime, |it: &Probing| Ok(it.clone()), second));
    let new = |number| Probing(number, Arc::clone(&probe));
    (1..=5).for_each(|number| store.add(new(number)).unwrap());
    let (asked, nobody) = (Arc::clone(&store), Probing(0, Arc::default()));
    probe.calls(move || assert!(asked.get(&nobody).is_none()));
    store.add(new(1)).unwrap();
    store.delete(new(2)).unwrap();
    runtime.advance(Duration::from_secs(2));
    drop(store.get(&new(3)));
    assert!(store.list().is_empty());
    store.add(new(6)).unwrap();
    store.replace(vec![new(7), new(7), new(8)]).unwrap();
    store.replace(vec![]).unwrap();
    probe.all_got_through();
}
