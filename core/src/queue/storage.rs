//! In which order waiting items are handed out.

use std::collections::VecDeque;

use crate::slab::Slot;

/// The order of the waiting items (`workqueue:ST-1`).
///
/// The queue calls it under its lock. It owns the order alone; it must hand out every slot that
/// was pushed once, and no other (`workqueue:ST-4`). It must not call back into the queue.
pub trait Storage<K>: Send + 'static {
    /// Takes in a slot that it does not hold (`workqueue:ST-2`).
    fn push(&mut self, slot: Slot, key: &K);

    /// Hands out the next slot. Called only when it holds one (`workqueue:ST-2`).
    fn pop(&mut self) -> Option<Slot>;

    /// Returns how many slots it holds.
    fn len(&self) -> usize;

    /// Tells whether it holds none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the slots that will be handed out next, if that is cheap to say: the queue fetches
    /// their items from memory before it needs them. It matters for speed only, and so does a wrong
    /// answer.
    #[inline]
    fn upcoming(&self) -> impl Iterator<Item = Slot> {
        std::iter::empty()
    }

    /// Learns that an item which it holds was added again; a storage with priorities may rank it
    /// anew (`workqueue:ST-3`).
    fn touch(&mut self, slot: Slot, key: &K) {
        let _ = (slot, key);
    }
}

/// First in, first out: the default.
///
/// Holds plain numbers, so a slot that was popped keeps nothing alive (`workqueue:ST-5`).
#[derive(Debug, Default)]
pub struct Fifo(VecDeque<u32>);

impl Clone for Fifo {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    fn clone_from(&mut self, source: &Self) {
        self.0.clone_from(&source.0);
    }
}

impl Fifo {
    /// Returns the slots in the order of delivery.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.0.iter().copied().map(Slot)
    }
}

impl<K> Storage<K> for Fifo {
    #[inline]
    fn push(&mut self, slot: Slot, _: &K) {
        self.0.push_back(slot.0);
    }

    #[inline]
    fn pop(&mut self) -> Option<Slot> {
        self.0.pop_front().map(Slot)
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn upcoming(&self) -> impl Iterator<Item = Slot> {
        self.slots()
    }
}
