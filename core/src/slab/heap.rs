//! A heap of slots in which every slot can be found, moved and taken out.

use super::{Chunked, Slot};

/// Children of a node. Four lie in one or two cache lines and make the heap half as deep as two.
const CHILDREN: usize = 4;

/// A slot and its place in an order; the least comes first. A slot is in a heap at most once.
pub(crate) trait Ranked: Ord + Copy {
    /// Returns the slot.
    fn slot(&self) -> Slot;
}

/// The least of many slots, at hand.
#[derive(Clone, Debug)]
pub(crate) struct SlotHeap<P> {
    nodes: Vec<P>,
    /// Under the number of a slot, one more than the index of its node; zero if it has none.
    positions: Chunked<u32>,
}

impl<P: Ranked> SlotHeap<P> {
    pub(crate) const fn new() -> Self {
        Self { nodes: Vec::new(), positions: Chunked::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the least.
    #[inline]
    pub(crate) fn first(&self) -> Option<&P> {
        self.nodes.first()
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<&P> {
        self.nodes.get(self.position(slot)?)
    }

    /// Takes in a slot that is not there.
    pub(crate) fn push(&mut self, place: P) {
        let position = *self.positions.reach(place.slot().0);
        debug_assert_eq!(position, 0, "a slot is in a heap once");
        if self.nodes.len() == self.nodes.capacity() {
            // A quarter more: doubling would waste half at worst.
            self.nodes.reserve_exact((self.nodes.len() / 4).max(4));
        }
        self.nodes.push(place);
        self.rise(self.nodes.len() - 1, place);
    }

    /// Takes out the least.
    pub(crate) fn pop(&mut self) -> Option<P> {
        self.take(0)
    }

    /// Takes out a slot.
    pub(crate) fn remove(&mut self, slot: Slot) -> Option<P> {
        self.take(self.position(slot)?)
    }

    /// Gives a slot that is there another place.
    pub(crate) fn replace(&mut self, place: P) {
        if let Some(at) = self.position(place.slot()) {
            self.settle(at, place);
        }
    }

    /// Takes out all slots, in no order.
    pub(crate) fn drain(&mut self) -> Vec<P> {
        for place in &self.nodes {
            self.positions[place.slot().0] = 0;
        }
        std::mem::take(&mut self.nodes)
    }

    #[inline]
    fn position(&self, slot: Slot) -> Option<usize> {
        (*self.positions.get(slot.0)? as usize).checked_sub(1)
    }

    fn take(&mut self, at: usize) -> Option<P> {
        let taken = *self.nodes.get(at)?;
        self.positions[taken.slot().0] = 0;
        let last = self.nodes.pop()?;
        if at < self.nodes.len() {
            self.settle(at, last);
        }
        Some(taken)
    }

    /// Puts a place into the hole at `at` and moves it to where it belongs.
    fn settle(&mut self, at: usize, place: P) {
        let at = self.rise(at, place);
        self.sink(at, place);
    }

    fn put(&mut self, at: usize, place: P) {
        self.nodes[at] = place;
        self.positions[place.slot().0] =
            u32::try_from(at + 1).expect("a heap has no more nodes than there are slots");
    }

    fn rise(&mut self, mut at: usize, place: P) -> usize {
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.nodes[parent] <= place {
                break;
            }
            self.put(at, self.nodes[parent]);
            at = parent;
        }
        self.put(at, place);
        at
    }

    fn sink(&mut self, mut at: usize, place: P) {
        while let Some(least) = self.least_child(at) {
            if self.nodes[least] >= place {
                break;
            }
            self.put(at, self.nodes[least]);
            at = least;
        }
        self.put(at, place);
    }

    #[inline]
    fn least_child(&self, at: usize) -> Option<usize> {
        let first = at * CHILDREN + 1;
        let end = (first + CHILDREN).min(self.nodes.len());
        (first..end).min_by_key(|&child| self.nodes[child])
    }

    /// Checks that nodes and positions agree and that no child is before its parent
    /// (`workqueue:INV-12`).
    pub(crate) fn check(&self) {
        for (at, place) in self.nodes.iter().enumerate() {
            assert_eq!(self.position(place.slot()), Some(at), "a position names its node");
            assert!(at == 0 || self.nodes[(at - 1) / CHILDREN] <= *place, "parents come first");
        }
        let known = self.positions.iter().filter(|position| **position > 0).count();
        assert_eq!(known, self.nodes.len(), "positions name nodes only");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use quickcheck::quickcheck;

    use super::*;
    use crate::machine::by_hand::each_is_noticed;

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
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
            let mut left: Vec<_> = heap.drain().into_iter().map(|Place(_, slot)| slot).collect();
            left.sort_unstable();
            heap.check();
            heap.is_empty() && left.into_iter().eq(map.into_keys())
        }
    }

    #[test]
    fn a_heap_grows_seldom_and_by_a_quarter_at_most() {
        let (mut heap, mut capacities) = (SlotHeap::new(), vec![]);
        for slot in 0..1_000 {
            heap.push(Place(0, slot));
            assert!(heap.nodes.capacity() <= heap.len() + (heap.len() / 4).max(4));
            capacities.push(heap.nodes.capacity());
        }
        capacities.dedup();
        assert!(capacities.len() < 30, "{capacities:?}");
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
            |heap| heap.nodes[5].0 = 0,
            |heap| heap.positions[2] = 1,
            |heap| heap.positions.push(1),
        ];
        each_is_noticed(full, breaks, |heap| heap.check());
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
