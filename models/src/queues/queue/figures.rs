//! The figures that a queue should report to a metrics library, computed from a history.

use std::borrow::Cow;
use std::collections::BTreeMap;

use seatrial_core::queue::{Done, DoneKey, Finished, Op, Ret};
use seatrial_core::runtime::Instant;

use super::ledger::{QueueLedger, token_number};
use super::{Event, Queue};
use crate::trial::figures::{Books, Figures, unfinished};
use crate::trial::{self, Told};

/// The number of due items that one step of a queue with times adds.
pub(in crate::queues) const AT_ONCE: usize = 64;

/// When items were added and handed out, and the figures that follow.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    ledger: QueueLedger,
    /// When each dirty item became dirty (`workqueue:MX-5`, `MX-9`).
    added: BTreeMap<u8, Instant>,
    /// When each item in processing was handed out.
    taken: BTreeMap<(u8, u64), Instant>,
    figures: Figures,
}

impl Known {
    fn took(&mut self, delivery: (u8, u64), at: Instant) {
        if let Some(taken) = self.taken.remove(&delivery) {
            self.figures.work.push(at.since(taken));
        }
    }

    /// Reports times, if this step begins or ends a delivery.
    fn times(&mut self, event: &Event) {
        let (object, at) = (event.object, event.at);
        match event.returned() {
            Some((_, Ret::Get(Some((token, key))))) => {
                let added = self.added.remove(key);
                self.figures.latency.extend(added.map(|added| at.since(added)));
                self.taken.insert((object, token_number(*token)), at);
            }
            Some((Op::Done(Done(token)), Ret::Done(Finished::Ended(_)))) => {
                self.took((object, token_number(*token)), at);
            }
            Some((Op::DoneKey(DoneKey { key, .. }), Ret::DoneKey(Finished::Ended(_)))) => {
                let all = &self.ledger.deliveries;
                let found = all.iter().find(|(_, delivered)| *delivered == key);
                if let Some(delivery) = found.map(|(delivery, _)| *delivery) {
                    self.took(delivery, at);
                }
            }
            _ => {}
        }
    }
}

impl trial::Ledger<Queue> for Known {
    fn apply(&mut self, event: &Event) {
        self.times(event);
        trial::Ledger::apply(&mut self.ledger, event);
        for key in &self.ledger.spec.dirty {
            if !self.added.contains_key(key) {
                self.added.insert(*key, event.at);
                self.figures.added += 1;
            }
        }
        let ticks = |told: &Told| matches!(told, Told::Unfinished(..));
        if event.told.iter().flatten().any(ticks) {
            let took = self.taken.values().map(|taken| event.at.since(*taken));
            self.figures.unfinished = Some(unfinished(took));
        }
    }

    fn parts(event: &Event) -> Cow<'_, [Event]> {
        <QueueLedger as trial::Ledger<Queue>>::parts(event)
    }
}

impl Books<Queue> for Known {
    /// Needed for queues with times; no step here adds that many items together.
    const AT_ONCE: usize = AT_ONCE;

    fn begin(&mut self) {
        self.figures.forget_times();
    }

    fn due(&self) -> Figures {
        let dirty = self.ledger.spec.dirty.len();
        let depth = (dirty > 0).then_some((None, dirty as i64));
        Figures { depth: depth.into_iter().collect(), ..self.figures.clone() }
    }

    fn is_judged(event: &Event) -> bool {
        !matches!(event.call(), Some(Op::ShuttingDown(_)))
    }
}
