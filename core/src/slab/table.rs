//! Where the slot of an item is found: hashes in their order, each with its slot.
//!
//! A hash says where it wants to stand, the greater the further behind, so a table that is three
//! quarters full is nearly a sorted list: whoever is displaced stands a few places behind. A search
//! ends at the first greater hash. It touches one cache line, where a table of the usual kind has
//! tags in one and numbers in another, and looks at an item only if all of its hash is right.
//! Growing goes through memory in order and looks at no item at all.

use std::hint::black_box;

use super::place::{Place, spread, standing};

/// Of so many places...
const OF: usize = 5;
/// ...so many are taken at most. Behind a place stand two displaced ones then, on average.
const TAKEN: usize = 4;

/// How many places the first table has.
const LEAST: usize = 8;
/// How many places there may be for those displaced from the last one before they are moved.
const TAIL: usize = 8;

/// A hash table of slots, each with something that is to be at hand once it is found. Whether two
/// items are the same, its callers say.
#[derive(Debug)]
pub(crate) struct Table<T = ()> {
    /// Rising but for the empty places. Nothing is empty between the place where one wants to stand
    /// and the one where it stands.
    places: Vec<Place<T>>,
    /// In how many places a hash may want to stand; more follow for those displaced from the last.
    homes: usize,
    len: usize,
    /// With how many it grows.
    most: usize,
}

