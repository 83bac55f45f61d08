//! The place of an item among the ready items, and among the items that wait for their time.

use std::cmp::Reverse;

use crate::runtime::Instant;
use crate::slab::{Ranked, Slot};

/// A place among the ready: the higher priority first, then the lower sequence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Ready {
    pub(super) priority: Reverse<i32>,
    pub(super) sequence: u64,
    pub(super) slot: Slot,
}

impl Default for Ready {
    fn default() -> Self {
        Self { priority: Reverse(0), sequence: 0, slot: Slot::NONE }
    }
}

impl Ranked for Ready {
    fn slot(&self) -> Slot {
        self.slot
    }
}

/// A place among the waiting: the earlier time first, then as among the ready.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) struct Waiting {
    pub(super) until: Instant,
    pub(super) ready: Ready,
}

impl Ranked for Waiting {
    fn slot(&self) -> Slot {
        self.ready.slot
    }
}
