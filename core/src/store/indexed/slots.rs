//! Where objects lie: numbered slots that can be copied at once.
//!
//! Slots lie in chunks, chunks in groups and groups in a list, all shared by counting references.
//! A copy of the whole is one count. Whoever writes while a copy is alive copies the list, the
//! group and the chunk on the way to the slot, and nothing else; without a copy it writes in place.

use std::sync::Arc;

/// How many slots lie in a chunk, and how many chunks in a group.
const FAN: usize = 64;

/// An object and its key.
#[derive(Clone, Debug)]
pub(super) struct Entry<K, O> {
    pub(super) key: K,
    pub(super) object: O,
}

type Chunk<K, O> = [Option<Entry<K, O>>; FAN];
type Group<K, O> = [Option<Arc<Chunk<K, O>>>; FAN];

#[derive(Debug)]
pub(super) struct Slots<K, O>(Arc<Vec<Arc<Group<K, O>>>>);

impl<K, O> Clone for Slots<K, O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Splits the number of a slot: its group, its chunk in there, its place in there.
#[inline]
fn split(slot: u32) -> (usize, usize, usize) {
    let slot = slot as usize;
    (slot / (FAN * FAN), slot / FAN % FAN, slot % FAN)
}

impl<K, O> Slots<K, O> {
    pub(super) fn new() -> Self {
        Self(Arc::new(Vec::new()))
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Entry<K, O>> {
        let (group, chunk, place) = split(slot);
        self.0.get(group)?[chunk].as_ref()?[place].as_ref()
    }

    fn chunks(&self) -> impl Iterator<Item = &Arc<Chunk<K, O>>> {
        self.0.iter().flat_map(|group| group.iter().flatten())
    }

    /// Goes through the slots in use, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Entry<K, O>)> {
        let slots = self.chunks().flat_map(|chunk| chunk.iter());
        (0..).zip(slots).filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)))
    }
}

impl<K: Clone, O: Clone> Slots<K, O> {
    /// Gives access to a slot, which is in use or the first behind those that ever were.
    #[inline]
    pub(super) fn slot_mut(&mut self, slot: u32) -> &mut Option<Entry<K, O>> {
        let (group, chunk, place) = split(slot);
        let groups = Arc::make_mut(&mut self.0);
        if groups.len() == group {
            groups.push(Arc::new(std::array::from_fn(|_| None)));
        }
        let chunk = &mut Arc::make_mut(&mut groups[group])[chunk];
        let chunk = chunk.get_or_insert_with(|| Arc::new(std::array::from_fn(|_| None)));
        &mut Arc::make_mut(chunk)[place]
    }
}

/// The content of a store at one moment (`cache:ST-6`). Whatever is written to the store
/// afterwards, it stays as it is.
#[derive(Debug)]
pub struct Snapshot<K, O> {
    slots: Slots<K, O>,
    len: usize,
}

impl<K, O> Snapshot<K, O> {
    pub(super) fn new(slots: Slots<K, O>, len: usize) -> Self {
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

    /// Copies something of every object into a vector.
    pub(super) fn collect<T>(&self, read: impl Fn(&Entry<K, O>) -> T) -> Vec<T> {
        let mut all = Vec::with_capacity(self.len);
        for chunk in self.slots.chunks() {
            all.extend(chunk.iter().flatten().map(&read));
        }
        all
    }

    /// Goes through keys and objects, in no particular order.
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

    #[test]
    fn a_group_is_made_when_the_last_is_full() {
        const GROUP: u32 = (FAN * FAN) as u32;
        let mut slots = Slots::<u32, u32>::new();
        for slot in 0..=GROUP {
            *slots.slot_mut(slot) = Some(Entry { key: slot, object: slot });
            assert_eq!(slots.0.len(), if slot < GROUP { 1 } else { 2 });
            assert_eq!(slots.chunks().count(), slot as usize / FAN + 1);
        }
        assert!(slots.iter().map(|(slot, entry)| (slot, entry.key)).eq((0..=GROUP).zip(0..)));
    }
}
