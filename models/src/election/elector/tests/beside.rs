//! The checks of gates and locks find the mistakes that a programmer may make there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use seatrial_core::elector::{
    ANNOTATION, Call, ConfigMap, ConfigMapLock, Fence, Gate, Lock, MemoryStore, ObjectName,
    ObjectStore, Record, StoreError, Stored, Version,
};
use seatrial_core::runtime::System;

use crate::elector::beside::{check_bytes, gates_admit, locks_keep};

/// Some bytes of every kind.
fn bytes() -> impl Iterator<Item = Vec<u8>> {
    (0..=255_u8).map(|first| (0..24_u8).map(|at| first ^ at.wrapping_mul(57)).collect())
}

fn is_seen(check: impl Fn(&[u8])) -> bool {
    bytes().any(|bytes| catch_unwind(AssertUnwindSafe(|| check(&bytes))).is_err())
}

fn what_ships_passes() {
    bytes().for_each(|bytes| check_bytes(&bytes));
}

fn a_gate_that_forgets_past_lock_objects_is_seen() {
    assert!(is_seen(|bytes| {
        let mut highest: Option<Fence> = None;
        gates_admit(bytes, |token| {
            // A gate without memory: made anew, it has seen only the highest token.
            let mut gate = Gate::new();
            if let Some(highest) = &highest {
                gate.admit(highest);
            }
            let admitted = gate.admit(token);
            highest = gate.highest().cloned();
            admitted
        });
    }));
}

/// A lock that assumes that an object has annotations.
struct NeedsAnnotations(ConfigMapLock<Arc<MemoryStore<System, ConfigMap>>>, Maps);

type Maps = Arc<MemoryStore<System, ConfigMap>>;

impl Lock for NeedsAnnotations {
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError> {
        let name = ObjectName::new("default", "lock");
        let object = ObjectStore::get(&*self.1, &name, call)?;
        let _text = object.meta.annotations.expect("annotations").get(ANNOTATION).cloned();
        Lock::get(&mut self.0, call)
    }
    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError> {
        Lock::create(&mut self.0, record, call)
    }
    fn update(
        &mut self,
        record: &Record,
        version: &Version,
        call: Call<'_>,
    ) -> Result<Stored, StoreError> {
        Lock::update(&mut self.0, record, version, call)
    }
    fn describe(&self) -> String {
        Lock::describe(&self.0)
    }
}

fn a_lock_that_needs_annotations_is_seen() {
    assert!(is_seen(|bytes| {
        let make = |maps: Maps| {
            let lock = ConfigMapLock::new(Arc::clone(&maps), "default", "lock");
            NeedsAnnotations(lock, maps)
        };
        locks_keep(bytes, make);
    }));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    what_ships_passes,
    a_gate_that_forgets_past_lock_objects_is_seen,
    a_lock_that_needs_annotations_is_seen
];
