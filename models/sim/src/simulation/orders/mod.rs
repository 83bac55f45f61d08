//! The orders in which the requests of several processes reach the server, and events their watches.
//!
//! A run whose order is chosen has a gate in front of the server and of each watch. When no process can do
//! anything without an answer or an event, one of the deliveries that wait is let through. Which one it is,
//! is the order. The search tries all of them if they are few, but for those that differ only in deliveries
//! that commute; otherwise some by chance, and estimates how many there are.

mod gate;
mod guide;
mod search;
#[cfg(test)]
mod tests;
mod touch;

pub(crate) use gate::{Delivered, Gate};
pub(crate) use guide::Guide;
pub use search::Orders;

use super::Simulation;
use super::campaign::Campaign;
use super::check::Failure;
use super::found::Found;
use super::plan::{Fault, Plan};
use super::run::{Run, Setup};
use search::search;
use touch::commute;

impl Simulation {
    /// Also tries the orders in which requests that are under way at the same time may reach the server, and
    /// events their watches, without any fault: all of them if this number of runs suffices, or else some of them. Up
    /// to sixteen more runs estimate how many there are. The report says how many of how many they were. Each is
    /// judged as a plan of faults is: its end must be that of the run without faults, unless
    /// [`any_turn`](Self::any_turn) says otherwise. A [`campaign`](Self::campaign) tries no orders.
    #[must_use]
    pub fn orders(mut self, runs: u64) -> Self {
        self.wish.orders = runs;
        self
    }

    /// An order may have another end, if it is one that the processes also come to when they take turns: one of
    /// them does all that it wants, and then the next one. Every sequence of up to four processes is run, and of more
    /// of them 24 sequences, in which each comes first in turn. For what is given to the first that asks.
    #[must_use]
    pub fn any_turn(mut self) -> Self {
        self.wish.any_turn = true;
        self
    }
}

impl Setup {
    /// The runs in which the processes take turns.
    pub(super) fn turns(&self) -> Vec<Run> {
        let run = |it| self.run_in(&Plan::default(), Some(Guide::ranked(it)));
        turns(self.programs.len()).map(run).collect()
    }
}

/// Every sequence of up to four, and of more of them 24.
fn turns(count: usize) -> impl Iterator<Item = Vec<usize>> {
    // The digits of the number say which of those that are left comes next. The first one changes fastest.
    (0..(1..=count.min(4)).product()).map(move |mut number: usize| {
        let mut left: Vec<_> = (0..count).collect();
        let mut next = |those: usize| {
            let at = number % those;
            number /= those;
            left.remove(at)
        };
        (1..=count).rev().map(&mut next).collect()
    })
}

impl Campaign {
    /// Tries the orders.
    pub(super) fn explore(&self, found: &mut Found, held: u64) -> Option<Orders> {
        if self.wish.orders == 0 || self.wish.replay.is_some() {
            return None;
        }
        let (mut runs, mut failed_at) = (0, None);
        let orders = search(self.wish.orders, self.wish.seed, Some(commute), |guide| {
            if found.is_enough() {
                return None;
            }
            runs += 1;
            let run = self.setup.run_in(&Plan::default(), Some(guide));
            let guide = run.guide.clone()?;
            if guide.is_cut() {
                return Some(guide);
            }
            self.learn(&run);
            let plan = guide.plan();
            let violations = self.judged(&plan, &run);
            if !violations.is_empty() {
                failed_at.get_or_insert(runs);
                let failure = *self.setup.failure(&plan, &run, violations, None);
                found.add(self, Failure { held, ..failure });
            }
            Some(guide)
        });
        Some(Orders { failed_at, ..orders })
    }
}

/// Leaves out choices of the order of a plan as long as it fails: first many at once, then each.
pub(super) fn thin(mut plan: Plan, mut fails: impl FnMut(&Plan) -> bool) -> Plan {
    let Some(at) = plan.faults.iter().position(|it| matches!(it, Fault::Order { .. })) else {
        return plan;
    };
    let Fault::Order { taken } = &plan.faults[at] else { return plan };
    let mut taken: Vec<_> = taken.iter().map(|it| (*it.0, *it.1)).collect();
    let mut size = taken.len();
    while size > 0 {
        let mut end = taken.len();
        while end > 0 {
            let begin = end.saturating_sub(size);
            let mut fewer = taken.clone();
            fewer.drain(begin..end);
            let mut smaller = plan.clone();
            smaller.faults[at] = Fault::Order { taken: fewer.iter().copied().collect() };
            if fails(&smaller) {
                (plan, taken) = (smaller, fewer);
            }
            end = begin;
        }
        size /= 2;
    }
    plan
}