impl<T: Clone> Clone for Table<T> {
    fn clone(&self) -> Self {
        Self { places: self.places.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        let Self { places, homes, len, most } = self;
        places.clone_from(&source.places);
        (*homes, *len, *most) = (source.homes, source.len, source.most);
    }
}

impl<T: Default> Table<T> {
    /// It grows by this part of itself: seldom if more than a number has to be moved.
    const PART: usize = if size_of::<T>() == 0 { 2 } else { 1 };

    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), homes: 0, len: 0, most: 0 }
    }

    /// Makes a table that has room for so many.
    pub(crate) fn with_room(items: usize) -> Self {
        let mut table = Self::new();
        if items > 0 {
            table.make_places((items * OF).div_ceil(TAKEN));
        }
        table
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the slot with this hash that is the same, or the place where it would stand.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u32, mut same: impl FnMut(u32) -> bool) -> Result<u32, usize> {
        self.place(hash, |slot, _| same(slot)).map(|at| self.places[at].slot())
    }

    /// As [`find`](Self::find), and returns the place in both cases; good until the next change.
    /// Whether a slot is the same can be told by what is at hand with it.
    #[inline(always)]
    pub(crate) fn place(
        &self,
        hash: u32,
        same: impl FnMut(u32, &T) -> bool,
    ) -> Result<usize, usize> {
        self.search(spread(hash), same)
    }

    /// Returns the slot in a place, and what is at hand with it.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> (u32, &T) {
        let place = &self.places[place];
        (place.slot(), &place.with)
    }

    /// As [`at`](Self::at), to be changed.
    #[inline(always)]
    pub(crate) fn at_mut(&mut self, place: usize) -> (u32, &mut T) {
        let place = &mut self.places[place];
        (place.slot(), &mut place.with)
    }

    /// Looks where a hash wants to stand. What is there says nothing.
    #[inline(always)]
    pub(crate) fn look(&self, hash: u32) -> u64 {
        self.places.get(self.home(spread(hash))).map_or(0, |place| place.standing)
    }

    /// As [`look`](Self::look), for several that are wanted soon: a processor waits for all of them
    /// at the same time, and for nothing that is done with one in between.
    pub(crate) fn look_at(&self, hashes: impl Iterator<Item = u32>) {
        black_box(hashes.fold(0, |seen, hash| seen ^ self.look(hash)));
    }

    /// Goes through the slots, in no particular order.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> {
        self.places.iter().filter(|place| !place.is_empty()).map(Place::slot)
    }

    /// Takes in a slot at the place that [`find`](Self::find) named.
    #[inline(always)]
    pub(crate) fn insert(&mut self, mut at: usize, hash: u32, slot: u32, with: T) {
        let spread = spread(hash);
        if self.len >= self.most {
            self.grow();
            at = self.search(spread, |_, _| false).unwrap_or_else(|at| at);
        }
        self.displace(at, Place { standing: standing(spread, slot), with });
        self.len += 1;
    }

    /// Takes a slot out that is there. What stands for it is known, so nothing else need be asked.
    #[inline(always)]
    pub(crate) fn remove(&mut self, hash: u32, slot: u32) {
        let spread = spread(hash);
        let gone = standing(spread, slot);
        let mut at = self.home(spread);
        while self.places.get(at).is_some_and(|other| other.standing != gone) {
            at += 1;
        }
        debug_assert!(at < self.places.len(), "only a slot that is there is removed");
        if at < self.places.len() {
            self.remove_at(at);
        }
    }

    /// Takes out the slot in a place. Returns what was at hand with it.
    #[inline(always)]
    pub(crate) fn remove_at(&mut self, mut at: usize) -> T {
        let gone = std::mem::take(&mut self.places[at]);
        // Those who were displaced move up.
        while let Some(next) = self.places.get(at + 1)
            && !next.is_empty()
            && self.home(next.spread()) <= at
        {
            self.places.swap(at, at + 1);
            at += 1;
        }
        self.len -= 1;
        gone.with
    }

    /// Returns where a hash wants to stand.
    #[inline(always)]
    fn home(&self, spread: u32) -> usize {
        ((u64::from(spread) * self.homes as u64) >> 32) as usize
    }

    /// Returns where a slot with this hash that is the same stands, or the first place that is
    /// empty or whose hash is greater.
    #[inline(always)]
    fn search(&self, spread: u32, mut same: impl FnMut(u32, &T) -> bool) -> Result<usize, usize> {
        let (first, end) = (standing(spread, 0), standing(spread, u32::MAX));
        let mut at = self.home(spread);
        while self.places.get(at).is_some_and(|other| other.standing < first) {
            at += 1;
        }
        while let Some(other) = self.places.get(at)
            && other.standing < end
        {
            if same(other.slot(), &other.with) {
                return Ok(at);
            }
            at += 1;
        }
        Err(at)
    }

    /// Puts somebody into a place; those from there to the next empty place move back.
    #[inline(always)]
    fn displace(&mut self, mut at: usize, mut moved: Place<T>) {
        while let Some(place) = self.places.get_mut(at) {
            let before = std::mem::replace(place, moved);
            if before.is_empty() {
                return;
            }
            (moved, at) = (before, at + 1);
        }
        self.append(moved);
    }

    /// Makes a place for somebody who is displaced from the last one.
    #[cold]
    #[inline(never)]
    fn append(&mut self, moved: Place<T>) {
        if self.places.len() == self.places.capacity() {
            self.places.reserve_exact(TAIL);
        }
        self.places.push(moved);
    }

    /// Makes more places, behind the others: the greater table may take over the memory of the
    /// smaller, and pages that were written once are not fetched anew.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let before = self.places.len();
        self.make_places((self.homes + self.homes / Self::PART + LEAST).max(before));
        // All to the end, in order. Between them and who has not moved yet all is empty, so to move
        // who is empty does no harm: to guess wrong who is takes longer than to move.
        let mut from = self.places.len();
        for at in (0..before).rev() {
            self.places.swap(at, from - 1);
            from -= usize::from(!self.places[from - 1].is_empty());
        }
        // From there to the first place that is free.
        let mut to = 0;
        while from < self.places.len() {
            to = self.home(self.places[from].spread()).max(to);
            if to > from {
                // So many are displaced from the last place that there is no room for them.
                self.places.splice(from..from, (from..to).map(|_| Place::default()));
                from = to;
            }
            self.places.swap(from, to);
            (from, to) = (from + 1, to + 1);
        }
    }

    /// Makes empty places until there are so many to want to stand at, and room for some more.
    fn make_places(&mut self, homes: usize) {
        self.homes = homes.min(u32::MAX as usize);
        self.most = (self.homes * TAKEN).div_ceil(OF);
        self.places.reserve_exact((self.homes + TAIL).saturating_sub(self.places.len()));
        self.places.resize_with(self.homes, Place::default);
    }
}

#[cfg(test)]
mod tests {
    use quickcheck::quickcheck;

    use super::*;

    impl<T: Default> Table<T> {
        /// Checks what a search relies on.
        fn check(&self) {
            let standing: Vec<_> = self.places.iter().filter(|place| !place.is_empty()).collect();
            assert_eq!(standing.len(), self.len, "the table counts who stands in it");
            assert!(self.len * OF <= self.homes * TAKEN + OF, "it grows in time");
            assert!(
                standing.is_sorted_by_key(|place| place.spread()),
                "they stand in the order of their hashes"
            );
            for (at, place) in self.places.iter().enumerate().filter(|(_, at)| !at.is_empty()) {
                let home = self.home(place.spread());
                assert!(home <= at, "nobody stands before its place");
                let before = &self.places[home..at];
                assert!(!before.iter().any(Place::is_empty), "a search does not end too soon");
            }
        }
    }

    fn at_hand_with(slot: u32) -> Option<u64> {
        Some(u64::from(slot) + 1_000)
    }

