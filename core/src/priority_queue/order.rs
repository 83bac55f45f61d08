//! The ready entries, however few.
//!
//! Most queues hardly ever hold more than one. It stands in no line then but is at hand, and joins
//! the [`Lines`] when a second one comes.

use crate::slab::Slot;

use super::lines::Lines;
use super::places::Ready;

/// The ready entries of unlocked items, in their order.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// The only entry, if it came when there was none.
    alone: Option<Ready>,
    lines: Lines,
}

impl Order {
    pub(super) const fn new() -> Self {
        Self { alone: None, lines: Lines::new() }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.lines.len() + usize::from(self.alone.is_some())
    }

    /// Returns the place of a slot.
    pub(super) fn get(&self, slot: Slot) -> Option<&Ready> {
        self.alone.as_ref().filter(|alone| alone.slot == slot).or_else(|| self.lines.get(slot))
    }

    /// Takes in a slot that is not there.
    #[inline(always)]
    pub(super) fn push(&mut self, place: Ready) {
        if self.lines.is_empty() {
            if self.alone.is_none() {
                self.alone = Some(place);
                return;
            }
            self.join();
        }
        self.lines.push(place);
    }

    #[inline(never)]
    fn join(&mut self) {
        if let Some(alone) = self.alone.take() {
            self.lines.push(alone);
        }
    }

    /// Gives a slot that is there another place.
    pub(super) fn replace(&mut self, place: Ready) {
        match &mut self.alone {
            Some(alone) => *alone = place,
            None => self.lines.replace(place),
        }
    }

    /// Takes out the first.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Ready> {
        if self.alone.is_some() { self.alone.take() } else { self.lines.pop() }
    }

    /// Returns slots that are about to come, if there are many.
    #[inline]
    pub(super) fn upcoming(&self) -> impl Iterator<Item = Slot> {
        self.lines.upcoming()
    }

    /// Checks that whoever is alone is alone, and the lines (`workqueue:INV-19`).
    pub(super) fn check(&self) {
        assert!(self.alone.is_none() || self.lines.is_empty(), "who is alone stands in no line");
        self.lines.check();
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BTreeMap;

    use quickcheck::quickcheck;

    use super::*;
    use crate::machine::by_hand::each_is_noticed;

    fn place(slot: u32, priority: i32, sequence: u64) -> Ready {
        Ready { priority: Reverse(priority), sequence, slot: Slot(slot) }
    }

    quickcheck! {
        /// Calls as `(kind, slot, priority)`; as many entries are taken as come.
        fn a_few_entries_come_in_the_order_of_a_sorted_map(calls: Vec<(bool, u8, u8)>) -> bool {
            let (mut order, mut map) = (Order::new(), BTreeMap::new());
            for (now, (take, slot, priority)) in (0..).zip(calls) {
                if take {
                    let first = map.values().min().copied();
                    assert_eq!(order.pop(), first);
                    first.map(|place: Ready| map.remove(&place.slot.0));
                } else {
                    let place = place(u32::from(slot % 4), i32::from(priority % 3), now);
                    match map.insert(place.slot.0, place) {
                        Some(_) => order.replace(place),
                        None => order.push(place),
                    }
                }
                order.check();
                assert_eq!(order.len(), map.len());
                assert!((0..4).all(|slot| order.get(Slot(slot)) == map.get(&slot)));
            }
            true
        }
    }

    #[test]
    fn an_order_that_is_wrong_is_noticed() {
        let two = || {
            let mut order = Order::new();
            (1..=2).for_each(|slot| order.push(place(slot, 0, slot.into())));
            order
        };
        let breaks: [fn(&mut Order); 2] = [
            |order| order.alone = Some(place(3, 0, 3)),
            |order| order.lines.push(place(1, 0, 1)), // it is there already
        ];
        each_is_noticed(two, breaks, Order::check);
    }
}
