//! A heap of slots in which every slot can be found, moved and removed.

use std::num::NonZeroU32;

use super::heap::FIRST;
use super::{Heap, Slot, Sparse};

/// A slot and its place in an order; the least comes first. A slot is in a heap at most once.
pub(crate) trait Ranked: Ord + Copy + Default {
    /// Returns the slot.
    fn slot(&self) -> Slot;
}

/// A heap of slots, which finds the least one immediately.
#[derive(Clone, Debug)]
pub(crate) struct SlotHeap<P> {
    heap: Heap<P>,
    /// The position of the node of a slot; never zero.
    positions: Sparse<NonZeroU32>,
}

/// Notes the position of the node of a slot.
#[inline(always)]
fn note<P: Ranked>(positions: &mut Sparse<NonZeroU32>) -> impl FnMut(&P, u32) {
    |node, at| positions.set(node.slot(), NonZeroU32::new(at).expect("a position is never zero"))
}

impl<P: Ranked> SlotHeap<P> {
    pub(crate) const fn new() -> Self {
        Self { heap: Heap::new(), positions: Sparse::new() }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns the least slot.
    #[inline]
    pub(crate) fn first(&self) -> Option<&P> {
        self.heap.first()
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<&P> {
        self.heap.get(self.position(slot)?)
    }

    /// Adds a slot that is not in the heap.
    pub(crate) fn push(&mut self, place: P) {
        debug_assert_eq!(self.position(place.slot()), None, "a slot is in a heap once");
        self.heap.push(place, note(&mut self.positions));
    }

    /// Removes the least slot.
    pub(crate) fn pop(&mut self) -> Option<P> {
        self.take(FIRST)
    }

    /// Removes a slot for which no other has to move.
    pub(crate) fn pop_last(&mut self) -> Option<P> {
        let before = (self.len() as u32).checked_sub(1)?;
        self.take(FIRST + before)
    }

    /// Removes a slot.
    pub(crate) fn remove(&mut self, slot: Slot) -> Option<P> {
        self.take(self.position(slot)?)
    }

    /// Changes the place of a slot in the heap.
    pub(crate) fn replace(&mut self, place: P) {
        if let Some(at) = self.position(place.slot()) {
            self.heap.set(at, place, note(&mut self.positions));
        }
    }

    #[inline]
    fn position(&self, slot: Slot) -> Option<u32> {
        self.positions.get(slot).map(|at| at.get())
    }

    fn take(&mut self, at: u32) -> Option<P> {
        let taken = self.heap.take(at, note(&mut self.positions))?;
        self.positions.take(taken.slot());
        Some(taken)
    }

    /// Checks that nodes and positions agree and that no child is before its parent
    /// (`workqueue:INV-12`).
    pub(crate) fn check(&self) {
        self.heap.check();
        for (at, place) in self.heap.iter() {
            assert_eq!(self.position(place.slot()), Some(at), "a position names its node");
        }
        assert_eq!(self.positions.len(), self.heap.len(), "positions name nodes only");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use quickcheck::quickcheck;

    use super::*;
    use crate::machine::single_step::each_is_noticed;

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
    struct Place(u16, u32);

    impl Ranked for Place {
        fn slot(&self) -> Slot {
            Slot(self.1)
        }
    }

    fn least(map: &BTreeMap<u32, u16>) -> Option<Place> {
        map.iter().map(|(slot, rank)| Place(*rank, *slot)).min()
    }

    quickcheck! {
        fn a_heap_hands_out_what_a_sorted_map_would(calls: Vec<(u8, u8, u16)>) -> bool {
            let (mut heap, mut map) = (SlotHeap::new(), BTreeMap::new());
            for (call, slot, rank) in calls {
                let slot = u32::from(slot % 40);
                match call % 4 {
                    0 => {
                        let place = heap.pop();
                        assert_eq!(place, least(&map));
                        place.map(|Place(_, slot)| map.remove(&slot));
                    }
                    2 if slot == 7 => {
                        let last = heap.pop_last();
                        assert_eq!(last.is_none(), map.is_empty());
                        last.map(|Place(_, slot)| map.remove(&slot));
                    }
                    1 => assert_eq!(
                        heap.remove(Slot(slot)),
                        map.remove(&slot).map(|rank| Place(rank, slot))
                    ),
                    _ => {
                        match map.insert(slot, rank) {
                            Some(_) => heap.replace(Place(rank, slot)),
                            None => heap.push(Place(rank, slot)),
                        }
                        assert_eq!(heap.get(Slot(slot)), Some(&Place(rank, slot)));
                    }
                }
                heap.check();
                assert_eq!(heap.len(), map.len());
                assert_eq!(heap.first().copied(), least(&map));
            }
            heap.is_empty() == map.is_empty()
        }
    }

    #[test]
    fn a_heap_out_of_order_and_a_position_that_is_wrong_are_noticed() {
        let full = || {
            let mut heap = SlotHeap::new();
            (0..6).for_each(|slot| heap.push(Place(slot as u16, slot)));
            heap.check();
            heap
        };
        let breaks: [fn(&mut SlotHeap<Place>); 3] = [
            |heap| heap.heap.node_mut(5).0 = 0,
            |heap| heap.positions.set(Slot(2), NonZeroU32::MIN),
            |heap| heap.positions.set(Slot(9), NonZeroU32::MIN),
        ];
        each_is_noticed(full, breaks, |heap| heap.check());
    }

    #[test]
    fn a_heap_that_was_emptied_keeps_little() {
        let mut heap = SlotHeap::new();
        (0..100_000).for_each(|slot| heap.push(Place(slot as u16, slot)));
        (0..50_000).for_each(|_| assert!(heap.pop().is_some()));
        while heap.pop_last().is_some() {}
        assert!(heap.positions.room() < 200, "{}", heap.positions.room());
    }

    #[test]
    fn a_slot_that_is_not_there_is_not_found() {
        let mut heap = SlotHeap::<Place>::new();
        assert_eq!(
            (heap.get(Slot(3)).copied(), heap.remove(Slot(3)), heap.pop()),
            (None, None, None)
        );
        heap.replace(Place(1, 3));
        assert!(heap.is_empty());
    }
}
