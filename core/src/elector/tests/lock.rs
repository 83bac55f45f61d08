//! Locks over a store in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::elector::{
    Call, LeaseLock, LeaseSpec, Lock, MemoryStore, Meta, Name, Object, ObjectName, ObjectStore,
    Record, StoreError, Version,
};
use crate::runtime::System;

type Store = Arc<MemoryStore<System, LeaseSpec>>;

fn store() -> Store {
    Arc::new(MemoryStore::new(&System::new()))
}

fn name() -> ObjectName {
    ObjectName::new("ns", "lease")
}

fn record(holder: &str) -> Record {
    Record { holder: holder.into(), duration_seconds: 15, ..Record::default() }
}

#[test]
fn a_store_swaps_only_the_version_that_is_named() {
    let store = store();
    let object = Object { meta: Meta::new(name()), content: LeaseSpec::from_record(&record("a")) };
    let missing = store.update(&object, Call::default());
    assert_eq!(missing.unwrap_err(), StoreError::NotFound);
    let first = store.create(&object, Call::default()).unwrap();
    let again = store.create(&object, Call::default());
    assert_eq!(again.unwrap_err(), StoreError::AlreadyExists);
    let second = store.update(&first, Call::default()).unwrap();
    assert_ne!(first.meta.version, second.meta.version);
    assert_eq!(first.meta.uid, second.meta.uid);
    assert_eq!(store.update(&first, Call::default()).unwrap_err(), StoreError::Conflict);
    assert!(store.delete(&name()) && !store.delete(&name()));
    let reborn = store.create(&object, Call::default()).unwrap();
    assert_ne!(reborn.meta.uid, first.meta.uid);
}

#[test]
fn a_store_refuses_what_an_api_server_refuses() {
    let invalid = |record: Record| LeaseSpec::from_record(&record).validate().is_err();
    assert!(!invalid(record("a")));
    assert!(invalid(Record { duration_seconds: 0, ..record("a") }));
    assert!(invalid(Record { transitions: -1, ..record("a") }));
    assert!(invalid(Record { preferred_holder: "b".into(), ..record("a") }));
    let chosen = Record { preferred_holder: "b".into(), strategy: "S".into(), ..record("a") };
    assert!(!invalid(chosen));
    assert!(LeaseSpec::default().validate().is_ok(), "every field is optional");
}

#[test]
fn an_absent_spec_reads_as_an_empty_record() {
    assert_eq!(LeaseSpec::default().to_record(), Record::default());
}

#[test]
fn a_record_survives_the_lease_and_numbers_that_do_not_fit_are_cut() {
    let whole = Record { strategy: "S".into(), transitions: 4, ..record("a") };
    assert_eq!(LeaseSpec::from_record(&whole).to_record(), whole);
    let huge = Record { transitions: i64::MAX, duration_seconds: i64::MIN, ..record("a") };
    let spec = LeaseSpec::from_record(&huge);
    assert_eq!((spec.transitions, spec.duration_seconds), (Some(i32::MAX), Some(i32::MIN)));
    assert_eq!(LeaseSpec::from_record(&record("")).holder, Some(Name::EMPTY), "always written");
    assert_eq!(LeaseSpec::from_record(&record("")).strategy, None);
}

#[test]
fn an_update_needs_a_remembered_object_of_that_version() {
    let mut lock = LeaseLock::new(store(), "ns", "lease");
    let early = lock.update(&record("a"), &Version::Number(1), Call::default());
    assert_eq!(early, Err(StoreError::NotInitialised));
    let created = lock.create(&record("a"), Call::default()).unwrap();
    let updated = lock.update(&record("a"), &created.version, Call::default()).unwrap();
    let stale = lock.update(&record("a"), &created.version, Call::default());
    assert_eq!(stale, Err(StoreError::NotInitialised));
    assert!(lock.update(&record("b"), &updated.version, Call::default()).is_ok());
    assert_eq!(lock.describe(), "ns/lease");
}

#[test]
fn an_update_keeps_what_others_put_on_the_object_and_adds_configured_labels() {
    let store = store();
    let mut meta = Meta::new(name());
    meta.annotations = Some(BTreeMap::from([("note".to_owned(), "keep".to_owned())]));
    meta.rest = Some(Arc::new("owner"));
    let object = Object { meta, content: LeaseSpec::default() };
    store.create(&object, Call::default()).unwrap();

    let labels = BTreeMap::from([("app".to_owned(), "x".to_owned())]);
    let mut lock = LeaseLock::with_labels(Arc::clone(&store), "ns", "lease", labels);
    let read = lock.get(Call::default()).unwrap();
    lock.update(&record("a"), &read.version, Call::default()).unwrap();

    let meta = store.get(&name(), Call::default()).unwrap().meta;
    assert_eq!(meta.labels.unwrap()["app"], "x", "LK-15");
    assert_eq!(meta.annotations.unwrap()["note"], "keep", "LK-2");
    assert!(meta.rest.unwrap().is::<&str>());
}

#[test]
fn a_failed_call_leaves_the_remembered_object() {
    let store = store();
    let mut lock = LeaseLock::new(Arc::clone(&store), "ns", "lease");
    let created = lock.create(&record("a"), Call::default()).unwrap();
    store.delete(&name());
    assert_eq!(lock.get(Call::default()), Err(StoreError::NotFound));
    let update = lock.update(&record("a"), &created.version, Call::default());
    assert_eq!(update, Err(StoreError::NotFound), "the call was made (LK-3)");
}
