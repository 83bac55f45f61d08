//! The rules of the store whose objects expire.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::runtime::Instant;
use crate::slab::{Slab, Slot};
use crate::store::Keyed;
use crate::store::{Handle, Hashed, Key};

/// Decides how long objects last. It is called under the store's lock and must not call the store.
pub trait Expiry<O>: Send + Sync + 'static {
    /// Tells whether an object stored at `stored` has expired at `now`.
    fn is_expired(&self, object: &O, stored: Instant, now: Instant) -> bool;
}

/// Objects last for this time, and are still there at exactly this age; `None` means for ever
/// (`cache:EX-2`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeToLive(pub Option<Duration>);

impl<O> Expiry<O> for TimeToLive {
    fn is_expired(&self, _: &O, stored: Instant, now: Instant) -> bool {
        self.0.is_some_and(|time| !time.is_zero() && now.since(stored) > time)
    }
}

/// The state of a store whose objects expire, without its lock.
#[derive(Clone)]
pub struct ExpiringObjects<K: Key, O: Handle> {
    /// Objects, and when they were stored. `None` in a free slot.
    items: Slab<K, Option<Stored<O>>>,
    expiry: Arc<dyn Expiry<O>>,
}

#[derive(Clone, Debug)]
struct Stored<O> {
    object: O,
    at: Instant,
}

impl<K: Key, O: Handle> ExpiringObjects<K, O> {
    /// Makes an empty store.
    pub fn new(expiry: Arc<dyn Expiry<O>>) -> Self {
        Self { items: Slab::new(), expiry }
    }

    /// Stores an object; takes the key if it is new. Returns the object that it replaced.
    pub(super) fn put(
        &mut self,
        key: &mut Option<Hashed<K>>,
        object: O,
        now: Instant,
    ) -> Option<O> {
        let slot = match self.items.find(key.as_ref()?.item()) {
            Some(slot) => slot,
            None => {
                let (hash, key) = key.take().map(|key| (key.hash(), key.into_key()))?;
                self.items.intern(&mut Some(key), u64::from(hash))?
            }
        };
        let before = self.items.value_mut(slot).replace(Stored { object, at: now });
        before.map(|stored| stored.object)
    }

    pub(super) fn delete(&mut self, key: &Hashed<K>) -> Option<(K, O)> {
        let slot = self.items.find(key.item())?;
        self.remove(slot)
    }

    /// Removes an object. Key and object are dropped outside the lock.
    fn remove(&mut self, slot: Slot) -> Option<(K, O)> {
        let stored = self.items.value_mut(slot).take();
        self.items.remove(slot).zip(stored.map(|stored| stored.object))
    }

    /// Replaces the content by a list whose time begins now. Returns the old objects, and those of
    /// the list that a later one with the same key replaced.
    pub(super) fn replace(&mut self, listed: Vec<Keyed<K, O>>, now: Instant) -> Vec<(K, O)> {
        let slots: Vec<Slot> = self.items.iter().map(|(slot, _)| slot).collect();
        let mut left: Vec<_> = slots.into_iter().filter_map(|slot| self.remove(slot)).collect();
        self.items = Slab::new(); // frees the room that the list does not need
        for Keyed { key, object } in listed {
            let mut key = Some(key);
            let before = self.put(&mut key, object, now);
            left.extend(key.map(Hashed::into_key).zip(before));
        }
        left
    }

    /// Returns an object. If it has expired, it is removed and returned as `Err`.
    pub(super) fn get(&mut self, key: &Hashed<K>, now: Instant) -> Result<Option<O>, (K, O)> {
        let Some(slot) = self.items.find(key.item()) else { return Ok(None) };
        if self.is_expired(slot, now) {
            return self.remove(slot).map_or(Ok(None), Err);
        }
        Ok(self.items.value(slot).as_ref().map(|stored| stored.object.clone()))
    }

    fn is_expired(&self, slot: Slot, now: Instant) -> bool {
        let stored = self.items.value(slot).as_ref();
        stored.is_some_and(|stored| self.expiry.is_expired(&stored.object, stored.at, now))
    }

    /// Returns the objects that have not expired, and removes and returns the expired ones.
    pub(super) fn list(&mut self, now: Instant) -> (Vec<O>, Vec<(K, O)>) {
        // The expiry is called before anything changes: it is foreign code and may panic.
        let (expired, alive): (Vec<Slot>, Vec<Slot>) =
            self.items.iter().map(|(slot, _)| slot).partition(|slot| self.is_expired(*slot, now));
        let object = |slot| self.items.value(slot).as_ref().map(|stored| stored.object.clone());
        let alive = alive.into_iter().filter_map(object).collect();
        (alive, expired.into_iter().filter_map(|slot| self.remove(slot)).collect())
    }

    /// Visits all keys, in no particular order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.items.iter().map(|(slot, _)| self.items.item(slot).key())
    }

    pub(super) fn check(&self) {
        let stored = self.items.iter().filter(|(_, stored)| stored.is_some()).count();
        assert_eq!(stored, self.items.len(), "what has a key has an object");
    }
}

impl<K: Key, O: Handle> fmt::Debug for ExpiringObjects<K, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExpiringObjects").field("len", &self.items.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::single_step::Stepped;
    use crate::store::KeyHasher;
    use crate::store::expiring::{Delete, Get, Put, Replace};

    fn key() -> Hashed<&'static str> {
        KeyHasher::fixed(0).hashed("a")
    }

    fn put(object: u32) -> Put<&'static str, u32> {
        Put { key: Some(key()), object: Some(object) }
    }

    fn store() -> Stepped<ExpiringObjects<&'static str, u32>> {
        let expiry = Arc::new(TimeToLive(Some(Duration::from_secs(1))));
        let mut store = Stepped::new(ExpiringObjects::new(expiry));
        store.call(put(1));
        store
    }

    #[test]
    fn what_leaves_the_store_is_handed_to_the_call_which_drops_it_without_the_lock() {
        let mut replacing = put(2);
        let mut replaced = store();
        let mut cx = crate::machine::Cx::new(&replaced.clock);
        crate::machine::Operation::step(&mut replacing, &mut replaced.machine, &mut cx);
        assert_eq!(replacing.object, Some(1));
        assert_eq!(store().call(Delete(key())), Some(("a", 1)));
        let twice = vec![Keyed { key: key(), object: 2 }, Keyed { key: key(), object: 3 }];
        assert_eq!(store().call(Replace(twice)), [("a", 1), ("a", 2)]);
        let mut expired = store();
        expired.advance(Duration::from_secs(2));
        assert_eq!(expired.call(Get(key())), Err(("a", 1)));
    }

    #[test]
    fn a_key_without_an_object_is_noticed() {
        let mut store = store().machine;
        store.check();
        assert!(format!("{store:?}").contains("len: 1"), "{store:?}");
        store.items.intern(&mut Some("b"), 7);
        let check = std::panic::AssertUnwindSafe(|| store.check());
        assert!(std::panic::catch_unwind(check).is_err());
    }
}
