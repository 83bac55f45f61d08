//! Items that wait for their time: the calls of a delaying queue to the queue inside it.
//!
//! Such an item keeps its slot; it may wait, be processed or be added at the same time
//! (`workqueue:DQ-12`). The delaying queue decides when its time comes.

use crate::machine::Cx;
use crate::runtime::Instant;
use crate::slab::{Item, Slot};

use super::items::{DELAYED, Token};
use super::state::{Key, Queue};
use super::storage::Storage;

impl<K: Key, S: Storage<K>> Queue<K, S> {
    /// Keeps an item until its time comes.
    #[inline]
    pub(crate) fn keep(&mut self, key: &mut Option<K>, hash: u64) -> Option<Slot> {
        let (slot, _, mark) = self.items.intern(key, hash)?;
        *mark |= DELAYED;
        Some(slot)
    }

    /// As [`keep`](Self::keep), for an item that is held already.
    #[inline]
    pub(crate) fn keep_slot(&mut self, slot: Slot) {
        *self.items.marked(slot).1 |= DELAYED;
    }

    /// Adds a kept item whose time has come (`workqueue:DQ-10`). Its wait counts from `due`, even
    /// if the call comes late.
    #[inline]
    pub(crate) fn ripen(&mut self, slot: Slot, due: Instant, cx: &mut Cx<'_>) {
        *self.items.marked(slot).1 &= !DELAYED;
        self.make_dirty(slot, Some(due), cx);
    }

    /// Ends the waiting of a kept item without adding it (`workqueue:DQ-19`). Returns the item if
    /// it left the queue.
    pub(crate) fn let_go(&mut self, slot: Slot) -> Option<K> {
        self.items.leave(slot, |_, mark| *mark &= !DELAYED)
    }

    /// Returns the item of a delivery that has not ended.
    pub(crate) fn item_in_processing(&self, token: Token) -> Option<(Slot, Item<'_, K>)> {
        let slot = self.slot_of(token)?;
        Some((slot, self.items.item(slot)))
    }

    /// Returns the item in a slot that is in use.
    pub(crate) fn item(&self, slot: Slot) -> &K {
        self.items.item(slot).key()
    }

    /// Visits every kept item.
    pub(crate) fn kept(&self) -> impl Iterator<Item = Slot> {
        self.items.iter().filter(|(_, state)| state & DELAYED != 0).map(|(slot, _)| slot)
    }
}
