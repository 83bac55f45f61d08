//! Keys and objects that call the overlay from another thread when they are dropped.

use std::sync::Arc;
use std::time::Duration;

use super::{MutationCache, MutationOptions};
use crate::runtime::Manual;
use crate::runtime::probe::{Probe, Probing};
use crate::store::{Described, IndexedStore, Metadata, index_by};

/// A key, which is the name, and a version.
#[derive(Clone, Debug)]
struct Object(Probing, &'static str);

impl Described for Object {
    fn metadata(&self) -> Option<Metadata<'_>> {
        Some(Metadata { resource_version: self.1, uid: "1", ..Metadata::default() })
    }
}

/// Makes an overlay of two objects, makes calls, and checks that everything was dropped without its
/// lock.
fn nothing_is_dropped_under_the_lock(
    calls: impl Fn(
        &Manual,
        &IndexedStore<Probing, Object, Manual>,
        &MutationCache<Probing, Object, Manual>,
        &dyn Fn(u8, &'static str) -> Object,
    ),
) {
    let (clock, probe) = (Manual::new(), Arc::<Probe>::default());
    let key_of = |object: &Object| Ok(object.0.clone());
    let store = Arc::new(IndexedStore::new(&clock, key_of));
    store.add_indexers([("all", index_by(|_: &Object| ["of them"]))]).unwrap();
    let options = MutationOptions { time: Duration::from_secs(5), capacity: 2, include_adds: true };
    let cache = Arc::new(MutationCache::new(&clock, Arc::clone(&store), key_of, options));
    let new = |number, version| Object(Probing(number, Arc::clone(&probe)), version);
    cache.mutation(new(1, "5")).unwrap();
    let (asked, nobody) = (Arc::clone(&cache), Probing(0, Arc::default()));
    probe.calls(move || assert!(asked.get(&nobody).unwrap().is_none()));
    calls(&clock, &store, &cache, &new);
    probe.all_got_through();
}

#[test]
fn a_write_drops_nothing_under_the_lock() {
    nothing_is_dropped_under_the_lock(|_, _, cache, new| {
        cache.mutation(new(1, "6")).unwrap();
        cache.mutation(new(1, "3")).unwrap(); // it is older
        cache.mutation(new(2, "1")).unwrap();
        cache.mutation(new(3, "1")).unwrap(); // it exceeds the capacity
        assert!(cache.mutation(new(3, "no number")).is_err());
    });
}

#[test]
fn what_the_store_has_learned_drops_nothing_under_the_lock() {
    nothing_is_dropped_under_the_lock(|clock, _, cache, new| {
        cache.mutation(new(2, "1")).unwrap();
        cache.on_add_or_update(&new(1, "5")).unwrap();
        cache.on_delete(&new(2, "2")).unwrap();
        cache.mutation(new(2, "1")).unwrap(); // it is late
        clock.advance(Duration::from_secs(6));
        cache.on_add_or_update(&new(2, "1")).unwrap();
    });
}

#[test]
fn a_read_drops_nothing_under_the_lock() {
    nothing_is_dropped_under_the_lock(|clock, store, cache, new| {
        let key = |number| new(number, "").0;
        store.add(new(1, "4")).unwrap();
        assert_eq!(cache.get(&key(1)).unwrap().unwrap().1, "5", "that of the store is older");
        assert_eq!(cache.by_index("all", "of them").unwrap().len(), 1);
        cache.mutation(new(2, "1")).unwrap();
        assert_eq!(cache.by_index("all", "of them").unwrap().len(), 2);
        store.add(new(1, "9")).unwrap();
        assert_eq!(cache.get(&key(1)).unwrap().unwrap().1, "9");
        clock.advance(Duration::from_secs(6));
        assert!(cache.get(&key(2)).unwrap().is_none());
    });
    nothing_is_dropped_under_the_lock(|_, store, cache, new| {
        store.add(new(1, "no number")).unwrap();
        assert!(cache.get(&new(1, "").0).is_err());
        assert!(cache.by_index("all", "of them").is_err());
        assert!(cache.by_index("none", "").is_err());
    });
}
