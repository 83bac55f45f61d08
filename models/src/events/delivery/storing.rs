//! The shipped rules of `apply`, on a store as data: within one step, a real store is filled,
//! changed and read out again.

use std::collections::BTreeMap;
use std::sync::Arc;

use seatrial_core::delta_fifo::Delta;
use seatrial_core::informer::{Change, apply};
use seatrial_core::ordered_fifo::{Bookmark, Event, Snapshot};
use seatrial_core::runtime::System;
use seatrial_core::store::{Cause, IndexedStore, Intake, KeyHasher, LastState};

use crate::reflector::{Given, Object, Thing};

/// Objects by key, as versions.
pub(super) type Content = BTreeMap<u8, u64>;

/// Changes a store by what the reflector gave. Returns the new content, and each key that is told
/// with its version before and after; zero for none.
pub(super) fn change(content: &Content, given: &Given) -> (Content, Vec<(u8, u64, u64)>) {
    let key_of = |object: &Object| -> Result<u8, Cause> { Ok(object.key) };
    let intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
    let store = IndexedStore::with_intake(&System::new(), intake, None);
    for object in objects(content) {
        store.add(object).expect("it has a key, and there is no index");
    }
    let mut told = Vec::new();
    apply(&event(given), false, &store, &mut |change| told.push(versions(&change)))
        .expect("there is no index that could refuse anything");
    // The store lists in its own order, and equal states must look the same.
    told.sort_unstable();
    let after = store.list().objects().map(|object| (object.key, object.version)).collect();
    (after, told)
}

fn objects(content: &Content) -> Vec<Object> {
    content.iter().map(|(key, version)| Thing::object(*key, *version)).collect()
}

fn event(given: &Given) -> Event<u8, Object> {
    match given {
        Given::All(all, version) => Event::ReplacedAll(Arc::new(Snapshot {
            objects: objects(all),
            resource_version: version.to_string(),
        })),
        Given::Exists(key, version) => Event::Delta(Delta::Updated(Thing::object(*key, *version))),
        Given::Gone(key, version) => {
            Event::Delta(Delta::Deleted(LastState::Final(Thing::object(*key, *version))))
        }
        Given::Bookmark(version) => {
            Event::Bookmark(Arc::new(Bookmark { resource_version: version.to_string() }))
        }
        Given::Resync => Event::SyncAll,
    }
}

fn versions(change: &Change<u8, Object>) -> (u8, u64, u64) {
    match change {
        Change::Added { object, .. } => (object.key, 0, object.version),
        Change::Updated { old, new } => (new.key, old.version, new.version),
        Change::Deleted(LastState::Final(object)) => (object.key, object.version, 0),
        Change::Deleted(LastState::Tombstone(gone)) => {
            (gone.key, gone.object.as_ref().map_or(0, |object| object.version), 0)
        }
    }
}
