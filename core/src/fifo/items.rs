//! Where objects wait, and their places in the queue.
//!
//! An object that is deleted leaves its place behind, and one that is added again takes a new
//! place while the old one may still be there (`cache:FF-4`, `FF-7`). So an entry counts its
//! places, and goes when it has neither object nor place.

use std::collections::VecDeque;

use hashbrown::HashTable;

use crate::slab::Chunked;
use crate::store::{Hashed, spread};

use super::Keyed;

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Entry<K, O> {
    /// `None` in a free entry.
    key: Option<K>,
    /// `None` if all places of the key are stale.
    object: Option<O>,
    hash: u32,
    /// Places in the queue; in a free entry, the next free one.
    places: u32,
}

impl<K, O> Default for Entry<K, O> {
    fn default() -> Self {
        Self { key: None, object: None, hash: 0, places: 0 }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Items<K, O> {
    /// Hash and number of every entry.
    table: HashTable<(u32, u32)>,
    entries: Chunked<Entry<K, O>>,
    free: u32,
    queue: VecDeque<u32>,
    objects: usize,
}

/// What stood at the head of the queue.
pub(super) enum Head<K, O> {
    /// The object of a key.
    Object(K, O),
    /// A place whose object is gone.
    Stale,
}

impl<K: Eq + Clone, O> Items<K, O> {
    pub(super) fn new() -> Self {
        Self {
            table: HashTable::new(),
            entries: Chunked::new(),
            free: NONE,
            queue: VecDeque::new(),
            objects: 0,
        }
    }

    /// Returns how many objects wait.
    pub(super) fn len(&self) -> usize {
        self.objects
    }

    fn find(&self, key: &Hashed<K>) -> Option<u32> {
        let same = |&(hash, at): &(u32, u32)| {
            hash == key.hash() && self.entries[at].key.as_ref() == Some(key.key())
        };
        self.table.find(spread(key.hash()), same).map(|&(_, at)| at)
    }

    pub(super) fn get(&self, key: &Hashed<K>) -> Option<&O> {
        self.entries[self.find(key)?].object.as_ref()
    }

    /// Stores an object; takes the key if it is new. Returns the object that was there, or `None`
    /// if this one has taken a place at the tail.
    pub(super) fn put(&mut self, key: &mut Option<Hashed<K>>, object: O) -> Option<O> {
        let at = match self.find(key.as_ref()?) {
            Some(at) => at,
            None => self.insert(key.take()?),
        };
        let entry = &mut self.entries[at];
        let before = entry.object.replace(object);
        if before.is_none() {
            entry.places += 1;
            self.queue.push_back(at);
            self.objects += 1;
        }
        before
    }

    fn insert(&mut self, key: Hashed<K>) -> u32 {
        let hash = key.hash();
        let entry = Entry { key: Some(key.into_key()), object: None, hash, places: 0 };
        let at = if self.free == NONE {
            self.entries.push(entry);
            u32::try_from(self.entries.len() - 1).expect("fewer than 2^32 objects wait")
        } else {
            let at = self.free;
            self.free = self.entries[at].places;
            self.entries[at] = entry;
            at
        };
        self.table.insert_unique(spread(hash), (hash, at), |&(hash, _)| spread(hash));
        at
    }

    /// Takes the object of a key away and leaves its place.
    pub(super) fn delete(&mut self, key: &Hashed<K>) -> Option<O> {
        let at = self.find(key)?;
        let object = self.entries[at].object.take();
        self.objects -= usize::from(object.is_some());
        object
    }

    /// Takes the first place. A key all of whose places were stale goes with the last of them, under
    /// the lock.
    pub(super) fn pop_front(&mut self) -> Option<Head<K, O>> {
        let at = self.queue.pop_front()?;
        let entry = &mut self.entries[at];
        entry.places -= 1;
        let object = entry.object.take();
        let key = if entry.places == 0 { self.remove(at) } else { entry.key.clone() };
        Some(match key.zip(object) {
            Some((key, object)) => {
                self.objects -= 1;
                Head::Object(key, object)
            }
            None => Head::Stale,
        })
    }

    fn remove(&mut self, at: u32) -> Option<K> {
        let entry = &mut self.entries[at];
        let key = entry.key.take();
        entry.places = self.free;
        self.free = at;
        let found = self.table.find_entry(spread(entry.hash), |&(_, other)| other == at);
        found.expect("an entry with a place is in the table").remove();
        key
    }

    /// Takes all objects out, in no order.
    pub(super) fn into_objects(mut self) -> Vec<Keyed<K, O>> {
        let entries = 0..self.entries.len() as u32;
        let keyed = entries.filter_map(|at| {
            let Entry { key, object, hash, .. } = std::mem::take(&mut self.entries[at]);
            Some(Keyed { key: Hashed::of(key?, hash), object: object? })
        });
        keyed.collect()
    }

    /// Goes through the objects in the order of delivery.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &O)> {
        let mut seen = vec![false; self.entries.len()];
        let first =
            self.queue.iter().filter(move |&&at| !std::mem::replace(&mut seen[at as usize], true));
        first.filter_map(|&at| {
            let entry = &self.entries[at];
            entry.key.as_ref().zip(entry.object.as_ref())
        })
    }

    /// Checks `cache:FF-1` and what else must be.
    pub(super) fn check(&self, hash_of: impl Fn(&K) -> u32) {
        let mut places = vec![0; self.entries.len()];
        for &at in &self.queue {
            places[at as usize] += 1;
        }
        let (mut free, mut objects) = (0, 0);
        for (at, found) in (0..).zip(places) {
            let entry = &self.entries[at];
            let Some(key) = &entry.key else {
                free += 1;
                assert!(entry.object.is_none(), "a free entry pins no object");
                assert_eq!(found, 0, "a free entry has no place");
                continue;
            };
            objects += usize::from(entry.object.is_some());
            assert!(found > 0, "an entry without a place is gone");
            assert_eq!(found, entry.places, "an entry counts its places");
            assert_eq!(entry.hash, hash_of(key), "an entry keeps the hash of its key");
            let key = Hashed::of(key.clone(), entry.hash);
            assert_eq!(self.find(&key), Some(at), "an entry is found by its key");
        }
        let (mut listed, mut at) = (0, self.free);
        while at != NONE {
            listed += 1;
            assert!(self.entries[at].key.is_none(), "an entry in use is not free");
            at = self.entries[at].places;
        }
        assert_eq!(listed, free, "a free entry is found when one is needed");
        assert_eq!(objects, self.objects, "the objects are counted");
        assert_eq!(self.table.len() + free, self.entries.len(), "an entry is in use or free");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::by_hand::each_is_noticed;

    fn of(names: &[&'static str]) -> Items<&'static str, u32> {
        let mut items = Items::new();
        for name in names {
            assert!(items.put(&mut Some(Hashed::of(*name, 7)), 1).is_none());
        }
        items
    }

    #[test]
    fn an_entry_that_is_free_is_used_before_a_new_one_is_made() {
        let mut items = of(&["a", "b"]);
        for name in ["c", "d", "e", "f"] {
            assert!(matches!(items.pop_front(), Some(Head::Object(..))));
            items.put(&mut Some(Hashed::of(name, 7)), 1);
            assert_eq!(items.entries.len(), 2, "no more than there were at a time");
            items.check(|_| 7);
        }
    }

    #[test]
    fn items_that_are_wrong_are_noticed() {
        let breaks: [fn(&mut Items<&'static str, u32>); 8] = [
            |items| items.objects += 1,
            |items| items.entries[1].places += 1,
            |items| items.entries[1].hash += 1,
            |items| items.entries[1].key = Some("c"),
            |items| items.entries[0].object = Some(1),
            |items| items.queue.push_back(0),
            |items| items.free = NONE,
            |items| items.free = 1,
        ];
        each_is_noticed(
            || {
                let mut items = of(&["a", "b", "c"]);
                items.pop_front();
                items
            },
            breaks,
            |items| items.check(|_| 7),
        );
    }
}
