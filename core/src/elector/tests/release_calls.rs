//! The calls of a release, as a client that obeys cancellation sees them.

use std::sync::Arc;

use super::driver::{Log, Store, config, token};
use crate::elector::{
    Call, Config, Elector, LeaseLock, LeaseSpec, Lock, MemoryStore, Meta, Object, ObjectName,
    ObjectStore, Record, StoreError, Stored, Version,
};
use crate::runtime::{Runtime, System};

/// Refuses calls that were cancelled.
struct Guarded<L>(L);

impl<L: Lock> Guarded<L> {
    fn admit(call: Call<'_>) -> Result<(), StoreError> {
        if call.is_cancelled() { Err(StoreError::Cancelled) } else { Ok(()) }
    }
}

impl<L: Lock> Lock for Guarded<L> {
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError> {
        Self::admit(call).and_then(|()| self.0.get(call))
    }
    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError> {
        Self::admit(call).and_then(|()| self.0.create(record, call))
    }
    fn update(
        &mut self,
        record: &Record,
        version: &Version,
        call: Call<'_>,
    ) -> Result<Stored, StoreError> {
        Self::admit(call).and_then(|()| self.0.update(record, version, call))
    }
    fn describe(&self) -> String {
        self.0.describe()
    }
}

#[test]
fn the_calls_of_a_release_are_not_cancelled_with_the_run() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let lock = Guarded(LeaseLock::new(Arc::clone(&store), "ns", "lease"));
    let config = config("a");
    let elector = Arc::new(Elector::new(&System::new(), lock, config).unwrap());
    let (token, log) = (token(), Log::new());
    let run = {
        let (elector, token, log) = (Arc::clone(&elector), token.clone(), Arc::clone(&log));
        System::new().spawn("run", move || elector.run(&token, &log))
    };
    log.next();
    log.next(); // it leads, and says so, in either order
    token.cancel();
    assert_eq!(System::new().join(run).unwrap(), Ok(true));
    let lease =
        ObjectStore::get(&*store, &ObjectName::new("ns", "lease"), Call::default()).unwrap();
    assert!(lease.content.to_record().holder.is_empty(), "LE-40: a fresh token");
}

#[test]
fn a_coordinated_lease_that_is_released_names_nobody_at_all() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let name = ObjectName::new("ns", "lease");
    let record = Record {
        holder: "a".into(),
        duration_seconds: 15,
        strategy: "S".into(),
        ..Record::default()
    };
    let object = Object { meta: Meta::new(name.clone()), content: LeaseSpec::from_record(&record) };
    ObjectStore::create(&*store, &object, Call::default()).unwrap();
    let config = Config { coordinated: true, ..Config::new("a") };
    let lock = LeaseLock::new(Arc::clone(&store), "ns", "lease");
    let elector = Elector::new(&System::new(), lock, config).unwrap();
    assert_eq!(elector.attempt(), Ok(true));
    let mut named = ObjectStore::get(&*store, &name, Call::default()).unwrap();
    named.content.preferred_holder = Some("b".into());
    ObjectStore::update(&*store, &named, Call::default()).unwrap();
    assert_eq!(elector.release(), Ok(true));
    let left = ObjectStore::get(&*store, &name, Call::default()).unwrap().content.to_record();
    let named = [left.holder, left.strategy, left.preferred_holder];
    assert!(named.iter().all(|name| name.is_empty()), "{named:?}: LE-41");
}
