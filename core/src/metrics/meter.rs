//! Turns what happens in a queue into figures.
//!
//! It is given times and not the surroundings of a step: those stay in registers as long as nobody
//! far away is shown them, and most queues are not measured.

use std::fmt;
use std::sync::Arc;

use crate::runtime::Instant;
use crate::slab::{Chunked, Slot};

use super::{Busy, Sink};

/// Measures one queue. Items are named by their slots.
#[derive(Clone)]
pub(crate) struct Meter {
    sink: Arc<dyn Sink>,
    /// Under the number of a slot: when the item became dirty, if it is.
    added: Chunked<Instant>,
    busy: Busy,
}

impl Meter {
    pub(super) fn new(sink: Arc<dyn Sink>) -> Self {
        sink.depth(0); // a gauge that nothing has moved yet is there
        Self { sink, added: Chunked::new(), busy: Busy::new() }
    }

    /// An item became dirty (`workqueue:MX-5`): counted from here, also if it is in processing
    /// (`MX-9`).
    #[cold]
    pub(crate) fn added(&mut self, slot: Slot, now: Instant) {
        *self.added.reach(slot.0) = now;
        self.sink.added();
        self.sink.depth(1);
    }

    /// An item was handed out (`workqueue:MX-6`).
    #[cold]
    pub(crate) fn handed_out(&mut self, slot: Slot, now: Instant) {
        self.busy.begin(slot, now);
        self.sink.depth(-1);
        self.sink.latency(now.since(self.added[slot.0]));
    }

    /// An item is done (`workqueue:MX-7`).
    #[cold]
    pub(crate) fn done(&mut self, slot: Slot, now: Instant) {
        self.sink.work(self.busy.end(slot, now));
    }

    pub(crate) fn retried(&self) {
        self.sink.retried();
    }

    /// Says how long what is in processing has been there (`workqueue:MX-10`, `MX-14`).
    pub(crate) fn tell_unfinished(&self, now: Instant) {
        let (sum, longest) = self.busy.unfinished(now);
        self.sink.unfinished(sum, longest);
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").field("busy", &self.busy).finish_non_exhaustive()
    }
}
