//! The metrics of a priority queue, by priority (`workqueue:PQ-37` to `PQ-41`).

use std::collections::BTreeSet;

use crate::caught::kept;
use crate::machine::Cx;
use crate::metrics::{Busy, Figures, Label};
use crate::runtime::Instant;
use crate::slab::{Slot, Sparse};

use super::Observer;

/// How many different priorities get their own label; later ones share one (`workqueue:PQ-41`).
const MOST_LABELS: usize = 25;

/// Turns the reports of a queue into metrics, with the queue's clock (`workqueue:PQ-34`).
#[derive(Clone, Debug)]
pub struct Meter<F> {
    figures: F,
    seen: BTreeSet<i32>,
    /// The ready entries.
    entries: Sparse<Entry>,
    busy: Busy,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The label under which the entry was counted when it became ready or its priority rose. It is
    /// counted down under the same label, whatever came in between.
    label: Label,
    ready: Instant,
}

impl<F> Meter<F> {
    /// Makes a meter that has seen nothing.
    pub const fn new(figures: F) -> Self {
        Self { figures, seen: BTreeSet::new(), entries: Sparse::new(), busy: Busy::new() }
    }

    /// Returns the metrics.
    pub const fn figures(&self) -> &F {
        &self.figures
    }

    fn label(&mut self, priority: i32) -> Label {
        if self.seen.len() <= MOST_LABELS {
            self.seen.insert(priority); // one above the limit shows that there are too many
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
