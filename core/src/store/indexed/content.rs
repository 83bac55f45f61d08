//! The state that the readers' lock guards. The only foreign code here is clones of keys and
//! handles.

use crate::slab::Table;
use crate::store::Keyed;
use crate::store::{Handle, Hashed, Key, KeyHasher};

use super::index::{Index, Values};
use super::slots::{Entry, Shared, Slots, Snapshot};
use super::writer::{Change, Span};

/// A key, a handle and an entry that are no longer needed, to be dropped outside the lock.
pub(super) type Left<K, O> = (K, Option<O>, Option<Entry<K, O>>);

pub(super) struct Content<K: Key, O: Handle> {
    /// The slot of every key.
    table: Table,
    slots: Slots<K, O>,
    pub(super) indices: Vec<Index<O>>,
    /// The resource version of the content (`cache:ST-12`).
    pub(super) version: String,
}

impl<K: Key, O: Handle> Content<K, O> {
    /// Makes the empty content of a store, with room for this number of objects.
    pub(super) fn with_room(objects: usize) -> Self {
        Self {
            table: Table::with_room(objects),
            slots: Slots::new(),
            indices: Vec::new(),
            version: String::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the object with this key and hash.
    #[inline]
    pub(super) fn get(&self, key: &K, hash: u32) -> Option<&O> {
        self.at(self.slot(key, hash))
    }

    /// Returns the slot of the key with this hash.
    #[inline]
    pub(super) fn slot(&self, key: &K, hash: u32) -> Option<u32> {
        let same = |&(_, slot): &_| self.slots.get(slot).is_some_and(|entry| entry.key == *key);
        self.table.find(hash, same).map(|&(_, slot)| slot)
    }

    /// Returns the object in a slot.
    pub(super) fn at(&self, slot: Option<u32>) -> Option<&O> {
        self.slots.get(slot?).map(|entry| &entry.object)
    }

    pub(super) fn snapshot(&self) -> Snapshot<K, O> {
        Snapshot::new(self.slots.copy(), self.len())
    }

    pub(super) fn copy_slots(&self) -> Shared<K, O> {
        self.slots.copy()
    }

    pub(super) fn slots(&self) -> &Slots<K, O> {
        &self.slots
    }

    pub(super) fn index(&self, name: &str) -> Option<&Index<O>> {
        self.indices.iter().find(|index| *index.name == *name)
    }

    /// Stores an object; `slot` is that of its key, if any. Returns the slot. Passes values that
    /// are no longer needed to `leave`, which must keep them, because a lock is held.
    pub(super) fn put(
        &mut self,
        slot: Option<u32>,
        key: Hashed<K>,
        object: O,
        leave: impl FnOnce(Left<K, O>),
    ) -> u32 {
        let Some(slot) = slot else { return self.put_first(key, object) };
        let entry = self.slots.slot_mut(slot).as_mut();
        let before = entry.map(|entry| std::mem::replace(&mut entry.object, object));
        leave((key.into_key(), before, None));
        slot
    }

    /// Stores an object under a new key. Returns its slot.
    fn put_first(&mut self, key: Hashed<K>, object: O) -> u32 {
        let hash = key.hash();
        let slot = self.slots.insert(Entry { key: key.into_key(), object });
        self.table.insert((hash, slot));
        slot
    }

    /// Stores an object of a list. Returns its slot; `leave` as in [`put`](Self::put).
    pub(super) fn put_listed(
        &mut self,
        listed: Keyed<K, O>,
        leave: impl FnOnce(Left<K, O>),
    ) -> u32 {
        let Keyed { key, object } = listed;
        self.put(self.slot(key.key(), key.hash()), key, object, leave)
    }

    /// Removes the object in a slot; `leave` as in [`put`](Self::put).
    fn remove(&mut self, slot: u32, key: Hashed<K>, leave: impl FnOnce(Left<K, O>)) {
        let entry = self.slots.remove(slot);
        self.table.remove(key.hash(), |place| place.1 == slot);
        leave((key.into_key(), None, entry));
    }

    /// Carries out a change; `slot` is that of its key, if any, and its values are known. `leave`
    /// as in [`put`](Self::put).
    pub(super) fn apply(
        &mut self,
        slot: Option<u32>,
        change: Change<K, O>,
        spans: &[Span],
        values: &Values,
        leave: impl FnOnce(Left<K, O>),
    ) {
        let slot = match (change.object, slot) {
            (Some(object), slot) => self.put(slot, change.key, object, leave),
            (None, Some(slot)) => {
                self.remove(slot, change.key, leave);
                slot
            }
            (None, None) => return leave((change.key.into_key(), None, None)),
        };
        for (index, span) in self.indices.iter_mut().zip(spans) {
            let (old, new) = (values.range(span.before.clone()), values.range(span.after.clone()));
            // Nothing changes exactly if both lists are the same (IX-4).
            let unchanged =
                || values.range(span.before.clone()).eq(values.range(span.after.clone()));
            if old.len() == new.len() && unchanged() {
                continue;
            }
            old.for_each(|value| index.remove(value, slot));
            new.for_each(|value| index.insert(value, slot));
        }
    }

    /// Checks `cache:IX-2`, and that keys, slots and free slots agree.
    pub(super) fn check(&self, hasher: &KeyHasher) {
        self.slots.check();
        let mut slots: Vec<u32> = self.table.iter().map(|place| place.1).collect();
        slots.sort_unstable();
        let used = self.slots.iter().map(|(slot, _)| slot);
        assert!(used.eq(slots), "every key has a slot, and every object a key");
        for (slot, entry) in self.slots.iter() {
            let found = self.slot(&entry.key, hasher.hash(&entry.key));
            assert_eq!(found, Some(slot), "{:?} is found by its key", entry.key);
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
                return; // the function fails now: not checked
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::single_step::each_is_noticed;

    type Numbers = Content<u32, u32>;

    #[test]
    fn a_content_that_is_wrong_is_noticed() {
        let hasher = KeyHasher::fixed(0);
        let full = || {
            let mut content = Numbers::with_room(0);
            for key in 0..3 {
                let key = hasher.hashed(key);
                content.put(None, key, 7, drop);
            }
            content
        };
        let breaks: [&dyn Fn(&mut Numbers); 2] =
            [&|content| _ = content.table.remove(hasher.hash(&1), |_| true), &|content| {
                _ = content.slots.remove(1);
            }];
        each_is_noticed(full, breaks, |content| content.check(&hasher));
    }
}
