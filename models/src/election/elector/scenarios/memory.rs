//! The store in memory, where an election of one process is held.

use std::sync::Arc;

use seatrial_core::elector::{
    AsyncLock, Call, ConfigMap, ConfigMapLock, LeaseLock, LeaseSpec, Lock, MemoryStore, Meta, Name,
    Object, ObjectName, ObjectStore, PairLock, Record, StoreError, Stored, UNKNOWN_HOLDER, Version,
};

use crate::elector::Elector;
use crate::engine::AnyRuntime;
use crate::trial::{Scenario, World};

fn record(holder: &str) -> Record {
    Record::default().holder(Name::new(holder)).duration_seconds(15)
}

fn lease(holder: &str) -> LeaseSpec {
    LeaseSpec::from_record(&record(holder))
}

/// Two clients write at once: the store compares and stores in one step.
pub(super) fn two_writers_in_memory() -> Scenario<Elector> {
    Scenario::new(
        "two_writers_in_memory",
        "two clients of a store in memory create an object, and then update the same version",
        |world| {
            let store = Arc::new(MemoryStore::<AnyRuntime, LeaseSpec>::new(world.runtime()));
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
        },
        |history| history.finished(),
    )
}

/// Calls on a lock, blocking or awaited.
struct Asked<L> {
    lock: L,
    awaited: bool,
}

impl<L: Lock + AsyncLock> Asked<L> {
    fn get(&mut self, world: &World<Elector>) -> Result<Stored, StoreError> {
        match self.awaited {
            true => world.at_once(AsyncLock::get(&mut self.lock)).expect("memory is quick"),
            false => Lock::get(&mut self.lock, Call::default()),
        }
    }

    fn holder(&mut self, world: &World<Elector>) -> Result<Name, StoreError> {
        self.get(world).map(|stored| stored.record.holder)
    }

    fn create(&mut self, world: &World<Elector>, holder: &str) {
        let record = record(holder);
        let created = match self.awaited {
            true => world.at_once(AsyncLock::create(&mut self.lock, &record)),
            false => Some(Lock::create(&mut self.lock, &record, Call::default())),
        };
        assert!(matches!(created, Some(Ok(_))), "{created:?}");
    }

    fn update(&mut self, world: &World<Elector>, holder: &str) {
        let version: Version = self.get(world).expect("it is there").version;
        let record = record(holder);
        let updated = match self.awaited {
            true => world.at_once(AsyncLock::update(&mut self.lock, &record, &version)),
            false => Some(Lock::update(&mut self.lock, &record, &version, Call::default())),
        };
        assert!(matches!(updated, Some(Ok(_))), "{updated:?}");
    }
}

/// Participants migrate from one kind of lock to another (`election:LK-24` to `LK-27`).
pub(super) fn pair_of_locks() -> Scenario<Elector> {
    Scenario::new(
        "pair_of_locks",
        "participants with one lock and with a pair of locks meet, blocking and awaited",
        |world| {
            for awaited in [false, true] {
                let leases = Arc::new(MemoryStore::<AnyRuntime, LeaseSpec>::new(world.runtime()));
                let maps = Arc::new(MemoryStore::<AnyRuntime, ConfigMap>::new(world.runtime()));
                let primary = || LeaseLock::new(Arc::clone(&leases), "default", "lock");
                let secondary = || ConfigMapLock::new(Arc::clone(&maps), "default", "lock");
                let pair = |name| PairLock::new(Name::new(name), primary(), secondary());
                let [mut mine, mut yours] =
                    ["me", "you"].map(|name| Asked { lock: pair(name), awaited });
                let mut alone = Asked { lock: primary(), awaited };
                assert_eq!(mine.holder(world), Err(StoreError::NotFound));
                alone.create(world, "you");
                assert_eq!(mine.holder(world), Ok(Name::new("you")), "it uses only the primary");
                assert_eq!(yours.holder(world), Err(StoreError::NotFound), "it uses both");
                mine.update(world, "me");
                assert_eq!(yours.holder(world), Ok(Name::new("me")));
                assert_eq!(alone.holder(world), Ok(Name::new("me")));
                alone.update(world, "you");
                assert_eq!(
                    mine.holder(world),
                    Ok(Name::new(UNKNOWN_HOLDER)),
                    "the two locks differ"
                );
            }
        },
        |history| history.finished(),
    )
}
