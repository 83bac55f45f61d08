//! The memory of the objects: numbered slots that can be copied at once.
//!
//! Slots are in chunks, chunks in groups and groups in a list, all shared by reference counts.
//! Copying everything is one count. While a copy is alive, a write copies only the list, the group
//! and the chunk on the way to the slot; without a copy it changes them in place. A chunk without
//! objects is freed, except for the one that was emptied last.

use std::array;
use std::mem;
use std::sync::Arc;

/// The number of slots in a chunk, and of chunks in a group: the number of bits of a `u64`.
const FAN: usize = u64::BITS as usize;
/// No chunk.
const NONE: u32 = u32::MAX;

/// An object and its key.
#[derive(Clone, Debug)]
pub(super) struct Entry<K, O> {
    pub(super) key: K,
    pub(super) object: O,
}

type Chunk<K, O> = [Option<Entry<K, O>>; FAN];
type Group<K, O> = [Option<Arc<Chunk<K, O>>>; FAN];
type Groups<K, O> = Vec<Option<Arc<Group<K, O>>>>;

/// The slots that a writer changes.
#[derive(Debug)]
pub(super) struct Slots<K, O> {
    shared: Shared<K, O>,
    /// One for every chunk that was ever made.
    heads: Vec<Head>,
    /// The first chunk with a free slot; others follow it.
    open: u32,
    /// The chunk that was emptied last.
    emptied: u32,
}

/// The writer's notes about a chunk.
#[derive(Debug)]
struct Head {
    /// A bit for every free slot.
    free: u64,
    /// The next chunk with a free slot.
    next: u32,
}

/// Slots at the moment when they were copied.
#[derive(Debug)]
pub(super) struct Shared<K, O>(Arc<Groups<K, O>>);

impl<K, O> Clone for Shared<K, O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Splits the number of a slot into its chunk and its place in the chunk.
#[inline]
fn split(slot: u32) -> (usize, usize) {
    (slot as usize / FAN, slot as usize % FAN)
}

impl<K, O> Shared<K, O> {
    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Entry<K, O>> {
        let (chunk, place) = split(slot);
        self.0.get(chunk / FAN)?.as_ref()?[chunk % FAN].as_ref()?[place].as_ref()
    }

    fn chunks(&self) -> impl Iterator<Item = (usize, &Chunk<K, O>)> {
        let groups = (0..).step_by(FAN).zip(self.0.iter());
        let groups = groups.filter_map(|(first, group)| Some((first, group.as_ref()?)));
        groups.flat_map(|(first, group)| {
            let chunks = (first..).zip(&**group);
            chunks.filter_map(|(number, chunk)| Some((number, &**chunk.as_ref()?)))
        })
    }

    /// Visits the slots in use, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Entry<K, O>)> {
        self.chunks().flat_map(|(number, chunk)| {
            let slots = (number * FAN) as u32..;
            slots.zip(chunk).filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)))
        })
    }
}

impl<K, O> Slots<K, O> {
    pub(super) fn new() -> Self {
        let shared = Shared(Arc::new(Vec::new()));
        Self { shared, heads: Vec::new(), open: NONE, emptied: NONE }
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Entry<K, O>> {
        self.shared.get(slot)
    }

    /// Makes a copy that does not change.
    pub(super) fn copy(&self) -> Shared<K, O> {
        self.shared.clone()
    }

    /// Visits the slots in use, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Entry<K, O>)> {
        self.shared.iter()
    }

    /// Checks that the free slots are known.
    pub(super) fn check(&self) {
        for (number, head) in self.heads.iter().enumerate() {
            for place in 0..FAN {
                let used = self.get((number * FAN + place) as u32).is_some();
                assert_eq!(used, head.free & 1 << place == 0, "a slot is in use or free");
            }
        }
        let (mut open, mut at) = (0, self.open);
        while let Some(head) = self.heads.get(at as usize) {
            assert!(head.free > 0, "an open chunk has a free slot");
            (open, at) = (open + 1, head.next);
        }
        let expected = self.heads.iter().filter(|head| head.free > 0).count();
        assert_eq!(open, expected, "a free slot is found when one is needed");
    }
}

impl<K: Clone, O: Clone> Slots<K, O> {
    /// Stores an entry and returns its slot. If a clone panics, nothing has changed.
    pub(super) fn insert(&mut self, entry: Entry<K, O>) -> u32 {
        let number = if self.open == NONE { self.heads.len() as u32 } else { self.open };
        assert!(number < NONE / FAN as u32, "a store holds fewer than 2^32 objects");
        let free = self.heads.get(number as usize).map_or(u64::MAX, |head| head.free);
        let place = free.trailing_zeros();
        let slot = number * FAN as u32 + place;
        *self.slot_mut(slot) = Some(entry);
        if self.open == NONE {
            self.heads.push(Head { free, next: NONE });
        }
        let head = &mut self.heads[number as usize];
        head.free &= !(1 << place);
        self.open = if head.free == 0 { head.next } else { number };
        slot
    }

    /// Removes an entry. If a clone panics, nothing has changed.
    pub(super) fn remove(&mut self, slot: u32) -> Option<Entry<K, O>> {
        let entry = self.slot_mut(slot).take();
        let (number, place) = split(slot);
        let head = &mut self.heads[number];
        if head.free == 0 {
            head.next = mem::replace(&mut self.open, number as u32);
        }
        head.free |= 1 << place;
        if head.free == u64::MAX {
            let before = mem::replace(&mut self.emptied, number as u32);
            self.give_back(before);
        }
        entry
    }

