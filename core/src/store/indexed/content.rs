//! What lies under the readers' lock. No foreign code runs in here but clones of keys and handles.

use crate::fifo::Keyed;
use crate::slab::Table;
use crate::store::{Handle, Hashed, Key, KeyHasher};

use super::index::{Index, Values};
use super::slots::{Entry, Shared, Slots, Snapshot};
use super::writer::{Change, Span};

/// Keys and handles that are needed no more, to drop outside the lock.
pub(super) type Left<K, O> = (K, [Option<O>; 2], [Option<Entry<K, O>>; 2]);

/// Where a key is, or where it would be; good until the next change.
pub(super) type Place = Result<usize, usize>;

pub(super) struct Content<K: Key, O: Handle> {
    /// The slot of every key, and the entry of that slot once more, at hand: whoever wants an object
    /// by its key need not go to the slot. That is one place less in memory to wait for, of four.
    table: Table<Option<Entry<K, O>>>,
    slots: Slots<K, O>,
    /// Slots whose object was deleted.
    free: Vec<u32>,
    pub(super) indices: Vec<Index<O>>,
    /// The resource version of the content (`cache:ST-12`).
    pub(super) version: String,
}

impl<K: Key, O: Handle> Content<K, O> {
    /// Makes a store's content, empty, with room for so many objects.
    pub(super) fn with_room(objects: usize) -> Self {
        Self {
            table: Table::with_room(objects),
            slots: Slots::new(),
            free: Vec::new(),
            indices: Vec::new(),
            version: String::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the object with a key that has this hash.
    #[inline(always)]
    pub(super) fn get(&self, key: &K, hash: u32) -> Option<&O> {
        self.at(self.place(key, hash))
    }

    /// Returns the place of a key that has this hash.
    #[inline(always)]
    pub(super) fn place(&self, key: &K, hash: u32) -> Place {
        self.table.place(hash, |_, at_hand| at_hand.as_ref().is_some_and(|entry| entry.key == *key))
    }

    /// Returns the object whose key is in a place.
    #[inline(always)]
    pub(super) fn at(&self, place: Place) -> Option<&O> {
        self.table.at(place.ok()?).1.as_ref().map(|entry| &entry.object)
    }

    pub(super) fn snapshot(&mut self) -> Snapshot<K, O> {
        Snapshot::new(self.slots.copy(), self.len())
    }

    pub(super) fn copy_slots(&mut self) -> Shared<K, O> {
        self.slots.copy()
    }

    pub(super) fn slots(&self) -> &Slots<K, O> {
        &self.slots
    }

    pub(super) fn index(&self, name: &str) -> Option<&Index<O>> {
        self.indices.iter().find(|index| *index.name == *name)
    }

    pub(super) fn index_mut(&mut self, name: &str) -> Option<&mut Index<O>> {
        self.indices.iter_mut().find(|index| *index.name == *name)
    }

    /// Stores an object whose key has this place. Returns its slot. What is needed no more goes to
    /// `leave`, which keeps it: a lock is held.
    #[inline]
    pub(super) fn put(
        &mut self,
        place: Place,
        key: Hashed<K>,
        object: O,
        mut leave: impl FnMut(Left<K, O>),
    ) -> u32 {
        match place {
            Ok(place) => {
                let (slot, at_hand) = self.table.at_mut(place);
                let twins = [(at_hand, object.clone()), (self.slots.slot_mut(slot), object)];
                let before = twins.map(|(entry, object)| {
                    entry.as_mut().map(|entry| std::mem::replace(&mut entry.object, object))
                });
                leave((key.into_key(), before, [None, None]));
                slot
            }
            Err(vacancy) => self.put_first(vacancy, key, object),
        }
    }

    /// Stores an object whose key would have this place. Returns its slot.
    #[inline]
    fn put_first(&mut self, vacancy: usize, key: Hashed<K>, object: O) -> u32 {
        let hash = key.hash();
        let entry = Entry { key: key.into_key(), object };
        let at_hand = Some(entry.clone());
        let slot = self.free.last().copied().unwrap_or_else(|| {
            u32::try_from(self.table.len()).expect("a store holds fewer than 2^32 objects")
        });
        *self.slots.slot_mut(slot) = Some(entry);
        self.free.pop(); // not before: a slot that is copied for a snapshot may panic
        self.table.insert(vacancy, hash, slot, at_hand);
        slot
    }

    /// As [`put_first`](Self::put_first), of an object whose values are known.
    #[inline]
    pub(super) fn add(
        &mut self,
        vacancy: usize,
        key: Hashed<K>,
        object: O,
        spans: &[Span],
        values: &Values,
    ) {
        let slot = self.put_first(vacancy, key, object);
        for (index, span) in self.indices.iter_mut().zip(spans) {
            values.range(span.after.clone()).for_each(|value| index.insert(value, slot));
        }
    }

    /// Stores objects of a list; `leave` as in [`put`](Self::put).
    pub(super) fn put_all(&mut self, objects: Vec<Keyed<K, O>>, mut leave: impl FnMut(Left<K, O>)) {
        self.table.look_at(objects.iter().map(|keyed| keyed.key.hash()));
        for Keyed { key, object } in objects {
            let place = self.place(key.key(), key.hash());
            self.put(place, key, object, &mut leave);
        }
    }

    /// Removes the object in a place; `leave` as in [`put`](Self::put). Returns its slot.
    fn remove(&mut self, place: usize, key: Hashed<K>, leave: impl FnOnce(Left<K, O>)) -> u32 {
        let (slot, _) = self.table.at(place);
        let twins = [self.slots.slot_mut(slot).take(), self.table.remove_at(place)];
        self.free.push(slot);
        leave((key.into_key(), [None, None], twins));
        slot
    }

    /// Carries out a change of the key that has this place, and whose values are known; `leave` as in
    /// [`put`](Self::put).
    #[inline]
    pub(super) fn apply(
        &mut self,
        place: Place,
        change: Change<K, O>,
        spans: &[Span],
        values: &Values,
        mut leave: impl FnMut(Left<K, O>),
    ) {
        let slot = match (change.object, place) {
            (Some(object), place) => self.put(place, change.key, object, leave),
            (None, Ok(place)) => self.remove(place, change.key, leave),
            (None, Err(_)) => {
                return leave((change.key.into_key(), [None, None], [None, None]));
            }
        };
        for (index, span) in self.indices.iter_mut().zip(spans) {
            let (old, new) = (values.range(span.before.clone()), values.range(span.after.clone()));
            // Nothing changes if, and only if, both lists are the same (IX-4).
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
        let mut slots: Vec<u32> = self.table.slots().collect();
        slots.sort_unstable();
        let used = self.slots.iter().map(|(slot, _)| slot);
        assert!(used.eq(slots), "every key has a slot, and every object a key");
        for (slot, entry) in self.slots.iter() {
            let place = self.place(&entry.key, hasher.hash(&entry.key)).ok();
            let (found, at_hand) = place.map(|place| self.table.at(place)).unzip();
            assert_eq!(found, Some(slot), "{:?} is found by its key", entry.key);
            assert!(at_hand.is_some_and(Option::is_some), "{:?} is at hand", entry.key);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::by_hand::each_is_noticed;

    type Numbers = Content<u32, u32>;

    #[test]
    fn a_content_that_is_wrong_is_noticed() {
        let hasher = KeyHasher::fixed(0);
        let full = || {
            let mut content = Numbers::with_room(0);
            for key in 0..3 {
                let key = hasher.hashed(key);
                content.put(content.place(key.key(), key.hash()), key, 7, drop);
            }
            content
        };
        let place = full().place(&1, hasher.hash(&1)).unwrap();
        let breaks: [&dyn Fn(&mut Numbers); 4] = [
            &|content| *content.table.at_mut(place).1 = None,
            &|content| _ = content.table.remove_at(place),
            &|content| *content.slots.slot_mut(1) = None,
            &|content| content.free.push(1),
        ];
        each_is_noticed(full, breaks, |content| content.check(&hasher));
    }
}
