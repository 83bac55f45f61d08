//! The items in processing, and since when.

use std::time::Duration;

use crate::runtime::Instant;
use crate::slab::{Slot, Sparse};

/// The items in processing, by their slots.
#[derive(Clone, Debug)]
pub(crate) struct Busy {
    since: Sparse<Since>,
    /// The slots in processing. A sum over them visits no other slots (`workqueue:CX-8`).
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Since {
    /// When the item was handed out.
    began: Instant,
    /// Its place among the busy.
    place: u32,
}

impl Busy {
    pub(crate) const fn new() -> Self {
        Self { since: Sparse::new(), slots: Vec::new() }
    }

    /// Notes that an item was handed out.
    pub(crate) fn begin(&mut self, slot: Slot, now: Instant) {
        let place = u32::try_from(self.slots.len()).expect("as many as there are slots at most");
        self.since.set(slot, Since { began: now, place });
        self.slots.push(slot);
    }

    /// Notes that an item is done; returns how long it took.
    pub(crate) fn end(&mut self, slot: Slot, now: Instant) -> Duration {
        let Some(Since { began, place }) = self.since.take(slot) else { return Duration::ZERO };
        self.slots.swap_remove(place as usize);
        if let Some(since) = self.slots.get(place as usize).and_then(|at| self.since.get_mut(*at)) {
            since.place = place;
        }
        now.since(began)
    }

    /// Returns how long the items have been in processing: the sum, and the longest time
    /// (`workqueue:MX-10`, `MX-14`).
    pub(crate) fn unfinished(&self, now: Instant) -> (Duration, Duration) {
        let began = self.slots.iter().filter_map(|slot| self.since.get(*slot));
        let took = began.map(|since| now.since(since.began));
        let sum = took.clone().fold(Duration::ZERO, Duration::saturating_add);
        (sum, took.max().unwrap_or_default())
    }
}
