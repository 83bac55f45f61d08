//! What is in processing, and since when.

use std::time::Duration;

use crate::runtime::Instant;
use crate::slab::{Chunked, Slot};

/// The items in processing, named by their slots.
#[derive(Clone, Debug)]
pub(crate) struct Busy {
    /// Under the number of a slot.
    since: Chunked<Since>,
    /// The slots in processing: to sum them up, none of the others is looked at
    /// (`workqueue:CX-8`).
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Since {
    /// When the item was handed out, if it is in processing.
    began: Instant,
    /// Its place among the busy, if it is in processing.
    place: u32,
}

impl Busy {
    pub(crate) const fn new() -> Self {
        Self { since: Chunked::new(), slots: Vec::new() }
    }

    /// An item was handed out.
    pub(crate) fn begin(&mut self, slot: Slot, now: Instant) {
        let place = u32::try_from(self.slots.len()).expect("as many as there are slots at most");
        *self.since.reach(slot.0) = Since { began: now, place };
        self.slots.push(slot);
    }

    /// An item is done; returns how long it took.
    pub(crate) fn end(&mut self, slot: Slot, now: Instant) -> Duration {
        let Since { began, place } = self.since[slot.0];
        self.slots.swap_remove(place as usize);
        if let Some(moved) = self.slots.get(place as usize) {
            self.since[moved.0].place = place;
        }
        now.since(began)
    }

    /// Returns how long the items have been there: summed up, and at most (`workqueue:MX-10`,
    /// `MX-14`).
    pub(crate) fn unfinished(&self, now: Instant) -> (Duration, Duration) {
        let took = |slot: &Slot| now.since(self.since[slot.0].began);
        let sum = self.slots.iter().map(took).fold(Duration::ZERO, Duration::saturating_add);
        (sum, self.slots.iter().map(took).max().unwrap_or_default())
    }
}
