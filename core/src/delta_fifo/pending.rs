//! The waiting entries: items in slots, and the slots in the order of delivery.
//!
//! The reference keeps a map and a slice of keys, which can disagree. Here an entry is in the order
//! exactly while its item has a slot (`cache:DF-1`).

use crate::slab::{Line, Slab, Slot, Vacancy, Value};
use crate::store::Hashed;

use super::Deltas;

#[derive(Debug)]
pub(super) struct Pending<K, O> {
    items: Slab<K, Deltas<K, O>>,
    /// The next one to be delivered is first.
    order: Line<Slot>,
}

impl<K, O> Value for Deltas<K, O> {}

impl<K: Clone, O: Clone> Clone for Pending<K, O> {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), order: self.order.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        let Self { items, order } = self;
        items.clone_from(&source.items);
        order.clone_from(&source.order);
    }
}

impl<K: Eq, O> Pending<K, O> {
    pub(super) fn new() -> Self {
        Self { items: Slab::new(), order: Line::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    pub(super) fn find(&self, key: &Hashed<K>) -> Option<Slot> {
        self.items.find(key.item())
    }

    /// Returns the slot of an entry, or a vacancy for it.
    #[inline(always)]
    pub(super) fn seek(&self, key: &Hashed<K>) -> Result<Slot, Vacancy> {
        self.items.seek(key.item())
    }

    #[inline]
    pub(super) fn deltas(&self, slot: Slot) -> &Deltas<K, O> {
        self.items.value(slot)
    }

    #[inline]
    pub(super) fn deltas_mut(&mut self, slot: Slot) -> &mut Deltas<K, O> {
        self.items.value_mut(slot)
    }

    /// Appends an entry at a vacancy that was found for it.
    #[inline(always)]
    pub(super) fn push_back(&mut self, vacancy: Vacancy, key: K, deltas: Deltas<K, O>) {
        let (slot, _, value) = self.items.fill_both(vacancy, key);
        *value = deltas;
        self.order.push_back(slot);
    }

    /// Removes the first entry completely (`cache:DF-25`, `cache:CX-19`).
    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<(K, Deltas<K, O>)> {
        let slot = self.order.pop_front()?;
        let deltas = std::mem::take(self.items.value_mut(slot));
        Some((self.items.remove(slot)?, deltas))
    }

    /// Visits the entries in the order of delivery.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, u32, &Deltas<K, O>)> {
        self.order.iter().map(|&slot| {
            let item = self.items.item(slot);
            (item.key(), item.hash(), self.items.value(slot))
        })
    }

    /// Checks that order and slots agree.
    pub(super) fn check(&self, hash_of: impl Fn(&K) -> u32) {
        let mut slots = Vec::from_iter(self.order.iter().copied());
        slots.sort_unstable();
        slots.dedup();
        assert_eq!(slots.len(), self.order.len(), "an entry is in the order once");
        assert_eq!(slots.len(), self.items.len(), "every entry is in the order");
        for &slot in self.order.iter() {
            let item = self.items.item(slot);
            assert_eq!(item.hash(), hash_of(item.key()), "an entry keeps the hash of its key");
            assert_eq!(self.items.find(item), Some(slot), "an entry is found by its key");
        }
        assert!(self.items.spare().all(|deltas| deltas.is_empty()), "a free slot pins no object");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta_fifo::Delta;
    use crate::machine::single_step::each_is_noticed;

    /// Every key is its own hash.
    fn hash_of(key: &u8) -> u32 {
        (*key).into()
    }

    fn key(key: u8) -> Hashed<u8> {
        Hashed::of(key, hash_of(&key))
    }

    impl Pending<u8, u8> {
        fn append(&mut self, name: u8) {
            let vacancy = self.seek(&key(name)).unwrap_err();
            self.push_back(vacancy, name, Delta::Added(name).into());
        }
    }

    /// Two entries wait, and one has left its slot.
    fn pending() -> Pending<u8, u8> {
        let mut pending = Pending::new();
        (1..=3).for_each(|name| pending.append(name));
        assert_eq!(pending.pop_front(), Some((1, Delta::Added(1).into())));
        pending
    }

    #[test]
    fn what_waits_and_is_wrong_is_noticed() {
        let breaks: [fn(&mut Pending<u8, u8>); 6] = [
            |pending| _ = pending.order.pop_front(),
            |pending| pending.order.push_back(Slot(1)),
            |pending| {
                pending.order.pop_front();
                pending.order.push_back(Slot(0));
            },
            |pending| _ = pending.items.remove(Slot(1)),
            |pending| {
                let vacancy = pending.items.seek(Hashed::of(7, 8).item()).unwrap_err();
                pending.push_back(vacancy, 7, Delta::Added(7).into());
            },
            |pending| *pending.items.value_mut(Slot(0)) = Delta::Added(1).into(),
        ];
        each_is_noticed(pending, breaks, |pending| pending.check(hash_of));
    }

    #[test]
    fn a_copy_made_in_place_delivers_what_the_original_does_in_its_order() {
        let order =
            |pending: &Pending<u8, u8>| Vec::from_iter(pending.iter().map(|(key, ..)| *key));
        let (mut copy, mut source) = (pending(), pending());
        source.append(4);
        assert_eq!(source.pop_front().map(|(key, _)| key), Some(2));
        copy.clone_from(&source);
        assert_eq!(order(&copy), [3, 4]);
        copy.check(hash_of);
    }

    #[test]
    fn an_entry_keeps_its_place_and_one_that_comes_back_goes_last() {
        let mut pending = pending();
        let slot = pending.find(&key(2)).unwrap();
        pending.deltas_mut(slot).push(Delta::Updated(2));
        pending.append(1);
        let shown: Vec<_> =
            pending.iter().map(|(name, hash, deltas)| (*name, hash, deltas.len())).collect();
        assert_eq!(shown, [(2, 2, 2), (3, 3, 1), (1, 1, 1)]);
        assert_eq!(pending.len(), 3);
        pending.check(hash_of);
        let mut copy = self::pending();
        copy.clone_from(&pending);
        let left: Vec<_> = std::iter::from_fn(|| copy.pop_front().map(|entry| entry.0)).collect();
        assert_eq!((left, copy.is_empty(), pending.is_empty()), (vec![2, 3, 1], true, false));
    }
}
