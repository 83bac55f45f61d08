//! Whether every call can have taken effect at one moment between its beginning and its end.

use std::collections::BTreeSet;

use super::book::Ended;
use super::sequential::Model;

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
