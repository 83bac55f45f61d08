//! What lies under the readers' lock. No foreign code runs in here but clones of keys and handles.

use crate::slab::Table;
use crate::store::{Handle, Hashed, Key, KeyHasher};

use super::index::{Index, Values};
use super::slots::{Entry, Slots, Snapshot};
use super::writer::{Change, Span};

pub(super) struct Content<K: Key, O: Handle> {
    /// The slot of every key. Nothing else lies in here, so that it stays in the cache.
    table: Table,
    slots: Slots<K, O>,
    /// Slots whose object was deleted.
    free: Vec<u32>,
    pub(super) indices: Vec<Index<O>>,
    /// The resource version of the content (`cache:ST-12`).
    pub(super) version: String,
}

impl<K: Key, O: Handle> Content<K, O> {
    pub(super) fn new() -> Self {
        Self {
            table: Table::new(),
            slots: Slots::new(),
            free: Vec::new(),
            indices: Vec::new(),
            version: String::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the slot of a key that has this hash, or the place in the table where it would be.
    #[inline]
    fn find(&self, key: &K, hash: u32) -> Result<u32, usize> {
        let same = |slot| self.slots.get(slot).is_some_and(|entry| entry.key == *key);
        self.table.find(hash, same)
    }

    /// Returns the object with a key that has this hash.
    #[inline]
    pub(super) fn get(&self, key: &K, hash: u32) -> Option<&O> {
        let mut found = None;
        let same = |slot| {
            found = self.slots.get(slot).filter(|entry| entry.key == *key);
            found.is_some()
        };
        // What was compared is what is returned: the way to a slot has four steps.
        self.table.find(hash, same).ok()?;
        found.map(|entry| &entry.object)
    }

    pub(super) fn snapshot(&self) -> Snapshot<K, O> {
        Snapshot::new(self.slots.clone(), self.len())
    }

    pub(super) fn slots(&self) -> &Slots<K, O> {
        &self.slots
    }

    pub(super) fn index(&self, name: &str) -> Option<&Index<O>> {
        self.indices.iter().find(|index| *index.name == *name)
    }

    /// Stores an object. Returns its slot, and the object that was there.
    #[inline]
    pub(super) fn put(&mut self, key: Hashed<K>, object: O) -> (u32, Option<O>) {
        let place = match self.find(key.key(), key.hash()) {
            Err(place) => place,
            Ok(slot) => {
                let entry = self.slots.slot_mut(slot).as_mut();
                let before = entry.map(|entry| std::mem::replace(&mut entry.object, object));
                return (slot, before);
            }
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            u32::try_from(self.table.len()).expect("a store holds fewer than 2^32 objects")
        });
        let hash = key.hash();
        *self.slots.slot_mut(slot) = Some(Entry { key: key.into_key(), object });
        self.table.insert(place, hash, slot);
        (slot, None)
    }

    /// Removes an object. Returns its slot and what was in it.
    fn remove(&mut self, key: &Hashed<K>) -> Option<(u32, Entry<K, O>)> {
        let slot = self.find(key.key(), key.hash()).ok()?;
        self.table.remove(key.hash(), slot);
        self.free.push(slot);
        Some((slot, self.slots.slot_mut(slot).take()?))
    }

    /// Carries out a change whose values are known. Returns what it leaves behind, to drop outside
    /// the lock.
    #[inline]
    pub(super) fn apply(
        &mut self,
        change: Change<K, O>,
        spans: &[Span],
        values: &Values,
    ) -> Option<(Option<K>, O)> {
        let (slot, left) = match change.object {
            Some(object) => {
                let (slot, before) = self.put(change.key, object);
                (slot, before.map(|object| (None, object)))
            }
            None => {
                let (slot, entry) = self.remove(&change.key)?;
                (slot, Some((Some(entry.key), entry.object)))
            }
        };
        for (index, span) in self.indices.iter_mut().zip(spans) {
            let (old, new) = (values.range(span.before()), values.range(span.after()));
            // Nothing changes if, and only if, both lists are the same (IX-4).
            if values.range(span.before()).eq(values.range(span.after())) {
                continue;
            }
            old.for_each(|value| index.remove(value, slot));
            new.for_each(|value| index.insert(value, slot));
        }
        left
    }

    /// Checks `cache:IX-2`, and that keys, slots and free slots agree.
    pub(super) fn check(&self, hasher: &KeyHasher) {
        let mut slots: Vec<u32> = self.table.slots().collect();
        slots.sort_unstable();
        let used = self.slots.iter().map(|(slot, _)| slot);
        assert!(used.eq(slots), "every key has a slot, and every object a key");
        for (slot, entry) in self.slots.iter() {
            let found = self.find(&entry.key, hasher.hash(&entry.key));
            assert_eq!(found, Ok(slot), "{:?} is found by its key", entry.key);
        }
        for &slot in &self.free {
            assert!(self.slots.get(slot).is_none(), "a free slot holds no object");
        }
        for index in &self.indices {
            self.check_index(index, hasher);
        }
    }

    fn check_index(&self, index: &Index<O>, hasher: &KeyHasher) {
        let mut expected = 0;
        for (slot, entry) in self.slots.iter() {
            let mut values = Values::new(hasher.clone());
            if (index.function)(&entry.object, &mut values).is_err() {
                return; // what cannot be asked again cannot be checked
            }
            for value in values.distinct() {
                expected += 1;
                let shown = index.members(value).is_some_and(|members| members.contains(slot));
                assert!(shown, "{:?} is shown under {value:?}", entry.key);
            }
        }
        let mut places = 0;
        index.for_each_bucket(|members| {
            assert!(members.len() > 0, "a value that nobody has is gone (IX-6)");
            members.check();
            places += members.len();
        });
        assert_eq!(places, expected, "an index shows nothing else");
    }
}
