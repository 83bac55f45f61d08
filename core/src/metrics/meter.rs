//! Turns the events of a queue into metrics.
//!
//! It is given times and not the environment of a step: that stays in registers unless it is passed
//! to distant code, and most queues have no metrics. The payload of a sink's panic goes to `left`,
//! so a sink can break neither the queue nor its metrics.

use std::fmt;
use std::sync::Arc;

use crate::caught::kept;
use crate::runtime::{Instant, Panic};
use crate::slab::{Slot, Sparse};

use super::{Busy, Sink};

/// Measures one queue. Items are identified by their slots.
#[derive(Clone)]
pub(crate) struct Meter {
    sink: Arc<dyn Sink>,
    /// When an item became dirty, if it is dirty.
    added: Sparse<Instant>,
    busy: Busy,
}

impl Meter {
    pub(super) fn new(sink: Arc<dyn Sink>) -> Self {
        sink.depth(0); // so that the gauge exists before its first change
        Self { sink, added: Sparse::new(), busy: Busy::new() }
    }

    /// An item became dirty (`workqueue:MX-5`). Its wait counts from here, even if it is in
    /// processing (`MX-9`).
    #[cold]
    pub(crate) fn added(&mut self, slot: Slot, now: Instant, left: &mut Vec<Panic>) {
        self.added.set(slot, now);
        kept(left, || self.sink.added());
        kept(left, || self.sink.depth(1));
    }

    /// An item was handed out (`workqueue:MX-6`).
    #[cold]
    pub(crate) fn handed_out(&mut self, slot: Slot, now: Instant, left: &mut Vec<Panic>) {
        self.busy.begin(slot, now);
        let waited = now.since(self.added.take(slot).unwrap_or(now));
        kept(left, || self.sink.depth(-1));
        kept(left, || self.sink.latency(waited));
    }

    /// An item is done (`workqueue:MX-7`).
    #[cold]
    pub(crate) fn done(&mut self, slot: Slot, now: Instant, left: &mut Vec<Panic>) {
        let took = self.busy.end(slot, now);
        kept(left, || self.sink.work(took));
    }

    pub(crate) fn retried(&self, left: &mut Vec<Panic>) {
        kept(left, || self.sink.retried());
    }

    /// Reports how long the items in processing have been there (`workqueue:MX-10`, `MX-14`).
    pub(crate) fn tell_unfinished(&self, now: Instant, left: &mut Vec<Panic>) {
        let (sum, longest) = self.busy.unfinished(now);
        kept(left, || self.sink.unfinished(sum, longest));
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").field("busy", &self.busy).finish_non_exhaustive()
    }
}
