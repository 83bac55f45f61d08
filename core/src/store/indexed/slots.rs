//! Where objects lie: numbered slots that can be copied at once.
//!
//! Slots lie in chunks, chunks in groups and groups in a list, all shared by counting references.
//! A copy of the whole is one count. Whoever writes while a copy is alive copies the list, the
//! group and the chunk on the way to the slot, and nothing else; without a copy it writes in place.
//!
//! To find out, it has to ask three counts, and asking takes as long as counting. So the last chunk,
//! where new objects come, is not shared until somebody takes a copy.

use std::array;
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

/// Slots that are written to.
#[derive(Debug)]
pub(super) struct Slots<K, O> {
    shared: Shared<K, O>,
    /// The last chunk, if it is not among those that are shared.
    last: Option<Box<Chunk<K, O>>>,
    /// How many chunks there are, that one among them.
    chunks: usize,
}

/// Slots as they were when they were copied.
#[derive(Debug)]
pub(super) struct Shared<K, O>(Arc<Vec<Arc<Group<K, O>>>>);

impl<K, O> Clone for Shared<K, O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Splits the number of a slot: its chunk, its place in there.
#[inline]
fn split(slot: u32) -> (usize, usize) {
    (slot as usize / FAN, slot as usize % FAN)
}

impl<K, O> Shared<K, O> {
    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Entry<K, O>> {
        let (chunk, place) = split(slot);
        self.0.get(chunk / FAN)?[chunk % FAN].as_ref()?[place].as_ref()
    }

    fn chunks(&self) -> impl Iterator<Item = &Chunk<K, O>> {
        self.0.iter().flat_map(|group| group.iter().flatten()).map(|chunk| &**chunk)
    }

    /// Goes through the slots in use, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Entry<K, O>)> {
        in_use(self.chunks())
    }
}

/// Goes through the slots in use of chunks that follow each other from the first one on.
fn in_use<'a, K: 'a, O: 'a>(
    chunks: impl Iterator<Item = &'a Chunk<K, O>>,
) -> impl Iterator<Item = (u32, &'a Entry<K, O>)> {
    (0..).zip(chunks.flatten()).filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)))
}

impl<K, O> Slots<K, O> {
    pub(super) fn new() -> Self {
        Self { shared: Shared(Arc::new(Vec::new())), last: None, chunks: 0 }
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Entry<K, O>> {
        let (chunk, place) = split(slot);
        match &self.last {
            Some(last) if chunk + 1 == self.chunks => last[place].as_ref(),
            _ => self.shared.get(slot),
        }
    }

    /// Goes through the slots in use, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Entry<K, O>)> {
        in_use(self.shared.chunks().chain(self.last.as_deref()))
    }

    pub(super) fn check(&self) {
        let shared = self.shared.chunks().count();
        assert_eq!(shared + usize::from(self.last.is_some()), self.chunks, "chunks are counted");
    }
}

impl<K: Clone, O: Clone> Slots<K, O> {
    /// Gives access to a slot, which is in use or the first behind those that ever were.
    #[inline]
    pub(super) fn slot_mut(&mut self, slot: u32) -> &mut Option<Entry<K, O>> {
        let (chunk, place) = split(slot);
        if chunk == self.chunks {
            self.begin_chunk();
        }
        match &mut self.last {
            Some(last) if chunk + 1 == self.chunks => &mut last[place],
            _ => {
                let group = &mut Arc::make_mut(&mut self.shared.0)[chunk / FAN];
                let chunk = Arc::make_mut(group)[chunk % FAN].as_mut();
                &mut Arc::make_mut(chunk.expect("every chunk but the last is shared"))[place]
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_chunk(&mut self) {
        self.share_last();
        self.last = Some(Box::new(array::from_fn(|_| None)));
        self.chunks += 1;
    }

    /// Makes a copy, which stays as it is.
    pub(super) fn copy(&mut self) -> Shared<K, O> {
        self.share_last();
        self.shared.clone()
    }

    fn share_last(&mut self) {
        let Some(last) = self.last.take() else { return };
        let groups = Arc::make_mut(&mut self.shared.0);
        let chunk = self.chunks - 1;
        if groups.len() == chunk / FAN {
            groups.push(Arc::new(array::from_fn(|_| None)));
        }
        Arc::make_mut(&mut groups[chunk / FAN])[chunk % FAN] = Some(last.into());
    }
}

/// The content of a store at one moment (`cache:ST-6`). Whatever is written to the store
/// afterwards, it stays as it is.
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

    /// Copies all handles into a vector, in no particular order: that counts every one of them. To
    /// read the objects, [`objects`](Self::objects) will do.
    pub fn to_vec(&self) -> Vec<O>
    where
        O: Clone,
    {
        self.collect(|entry| entry.object.clone())
    }

    /// Copies something of every object into a vector.
    pub(super) fn collect<T>(&self, read: impl Fn(&Entry<K, O>) -> T) -> Vec<T> {
        let mut all = Vec::with_capacity(self.len);
        for chunk in self.slots.chunks() {
            all.extend(chunk.iter().flatten().map(&read));
        }
        all
    }

    /// Goes through the objects, in no particular order.
    pub fn objects(&self) -> impl Iterator<Item = &O> {
        self.slots.iter().map(|(_, entry)| &entry.object)
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
    use crate::machine::by_hand::each_is_noticed;

    const GROUP: u32 = (FAN * FAN) as u32;

    fn with(count: u32) -> Slots<u32, u32> {
        let mut slots = Slots::new();
        (0..count).for_each(|slot| write(&mut slots, slot));
        slots
    }

    fn write(slots: &mut Slots<u32, u32>, slot: u32) {
        *slots.slot_mut(slot) = Some(Entry { key: slot, object: slot });
        slots.check();
    }

    #[test]
    fn a_group_is_made_when_the_last_is_full() {
        let mut slots = with(GROUP);
        assert_eq!((slots.copy().0.len(), slots.chunks), (1, FAN));
        write(&mut slots, GROUP);
        assert_eq!((slots.copy().0.len(), slots.chunks), (2, FAN + 1));
        assert!(slots.iter().map(|(slot, entry)| (slot, entry.key)).eq((0..=GROUP).zip(0..)));
    }

    #[test]
    fn the_last_chunk_is_shared_once_a_copy_is_taken_and_stays_in_it_as_it_was() {
        const NEXT: u32 = FAN as u32;
        for count in [1, NEXT - 1, NEXT, NEXT + 1] {
            let mut slots = with(count);
            assert!(slots.last.is_some());
            let copy = slots.copy();
            assert!(slots.last.is_none());
            for slot in [count, count - 1] {
                *slots.slot_mut(slot) = Some(Entry { key: slot, object: 99 });
                slots.check();
            }
            assert!(copy.iter().all(|(slot, entry)| entry.object == slot));
            assert_eq!(
                (copy.iter().count(), slots.iter().count()),
                (count as usize, count as usize + 1)
            );
            for slot in 0..=count + 1 {
                let found = slots.get(slot).map(|entry| entry.object);
                let expected = if slot > count {
                    None
                } else if slot < count - 1 {
                    Some(slot)
                } else {
                    Some(99)
                };
                assert_eq!(found, expected, "{slot} of {count}");
                assert_eq!(copy.get(slot).is_some(), slot < count);
            }
        }
    }

    #[test]
    fn chunks_that_are_not_counted_are_noticed() {
        let breaks: [fn(&mut Slots<u32, u32>); 2] =
            [|slots| slots.chunks += 1, |slots| slots.last = None];
        each_is_noticed(|| with(1), breaks, Slots::check);
    }
}
