//! The state of a feed: the changes that were pushed, taken and looked at.

use std::collections::{BTreeMap, VecDeque};

use seatrial_core::informer::FeedError;
use seatrial_core::informer::feed::{Op, Ret, Told};
use seatrial_core::machine::Step;

use super::{Event, Feed, LIMIT};
use crate::trial::{self, What};

/// Changes, and whether they count for the first list.
pub(super) fn changes(told: &VecDeque<Told<u8>>) -> Vec<(u8, bool)> {
    told.iter().map(|it| (it.change, it.initial)).collect()
}

/// The state before an event, derived from the history.
#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    /// Changes that wait, and whether they count for the first list.
    pub(super) waiting: VecDeque<(u8, bool)>,
    /// Changes of the first list that were not looked at yet.
    pub(super) unfinished: usize,
    pub(super) is_complete: bool,
    /// Whether the whole first list has been looked at.
    pub(super) has_synced: bool,
    pub(super) over: Option<FeedError>,
    /// Threads that sleep, each with whether it waits for a change.
    pub(super) asleep: BTreeMap<u8, bool>,
}

impl Book {
    /// Whether the reader lags once these changes are pushed too. The limit does not count the
    /// first list.
    pub(super) fn lags(&self, pushed: &[(u8, bool)]) -> bool {
        let later = self.waiting.iter().chain(pushed).filter(|(_, initial)| !initial);
        self.over.is_none() && later.count() > LIMIT
    }

    fn end(&mut self, why: FeedError) {
        self.over.get_or_insert(why);
        self.waiting.clear();
    }

    fn push(&mut self, pushed: &[(u8, bool)]) {
        if self.over.is_some() {
            return;
        }
        if self.lags(pushed) {
            self.end(FeedError::Lagged);
            return;
        }
        self.unfinished += pushed.iter().filter(|(_, initial)| *initial).count();
        self.waiting.extend(pushed);
    }

    fn done(&mut self, op: &Op<u8>, ret: &Ret<u8>) {
        match (op, ret) {
            (Op::Push(push), _) => self.push(&changes(&push.0)),
            (Op::Next(_), Ret::Next(Ok(_))) => drop(self.waiting.pop_front()),
            (Op::Finish(_), _) => self.unfinished = self.unfinished.saturating_sub(1),
            (Op::Complete(_), _) => self.is_complete = true,
            (Op::End(_), _) => self.end(FeedError::Stopped),
            _ => {}
        }
        // A feed that is over tells nothing more (`cache:SI-40`).
        let may_sync = self.over.is_none() && self.is_complete;
        self.has_synced |= may_sync && self.unfinished == 0;
    }
}

impl trial::Ledger<Feed> for Book {
    fn apply(&mut self, event: &Event) {
        match &event.what {
            What::Step { op, outcome: Step::Wait { .. }, .. } => {
                self.asleep.insert(event.thread, matches!(op, Op::Next(_)));
            }
            What::Cancel { .. } => drop(self.asleep.remove(&event.thread)),
            _ => {
                if let Some((op, ret)) = event.returned() {
                    self.asleep.remove(&event.thread);
                    self.done(op, ret);
                }
            }
        }
    }
}