    /// Frees the memory of an emptied chunk, unless it is in use again.
    fn give_back(&mut self, number: u32) {
        let is_empty = |head: &Head| head.free == u64::MAX;
        if number != self.emptied && self.heads.get(number as usize).is_some_and(is_empty) {
            let group = &mut Arc::make_mut(&mut self.shared.0)[number as usize / FAN];
            let Some(chunks) = group.as_mut().map(Arc::make_mut) else { return };
            chunks[number as usize % FAN] = None;
            if chunks.iter().all(Option::is_none) {
                *group = None;
            }
        }
    }

    /// Returns a slot of a known chunk, or of the first new chunk after them.
    #[inline]
    pub(super) fn slot_mut(&mut self, slot: u32) -> &mut Option<Entry<K, O>> {
        let (chunk, place) = split(slot);
        let groups = Arc::make_mut(&mut self.shared.0);
        if groups.len() == chunk / FAN {
            groups.push(None);
        }
        let group = groups[chunk / FAN].get_or_insert_with(|| Arc::new(array::from_fn(|_| None)));
        let group = Arc::make_mut(group);
        let chunk = group[chunk % FAN].get_or_insert_with(|| Arc::new(array::from_fn(|_| None)));
        &mut Arc::make_mut(chunk)[place]
    }
}

/// The content of a store at one moment (`cache:ST-6`). Later writes to the store do not change it.
#[derive(Debug)]
pub struct Snapshot<K, O> {
    slots: Shared<K, O>,
    len: usize,
}

impl<K, O> Snapshot<K, O> {
    pub(super) fn new(slots: Shared<K, O>, len: usize) -> Self {
        Self { slots, len }
    }

    /// Returns how many objects there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Tells whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies all handles into a vector, in no particular order. That clones every handle; to only
    /// read the objects, use [`objects`](Self::objects).
    pub fn to_vec(&self) -> Vec<O>
    where
        O: Clone,
    {
        self.collect(|entry| entry.object.clone())
    }

    /// Reads a value from every object into a vector.
    pub(super) fn collect<T>(&self, read: impl Fn(&Entry<K, O>) -> T) -> Vec<T> {
        let mut all = Vec::with_capacity(self.len);
        for (_, chunk) in self.slots.chunks() {
            all.extend(chunk.iter().flatten().map(&read));
        }
        all
    }

    /// Visits the objects, in no particular order.
    pub fn objects(&self) -> impl Iterator<Item = &O> {
        self.slots.iter().map(|(_, entry)| &entry.object)
    }

    /// Visits keys and objects, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &O)> {
        self.slots.iter().map(|(_, entry)| (&entry.key, &entry.object))
    }
}

impl<K, O> Clone for Snapshot<K, O> {
    fn clone(&self) -> Self {
        Self { slots: self.slots.clone(), len: self.len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::single_step::each_is_noticed;

    fn with(count: u32) -> Slots<u32, u32> {
        let mut slots = Slots::new();
        for slot in 0..count {
            assert_eq!(slots.insert(Entry { key: slot, object: slot }), slot);
        }
        slots.check();
        slots
    }

    fn chunks(slots: &Slots<u32, u32>) -> usize {
        slots.shared.chunks().count()
    }

    #[test]
    fn slots_are_numbered_as_they_are_taken_over_chunks_and_groups() {
        let count = (FAN * FAN + 1) as u32;
        let slots = with(count);
        assert_eq!((slots.shared.0.len(), chunks(&slots)), (2, FAN + 1));
        assert!(slots.iter().map(|(slot, entry)| (slot, entry.key)).eq((0..count).zip(0..)));
    }

    #[test]
    fn a_copy_stays_as_it_was() {
        let mut slots = with(100);
        let copy = slots.copy();
        slots.remove(7);
        assert_eq!(slots.insert(Entry { key: 100, object: 99 }), 7);
        (0..64).for_each(|slot| _ = slots.remove(slot));
        slots.check();
        assert!(copy.iter().map(|(slot, entry)| (slot, entry.key)).eq((0..100).zip(0..)));
        assert_eq!(slots.iter().next().map(|(slot, _)| slot), Some(64));
    }

    #[test]
    fn what_a_burst_took_is_given_back_as_it_goes() {
        const COUNT: u32 = 10_000;
        let mut slots = with(COUNT);
        for slot in 0..COUNT {
            assert_eq!(slots.remove(slot).map(|entry| entry.key), Some(slot));
            let left = (COUNT - slot - 1) as usize;
            assert!(chunks(&slots) <= left.div_ceil(FAN) + 2, "{left} are left");
        }
        slots.check();
        assert_eq!(chunks(&slots), 1, "one is kept for those that come next");
        assert_eq!(slots.shared.0.iter().flatten().count(), 1, "and its group");
        let mut taken: Vec<_> =
            (0..COUNT).map(|key| slots.insert(Entry { key, object: key })).collect();
        taken.sort_unstable();
        assert!(taken.into_iter().eq(0..COUNT), "all are used again before a new one is");
        slots.check();
    }

    #[test]
    fn slots_that_are_wrong_are_noticed() {
        let breaks: [fn(&mut Slots<u32, u32>); 4] = [
            |slots| slots.heads[0].free |= 1,
            |slots| *slots.slot_mut(1) = None,
            |slots| slots.open = NONE,
            |slots| slots.heads[1].free = 0,
        ];
        each_is_noticed(|| with(FAN as u32 + 1), breaks, Slots::check);
    }
}