    /// Calls as `(which slot, whether to remove it)`; the hash is computed from the slot.
    fn agrees(calls: Vec<(u8, bool)>, hash: impl Fn(u32) -> u32) -> bool {
        let (mut table, mut there) = (Table::new(), [false; 256]);
        for (slot, remove) in calls {
            let (slot, hash) = (u32::from(slot), hash(slot.into()));
            let with = at_hand_with(slot);
            match table.place(hash, |other, at_hand| other == slot && *at_hand == with) {
                Ok(at) => {
                    assert!(there[slot as usize]);
                    assert_eq!(table.find(hash, |other| other == slot), Ok(slot));
                    assert_eq!(table.at(at), (slot, &with));
                    assert_eq!(*table.at_mut(at).1, with);
                    if remove && slot % 3 == 0 {
                        table.remove(hash, slot);
                    } else if remove {
                        assert_eq!(table.remove_at(at), with);
                    }
                    there[slot as usize] = !remove;
                }
                Err(at) => {
                    assert!(!there[slot as usize]);
                    assert_eq!(table.find(hash, |other| other == slot), Err(at));
                    table.insert(at, hash, slot, with);
                    there[slot as usize] = true;
                }
            }
            table.check();
            for place in table.places.iter().filter(|place| !place.is_empty()) {
                assert_eq!(place.with, at_hand_with(place.slot()), "it goes with its slot");
            }
        }
        table.len() == there.iter().filter(|there| **there).count()
    }

    quickcheck! {
        fn good_hashes_are_found(calls: Vec<(u8, bool)>) -> bool {
            agrees(calls, |slot| slot.wrapping_mul(0x85EB_CA6B) ^ slot >> 3)
        }

        fn equal_hashes_are_told_apart(calls: Vec<(u8, bool)>) -> bool {
            agrees(calls, |slot| slot % 2)
        }

        fn the_greatest_hashes_find_places_behind_the_last(calls: Vec<(u8, bool)>) -> bool {
            let unspread = 0x9E37_79B1_u32.wrapping_pow((1 << 30) - 1); // its inverse
            assert_eq!(spread(unspread), 1);
            agrees(calls, |slot| (u32::MAX - slot % 20).wrapping_mul(unspread))
        }
    }

    #[test]
    fn a_table_with_room_does_not_grow_before_it_has_so_many() {
        for items in [0, 1, 4, 5, 1000, 1003] {
            let mut table = Table::<()>::with_room(items as usize);
            let homes = table.homes;
            assert!(homes <= items as usize * OF / TAKEN + 1, "nor has it more than it needs");
            for slot in 0..items {
                table.insert(table.find(slot, |_| false).unwrap_err(), slot, slot, ());
                table.check();
            }
            assert_eq!(table.homes, homes);
        }
    }

    /// So many stand behind the last place that half as many places more are fewer than there are.
    #[test]
    fn nobody_behind_the_last_place_is_lost_when_a_table_grows() {
        let mut table = Table::<()>::new();
        for slot in 0..300 {
            let hash = 0x9E37_79B1_u32.wrapping_pow((1 << 30) - 1).wrapping_neg();
            assert_eq!(spread(hash), u32::MAX);
            table.insert(table.find(hash, |_| false).unwrap_err(), hash, slot, ());
            table.check();
            (0..=slot).for_each(|slot| assert_eq!(table.find(hash, |at| at == slot), Ok(slot)));
        }
    }

    #[test]
    fn a_copy_made_in_place_grows_when_its_original_would() {
        let filled = |items: u32| {
            let mut table = Table::new();
            (0..items).for_each(|slot| {
                table.insert(table.find(slot, |_| false).unwrap_err(), slot, slot, ());
            });
            table
        };
        let mut copy = filled(1000);
        copy.clone_from(&filled(3));
        for slot in 3..100 {
            copy.insert(copy.find(slot, |_| false).unwrap_err(), slot, slot, ());
            copy.check();
        }
    }

    #[test]
    fn few_places_are_empty_and_few_are_displaced_far() {
        const ITEMS: u32 = 50_000;
        let mut table = Table::new();
        for slot in 0..ITEMS {
            let hash = slot.wrapping_mul(0x85EB_CA6B) ^ slot >> 7;
            let at = table.find(hash, |_| false).unwrap_err();
            table.insert(at, hash, slot, ());
            assert!(table.homes <= 2 * (table.len + LEAST), "{} for {slot}", table.homes);
        }
        table.check();
        assert!(table.places.capacity() < 2 * ITEMS as usize);
        let displaced = |(at, place): (usize, &Place<()>)| at - table.home(place.spread());
        let standing = table.places.iter().enumerate().filter(|(_, place)| !place.is_empty());
        let in_all: usize = standing.map(displaced).sum();
        assert!(in_all < 3 * ITEMS as usize, "{in_all} places in all");
    }
}
