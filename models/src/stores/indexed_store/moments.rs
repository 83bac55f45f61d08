//! Whether every call can have taken effect at one moment between its beginning and its end.

use std::collections::BTreeSet;

use super::History;
use super::book::{Answer, Call, Entry};
use super::sequential::Model;
use crate::trial::What;

/// A call that has ended.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) call: Call,
    pub(super) answer: Answer,
    /// The event with which it began.
    pub(super) from: usize,
    /// The event with which it ended.
    pub(super) to: usize,
}

/// Lists the calls that have ended, in the order of their ends.
pub(super) fn ended(history: &History) -> Vec<Ended> {
    let mut begun = Vec::new();
    let mut ended = Vec::new();
    for (number, event) in history.events.iter().enumerate() {
        let What::Step { op, .. } = &event.what else { continue };
        match op {
            Entry::Which => {}
            Entry::Begins(_) => begun.push((event.thread, number)),
            Entry::Ended(call, answer) => {
                let mine = begun.iter().rposition(|(thread, _)| *thread == event.thread);
                let from = mine.map_or(number, |at| begun.remove(at).1);
                let (call, answer) = (call.clone(), answer.clone());
                ended.push(Ended { call, answer, from, to: number });
            }
        }
    }
    ended
}

/// Returns an order of the calls that explains every answer if no calls overlap; of two calls that
/// did not overlap, the earlier comes first. `None` if there is no such order. At most 64 calls.
pub(super) fn in_order(calls: &[Ended]) -> Option<Vec<usize>> {
    let mut search = Search { calls, tried: BTreeSet::new(), order: Vec::new() };
    search.from(0, &Model::default()).then_some(search.order)
}

/// A search that tries no set of calls twice with the same content.
struct Search<'a> {
    calls: &'a [Ended],
    tried: BTreeSet<(u64, Model)>,
    order: Vec<usize>,
}

impl Search<'_> {
    fn from(&mut self, done: u64, model: &Model) -> bool {
        if self.order.len() == self.calls.len() {
            return true;
        }
        if !self.tried.insert((done, model.clone())) {
            return false;
        }
        let is_open = |number: &usize| done & 1 << number == 0;
        let open: Vec<usize> = (0..self.calls.len()).filter(is_open).collect();
        let first_end = open.iter().map(|&number| self.calls[number].to).min();
        for number in open {
            let call = &self.calls[number];
            if first_end.is_some_and(|end| call.from > end) {
                continue; // another had ended before this one began
            }
            let mut after = model.clone();
            if after.answer(&call.call) == call.answer {
                self.order.push(number);
                if self.from(done | 1 << number, &after) {
                    return true;
                }
                self.order.pop();
            }
        }
        false
    }
}
