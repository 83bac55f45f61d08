//! Where the slot of an item is found: hashes in their order, each with its slot.
//!
//! A hash says where it wants to stand, the greater the further behind, so a table that is three
//! quarters full is nearly a sorted list: whoever is displaced stands a few places behind. A search
//! ends at the first greater hash. It touches one cache line, where a table of the usual kind has
//! tags in one and numbers in another, and looks at an item only if all of its hash is right.
//! Growing goes through memory in order and looks at no item at all.

mod place;
#[cfg(test)]
mod tests;

use std::hint::black_box;

use place::{Place, spread, standing};

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

    /// Takes a slot out. What stands for it is known, so nothing else need be asked.
    ///
    /// # Panics
    /// If it is not there.
    #[inline(always)]
    pub(crate) fn remove(&mut self, hash: u32, slot: u32) {
        let spread = spread(hash);
        let gone = standing(spread, slot);
        let mut at = self.home(spread);
        while self.places[at].standing != gone {
            at += 1;
        }
        self.remove_at(at);
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
    fn displace(&mut self, at: usize, new: Place<T>) {
        if size_of::<T>() == 0 {
            self.pass_on(at, new);
        } else {
            self.make_gap(at, new);
        }
    }

    /// Numbers are passed on in a register, with one look at every place.
    #[inline(always)]
    fn pass_on(&mut self, mut at: usize, mut moved: Place<T>) {
        while let Some(place) = self.places.get_mut(at) {
            let before = std::mem::replace(place, moved);
            if before.is_empty() {
                return;
            }
            (moved, at) = (before, at + 1);
        }
        self.append(moved);
    }

    /// What is more than a number would be put down in memory on its way from one place to the next.
    /// So the last moves first, into a gap.
    #[inline(always)]
    fn make_gap(&mut self, at: usize, new: Place<T>) {
        let mut gap = at;
        while self.places.get(gap).is_some_and(|place| !place.is_empty()) {
            gap += 1;
        }
        if gap == self.places.len() {
            self.append(Place::default());
        }
        let moving = &mut self.places[at..=gap];
        for at in (1..moving.len()).rev() {
            moving.swap(at - 1, at);
        }
        moving[0] = new;
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
