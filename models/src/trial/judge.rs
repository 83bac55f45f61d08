//! Holds every execution of one scenario against the invariants of its component.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::component::{Component, HistoryOf};
use super::finding::{Finding, lines};
use super::invariant::{Invariant, Kind, NEVER_PANICS, TERMINATES, Violation};
use super::scenario::DynScenario;
use super::tally::Tally;
use crate::engine::{End, Execution, Route};

/// When a trial may end before the budget is spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopAt {
    /// As soon as any invariant is violated.
    FirstViolation,
    /// Never: every invariant gets its own verdict.
    End,
}

/// The invariants that one execution violates, by name.
pub type Violated = BTreeSet<&'static str>;

/// Judges executions and remembers the first violation of each invariant.
pub(crate) struct Jury<C: Component> {
    scenario: Arc<dyn DynScenario<C>>,
    invariants: Arc<[Invariant<C>]>,
    stop_at: StopAt,
    pub(crate) findings: Vec<Finding>,
    /// What was violated in one execution, each set once.
    pub(crate) together: BTreeSet<Violated>,
    pub(crate) reached: bool,
    pub(crate) tally: Tally,
}

impl<C: Component> Jury<C> {
    pub(crate) fn new(
        scenario: Arc<dyn DynScenario<C>>,
        invariants: Arc<[Invariant<C>]>,
        stop_at: StopAt,
    ) -> Self {
        Self {
            scenario,
            invariants,
            stop_at,
            findings: Vec::new(),
            together: BTreeSet::new(),
            reached: false,
            tally: Tally::default(),
        }
    }

    /// Judges one execution.
    pub(crate) fn judge(
        &mut self,
        execution: &Execution<'_>,
        history: &HistoryOf<C>,
        thread_name: &dyn Fn(u8) -> String,
    ) -> ControlFlow<()> {
        self.tally.count(execution);
        self.reached = self.reached || self.scenario.reaches(history);
        let violations = self.violations(history);
        if !violations.is_empty() {
            self.together.insert(violations.iter().map(|(name, _)| *name).collect());
        }
        let new = |name: &&str| self.findings.iter().all(|finding| finding.invariant != *name);
        let new: Vec<_> = violations.into_iter().filter(|(name, _)| new(name)).collect();
        for (invariant, violation) in new {
            self.findings.push(Finding {
                invariant,
                violation,
                execution: execution.number,
                preemptions: execution.preemptions,
                proved_minimum: None,
                route: execution.schedule.cloned().map(Route::from),
                lines: lines::<C>(history, thread_name),
                end: history.end.clone(),
            });
        }
        match self.stop_at {
            StopAt::FirstViolation if !self.findings.is_empty() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Returns what this execution violates; what a component promises comes before what every
    /// component does, because it says more.
    fn violations(&self, history: &HistoryOf<C>) -> Vec<(&'static str, Violation)> {
        let mut violations = Vec::new();
        let cut_short = matches!(
            history.end,
            End::Panicked(_) | End::Endless(_) | End::Diverged(_) | End::Refused(_)
        );
        for invariant in self.invariants.iter() {
            if invariant.kind == Kind::Eventually && cut_short {
                continue;
            }
            if let Err(violation) = (invariant.check)(history) {
                violations.push((invariant.name, violation));
            }
        }
        match &history.end {
            End::Panicked(text) => {
                violations.push((NEVER_PANICS, Violation::overall(text)));
            }
            End::Deadlock(text) | End::Endless(text) => {
                violations.push((TERMINATES, Violation::overall(text)));
            }
            _ => {}
        }
        violations
    }
}
