//! Looking ahead: items that are about to be taken are fetched together.
//!
//! Items lie where there was room when they came. Whoever takes them one by one out of a long queue
//! waits for every one of them, under the lock: for its entry, for its name, for its place in the
//! table. To look at many at once takes no longer than to look at one, because a processor waits
//! for all of them at the same time. Nothing depends on what is seen.
//!
//! A name is looked at by having it hash itself, the one way to what is behind any key's pointers.

use std::hash::{Hash, Hasher};
use std::hint::black_box;

use super::{Slab, Slot};

/// How many items are looked at together: about as many as a processor waits for at once.
pub(crate) const TOGETHER: u32 = 16;
/// From how many items on. Fewer are still near, because they came not long ago.
const MANY: usize = 64;

/// Looks at the first byte of whatever is hashed with it.
#[derive(Default)]
struct Look(u8);

impl Hasher for Look {
    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        self.0 ^= bytes.first().copied().unwrap_or_default();
    }

    fn finish(&self) -> u64 {
        self.0.into()
    }
}

/// Looks at keys that are about to be read.
#[inline]
pub(crate) fn look_at<'k, K: Hash + 'k>(keys: impl Iterator<Item = &'k K>) {
    let mut look = Look::default();
    keys.for_each(|key| key.hash(&mut look));
    black_box(look.0);
}

impl<K: Eq + Hash, V: Default> Slab<K, V> {
    /// Says that an item is about to be taken, of so many that wait. Every sixteenth time the items
    /// that are `upcoming` are looked at, this one among them; it does not matter which they are.
    #[inline(always)]
    pub(crate) fn take_ahead<I: Iterator<Item = Slot>>(
        &mut self,
        waiting: usize,
        upcoming: impl FnOnce() -> I,
    ) {
        if self.ahead > 0 {
            self.ahead -= 1;
        } else if waiting >= MANY {
            self.ahead = TOGETHER - 1;
            self.look_at(upcoming().take(TOGETHER as usize));
        }
    }

    #[inline(never)]
    fn look_at(&self, slots: impl Iterator<Item = Slot>) {
        let mut look = Look::default();
        let mut places = 0;
        for entry in slots.filter_map(|slot| self.entries.get(slot.0)) {
            entry.key.hash(&mut look);
            places ^= self.table.look(entry.hash);
        }
        black_box((look.0, places));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static LOOKS: Cell<u32> = const { Cell::new(0) };
    }

    /// Counts how often one of its kind is looked at.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub(crate) struct Seen(pub(crate) u32);

    impl Hash for Seen {
        fn hash<H: Hasher>(&self, state: &mut H) {
            LOOKS.set(LOOKS.get() + 1);
            self.0.hash(state);
        }
    }

    /// Checks that of eighty items that wait, sixteen are looked at by whoever takes the first of
    /// each sixteen, until fewer than 64 are left.
    pub(crate) fn looks_ahead(mut take: impl FnMut()) {
        let mut looks = Vec::new();
        for _ in 0..80 {
            LOOKS.set(0);
            take();
            looks.push(LOOKS.get());
        }
        let mut expected = [0; 80];
        (expected[0], expected[16]) = (TOGETHER, TOGETHER);
        assert_eq!(looks, expected);
    }

    #[test]
    fn sixteen_are_looked_at_together_once_there_are_many() {
        let mut slab = Slab::<Seen, ()>::new();
        for key in 0..80 {
            slab.intern(&mut Some(Seen(key)), key.into());
        }
        let mut next = 0..80;
        looks_ahead(|| {
            slab.take_ahead(next.len(), || next.clone().map(Slot));
            next.next();
        });
    }

    #[test]
    fn a_slot_that_nobody_has_is_passed_over() {
        let mut slab = Slab::<u32, ()>::new();
        slab.take_ahead(MANY, || [Slot(7)].into_iter());
        let freed = slab.intern(&mut Some(1), 1).unwrap();
        slab.remove(freed);
        slab.ahead = 0;
        slab.take_ahead(MANY, || [freed, Slot(u32::MAX)].into_iter());
        assert_eq!(slab.ahead, TOGETHER - 1);
    }

    #[test]
    fn a_look_sees_the_first_byte_and_no_more() {
        let mut look = Look::default();
        [b"ab".as_slice(), b"", b"c"].into_iter().for_each(|bytes| look.write(bytes));
        assert_eq!(look.finish(), u64::from(b'a' ^ b'c'));
    }
}
