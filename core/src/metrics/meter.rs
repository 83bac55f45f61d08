//! Turns what happens in a queue into figures.
//!
//! It is given times and not the surroundings of a step: those stay in registers as long as nobody
//! far away is shown them, and most queues are not measured.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::runtime::Instant;
use crate::slab::{Chunked, Slot};

use super::Sink;

/// Measures one queue. Items are named by their slots.
#[derive(Clone)]
pub(crate) struct Meter {
    sink: Arc<dyn Sink>,
    /// Under the number of a slot.
    times: Chunked<Times>,
    /// The slots in processing: to sum them up, none of the others is looked at
    /// (`workqueue:CX-8`).
    busy: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Times {
    /// When the item became dirty, if it is.
    added: Instant,
    /// When it was handed out, if it is in processing.
    began: Instant,
    /// Its place among the busy, if it is in processing.
    place: u32,
}

impl Meter {
    pub(super) const fn new(sink: Arc<dyn Sink>) -> Self {
        Self { sink, times: Chunked::new(), busy: Vec::new() }
    }

    /// An item became dirty (`workqueue:MX-5`): counted from here, also if it is in processing
    /// (`MX-9`).
    #[cold]
    pub(crate) fn added(&mut self, slot: Slot, now: Instant) {
        while self.times.len() <= slot.0 as usize {
            self.times.push(Times::default());
        }
        self.times[slot.0].added = now;
        self.sink.added();
        self.sink.depth(1);
    }

    /// An item was handed out (`workqueue:MX-6`).
    #[cold]
    pub(crate) fn handed_out(&mut self, slot: Slot, now: Instant) {
        let times = &mut self.times[slot.0];
        times.began = now;
        times.place = u32::try_from(self.busy.len()).expect("as many as there are slots at most");
        self.busy.push(slot);
        self.sink.depth(-1);
        self.sink.latency(now.since(times.added));
    }

    /// An item is done (`workqueue:MX-7`).
    #[cold]
    pub(crate) fn done(&mut self, slot: Slot, now: Instant) {
        let Times { began, place, .. } = self.times[slot.0];
        self.busy.swap_remove(place as usize);
        if let Some(moved) = self.busy.get(place as usize) {
            self.times[moved.0].place = place;
        }
        self.sink.work(now.since(began));
    }

    pub(crate) fn retried(&self) {
        self.sink.retried();
    }

    /// Says how long what is in processing has been there (`workqueue:MX-10`, `MX-14`).
    pub(crate) fn tell_unfinished(&self, now: Instant) {
        let took = |slot: &Slot| now.since(self.times[slot.0].began);
        let sum = self.busy.iter().map(took).fold(Duration::ZERO, Duration::saturating_add);
        let longest = self.busy.iter().map(took).max().unwrap_or_default();
        self.sink.unfinished(sum, longest);
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").field("busy", &self.busy).finish_non_exhaustive()
    }
}
