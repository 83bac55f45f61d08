//! A cache of limited size whose entries expire (`cache:MC-10`).

use std::time::Duration;

use crate::runtime::Instant;
use crate::slab::{Slab, Slot};

use super::{Hashed, Key};

const NONE: u32 = u32::MAX;

/// A key, or a value, that left a cache.
pub(super) type Left<K, V> = (Option<K>, Option<V>);

/// Entries in the order of their last use. If there are too many, the least recently used one is
/// removed; an expired one is removed when it is next looked up.
///
/// It has no clock: every call passes the time.
#[derive(Clone, Debug)]
pub(super) struct LruCache<K, V> {
    items: Slab<K, Option<Entry<V>>>,
    capacity: usize,
    /// The most recently used entry.
    newest: u32,
    /// The least recently used entry.
    oldest: u32,
}

#[derive(Clone, Debug)]
struct Entry<V> {
    value: V,
    expires: Instant,
    newer: u32,
    older: u32,
}

impl<K: Key, V> LruCache<K, V> {
    /// Makes an empty cache for `capacity` entries, at least one.
    pub(super) fn new(capacity: usize) -> Self {
        Self { items: Slab::new(), capacity: capacity.max(1), newest: NONE, oldest: NONE }
    }

    /// Returns a value and counts that as a use. An expired entry is removed (at exactly its time
    /// it is still valid) and returned, to be dropped outside the lock.
    pub(super) fn look(&mut self, key: &Hashed<K>, now: Instant) -> Result<Option<&V>, Left<K, V>> {
        let Some(slot) = self.items.find(key.item()) else { return Ok(None) };
        if self.entry(slot).expires < now {
            return Err(self.take_out(slot));
        }
        self.unlink(slot);
        self.link_newest(slot);
        Ok(Some(&self.entry(slot).value))
    }

    /// Stores a value for some time; it replaces the value of its key. If there are too many
    /// entries, the least recently used one is removed. Returns the values to drop outside the
    /// lock.
    pub(super) fn put(
        &mut self,
        key: Hashed<K>,
        value: V,
        now: Instant,
        time: Duration,
    ) -> Left<K, V> {
        let found = self.items.find(key.item());
        let mut left = (None, None);
        match found {
            Some(slot) => self.unlink(slot),
            None if self.items.len() >= self.capacity => left = self.take_out(Slot(self.oldest)),
            None => {}
        }
        let (hash, mut key) = (u64::from(key.hash()), Some(key.into_key()));
        let slot = found.or_else(|| self.items.intern(&mut key, hash));
        let Some(slot) = slot else { return left };
        let entry = Entry { value, expires: now + time, newer: NONE, older: NONE };
        let before = self.items.value_mut(slot).replace(entry);
        self.link_newest(slot);
        (key.or(left.0), before.map(|entry| entry.value).or(left.1))
    }

    /// Removes an entry and returns it with its key.
    pub(super) fn pull(&mut self, key: &Hashed<K>) -> Left<K, V> {
        self.items.find(key.item()).map_or((None, None), |slot| self.take_out(slot))
    }

    /// Returns the keys of entries that have not expired, the least recently used first. This does
    /// not count as a use.
    pub(super) fn keys(&self, now: Instant) -> Vec<K> {
        let mut keys = Vec::with_capacity(self.items.len());
        let mut at = self.oldest;
        while at != NONE {
            let entry = self.entry(Slot(at));
            if entry.expires >= now {
                keys.push(self.items.item(Slot(at)).key().clone());
            }
            at = entry.newer;
        }
        keys
    }

    fn entry(&self, slot: Slot) -> &Entry<V> {
        self.items.value(slot).as_ref().expect("a slot in the list has an entry")
    }

    fn entry_mut(&mut self, slot: Slot) -> &mut Entry<V> {
        self.items.value_mut(slot).as_mut().expect("a slot in the list has an entry")
    }

    fn take_out(&mut self, slot: Slot) -> Left<K, V> {
        self.unlink(slot);
        let entry = self.items.value_mut(slot).take();
        (self.items.remove(slot), entry.map(|entry| entry.value))
    }

    fn unlink(&mut self, slot: Slot) {
        let &Entry { newer, older, .. } = self.entry(slot);
        match newer {
            NONE => self.newest = older,
            newer => self.entry_mut(Slot(newer)).older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.entry_mut(Slot(older)).newer = newer,
        }
    }

