//! Where items live: one hash table over one slab.
//!
//! The reference keeps three containers (a FIFO and two sets), so one delivery hashes its item
//! five times. Here an item is hashed once, outside the lock, and lives in one slot whose state
//! bits say which of the sets it belongs to; a token is a slot number, so `done` does not hash.

use hashbrown::HashTable;

use super::storage::Slot;

/// The item needs (another) processing.
pub(super) const DIRTY: u32 = 1;
/// The item was handed out and is not done.
pub(super) const PROCESSING: u32 = 2;
const STATE: u32 = DIRTY | PROCESSING;
const ONE_DELIVERY: u32 = STATE + 1;
const NONE: u32 = u32::MAX;

/// An item that was handed out: what [`done`](super::WorkQueue::done) needs to find it.
///
/// It names one delivery: used a second time, or after the item was handed out anew, it does
/// nothing (`workqueue:WQ-22`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Token {
    slot: u32,
    delivery: u32,
}

impl Token {
    /// Makes a token, for a machine of your own that stands in for [`Queue`](super::Queue).
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

#[derive(Clone, Debug)]
struct Entry<K> {
    /// `None` in a free entry.
    key: Option<K>,
    /// The item's hash; in a free entry the number of the next free one.
    hash: u32,
    /// State bits below, a count of deliveries above: it makes old tokens recognisable.
    mark: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Slab<K> {
    table: HashTable<u32>,
    entries: Vec<Entry<K>>,
    free: u32,
}

/// Folds a hash to the half that an entry has room for.
#[inline]
fn fold(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

/// Spreads a folded hash over the 64 bits that the table wants.
#[inline]
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl<K: Eq> Slab<K> {
    pub(super) fn new() -> Self {
        Self { table: HashTable::new(), entries: Vec::new(), free: NONE }
    }

    #[inline]
    pub(super) fn find(&self, key: &K, hash: u64) -> Option<Slot> {
        let hash = fold(hash);
        let same = |&at: &u32| self.entries[at as usize].is(key, hash);
        self.table.find(spread(hash), same).copied().map(Slot)
    }

    /// Returns the slot of an item, taking the key out of `key` if it is new.
    #[inline]
    pub(super) fn intern(&mut self, key: &mut Option<K>, hash: u64) -> Option<Slot> {
        let slot = self.find(key.as_ref()?, hash);
        if slot.is_some() {
            return slot;
        }
        let hash = fold(hash);
        let at = self.fill(key.take(), hash);
        let entries = &self.entries;
        self.table.insert_unique(spread(hash), at, |&at| spread(entries[at as usize].hash));
        Some(Slot(at))
    }

    fn fill(&mut self, key: Option<K>, hash: u32) -> u32 {
        if self.free == NONE {
            self.entries.push(Entry { key, hash, mark: 0 });
            return u32::try_from(self.entries.len() - 1).expect("fewer than 2^32 items are alive");
        }
        let at = self.free;
        let entry = &mut self.entries[at as usize];
        self.free = entry.hash;
        entry.key = key;
        entry.hash = hash;
        at
    }

    /// Removes an item that is in no set any more; returns its key.
    #[inline]
    pub(super) fn remove(&mut self, slot: Slot) -> Option<K> {
        let entry = &mut self.entries[slot.0 as usize];
        debug_assert_eq!(entry.mark & STATE, 0, "an item in a set stays");
        let (key, hash) = (entry.key.take(), entry.hash);
        entry.hash = self.free;
        self.free = slot.0;
        if let Ok(found) = self.table.find_entry(spread(hash), |&at| at == slot.0) {
            found.remove();
        }
        key
    }

    #[inline]
    pub(super) fn key(&self, slot: Slot) -> &K {
        self.entries[slot.0 as usize].key.as_ref().expect("a slot in use has a key")
    }

    #[inline]
    pub(super) fn state(&self, slot: Slot) -> u32 {
        self.entries[slot.0 as usize].mark & STATE
    }

    #[inline]
    pub(super) fn set_state(&mut self, slot: Slot, state: u32) {
        let mark = &mut self.entries[slot.0 as usize].mark;
        *mark = *mark & !STATE | state;
    }

    /// Names the delivery that begins now.
    #[inline]
    pub(super) fn new_token(&mut self, slot: Slot) -> Token {
        let mark = &mut self.entries[slot.0 as usize].mark;
        *mark = mark.wrapping_add(ONE_DELIVERY);
        Token { slot: slot.0, delivery: *mark / ONE_DELIVERY }
    }

    /// Returns the slot that a token names, if its delivery has not ended.
    #[inline]
    pub(super) fn in_processing(&self, token: Token) -> Option<Slot> {
        let entry = self.entries.get(token.slot as usize)?;
        let same = entry.mark / ONE_DELIVERY == token.delivery;
        (same && entry.mark & PROCESSING != 0).then_some(Slot(token.slot))
    }

    /// Visits every item: its key and its state bits.
    pub(super) fn for_each(&self, mut visit: impl FnMut(&K, u32)) {
        for entry in &self.entries {
            if let Some(key) = &entry.key {
                visit(key, entry.mark & STATE);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }
}

impl<K: Eq> Entry<K> {
    #[inline]
    fn is(&self, key: &K, hash: u32) -> bool {
        self.hash == hash && self.key.as_ref() == Some(key)
    }
}
