//! The figures of a priority queue, by priority (`workqueue:PQ-37` to `PQ-41`).

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use crate::caught::kept;
use crate::machine::Cx;
use crate::metrics::Busy;
use crate::runtime::Instant;
use crate::slab::{Slot, Sparse};

use super::Observer;

/// How many distinct priorities get a label of their own; later ones share one (`workqueue:PQ-41`).
const MOST_LABELS: usize = 25;

/// What an entry is counted under. As text it is the value of the label `priority`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Label {
    /// Its priority.
    Priority(i32),
    /// One of too many to tell apart.
    Other,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Priority(priority) => priority.fmt(f),
            Self::Other => f.write_str("exceeded_cardinality_limit"), // the reference's word
        }
    }
}

/// Where figures go: a metrics library of your choice. Called under the queue's lock, so it must
/// not call back (`workqueue:CV-6`). A panic is dropped: the call on the queue has happened,
/// and later figures are told.
pub trait Figures: Send + 'static {
    /// One more entry is ready under this label. Libraries without labels count it as it is.
    fn more(&mut self, label: Label);

    /// One entry less is ready under this label.
    fn less(&mut self, label: Label);

    /// An entry became ready.
    fn added(&mut self) {}

    /// An entry was handed out; it had been ready for so long.
    fn latency(&mut self, ready: Duration) {
        let _ = ready;
    }

    /// An item is done; it had been in processing for so long.
    fn work(&mut self, took: Duration) {
        let _ = took;
    }

    /// An item was given a delay.
    fn retried(&mut self) {}

    /// How long what is in processing has been there, summed up and at most (`workqueue:MX-10`).
    fn unfinished(&mut self, sum: Duration, longest: Duration) {
        let _ = (sum, longest);
    }
}

/// Turns what a queue tells into figures, with the queue's clock (`workqueue:PQ-34`).
#[derive(Clone, Debug)]
pub struct Meter<F> {
    figures: F,
    seen: BTreeSet<i32>,
    /// Those that are ready.
    entries: Sparse<Entry>,
    busy: Busy,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// What the entry was counted under when it became ready or rose: it is counted down under the
    /// same label, whatever was seen in between.
    label: Label,
    ready: Instant,
}

impl<F> Meter<F> {
    /// Makes a meter that has seen nothing.
    pub const fn new(figures: F) -> Self {
        Self { figures, seen: BTreeSet::new(), entries: Sparse::new(), busy: Busy::new() }
    }

    /// Returns the figures.
    pub const fn figures(&self) -> &F {
        &self.figures
    }

    fn label(&mut self, priority: i32) -> Label {
        if self.seen.len() <= MOST_LABELS {
            self.seen.insert(priority); // one more than may be seen tells that they are too many
        }
        if self.seen.len() > MOST_LABELS { Label::Other } else { Label::Priority(priority) }
    }
}

impl<F: Figures> Observer for Meter<F> {
    fn ready(&mut self, slot: Slot, priority: i32, due: Option<Instant>, cx: &mut Cx<'_>) {
        let label = self.label(priority);
        let ready = due.unwrap_or_else(|| cx.now());
        self.entries.set(slot, Entry { label, ready });
        kept(&mut cx.left, || self.figures.added());
        kept(&mut cx.left, || self.figures.more(label));
    }

    fn rose(&mut self, slot: Slot, priority: i32, cx: &mut Cx<'_>) {
        let label = self.label(priority);
        if let Some(entry) = self.entries.get_mut(slot) {
            let before = std::mem::replace(&mut entry.label, label);
            kept(&mut cx.left, || self.figures.less(before));
            kept(&mut cx.left, || self.figures.more(label));
        }
    }

    fn handed_out(&mut self, slot: Slot, cx: &mut Cx<'_>) {
        let now = cx.now();
        self.busy.begin(slot, now);
        if let Some(Entry { label, ready }) = self.entries.take(slot) {
            kept(&mut cx.left, || self.figures.less(label));
            kept(&mut cx.left, || self.figures.latency(now.since(ready)));
        }
    }

    fn done(&mut self, slot: Slot, cx: &mut Cx<'_>) {
        let took = self.busy.end(slot, cx.now());
        kept(&mut cx.left, || self.figures.work(took));
    }

    fn retried(&mut self, cx: &mut Cx<'_>) {
        kept(&mut cx.left, || self.figures.retried());
    }

    fn unfinished(&mut self, cx: &mut Cx<'_>) {
        let (sum, longest) = self.busy.unfinished(cx.now());
        kept(&mut cx.left, || self.figures.unfinished(sum, longest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Figures for Nothing {
        fn more(&mut self, _: Label) {}
        fn less(&mut self, _: Label) {}
    }

    #[test]
    fn priorities_are_remembered_only_as_long_as_they_are_told_apart() {
        let mut meter = Meter::new(Nothing);
        for priority in 0..1_000 {
            meter.label(priority);
        }
        assert_eq!(meter.seen.len(), MOST_LABELS + 1, "PQ-41: no list of strangers' numbers");
    }
}
