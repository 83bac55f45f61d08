//! Objects by key.

use std::cell::Cell;

use super::*;
use crate::store::{ExplicitKey, KnownObjects};

#[test]
fn an_object_is_stored_replaced_and_removed_by_key() {
    let store = plain();
    store.add(object("a", &["x"])).unwrap();
    store.update(object("b", &[])).unwrap();
    store.add(object("a", &["y"])).unwrap();
    assert_eq!(store.len(), 2);
    assert_eq!(store.get(&"a").unwrap().labels, ["y"]);
    assert_eq!(store.get_stored(&object("a", &[])).unwrap().unwrap().labels, ["y"]);
    store.delete(&object("a", &[])).unwrap();
    store.delete(&object("a", &[])).unwrap(); // need not be there
    store.delete_last_state(&LastState::unknown("b", None)).unwrap();
    assert!(store.is_empty());
    assert_eq!(store.get(&"a"), None);
    store.assert_valid();
}

#[test]
fn a_list_becomes_the_content_and_of_a_double_the_last_counts() {
    let store = plain();
    store.add(object("old", &[])).unwrap();
    store.replace(vec![object("a", &["1"]), object("b", &[]), object("a", &["2"])], "").unwrap();
    assert_eq!(names(store.list().to_vec()), ["a", "b"]);
    assert_eq!(store.get(&"a").unwrap().labels, ["2"]);
    let mut keys = store.list_keys();
    keys.sort_unstable();
    assert_eq!(keys, ["a", "b"]);
    store.resync();
    assert_eq!(store.len(), 2, "a resync changes nothing");
    store.assert_valid();
}

/// Lists are stored in groups; the end of a group must not matter.
#[test]
fn of_a_list_of_any_length_all_is_stored_or_nothing() {
    let key_of = |object: &(u32, u32)| match object.0 {
        13_000 => Err(Arc::new(NoMetadata) as Cause),
        number => Ok(number),
    };
    for count in [0, 1, 15, 16, 17, 32, 40] {
        let store = IndexedStore::new(&System::new(), key_of);
        let list = |object| (0..count).map(|number| (number, object)).collect::<Vec<_>>();
        let twice = [list(1), list(2)].concat();
        store.replace(twice, "").unwrap();
        let mut stored = store.list().to_vec();
        stored.sort_unstable();
        assert_eq!(stored, list(2));
        store.assert_valid();
        let refused = [list(3), vec![(13_000, 0)], list(4)].concat();
        assert!(matches!(store.replace(refused, ""), Err(StoreError::Key(_))));
        assert!((0..count).all(|number| store.get(&number) == Some((number, 2))));
        assert_eq!(store.len(), count as usize);
    }
}

thread_local! {
    /// The key whose clone panics.
    static UNLUCKY: Cell<u32> = const { Cell::new(u32::MAX) };
}

#[derive(PartialEq, Eq, Hash, Debug)]
struct Fragile(u32);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert_ne!(self.0, UNLUCKY.get());
        Self(self.0)
    }
}

/// The unlucky key is next to the written one, and is copied because a snapshot is alive.
#[test]
fn a_key_that_panics_when_it_is_cloned_leaves_the_store_as_it_was() {
    let version_of: VersionOf<&str> = Arc::new(|version| Some(*version));
    let key_of = |object: &&str| Ok(Fragile(object.len() as u32));
    let intake = Intake::new(&System::new(), key_of);
    let store = IndexedStore::with_intake(&System::new(), intake, Some(version_of));
    let [one, two, three, four] = ["1", "22", "333", "4444"];
    [one, two, three].into_iter().for_each(|object| store.add(object).unwrap());
    store.delete(&two).unwrap();
    let snapshot = store.list();
    let (add, update) = (|| store.add(four), || store.update("!!!"));
    let delete = || store.delete(&three);
    let writes: [&dyn Fn() -> _; 3] = [&add, &update, &delete];
    for (unlucky, write) in [1, 1, 1].into_iter().zip(writes) {
        UNLUCKY.set(unlucky);
        let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(write)).is_err();
        UNLUCKY.set(u32::MAX);
        assert!(panics);
        store.assert_valid();
        assert_eq!(store.list().to_vec(), [one, three]);
        assert_eq!((store.get(&Fragile(3)), store.get(&Fragile(4))), (Some(three), None));
        assert_eq!(store.last_resource_version(), two, "of the last that succeeded");
    }
    drop(snapshot);
    [two, four].into_iter().for_each(|object| store.add(object).unwrap());
    store.assert_valid();
    assert_eq!(store.len(), 4);
}

