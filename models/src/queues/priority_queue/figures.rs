//! The figures that a priority queue should report to a metrics library, computed from a history.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use seatrial_core::priority_queue::Settle;
use seatrial_core::queue::{Done, DoneKey, Finished};
use seatrial_core::runtime::Instant;

use super::ledger::{PriorityLedger, numbers};
use super::{Call, Event, PriorityQueue, Ret};
use crate::queues::queue::AT_ONCE;
use crate::trial::figures::{Books, Figures, unfinished};
use crate::trial::{self, Told, What};

/// How many priorities have a label of their own.
const MOST_LABELS: usize = 25;

/// When entries became ready and were handed out, and the figures that follow.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    ledger: PriorityLedger,
    /// When each ready entry became ready (`workqueue:PQ-40`).
    ready: BTreeMap<u8, Instant>,
    /// The priority of each ready entry, and its label: the priority, or none if there were too many
    /// by then (`workqueue:PQ-41`).
    labels: BTreeMap<u8, (i32, Option<i32>)>,
    /// All priorities that entries had when they became ready or rose.
    seen: BTreeSet<i32>,
    /// When each held item was handed out.
    taken: BTreeMap<(u32, u32), Instant>,
    figures: Figures,
}

impl Known {
    fn took(&mut self, delivery: Option<(u32, u32)>, at: Instant) {
        if let Some(taken) = delivery.and_then(|delivery| self.taken.remove(&delivery)) {
            self.figures.work.push(at.since(taken));
        }
    }

    /// Reports times, if this step begins or ends a delivery.
    fn times(&mut self, event: &Event) {
        let at = event.at;
        match event.returned() {
            Some((_, Ret::Get(Some((token, key, _))))) => {
                let ready = self.ready.remove(key);
                self.figures.latency.extend(ready.map(|ready| at.since(ready)));
                self.taken.insert(numbers(*token), at);
            }
            Some((Call::Done(Done(token)), Ret::Done(Finished::Ended(_))))
            | Some((Call::Settle(Settle { token, .. }), Ret::Settle(Finished::Ended(_)))) => {
                self.took(Some(numbers(*token)), at);
            }
            Some((Call::DoneKey(DoneKey { key, .. }), Ret::DoneKey(Finished::Ended(_)))) => {
                let held = self.ledger.deliveries.iter().find(|(_, held)| *held == key);
                self.took(held.map(|(delivery, _)| *delivery), at);
            }
            _ => {}
        }
    }

    /// Counts the entries that have become ready since the last call.
    fn note_ready(&mut self, when: impl Fn(u8) -> Instant) {
        let entries = self.ledger.spec.entries.iter().filter(|entry| entry.until.is_none());
        let ready: BTreeMap<_, _> = entries.map(|entry| (entry.key, entry.priority)).collect();
        self.labels.retain(|key, _| ready.contains_key(key));
        for (key, priority) in ready {
            self.ready.entry(key).or_insert_with(|| {
                self.figures.added += 1;
                when(key)
            });
            if self.labels.get(&key).is_none_or(|(before, _)| *before != priority) {
                self.seen.insert(priority);
                let label = (self.seen.len() <= MOST_LABELS).then_some(priority);
                self.labels.insert(key, (priority, label));
            }
        }
    }
}

impl trial::Ledger<PriorityQueue> for Known {
    fn reach(&mut self, event: &Event) {
        let waiting: BTreeMap<_, _> = self
            .ledger
            .spec
            .entries
            .iter()
            .filter_map(|entry| Some((entry.key, Instant::ZERO + entry.until?)))
            .collect();
        self.ledger.reach(event);
        self.note_ready(|key| waiting[&key]);
    }

    fn apply(&mut self, event: &Event) {
        self.times(event);
        self.ledger.apply(event);
        self.note_ready(|_| event.at);
        self.figures.retried = self.ledger.spec.retries;
        let ticks = |told: &Told| matches!(told, Told::Unfinished(..));
        if event.told.iter().flatten().any(ticks) {
            let took = self.taken.values().map(|taken| event.at.since(*taken));
            self.figures.unfinished = Some(unfinished(took));
        }
    }

    fn parts(event: &Event) -> Cow<'_, [Event]> {
        <PriorityLedger as trial::Ledger<PriorityQueue>>::parts(event)
    }
}

impl Books<PriorityQueue> for Known {
    const AT_ONCE: usize = AT_ONCE;

    fn begin(&mut self) {
        self.figures.forget_times();
    }

    fn due(&self) -> Figures {
        let mut figures = self.figures.clone();
        for (_, label) in self.labels.values() {
            *figures.depth.entry(*label).or_default() += 1;
        }
        figures
    }

    fn is_judged(event: &Event) -> bool {
        use Call::{Forget, NumRequeues, Retries, ShuttingDown};
        let What::Step { op, .. } = &event.what else { return false };
        !matches!(op, Forget(_) | NumRequeues(_) | Retries(_) | ShuttingDown(_))
    }
}
