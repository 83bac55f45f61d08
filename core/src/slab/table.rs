//! Finds things by their hashes: a table that grows and shrinks in small steps.
//!
//! A table in one piece moves its whole content when it is full, under a lock: with ten million
//! items that takes a tenth of a second. This one consists of many small tables, and some bits of a
//! hash select one of them (linear hashing). When they hold too many items on average one of them
//! is divided, and when they hold far fewer the last two that belong together are merged. So a call
//! moves about a thousand items at most, and memory that a burst took is given back as it drains.

use hashbrown::HashTable;

use super::spread;

/// The largest average number of items in a piece.
const MOST: usize = 512;
/// The smallest one, if there are several pieces; so low that a piece is not merged soon after it
/// was divided.
const LEAST: usize = MOST / 2;

/// An entry of a table, which knows its hash.
pub(crate) trait Stands {
    /// Returns the hash.
    fn hash(&self) -> u32;
}

/// A hash and the slot that it leads to.
pub(crate) type Place = (u32, u32);

impl Stands for Place {
    #[inline(always)]
    fn hash(&self) -> u32 {
        self.0
    }
}

/// A hash table. Its callers decide whether two things are the same.
#[derive(Debug)]
pub(crate) struct Table<T = Place> {
    pieces: Vec<HashTable<T>>,
    len: usize,
}

impl<T: Clone> Clone for Table<T> {
    fn clone(&self) -> Self {
        Self { pieces: self.pieces.clone(), len: self.len }
    }

    fn clone_from(&mut self, source: &Self) {
        self.pieces.clone_from(&source.pieces);
        self.len = source.len;
    }
}

/// Returns the piece from which another one was divided.
fn origin(piece: usize) -> usize {
    piece ^ (1 << piece.ilog2())
}

impl<T: Stands> Table<T> {
    pub(crate) const fn new() -> Self {
        Self { pieces: Vec::new(), len: 0 }
    }