#[test]
fn slots_are_used_again() {
    let store = IndexedStore::new(&System::new(), |object: &u32| Ok(*object));
    for round in 0..3 {
        (0..10_000).for_each(|number| store.add(number).unwrap());
        assert_eq!(store.len(), 10_000, "round {round}");
        store.assert_valid();
        (0..10_000).filter(|n| n % 3 > 0).for_each(|number| store.delete(&number).unwrap());
        assert_eq!(store.len(), 3334, "round {round}");
        store.assert_valid();
    }
}

#[test]
fn the_transformer_works_on_what_comes_in() {
    let runtime = System::new();
    let intake = Intake::new(&runtime, |object: &(u8, u8)| Ok(object.0));
    let intake = intake.with_transform(|object: (u8, u8)| match object.1 {
        13 => Err(Arc::new(NoMetadata)),
        version => Ok((object.0, version + 100)),
    });
    let store = IndexedStore::with_intake(&runtime, intake, None);
    store.add((1, 1)).unwrap();
    assert_eq!(store.get(&1), Some((1, 101)));
    store.replace(vec![(2, 2)], "").unwrap();
    assert_eq!(store.list().to_vec(), [(2, 102)]);
    let refused = store.add((2, 13)).unwrap_err();
    assert_eq!(refused.to_string(), "transforming the object");
    assert!(matches!(store.replace(vec![(3, 3), (2, 13)], ""), Err(StoreError::Transform(_))));
    assert_eq!(store.list().to_vec(), [(2, 102)]);
    store.transaction(vec![Transaction::Add((4, 13))]).unwrap();
    assert_eq!(store.get(&4), Some((4, 13)), "a transaction is not transformed (ST-19)");
}

#[test]
fn an_object_is_stored_read_and_removed_under_the_key_that_it_had_before_it_was_transformed() {
    let runtime = System::new();
    let intake = Intake::new(&runtime, |object: &(u8, u8)| match object.0 {
        0 => Err(Arc::new(NoMetadata) as Cause),
        key => Ok(key),
    });
    let intake = intake.with_transform(|(_, version)| Ok((0, version)));
    let store = IndexedStore::with_intake(&runtime, intake, None);
    store.add((1, 1)).unwrap();
    store.update((1, 2)).unwrap();
    assert_eq!(store.get_stored(&(1, 9)).unwrap(), Some((0, 2)), "ST-11");
    store.delete(&(1, 3)).unwrap();
    store.replace(vec![(2, 4)], "").unwrap();
    assert_eq!((store.get(&1), store.get(&2)), (None, Some((0, 4))));
}

#[test]
fn a_list_is_compared_with_what_it_replaces() {
    let store = plain();
    for name in ["gone", "kept", "twice"] {
        store.add(at_version(name, "1")).unwrap();
    }
    let listed = [("new", "2"), ("twice", "2"), ("twice", "3"), ("kept", "2"), ("new", "3")];
    let listed = listed.map(|(name, version)| at_version(name, version)).to_vec();
    let replaced = store.replace_and_compare(listed, "").unwrap();
    let before: Vec<_> = replaced.before.iter().map(|old| Some(old.as_ref()?.name)).collect();
    assert_eq!(before, [None, Some("twice"), Some("twice"), Some("kept"), None]);
    assert!(replaced.before.iter().flatten().all(|old| old.version == "1"));
    assert_eq!(replaced.gone, [("gone", at_version("gone", "1"))]);
    assert_eq!(store.get(&"twice"), Some(at_version("twice", "3")));

    let refused = store.replace_and_compare(vec![object("", &[])], "");
    assert!(refused.is_err());
    assert_eq!(store.len(), 3, "nothing has changed");
}

#[test]
fn a_transaction_skips_what_has_no_key_and_does_the_rest() {
    let store = labelled();
    store.add(object("gone", &["x"])).unwrap();
    let error = store
        .transaction(vec![
            Transaction::Add(object("a", &["x"])),
            Transaction::Add(object("", &[])),
            Transaction::Update(object("a", &["y"])),
            Transaction::Delete(LastState::Final(object("gone", &[]))),
            Transaction::Delete(LastState::Final(object("", &[]))),
            Transaction::Delete(LastState::unknown("never", None)),
        ])
        .unwrap_err();
    assert_eq!((error.successful, error.total, error.errors.len()), (vec![0, 2, 3, 5], 6, 2));
    assert_eq!(names(store.list().to_vec()), ["a"]);
    assert_eq!(under(&store, "y"), ["a"], "the later entry of a key comes after the earlier");
    assert_eq!(under(&store, "x"), [""; 0]);
    store.transaction(vec![]).unwrap();
}

