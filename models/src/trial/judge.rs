//! Holds every execution of one scenario against the invariants of its component.

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

/// Judges executions and remembers the first violation of each invariant.
pub(crate) struct Jury<C: Component> {
    scenario: Arc<dyn DynScenario<C>>,
    invariants: Arc<[Invariant<C>]>,
    stop_at: StopAt,
    pub(crate) findings: Vec<Finding>,
    pub(crate) reached: bool,
    pub(crate) tally: Tally,
}

impl<C: Component> Jury<C> {
    pub(crate) fn new(
        scenario: Arc<dyn DynScenario<C>>,
        invariants: Arc<[Invariant<C>]>,
        stop_at: StopAt,
    ) -> Self {
        let (findings, tally) = (Vec::new(), Tally::default());
        Self { scenario, invariants, stop_at, findings, reached: false, tally }
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
        for (invariant, violation) in self.violations(history) {
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

    /// Returns what this execution violates and no earlier one did; what a component promises comes
    /// before what every component does, because it says more.
    fn violations(&self, history: &HistoryOf<C>) -> Vec<(&'static str, Violation)> {
        let new = |name| !self.findings.iter().any(|finding| finding.invariant == name);
        let mut violations = Vec::new();
        let cut_short = matches!(
            history.end,
            End::Panicked(_) | End::Endless(_) | End::Diverged(_) | End::Refused(_)
        );
        for invariant in self.invariants.iter() {
            if (invariant.kind == Kind::Eventually && cut_short) || !new(invariant.name) {
                continue;
            }
            if let Err(violation) = (invariant.check)(history) {
                violations.push((invariant.name, violation));
            }
        }
        match &history.end {
            End::Panicked(text) if new(NEVER_PANICS) => {
                violations.push((NEVER_PANICS, Violation::overall(text)));
            }
            End::Deadlock(text) | End::Endless(text) if new(TERMINATES) => {
                violations.push((TERMINATES, Violation::overall(text)));
            }
            _ => {}
        }
        violations
    }
}