    /// Makes a table with room for this number of items.
    pub(crate) fn with_room(items: usize) -> Self {
        let pieces = items.div_ceil(MOST);
        let room = items.checked_div(pieces).unwrap_or_default();
        Self { pieces: (0..pieces).map(|_| HashTable::with_capacity(room)).collect(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of the piece for a hash; there must be at least one piece.
    #[inline(always)]
    fn piece(&self, hash: u32) -> usize {
        // These are not the bits that select the place within a piece.
        let bits = (spread(hash) >> 32) as usize;
        let round = self.pieces.len().next_power_of_two();
        let piece = bits & (round - 1);
        if piece < self.pieces.len() { piece } else { piece ^ (round >> 1) }
    }

    /// Returns the entry with this hash that is the same.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u32, mut same: impl FnMut(&T) -> bool) -> Option<&T> {
        let found = |other: &T| other.hash() == hash && same(other);
        self.pieces.get(self.piece(hash))?.find(spread(hash), found)
    }

    /// As [`find`](Self::find), for changing the entry. Its hash must not change.
    pub(crate) fn find_mut(&mut self, hash: u32, same: impl Fn(&T) -> bool) -> Option<&mut T> {
        let found = |other: &T| other.hash() == hash && same(other);
        let piece = self.piece(hash);
        self.pieces.get_mut(piece)?.find_mut(spread(hash), found)
    }

    /// Visits all entries, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.pieces.iter().flatten()
    }

    /// Adds an entry that is not in the table.
    #[inline(always)]
    pub(crate) fn insert(&mut self, new: T) {
        if self.len >= self.pieces.len() * MOST {
            self.divide();
        }
        self.put(new);
        self.len += 1;
    }

    #[inline(always)]
    fn put(&mut self, new: T) {
        let hash = new.hash();
        let piece = self.piece(hash);
        self.pieces[piece].insert_unique(spread(hash), new, |other| spread(other.hash()));
    }

    /// Removes the entry with this hash that is the same.
    #[inline(always)]
    pub(crate) fn remove(&mut self, hash: u32, same: impl Fn(&T) -> bool) -> Option<T> {
        let found = |other: &T| other.hash() == hash && same(other);
        let piece = self.piece(hash);
        let (removed, _) =
            self.pieces.get_mut(piece)?.find_entry(spread(hash), found).ok()?.remove();
        self.len -= 1;
        if self.len < (self.pieces.len() - 1) * LEAST {
            self.unite();
        }
        Some(removed)
    }

    #[cold]
    #[inline(never)]
    fn divide(&mut self) {
        let new = self.pieces.len();
        self.pieces.push(HashTable::new());
        if new > 0 {
            let both = std::mem::take(&mut self.pieces[origin(new)]);
            both.into_iter().for_each(|one| self.put(one));
        }
    }

    /// Merges the last piece into the one it was divided from. That one mostly has room for
    /// both, so little is allocated. In a large queue that drains, the first allocation after many
    /// frees takes milliseconds: that is when glibc sorts what was freed.
    #[cold]
    #[inline(never)]
    fn unite(&mut self) {
        let last = self.pieces.pop().expect("there are several pieces");
        last.into_iter().for_each(|one| self.put(one));
        if self.pieces.len() < self.pieces.capacity() / 4 {
            self.pieces.shrink_to(self.pieces.capacity() / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use quickcheck::quickcheck;

    use super::*;

    /// A hash that is as good as a real one.
    fn hash(slot: u32) -> u32 {
        slot.wrapping_mul(0x85EB_CA6B) ^ slot >> 7
    }

    fn filled(items: u32) -> Table {
        let mut table = Table::new();
        (0..items).for_each(|slot| table.insert((hash(slot), slot)));
        table
    }

    /// Removes a slot; tells whether it was there.
    fn take(table: &mut Table, hash: u32, slot: u32) -> bool {
        table.remove(hash, |other| other.1 == slot).is_some()
    }

    /// Returns the capacity in items.
    fn room(table: &Table) -> usize {
        table.pieces.iter().map(HashTable::capacity).sum::<usize>() + 4 * table.pieces.capacity()
    }

    fn holds(table: &Table, slots: std::ops::Range<u32>) -> bool {
        let mut all: Vec<_> = table.iter().map(|place| place.1).collect();
        all.sort_unstable();
        let found = |slot: u32| table.find(hash(slot), |other| other.1 == slot).is_some();
        table.len() == slots.len()
            && all.into_iter().eq(slots.clone())
            && slots.into_iter().all(found)
    }

    quickcheck! {
        /// Each call is `(slot, whether to remove it)`; many slots share a hash.
        fn slots_are_found_by_their_hashes(calls: Vec<(u8, bool)>) -> bool {
            let (mut table, mut there) = (Table::<Place>::new(), [false; 256]);
            for (slot, remove) in calls {
                let (at, slot, hash) = (usize::from(slot), u32::from(slot), u32::from(slot % 20));
                let found = table.find(hash, |other| other.1 == slot).is_some();
                assert_eq!(found, there[at]);
                match (found, remove) {
                    (true, true) => assert!(take(&mut table, hash, slot)),
                    (false, true) => assert!(!take(&mut table, hash, slot)),
                    (true, false) => {}
                    (false, false) => table.insert((hash, slot)),
                }
                there[at] = !remove;
            }
            table.len() == there.iter().filter(|there| **there).count()
        }
    }

    #[test]
    fn pieces_are_divided_and_put_together_and_nothing_is_lost() {
        let mut table = filled(20_000);
        assert_eq!(table.pieces.len(), 20_000_usize.div_ceil(MOST));
        for (left, slot) in (0..20_000).rev().zip(0..) {
            assert!(left % 777 > 0 || holds(&table, slot..20_000));
            assert!(take(&mut table, hash(slot), slot));
        }
        assert!(holds(&table, 0..0) && table.pieces.len() == 1);
        (0..3_000).for_each(|slot| table.insert((hash(slot), slot)));
        assert!(holds(&table, 0..3_000));
    }

    #[test]
    fn joining_two_pieces_mostly_moves_the_items_of_the_last_alone() {
        let (mut table, mut stay) = (filled(100_000), 0);
        let joined = table.pieces.len() - 1;
        for slot in 0..100_000 {
            let pieces = table.pieces.len();
            let first = (pieces > 1).then(|| origin(pieces - 1));
            let item = first.and_then(|first| table.pieces[first].iter().next());
            let before = item.map(|item| (*item, std::ptr::from_ref(item)));
            assert!(take(&mut table, hash(slot), slot));
            if let Some((item, place)) = before
                && table.pieces.len() < pieces
            {
                let now = table.find(item.0, |other| other.1 == item.1);
                stay += usize::from(now.map(std::ptr::from_ref) == Some(place));
            }
        }
        assert!(2 * stay > joined, "{stay} of {joined}");
    }

    #[test]
    fn no_piece_is_much_larger_than_the_others() {
        for items in [600, 5_000, 30_000, 100_000] {
            let table = filled(items);
            let largest = table.pieces.iter().map(HashTable::len).max();
            assert!(largest < Some(3 * MOST), "{largest:?} of {items}");
        }
    }

    #[test]
    fn memory_follows_what_is_held_and_not_every_step_of_it() {
        let mut table = filled(100_000);
        let full = room(&table);
        assert!((100_000..300_000).contains(&full), "{full}");
        (0..50_000).for_each(|slot| assert!(take(&mut table, hash(slot), slot)));
        let pieces = table.pieces.len();
        (0..1_000).for_each(|slot| table.insert((hash(slot), slot)));
        (0..1_000).for_each(|slot| assert!(take(&mut table, hash(slot), slot)));
        assert_eq!(table.pieces.len(), pieces, "half of it is kept for the next burst");
        (50_000..99_999).for_each(|slot| assert!(take(&mut table, hash(slot), slot)));
        assert!(room(&table) < 4 * MOST, "{}", room(&table));
    }

    #[test]
    fn a_table_with_room_does_not_grow_before_it_has_so_many() {
        for items in [0, 1, 5, MOST, 10_000] {
            let mut table = Table::with_room(items);
            let pieces = table.pieces.len();
            (0..items as u32).for_each(|slot| table.insert((hash(slot), slot)));
            assert!(holds(&table, 0..items as u32));
            assert_eq!(table.pieces.len(), pieces);
        }
    }

    #[test]
    fn a_copy_made_in_place_goes_its_own_way() {
        let (mut copy, source) = (filled(1_000), filled(3));
        copy.clone_from(&source);
        (3..600).for_each(|slot| copy.insert((hash(slot), slot)));
        assert!(holds(&copy, 0..600) && holds(&source, 0..3));
        assert!(holds(&copy.clone(), 0..600));
    }
}
