//! How often each item has failed since it was last forgotten.

use crate::slab::{Item, Slab};

/// Counts per item. Items that never failed use no memory (`workqueue:RL-1`).
#[derive(Clone, Debug)]
pub(super) struct Failures<K>(Slab<K, u32>);

impl<K: Eq + Clone> Failures<K> {
    pub(super) fn new() -> Self {
        Self(Slab::new())
    }

    /// Counts one more failure and returns how many there were before; saturates (`RL-4`).
    #[inline]
    pub(super) fn count(&mut self, item: Item<'_, K>) -> u32 {
        let slot = self.0.intern_copy(item);
        let count = self.0.value_mut(slot);
        let before = *count;
        *count = before.saturating_add(1);
        before
    }

    /// Forgets an item; a key that is no longer needed goes to `left`.
    pub(super) fn forget(&mut self, item: Item<'_, K>, left: &mut Vec<K>) {
        if let Some(slot) = self.0.find(item) {
            *self.0.value_mut(slot) = 0;
            left.extend(self.0.remove(slot));
        }
    }

    pub(super) fn get(&self, item: Item<'_, K>) -> u32 {
        self.0.find(item).map_or(0, |slot| *self.0.value(slot))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Sets the count of an item, for counts that a test cannot wait for.
    #[cfg(test)]
    pub(super) fn set(&mut self, item: Item<'_, K>, count: u32) {
        let slot = self.0.intern_copy(item);
        *self.0.value_mut(slot) = count;
    }
}
