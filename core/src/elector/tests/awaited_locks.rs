//! Awaited locks keep the same things as blocking locks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::driver::Store;
use crate::elector::lock::ANNOTATION;
use crate::elector::{
    AsyncLock, AsyncObjectStore, Call, ConfigMap, ConfigMapLock, Fields, LeaseLock, LeaseSpec,
    MemoryStore, Name, Object, ObjectName, ObjectStore, PairLock, Record, StoreError,
};
use crate::runtime::{Runtime, System};

fn store() -> Store {
    Arc::new(MemoryStore::new(&System::new()))
}

fn record() -> Record {
    Record { holder: "a".into(), duration_seconds: 15, ..Record::default() }
}

fn lease(store: &Store, name: &str) -> LeaseLock<Store> {
    LeaseLock::new(Arc::clone(store), "ns", name)
}

#[test]
fn what_is_created_has_the_labels_and_is_remembered_as_the_store_returned_it() {
    let (system, store) = (System::new(), store());
    let labels = BTreeMap::from([("app".to_owned(), "x".to_owned())]);
    let mut lock = lease(&store, "lease").with_labels(labels.clone());
    let created = system.block_on(AsyncLock::create(&mut lock, &record())).unwrap();
    let object =
        ObjectStore::get(&store, &ObjectName::new("ns", "lease"), Call::default()).unwrap();
    assert_eq!((object.meta.labels, &object.meta.uid), (Some(labels), &created.uid), "LK-15");
    assert!(!created.uid.is_empty());
}

#[test]
fn an_annotation_has_the_fields_that_were_asked_for() {
    for (fields, all) in [(Fields::Older, false), (Fields::Current, true)] {
        let store: Arc<MemoryStore<System, ConfigMap>> = Arc::new(MemoryStore::new(&System::new()));
        let mut lock = ConfigMapLock::new(Arc::clone(&store), "ns", "lease").with_fields(fields);
        System::new().block_on(async {
            let created = AsyncLock::create(&mut lock, &record()).await.unwrap();
            AsyncLock::update(&mut lock, &record(), &created.version).await.unwrap();
        });
        let name = ObjectName::new("ns", "lease");
        let object = ObjectStore::get(&store, &name, Call::default()).unwrap();
        let text = &object.meta.annotations.unwrap()[ANNOTATION];
        assert_eq!(text.contains("preferredHolder"), all, "LK-18");
    }
}

#[test]
fn labels_come_with_every_update() {
    let (system, store) = (System::new(), store());
    let created = system.block_on(AsyncLock::create(&mut lease(&store, "lease"), &record()));
    let labels = BTreeMap::from([("app".to_owned(), "x".to_owned())]);
    let mut lock = lease(&store, "lease").with_labels(labels);
    let version = created.unwrap().version;
    system.block_on(async {
        AsyncLock::get(&mut lock).await.unwrap();
        AsyncLock::update(&mut lock, &record(), &version).await.unwrap();
    });
    let name = ObjectName::new("ns", "lease");
    let object = ObjectStore::get(&store, &name, Call::default()).unwrap();
    assert_eq!(object.meta.labels.unwrap()["app"], "x", "LK-15");
}

#[test]
fn a_pair_creates_the_second_if_it_is_missing() {
    let (system, store) = (System::new(), store());
    system.block_on(async {
        AsyncLock::create(&mut lease(&store, "one"), &record()).await.unwrap();
        let mut pair = PairLock::new(Name::new("b"), lease(&store, "one"), lease(&store, "two"));
        let read = AsyncLock::get(&mut pair).await.unwrap();
        AsyncLock::update(&mut pair, &record(), &read.version).await.unwrap();
        let second = AsyncLock::get(&mut lease(&store, "two")).await.unwrap();
        assert_eq!(second.record, record(), "LK-25");
    });
}

/// A store that can be out of reach, separately for reads and for writes.
struct OutOfReach(MemoryStore<System>, AtomicBool, AtomicBool);

impl AsyncObjectStore<LeaseSpec> for OutOfReach {
    async fn get(&self, name: &ObjectName) -> Result<Object<LeaseSpec>, StoreError> {
        if self.1.load(Ordering::SeqCst) {
            return Err(StoreError::Timeout);
        }
        ObjectStore::get(&self.0, name, Call::default())
    }

    async fn create(&self, object: &Object<LeaseSpec>) -> Result<Object<LeaseSpec>, StoreError> {
        ObjectStore::create(&self.0, object, Call::default())
    }

    async fn update(&self, object: &Object<LeaseSpec>) -> Result<Object<LeaseSpec>, StoreError> {
        if self.2.swap(false, Ordering::SeqCst) {
            return Err(StoreError::Timeout);
        }
        ObjectStore::update(&self.0, object, Call::default())
    }
}

#[test]
fn a_failed_call_leaves_the_remembered_object() {
    let store = MemoryStore::new(&System::new());
    let store = Arc::new(OutOfReach(store, AtomicBool::new(false), AtomicBool::new(true)));
    let mut lock = LeaseLock::new(Arc::clone(&store), "ns", "lease");
    System::new().block_on(async {
        let created = AsyncLock::create(&mut lock, &record()).await.unwrap();
        store.1.store(true, Ordering::SeqCst);
        assert_eq!(AsyncLock::get(&mut lock).await, Err(StoreError::Timeout));
        let failed = AsyncLock::update(&mut lock, &record(), &created.version).await;
        assert_eq!(failed, Err(StoreError::Timeout));
        let updated = AsyncLock::update(&mut lock, &record(), &created.version).await;
        assert!(updated.is_ok(), "{updated:?}: LK-3");
    });
}
