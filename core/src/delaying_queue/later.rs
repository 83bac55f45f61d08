//! Which items wait for their time, and whose time comes first.

use crate::runtime::Instant;
use crate::slab::{Chunked, Heap, Slot};

/// When an item's time comes. Equal times keep the order in which they were given
/// (`workqueue:DQ-13`); after four billion of them a pair may swap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Due {
    pub(super) deadline: Instant,
    sequence: u32,
    pub(super) slot: Slot,
}

impl Default for Due {
    fn default() -> Self {
        Self { deadline: Instant::NEVER, sequence: 0, slot: Slot::NONE }
    }
}

/// What an item was given last. Packed: there is one for every slot.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(4))]
struct Given {
    deadline: Instant,
    /// Zero if the item does not wait.
    sequence: u32,
}

impl Default for Given {
    fn default() -> Self {
        Self { deadline: Instant::NEVER, sequence: 0 }
    }
}

/// How many void times, which an earlier one has replaced, may lie in the heap: so many, and one for
/// every item that waits. Beyond that they are swept out.
const VOID: usize = 16;

/// The times of waiting items.
///
/// An item that is given an earlier time leaves its old one behind, void, and nobody looks for it.
/// So a time can move within the heap and nobody has to note where: with many items waiting, that
/// would be a dozen far away places for every one that becomes due.
#[derive(Clone, Debug)]
pub(super) struct Later {
    /// The first is never void.
    times: Heap<Due>,
    /// What is not void, under the numbers of slots.
    given: Chunked<Given>,
    /// How many items wait.
    waiting: usize,
    sequence: u32,
}

