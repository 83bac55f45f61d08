//! Where entries wait: items in slots, and the slots in the order of delivery.
//!
//! The reference keeps a map and a slice of keys, which can disagree. Here an entry is in the order
//! from when its item takes a slot until it leaves it (`cache:DF-1`).

use std::collections::VecDeque;

use crate::slab::{Slab, Slot, Vacancy};
use crate::store::Hashed;

use super::Deltas;

#[derive(Debug)]
pub(super) struct Pending<K, O> {
    items: Slab<K, Deltas<K, O>>,
    /// The next to be delivered first.
    order: VecDeque<Slot>,
}

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
        Self { items: Slab::new(), order: VecDeque::new() }
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

    /// Returns the slot of an entry, or the place for one.
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

    /// Appends an entry at the place that was found for it.
    #[inline(always)]
    pub(super) fn push_back(&mut self, vacancy: Vacancy, key: K, deltas: Deltas<K, O>) {
        let slot = self.items.fill(vacancy, key);
        *self.items.value_mut(slot) = deltas;
        self.order.push_back(slot);
    }

    /// Takes the first entry out. Nothing of it stays behind (`cache:DF-25`, `cache:CX-19`).
    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<(K, Deltas<K, O>)> {
        let slot = self.order.pop_front()?;
        let deltas = std::mem::take(self.items.value_mut(slot));
        Some((self.items.remove(slot)?, deltas))
    }

    /// Goes through the entries in the order of delivery.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, u32, &Deltas<K, O>)> {
        self.order.iter().map(|&slot| {
            let item = self.items.item(slot);
            (item.key(), item.hash(), self.items.value(slot))
        })
    }

    /// Checks that order and slots are what they should be.
    pub(super) fn check(&self, hash_of: impl Fn(&K) -> u32) {
        assert_eq!(self.order.len(), self.items.len(), "an entry is in the order once");
        for &slot in &self.order {
            let item = self.items.item(slot);
            assert_eq!(item.hash(), hash_of(item.key()), "an entry keeps the hash of its key");
            assert_eq!(self.items.find(item), Some(slot), "an entry is found by its key");
        }
        assert!(self.items.spare().all(|deltas| deltas.is_empty()), "a free slot pins no object");
    }
}
