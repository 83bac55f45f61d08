//! The waiting objects, and their places in the queue.
//!
//! An object that is deleted leaves its place in the queue. If it is added again it takes a new
//! place while the old one may still be there (`cache:FF-4`, `FF-7`). So an entry counts its
//! places, and is removed when it has neither an object nor a place.

use crate::slab::{Line, Slab, Slot, Value};
use crate::store::{Hashed, Keyed};

/// The entry of a key.
#[derive(Clone, Debug)]
struct Waiting<O> {
    /// `None` if all places of the key are stale.
    object: Option<O>,
    /// Places in the queue.
    places: u32,
}

impl<O> Default for Waiting<O> {
    fn default() -> Self {
        Self { object: None, places: 0 }
    }
}

impl<O> Value for Waiting<O> {}

#[derive(Clone, Debug)]
pub(super) struct Items<K: Clone, O: Clone> {
    entries: Slab<K, Waiting<O>>,
    queue: Line<Slot>,
    objects: usize,
}

/// The entry at the head of the queue.
pub(super) enum Head<K, O> {
    /// The object of a key.
    Object(K, O),
    /// A place without an object, and its key if that was its last place.
    Stale(Option<K>),
}

impl<K: Eq + Clone, O: Clone> Items<K, O> {
    pub(super) fn new() -> Self {
        Self { entries: Slab::new(), queue: Line::new(), objects: 0 }
    }

    /// Returns how many objects wait.
    pub(super) fn len(&self) -> usize {
        self.objects
    }

    pub(super) fn get(&self, key: &Hashed<K>) -> Option<&O> {
        self.entries.value(self.entries.find(key.item())?).object.as_ref()
    }

    /// Stores an object; takes the key if it is new. Returns the object that it replaced, or `None`
    /// if it has taken a new place at the tail.
    pub(super) fn put(&mut self, key: &mut Option<Hashed<K>>, object: O) -> Option<O> {
        let slot = match self.entries.find(key.as_ref()?.item()) {
            Some(slot) => slot,
            None => {
                let (hash, key) = key.take().map(|key| (key.hash(), key.into_key()))?;
                self.entries.intern(&mut Some(key), u64::from(hash))?
            }
        };
        let waiting = self.entries.value_mut(slot);
        let before = waiting.object.replace(object);
        if before.is_none() {
            waiting.places += 1;
            self.queue.push_back(slot);
            self.objects += 1;
        }
        before
    }

    /// Removes the object of a key but leaves its place.
    pub(super) fn delete(&mut self, key: &Hashed<K>) -> Option<O> {
        let slot = self.entries.find(key.item())?;
        let object = self.entries.value_mut(slot).object.take();
        self.objects -= usize::from(object.is_some());
        object
    }

    /// Tells whether there are places, stale ones included.
    pub(super) fn has_places(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Removes the first place.
    pub(super) fn pop_front(&mut self) -> Option<Head<K, O>> {
        let slot = self.queue.pop_front()?;
        let (key, waiting) = self.entries.both(slot);
        waiting.places -= 1;
        let object = waiting.object.take();
        let key = match waiting.places {
            0 => self.entries.remove(slot),
            _ if object.is_some() => Some(key.clone()),
            _ => None,
        };
        Some(match object {
            None => Head::Stale(key),
            Some(object) => {
                self.objects -= 1;
                Head::Object(key.expect("an object has a key"), object)
            }
        })
    }

    /// Takes all objects out, in no particular order.
    pub(super) fn into_objects(mut self) -> Vec<Keyed<K, O>> {
        let slots: Vec<Slot> = self.entries.iter().map(|(slot, _)| slot).collect();
        let keyed = slots.into_iter().filter_map(|slot| {
            let (hash, object) =
                (self.entries.item(slot).hash(), self.entries.value_mut(slot).object.take());
            let key = self.entries.remove(slot);
            Some(Keyed { key: Hashed::of(key?, hash), object: object? })
        });
        keyed.collect()
    }

    /// Visits the objects in the order of delivery.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &O)> {
        let mut seen = vec![false; self.entries.end()];
        let first = self
            .queue
            .iter()
            .filter(move |slot| !std::mem::replace(&mut seen[slot.0 as usize], true));
        first.filter_map(|slot| {
            let object = self.entries.value(*slot).object.as_ref();
            Some((self.entries.item(*slot).key(), object?))
        })
    }

    /// Checks `cache:FF-1` and the other invariants.
    pub(super) fn check(&self, hash_of: impl Fn(&K) -> u32) {
        let mut places = vec![0; self.entries.end()];
        for slot in self.queue.iter() {
            places[slot.0 as usize] += 1;
        }
        let (mut objects, mut counted) = (0, 0);
        for (slot, waiting) in self.entries.iter() {
            let (item, found) = (self.entries.item(slot), places[slot.0 as usize]);
            objects += usize::from(waiting.object.is_some());
            counted += found;
            assert!(found > 0, "an entry without a place is gone");
            assert_eq!(found, waiting.places, "an entry counts its places");
            assert_eq!(item.hash(), hash_of(item.key()), "an entry keeps the hash of its key");
            assert_eq!(self.entries.find(item), Some(slot), "an entry is found by its key");
        }
        assert_eq!(counted as usize, self.queue.len(), "no place belongs to nobody");
        assert_eq!(objects, self.objects, "the objects are counted");
        let free = self.entries.spare().all(|waiting| waiting.object.is_none());
        assert!(free, "a free entry pins no object");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::single_step::each_is_noticed;

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
            let most = items.entries.iter().map(|(slot, _)| slot).max();
            assert_eq!(most, Some(Slot(1)), "no more than there were at a time");
            items.check(|_| 7);
        }
    }

    #[test]
    fn items_that_are_wrong_are_noticed() {
        let breaks: [fn(&mut Items<&'static str, u32>); 6] = [
            |items| items.objects += 1,
            |items| items.entries.value_mut(Slot(1)).places += 1,
            |items| _ = items.entries.intern(&mut Some("d"), 8),
            |items| items.entries.value_mut(Slot(0)).object = Some(1),
            |items| items.queue.push_back(Slot(0)),
            |items| _ = items.entries.remove(Slot(1)),
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
