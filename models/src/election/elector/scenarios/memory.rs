//! The store in memory, where an election of one process is held.

use std::sync::Arc;

use seatrial_core::elector::{
    Call, LeaseSpec, MemoryStore, Meta, Name, Object, ObjectName, ObjectStore, Record, StoreError,
};
use seatrial_core::runtime::Runtime;

use crate::elector::{Elector, History};
use crate::trial::{Scenario, World};

fn lease(holder: &str) -> LeaseSpec {
    LeaseSpec::from_record(&Record::default().holder(Name::new(holder)).duration_seconds(15))
}

/// Two clients write at once: the store compares and stores in one step.
pub(super) struct TwoWriters;

impl Scenario<Elector> for TwoWriters {
    const NAME: &'static str = "two_writers_in_memory";
    const SAYS: &'static str =
        "two clients of a store in memory create an object, and then update the same version";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let store = Arc::new(MemoryStore::<R, LeaseSpec>::new(world.runtime()));
        let meta = Meta::new(ObjectName::new("default", "lock"));
        let object = |holder, meta: &Meta| Object::new(meta.clone(), lease(holder));
        let other = {
            let (store, object) = (Arc::clone(&store), object("a", &meta));
            world.spawn("a", move || store.create(&object, Call::default()))
        };
        let ours = store.create(&object("b", &meta), Call::default());
        let created = match (world.join(other), ours) {
            (Ok(created), Err(StoreError::AlreadyExists))
            | (Err(StoreError::AlreadyExists), Ok(created)) => created,
            both => panic!("one of two creates an object: {both:?}"),
        };
        let other = {
            let (store, object) = (Arc::clone(&store), object("a", &created.meta));
            world.spawn("a", move || store.update(&object, Call::default()))
        };
        let ours = store.update(&object("b", &created.meta), Call::default());
        let (updated, holder) = match (world.join(other), ours) {
            (Ok(updated), Err(StoreError::Conflict)) => (updated, "a"),
            (Err(StoreError::Conflict), Ok(updated)) => (updated, "b"),
            both => panic!("one of two updates a version: {both:?}"),
        };
        let stored = store.get(&created.meta.name, Call::default()).expect("it is there");
        assert_eq!(stored.content, lease(holder));
        assert_eq!(stored.meta.version, updated.meta.version);
        assert_ne!(stored.meta.version, created.meta.version);
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}