#[test]
fn an_object_added_and_deleted_in_one_transaction_leaves_nothing() {
    let store = labelled();
    let add = || Transaction::Add(object("a", &["x"]));
    let delete = || Transaction::Delete(LastState::Final(object("a", &[])));
    store.transaction(vec![add(), delete(), add(), add(), delete()]).unwrap();
    assert!(store.is_empty());
    assert_eq!(labels(&store), []);
    store.assert_valid();
}

#[test]
fn what_left_the_store_is_not_kept_alive() {
    let store = labelled();
    let objects = [
        object("a", &["x"]),
        object("a", &["x", "y"]),
        object("b", &["x"]),
        object("c", &["x"]),
        object("c", &["y"]),
    ];
    for object in &objects[..4] {
        store.add(Arc::clone(object)).unwrap();
    }
    store.delete(&objects[2]).unwrap();
    assert_eq!(objects.each_ref().map(Arc::strong_count), [1, 2, 1, 2, 1]);
    store.replace(vec![Arc::clone(&objects[3]), Arc::clone(&objects[4])], "").unwrap();
    assert_eq!(objects.each_ref().map(Arc::strong_count), [1, 1, 1, 1, 2]);
}

#[test]
fn a_queue_can_know_the_store() {
    let store = Arc::new(plain());
    store.add(object("a", &[])).unwrap();
    let known: &dyn KnownObjects<&'static str, Arc<Object>> = &store;
    assert_eq!(known.keys(), ["a"]);
    assert_eq!(known.get(&"b"), Ok(None));
    assert_eq!(known.get(&"a").unwrap().unwrap().name, "a");
}

#[test]
fn explicit_keys_find_their_objects() {
    let store = IndexedStore::new(&System::new(), crate::store::metadata_key::<ExplicitKey>);
    store.add(ExplicitKey("a/b/c".to_owned())).unwrap();
    assert!(store.get(&"a/b/c".to_owned()).is_some());
}

#[test]
fn what_an_entry_of_a_transaction_replaces_is_found_by_its_own_key() {
    let store = labelled();
    store.add(object("b", &["old"])).unwrap();
    let of = |name, labels| Transaction::Update(object(name, labels));
    store.transaction(vec![of("a", &["x"]), of("b", &["new"]), of("a", &["y"])]).unwrap();
    assert_eq!((under(&store, "x"), under(&store, "y")), (vec![], vec!["a"]), "ST-17");
    assert_eq!((under(&store, "old"), under(&store, "new")), (vec![], vec!["b"]));
}

#[test]
fn two_entries_of_a_transaction_may_be_of_one_object() {
    let store = labelled();
    let of = |name, labels| Transaction::Update(object(name, labels));
    store.transaction(vec![of("a", &["x"]), of("a", &["y"])]).unwrap();
    assert_eq!((under(&store, "x"), under(&store, "y")), (vec![], vec!["a"]), "ST-17");
    store.transaction(vec![of("b", &["old"]), of("a", &["x"]), of("a", &["z"])]).unwrap();
    store.transaction(vec![of("b", &["new"]), of("a", &["x"]), of("a", &["y"])]).unwrap();
    assert_eq!((under(&store, "old"), under(&store, "new")), (vec![], vec!["b"]));
    assert_eq!((under(&store, "x"), under(&store, "y")), (vec![], vec!["a"]));
    assert_eq!(labels(&store), ["new".into(), "y".into()]);
    store.transaction(vec![of("a", &["x"]), of("a", &["y"]), of("a", &["z"])]).unwrap();
    assert_eq!((under(&store, "y"), under(&store, "z")), (vec![], vec!["a"]));
    assert_eq!(labels(&store), ["new".into(), "z".into()], "each finds what the one before left");
}

#[test]
fn a_store_and_a_snapshot_of_it_tell_whether_they_are_empty() {
    let store = plain();
    assert!(store.is_empty() && store.list().is_empty());
    store.add(object("a", &[])).unwrap();
    store.resync();
    assert!(!store.is_empty() && !store.list().is_empty());
    assert_eq!((store.len(), store.list().len()), (1, 1));
}
