//! The resource version of the content.

use parking_lot::Mutex;

use super::*;
use crate::runtime::peeking::Peeking;

#[test]
fn every_write_of_an_object_sets_the_version_to_its_own() {
    let store = following();
    assert_eq!(store.last_resource_version(), "");
    store.add(at_version("a", "5")).unwrap();
    assert_eq!(store.last_resource_version(), "5");
    store.update(at_version("a", "3")).unwrap();
    assert_eq!(store.last_resource_version(), "3", "without a comparison (ST-13)");
    store.delete(&at_version("a", "8")).unwrap();
    store.delete(&at_version("never", "9")).unwrap();
    assert_eq!(store.last_resource_version(), "9", "whether it was there or not");
}

#[test]
fn a_list_and_a_bookmark_set_it_to_what_they_say() {
    let store = following();
    store.replace(vec![at_version("a", "5")], "7").unwrap();
    assert_eq!(store.last_resource_version(), "7");
    store.replace(vec![], "8").unwrap();
    assert_eq!(store.last_resource_version(), "8");
    for version in ["11", "9"] {
        store.bookmark(version);
        assert_eq!(store.last_resource_version(), version, "without a comparison");
    }
    assert!(store.is_empty());
}

#[test]
fn a_write_without_a_version_leaves_that_of_a_bookmark() {
    let store = following();
    store.add(at_version("a", "5")).unwrap();
    store.bookmark("11");
    store.delete_key(&"a").unwrap();
    assert_eq!(store.last_resource_version(), "11", "IX-18");
    let unknown = Transaction::Delete(LastState::unknown("a", None));
    store.transaction(vec![unknown]).unwrap();
    assert_eq!(store.last_resource_version(), "11");
}

#[test]
fn what_has_no_version_leaves_it() {
    let store = following();
    store.add(at_version("a", "5")).unwrap();
    store.add(at_version("a", "?")).unwrap();
    store.delete_last_state(&LastState::unknown("a", Some(at_version("a", "9")))).unwrap();
    store.delete_key(&"a").unwrap();
    assert_eq!(store.last_resource_version(), "5");
}

#[test]
fn a_transaction_sets_it_once_from_its_last_entry_that_took_effect() {
    let store = following();
    let add = |version| Transaction::Add(at_version("a", version));
    store.transaction(vec![add("5"), add("4")]).unwrap();
    assert_eq!(store.last_resource_version(), "4");
    let skipped = Transaction::Add(at_version("", "9"));
    assert!(store.transaction(vec![add("6"), skipped.clone()]).is_err());
    assert_eq!(store.last_resource_version(), "6");
    let nameless = Transaction::Delete(LastState::Final(at_version("", "9")));
    assert!(store.transaction(vec![add("6"), nameless]).is_err());
    assert_eq!(store.last_resource_version(), "6", "what was skipped says nothing");
    let deleted = Transaction::Delete(LastState::Final(at_version("a", "7")));
    store.transaction(vec![add("1"), deleted]).unwrap();
    assert_eq!(store.last_resource_version(), "7");
    let unknown = Transaction::Delete(LastState::unknown("a", None));
    store.transaction(vec![add("8"), unknown]).unwrap();
    assert_eq!(store.last_resource_version(), "7", "the last entry has none");
    store.transaction(vec![add("9"), add("?")]).unwrap();
    assert!(store.transaction(vec![skipped]).is_err());
    assert_eq!(store.last_resource_version(), "7");
}

#[test]
fn a_store_that_does_not_follow_it_has_none() {
    let store = plain();
    store.add(at_version("a", "5")).unwrap();
    store.replace(vec![], "7").unwrap();
    store.bookmark("9");
    assert_eq!(store.last_resource_version(), "");
}

#[test]
fn a_store_that_does_not_follow_its_version_has_none() {
    let store = plain();
    store.replace(vec![at_version("a", "5")], "7").unwrap();
    store.bookmark("11");
    assert_eq!(store.last_resource_version(), "", "ST-14");
}

/// Makes a write that stores version 2, and reads object and version whenever it releases a lock.
fn sightings(
    write: impl FnOnce(&IndexedStore<&'static str, Arc<Object>, Peeking>),
) -> Vec<(&'static str, String)> {
    let runtime = Peeking::new();
    let version_of: VersionOf<Arc<Object>> = Arc::new(|object| Some(object.version));
    let intake = Intake::new(&runtime, key_of);
    let store = Arc::new(IndexedStore::with_intake(&runtime, intake, Some(version_of)));
    store.add(at_version("a", "1")).unwrap();
    let seen = Arc::<Mutex<Vec<_>>>::default();
    runtime.looks({
        let (seen, store) = (Arc::clone(&seen), Arc::clone(&store));
        move || {
            let object = store.get(&"a").expect("it is always there");
            seen.lock().push((object.version, store.last_resource_version()));
        }
    });
    write(&store);
    runtime.ends(); // its function holds the store
    std::mem::take(&mut *seen.lock())
}

#[test]
fn a_reader_of_an_object_sees_its_version() {
    let new = || at_version("a", "2");
    for seen in [
        sightings(|store| store.update(new()).unwrap()),
        sightings(|store| store.transaction(vec![Transaction::Update(new())]).unwrap()),
        sightings(|store| store.replace(vec![new()], "2").unwrap()),
    ] {
        assert!(seen.contains(&("2", "2".to_owned())), "{seen:?}");
        assert!(seen.iter().all(|(object, version)| object == version), "{seen:?}");
    }
}