    fn link_newest(&mut self, slot: Slot) {
        let before = std::mem::replace(&mut self.newest, slot.0);
        let entry = self.entry_mut(slot);
        (entry.newer, entry.older) = (NONE, before);
        match before {
            NONE => self.oldest = slot.0,
            before => self.entry_mut(Slot(before)).newer = slot.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::KeyHasher;

    /// The tests do not need the removed values, so these forms drop them at once.
    impl<K: Key, V> LruCache<K, V> {
        fn get(&mut self, key: &Hashed<K>, now: Instant) -> Option<&V> {
            self.look(key, now).ok()?
        }

        fn add(&mut self, key: Hashed<K>, value: V, now: Instant, time: Duration) {
            drop(self.put(key, value, now, time));
        }

        fn remove(&mut self, key: &Hashed<K>) -> Option<V> {
            self.pull(key).1
        }

        fn len(&self) -> usize {
            self.items.len()
        }

        fn is_empty(&self) -> bool {
            self.len() == 0
        }
    }

    const TIME: Duration = Duration::from_nanos(10);

    fn key(name: &'static str) -> Hashed<&'static str> {
        KeyHasher::fixed(0).hashed(name)
    }

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn the_entry_that_was_not_used_for_longest_goes() {
        let mut cache = LruCache::new(2);
        cache.add(key("a"), 1, at(0), TIME);
        cache.add(key("b"), 2, at(0), TIME);
        assert_eq!(cache.get(&key("a"), at(0)), Some(&1));
        cache.add(key("c"), 3, at(0), TIME);
        assert_eq!(cache.get(&key("b"), at(0)), None);
        assert_eq!(cache.keys(at(0)), ["a", "c"]);
        cache.add(key("a"), 4, at(0), TIME);
        assert_eq!(cache.keys(at(0)), ["c", "a"], "to store is to use");
        assert_eq!(cache.len(), 2);
    }

    #[test]
    fn an_entry_stored_anew_takes_the_place_of_no_other() {
        let mut cache = LruCache::new(2);
        for (name, value) in [("a", 1), ("b", 2), ("b", 3)] {
            cache.add(key(name), value, at(0), TIME);
        }
        assert_eq!(cache.keys(at(0)), ["a", "b"]);
    }

    #[test]
    fn an_entry_lives_up_to_and_including_its_time_and_a_use_does_not_prolong_it() {
        let mut cache = LruCache::new(9);
        cache.add(key("a"), 1, at(0), TIME);
        assert_eq!(cache.get(&key("a"), at(10)), Some(&1));
        assert_eq!((cache.keys(at(10)), cache.is_empty()), (vec!["a"], false));
        cache.add(key("b"), 2, at(10), TIME);
        assert_eq!(cache.keys(at(11)), ["b"]);
        assert_eq!(cache.len(), 2, "nobody has looked");
        assert_eq!(cache.get(&key("a"), at(11)), None);
        assert_eq!(cache.len(), 1);
        cache.add(key("b"), 3, at(15), TIME);
        assert_eq!(cache.get(&key("b"), at(25)), Some(&3), "to store is to prolong");
        cache.add(key("b"), 3, at(15), TIME / 5);
        assert_eq!(cache.get(&key("b"), at(18)), None, "or to shorten");
        cache.add(key("c"), 4, at(0), Duration::MAX);
        assert_eq!(cache.get(&key("c"), Instant::NEVER), Some(&4));
    }

    #[test]
    fn there_is_always_room_for_one() {
        let mut cache = LruCache::new(0);
        assert!(cache.is_empty());
        for name in ["a", "b"] {
            cache.add(key(name), name, at(0), TIME);
            assert_eq!(cache.keys(at(0)), [name]);
        }
    }

    #[test]
    fn entries_can_be_removed_from_any_place() {
        for gone in ["a", "b", "c"] {
            let mut cache = LruCache::new(9);
            for name in ["a", "b", "c"] {
                cache.add(key(name), name, at(0), TIME);
            }
            assert_eq!(cache.remove(&key(gone)), Some(gone));
            assert_eq!(cache.remove(&key(gone)), None);
            cache.add(key("d"), "d", at(0), TIME);
            let expected: Vec<_> =
                ["a", "b", "c", "d"].into_iter().filter(|name| *name != gone).collect();
            assert_eq!(cache.keys(at(0)), expected);
        }
    }
}
