//! The items that wait for their time, in the order of their times.

use crate::runtime::Instant;
use crate::slab::{Ranked, Slot, SlotHeap};

/// When the time of an item comes. Equal times keep the order in which they were set
/// (`workqueue:DQ-13`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Due {
    pub(super) deadline: Instant,
    sequence: u64,
    pub(super) slot: Slot,
}

impl Default for Due {
    fn default() -> Self {
        Self { deadline: Instant::NEVER, sequence: 0, slot: Slot::NONE }
    }
}

impl Ranked for Due {
    fn slot(&self) -> Slot {
        self.slot
    }
}

/// The times of the waiting items, one for each item.
#[derive(Clone, Debug)]
pub(super) struct Later {
    times: SlotHeap<Due>,
    sequence: u64,
}

impl Later {
    pub(super) const fn new() -> Self {
        Self { times: SlotHeap::new(), sequence: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Returns the earliest time.
    #[inline]
    pub(super) fn first(&self) -> Option<&Due> {
        self.times.first()
    }

    /// Returns the time of an item that waits.
    pub(super) fn get(&self, slot: Slot) -> Option<Due> {
        self.times.get(slot).copied()
    }

    /// Sets the time of an item. If the item already has an earlier or equal time, it keeps that
    /// (`workqueue:DQ-9`). Tells whether it is now the earliest of all.
    pub(super) fn give(&mut self, slot: Slot, deadline: Instant) -> bool {
        self.sequence += 1;
        let due = Due { deadline, sequence: self.sequence, slot };
        match self.times.get(slot) {
            Some(given) if given.deadline <= deadline => return false,
            Some(_) => self.times.replace(due),
            None => self.times.push(due),
        }
        self.first().is_some_and(|first| first.slot == slot)
    }

    /// Removes the earliest item, if its time has come.
    #[inline]
    pub(super) fn pop_due(&mut self, by: Instant) -> Option<Due> {
        self.first().filter(|first| first.deadline <= by && first.deadline != Instant::NEVER)?;
        self.times.pop()
    }

    /// Removes an item.
    pub(super) fn remove(&mut self, slot: Slot) {
        self.times.remove(slot);
    }

    /// Removes any item.
    pub(super) fn pop_any(&mut self) -> Option<Due> {
        self.times.pop_last()
    }

    /// Checks `workqueue:INV-12`.
    pub(super) fn check(&self) {
        self.times.check();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use quickcheck::quickcheck;

    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    quickcheck! {
        /// Each call is `(item, time)`; every fourth takes the first item, some take any.
        fn items_become_due_as_in_a_sorted_map(calls: Vec<(u8, u8, u8)>) -> bool {
            let (mut later, mut map) = (Later::new(), BTreeMap::<u32, (Instant, usize)>::new());
            let first = |map: &BTreeMap<u32, (Instant, usize)>| {
                map.iter().min_by_key(|(_, time)| **time).map(|(slot, time)| (*slot, time.0))
            };
            for (number, (call, slot, seconds)) in calls.into_iter().enumerate() {
                let (slot, deadline) = (u32::from(slot % 8), at(seconds.into()));
                match call {
                    call if call % 16 == 1 => {
                        let any = later.pop_any().map(|due| due.slot.0);
                        assert_eq!(any.is_none(), map.is_empty());
                        assert!(any.is_none_or(|slot| map.remove(&slot).is_some()));
                    }
                    call if call % 4 == 0 => {
                        let due = later.pop_due(deadline).map(|due| (due.slot.0, due.deadline));
                        assert_eq!(due, first(&map).filter(|(_, time)| *time <= deadline));
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
        let mut later = Later::new();
        for (slot, seconds) in [(0, 10), (1, 20), (2, 30), (1, 5)] {
            later.give(Slot(slot), at(seconds));
        }
        let pop = |later: &mut Later| later.pop_due(at(99)).map(|due| due.slot.0);
        assert_eq!(pop(&mut later), Some(1), "at five, not at twenty");
        later.give(Slot(3), at(20));
        later.give(Slot(1), at(20));
        let all = std::iter::from_fn(|| pop(&mut later));
        assert!(all.eq([0, 3, 1, 2]));
    }

    #[test]
    fn a_time_that_never_comes_is_never_due() {
        let mut later = Later::new();
        later.give(Slot(0), Instant::NEVER);
        assert_eq!(later.pop_due(Instant::NEVER), None);
        assert_eq!(later.pop_any().map(|due| due.slot), Some(Slot(0)));
    }
}
