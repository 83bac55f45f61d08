//! Labels and annotations by others on the object of a lock are kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::elector::{
    AsyncLock, AsyncObjectStore, Call, ConfigMap, ConfigMapLock, Content, LeaseLock, LeaseSpec,
    Lock, MemoryStore, Meta, Object, ObjectName, ObjectStore, Record, StoreError, Stored,
};
use crate::runtime::{Runtime, System};

type Memory<C> = Arc<MemoryStore<System, C>>;

fn store<C: Content>() -> Memory<C> {
    Arc::new(MemoryStore::new(&System::new()))
}

fn name() -> ObjectName {
    ObjectName::new("ns", "lease")
}

fn record() -> Record {
    Record { holder: "a".into(), duration_seconds: 15, ..Record::default() }
}

/// A server that adds a label to an object at its first update.
struct Labels(Memory<LeaseSpec>);

impl ObjectStore<LeaseSpec> for Labels {
    fn get(&self, name: &ObjectName, call: Call<'_>) -> Result<Object<LeaseSpec>, StoreError> {
        ObjectStore::get(&self.0, name, call)
    }
    fn create(
        &self,
        object: &Object<LeaseSpec>,
        call: Call<'_>,
    ) -> Result<Object<LeaseSpec>, StoreError> {
        ObjectStore::create(&self.0, object, call)
    }
    fn update(
        &self,
        object: &Object<LeaseSpec>,
        call: Call<'_>,
    ) -> Result<Object<LeaseSpec>, StoreError> {
        let mut object = object.clone();
        let stored = ObjectStore::get(&self.0, &object.meta.name, call)?;
        if stored.meta.labels.is_none() {
            object.meta.labels = Some(BTreeMap::from([("by".to_owned(), "server".to_owned())]));
        }
        ObjectStore::update(&self.0, &object, call)
    }
}

impl AsyncObjectStore<LeaseSpec> for Labels {
    async fn get(&self, name: &ObjectName) -> Result<Object<LeaseSpec>, StoreError> {
        ObjectStore::get(self, name, Call::default())
    }
    async fn create(&self, object: &Object<LeaseSpec>) -> Result<Object<LeaseSpec>, StoreError> {
        ObjectStore::create(self, object, Call::default())
    }
    async fn update(&self, object: &Object<LeaseSpec>) -> Result<Object<LeaseSpec>, StoreError> {
        ObjectStore::update(self, object, Call::default())
    }
}

/// Creates a lease and updates it twice; the server's label must survive.
fn a_label_stays(update: impl Fn(&mut LeaseLock<Labels>, &Stored) -> Result<Stored, StoreError>) {
    let store = store();
    let mut lock = LeaseLock::new(Labels(Arc::clone(&store)), "ns", "lease");
    let created = Lock::create(&mut lock, &record(), Call::default()).unwrap();
    let first = update(&mut lock, &created).unwrap();
    update(&mut lock, &first).unwrap();
    let labels = ObjectStore::get(&store, &name(), Call::default()).unwrap().meta.labels;
    assert_eq!(labels.unwrap_or_default().get("by").map(String::as_str), Some("server"), "LK-2");
}

#[test]
fn what_the_store_added_to_an_update_is_part_of_the_next() {
    a_label_stays(|lock, last| Lock::update(lock, &record(), &last.version, Call::default()));
}

#[test]
fn what_the_store_added_to_an_awaited_update_is_part_of_the_next() {
    a_label_stays(|lock, last| {
        System::new().block_on(AsyncLock::update(lock, &record(), &last.version))
    });
}

#[test]
fn a_lock_in_an_annotation_leaves_the_other_annotations() {
    let store: Memory<ConfigMap> = store();
    let mut meta = Meta::new(name());
    meta.annotations = Some(BTreeMap::from([("note".to_owned(), "keep".to_owned())]));
    ObjectStore::create(&store, &Object { meta, content: ConfigMap }, Call::default()).unwrap();
    let mut lock = ConfigMapLock::new(Arc::clone(&store), "ns", "lease");
    let read = Lock::get(&mut lock, Call::default()).unwrap();
    Lock::update(&mut lock, &record(), &read.version, Call::default()).unwrap();
    let annotations =
        ObjectStore::get(&store, &name(), Call::default()).unwrap().meta.annotations.unwrap();
    assert_eq!(annotations.get("note").map(String::as_str), Some("keep"), "LK-18");
    assert_eq!(annotations.len(), 2, "and the record is there");
}
