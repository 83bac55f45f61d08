//! The items of a queue: the sets that each one is in, and the delivery of it that is going on.
//!
//! The reference keeps three containers (a FIFO and two sets), so one delivery hashes its item
//! five times. Here an item is hashed once and its slot holds one bit per set; a token is a slot
//! number, so `done` does not hash.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::runtime::Panic;
use crate::slab::{Item, Slab, Slot};

/// The item needs (another) processing.
pub(crate) const DIRTY: u32 = 1;
/// The item was handed out and is not done.
pub(crate) const PROCESSING: u32 = 2;
/// The item waits for its time to come. It may be in the other sets as well (`workqueue:DQ-12`).
pub(crate) const DELAYED: u32 = 4;
const STATE: u32 = DIRTY | PROCESSING | DELAYED;
const ONE_DELIVERY: u32 = STATE + 1;

/// Tells whether an item with this mark is in any set.
#[inline(always)]
pub(crate) fn is_held(mark: u32) -> bool {
    mark & STATE != 0
}

/// An item that was handed out: [`done`](super::WorkQueue::done) finds it by this.
///
/// It names one delivery. Used a second time, or after the item was handed out again, it does
/// nothing (`workqueue:WQ-22`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Token {
    slot: u32,
    delivery: u32,
}

#[cfg(any(test, feature = "harness"))]
impl Token {
    /// Makes a token, for your own machine that replaces the queue.
    #[must_use]
    pub const fn new(slot: u32, delivery: u32) -> Self {
        Self { slot, delivery }
    }

    /// Returns the number of the slot that the item occupies.
    #[must_use]
    pub const fn slot(self) -> u32 {
        self.slot
    }

    /// Returns the number of this delivery among those of the slot.
    #[must_use]
    pub const fn delivery(self) -> u32 {
        self.delivery
    }
}

/// The items, each with a mark: state bits in its low part, a count of deliveries in its high part.
/// The count shows whether a token is old.
#[derive(Debug)]
pub(crate) struct Items<K>(Slab<K, u32>);

impl<K: Clone> Clone for Items<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    fn clone_from(&mut self, source: &Self) {
        self.0.clone_from(&source.0);
    }
}

impl<K: Eq> Items<K> {
    pub(crate) fn new() -> Self {
        Self(Slab::new())
    }

    /// Returns an item, its slot and its mark, taking the key out of `key` if it is new.
    #[inline(always)]
    pub(crate) fn intern(
        &mut self,
        key: &mut Option<K>,
        hash: u64,
    ) -> Option<(Slot, &K, &mut u32)> {
        self.0.intern_both(key, hash)
    }

    /// Changes the mark of an item; `change` may only set and clear bits of sets. An item that is
    /// then in no set is removed and its key returned.
    #[inline(always)]
    pub(crate) fn leave(&mut self, slot: Slot, change: impl FnOnce(&K, &mut u32)) -> Option<K> {
        self.0.remove_unless(slot, |key, mark| {
            change(key, mark);
            is_held(*mark)
        })
    }

    /// Returns an item in the form that a limiter takes.
    #[inline]
    pub(crate) fn item(&self, slot: Slot) -> Item<'_, K> {
        self.0.item(slot)
    }

    #[inline]
    pub(crate) fn state(&self, slot: Slot) -> u32 {
        self.0.value(slot) & STATE
    }

    /// Returns an item and its mark. Change only the bits of sets in it.
    #[inline]
    pub(crate) fn marked(&mut self, slot: Slot) -> (&K, &mut u32) {
        self.0.both(slot)
    }

    /// Copies an item for its consumer.
    ///
    /// # Errors
    /// Copying is foreign code, and it panicked: the item is not handed out.
    #[inline]
    pub(crate) fn copy(&self, slot: Slot) -> Result<K, Panic>
    where
        K: Clone,
    {
        catch_unwind(AssertUnwindSafe(|| self.item(slot).key().clone()))
    }

    /// Moves an item from dirty to processing and names the delivery that begins.
    ///
    /// # Panics
    /// If the item does not wait: the order handed out an item that it did not hold
    /// (`workqueue:ST-4`).
    #[inline]
    pub(crate) fn hand_out(&mut self, slot: Slot) -> Token {
        let mark = self.0.value_mut(slot);
        let waits = *mark & (DIRTY | PROCESSING) == DIRTY;
        assert!(waits, "an order hands out what it holds (ST-4)");
        *mark = (*mark ^ DIRTY ^ PROCESSING).wrapping_add(ONE_DELIVERY);
        Token { slot: slot.0, delivery: *mark / ONE_DELIVERY }
    }

    /// Returns the slot that a token names, if its delivery has not ended.
    #[inline]
    pub(crate) fn in_processing(&self, token: Token) -> Option<Slot> {
        let mark = *self.0.at(token.slot)?;
        let same = mark / ONE_DELIVERY == token.delivery;
        (same && mark & PROCESSING != 0).then_some(Slot(token.slot))
    }

    /// Returns the slot of an item that was handed out and is not done.
    pub(crate) fn find_in_processing(&self, key: &K, hash: u64) -> Option<Slot> {
        let slot = self.0.find(Item::new(key, hash))?;
        (self.state(slot) & PROCESSING != 0).then_some(slot)
    }

    /// Visits every item: its slot and its state bits.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, u32)> {
        self.0.iter().map(|(slot, mark)| (slot, mark & STATE))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