impl Later {
    pub(super) const fn new() -> Self {
        Self { times: Heap::new(), given: Chunked::new(), waiting: 0, sequence: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Returns the earliest time.
    #[inline]
    pub(super) fn first(&self) -> Option<&Due> {
        self.times.first()
    }

    /// Returns the time of an item, if it waits.
    pub(super) fn get(&self, slot: Slot) -> Option<Due> {
        let Given { deadline, sequence } = *self.given.get(slot.0)?;
        (sequence != 0).then_some(Due { deadline, sequence, slot })
    }

    /// Gives an item a time; one that waits for an earlier one, or the same, keeps it
    /// (`workqueue:DQ-9`). Tells whether it is the earliest of all now.
    #[inline(always)]
    pub(super) fn give(&mut self, slot: Slot, deadline: Instant) -> bool {
        self.sequence = self.sequence.wrapping_add(1).max(1);
        let given = self.given.reach(slot.0);
        let waits = given.sequence != 0;
        if waits && { given.deadline } <= deadline {
            return false;
        }
        *given = Given { deadline, sequence: self.sequence };
        self.waiting += usize::from(!waits);
        self.times.push(Due { deadline, sequence: self.sequence, slot }, |_, _| ());
        if waits {
            self.tidy();
        }
        self.first().is_some_and(|first| first.slot == slot)
    }

    fn is_void(given: &Chunked<Given>, due: &Due) -> bool {
        given[due.slot.0].sequence != due.sequence
    }

    /// Drops the void times once they are the most.
    #[inline]
    fn tidy(&mut self) {
        if self.times.len() > 2 * self.waiting + VOID {
            self.times.retain(|due| !Self::is_void(&self.given, due));
        }
    }

    /// Takes the earliest out.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Due> {
        let due = self.times.pop(|_, _| ())?;
        self.given[due.slot.0] = Given::default();
        self.waiting -= 1;
        while self.first().is_some_and(|next| Self::is_void(&self.given, next)) {
            self.times.pop(|_, _| ());
        }
        self.tidy();
        Some(due)
    }

    /// Takes out all items, in no order.
    pub(super) fn drain(&mut self) -> Vec<Slot> {
        let mut slots = Vec::with_capacity(std::mem::take(&mut self.waiting));
        for due in self.times.drain() {
            if !Self::is_void(&self.given, &due) {
                self.given[due.slot.0] = Given::default();
                slots.push(due.slot);
            }
        }
        slots
    }

    /// Checks `workqueue:INV-12`: every item that waits has its time in the heap, once.
    pub(super) fn check(&self) {
        self.times.check();
        let valid = self.times.iter().filter(|(_, due)| !Self::is_void(&self.given, due));
        let mut slots = Vec::new();
        for (_, due) in valid {
            assert_eq!(self.get(due.slot), Some(*due), "a time is as given");
            slots.push(due.slot.0);
        }
        slots.sort_unstable();
        let given = (0..).zip(self.given.iter()).filter(|(_, given)| given.sequence != 0);
        assert!(
            given.map(|(slot, _)| slot).eq(slots.iter().copied()),
            "who waits has a time, once"
        );
        assert_eq!(slots.len(), self.waiting, "the count is right");
        let first = self.first().is_none_or(|first| !Self::is_void(&self.given, first));
        assert!(first, "the first is never void");
        assert!(self.times.len() <= 2 * self.waiting + VOID, "few are void");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use quickcheck::quickcheck;

    use super::*;
    use crate::machine::by_hand::each_is_noticed;
    use crate::slab::FIRST;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    /// Three items wait; one of them was given an earlier time than it had.
    fn later() -> Later {
        let mut later = Later::new();
        for (slot, seconds) in [(0, 10), (1, 20), (2, 30), (1, 5)] {
            later.give(Slot(slot), at(seconds));
        }
        later
    }

    /// Takes all that is there.
    fn all(later: &mut Later) -> Vec<(u32, Instant)> {
        std::iter::from_fn(|| later.pop().map(|due| (due.slot.0, due.deadline))).collect()
    }

    quickcheck! {
        /// Calls as `(which item, when)`; every fourth takes the first, some end all waiting.
        fn items_become_due_as_in_a_sorted_map(calls: Vec<(u8, u8, u8)>) -> bool {
            let (mut later, mut map) = (Later::new(), BTreeMap::<u32, (Instant, usize)>::new());
            let first = |map: &BTreeMap<u32, (Instant, usize)>| {
                map.iter().min_by_key(|(_, time)| **time).map(|(slot, time)| (*slot, time.0))
            };
            for (number, (call, slot, seconds)) in calls.into_iter().enumerate() {
                let (slot, deadline) = (u32::from(slot % 8), at(seconds.into()));
                match call {
                    0 => {
                        let mut ended: Vec<_> = later.drain().iter().map(|slot| slot.0).collect();
                        ended.sort_unstable();
                        assert!(ended.into_iter().eq(std::mem::take(&mut map).into_keys()));
                    }
                    call if call % 4 == 0 => {
                        let due = later.pop().map(|due| (due.slot.0, due.deadline));
                        assert_eq!(due, first(&map));
                        due.map(|(slot, _)| map.remove(&slot));
                    }
                    _ => {
                        let before = map.get(&slot).map(|(before, _)| *before);
                        let given = before.is_none_or(|before| deadline < before);
                        if given {
                            map.insert(slot, (deadline, number));
                        }
                        let earliest = given && first(&map) == Some((slot, deadline));
                        assert_eq!(later.give(Slot(slot), deadline), earliest);
                    }
                }
                later.check();
                assert_eq!((later.len(), later.is_empty()), (map.len(), map.is_empty()));
                assert_eq!(later.first().map(|due| (due.slot.0, due.deadline)), first(&map));
                let known = |slot: u32| later.get(Slot(slot)).map(|due| due.deadline);
                assert!((0..9).all(|slot| known(slot) == map.get(&slot).map(|time| time.0)));
            }
            true
        }
    }

    #[test]
    fn an_item_given_its_old_time_again_is_behind_those_that_came_meanwhile() {
        let mut later = later();
        assert_eq!(later.pop().map(|due| due.slot), Some(Slot(1)), "at five, not at twenty");
        later.give(Slot(3), at(20));
        later.give(Slot(1), at(20)); // the void one, from when it came first, is still there
        later.check();
        let due = [(0, at(10)), (3, at(20)), (1, at(20)), (2, at(30))];
        assert_eq!(all(&mut later), due);
    }

    #[test]
    fn few_times_are_void_however_often_an_item_is_given_an_earlier_one() {
        let mut later = later();
        for seconds in (1_000..2_000).rev() {
            later.give(Slot(7), at(seconds));
            later.check();
        }
        assert_eq!((later.len(), later.get(Slot(7)).map(|due| due.deadline)), (4, Some(at(1_000))));
        assert_eq!(all(&mut later).len(), 4);
        assert_eq!(later.times.len(), 0, "what is void goes with the last");
    }

    #[test]
    fn few_times_are_void_however_many_items_have_become_due() {
        const MANY: u32 = 1_000;
        let mut later = Later::new();
        for seconds in [20_000, 10_000] {
            (0..MANY).for_each(|slot| _ = later.give(Slot(slot), at(seconds + u64::from(slot))));
        }
        assert_eq!(later.times.len(), 2 * MANY as usize, "as many are void as are not");
        while later.pop().is_some() {
            assert!(later.times.len() <= 2 * later.len() + VOID, "{} wait", later.len());
        }
    }

    #[test]
    fn the_number_of_the_first_time_follows_that_of_the_last() {
        let mut later = Later { sequence: u32::MAX, ..Later::new() };
        later.give(Slot(0), at(1));
        assert_eq!(later.get(Slot(0)).map(|due| due.sequence), Some(1), "zero says: none");
    }

    #[test]
    fn times_that_are_wrong_are_noticed() {
        let breaks: [fn(&mut Later); 9] = [
            |later| {
                let first = *later.times.node_mut(0);
                *later.times.node_mut(0) = std::mem::replace(later.times.node_mut(1), first);
            },
            |later| later.waiting += 1,
            |later| later.given[2].deadline = at(31),
            |later| later.given[0].sequence = 0,
            |later| later.given[1].sequence = 0,
            |later| *later.given.reach(7) = Given { deadline: at(7), sequence: 7 },
            |later| _ = later.times.take(FIRST + 3, |_, _| ()),
            |later| {
                let void = Due { sequence: 2, deadline: at(20), slot: Slot(1) };
                (0..20).for_each(|_| later.times.push(void, |_, _| ()));
            },
            |later| later.times.push(later.get(Slot(2)).unwrap(), |_, _| ()),
        ];
        each_is_noticed(later, breaks, Later::check);
    }
}
