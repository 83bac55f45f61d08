//! Holds every execution of one scenario against the invariants of its component.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::lines::lines;
use crate::author::{Component, HistoryOf, Invariant, Kind, Scenario, judge};
use crate::engine::{End, Execution, NEVER_PANICS, Route, TERMINATES, Tally, told_in_full};
use crate::outcome::{Finding, StopAt, Violated, Violation};

/// Judges executions and remembers the first violation of each invariant.
pub(crate) struct Jury<C: Component> {
    scenario: Arc<Scenario<C>>,
    invariants: Arc<[Invariant<C>]>,
    stop_at: StopAt,
    /// The one promise that is asked for; `None` for all.
    only: Option<&'static str>,
    pub(crate) findings: Vec<Finding>,
    /// The sets of invariants that some execution violated, each set once.
    pub(crate) together: BTreeSet<Violated>,
    pub(crate) reached: bool,
    pub(crate) tally: Tally,
}

impl<C: Component> Jury<C> {
    pub(crate) fn new(
        scenario: Arc<Scenario<C>>,
        invariants: Arc<[Invariant<C>]>,
        stop_at: StopAt,
    ) -> Self {
        Self {
            scenario,
            invariants,
            stop_at,
            only: None,
            findings: Vec::new(),
            together: BTreeSet::new(),
            reached: false,
            tally: Tally::default(),
        }
    }

    /// Asks for one promise alone: the others cost time, and their findings a text of the history each.
    #[cfg(feature = "shuttle")]
    pub(crate) fn only(mut self, name: &'static str) -> Self {
        self.only = Some(name);
        self
    }

    /// Judges one execution.
    pub(crate) fn judge(
        &mut self,
        execution: &Execution<'_>,
        history: &HistoryOf<C>,
        thread_name: &dyn Fn(u8) -> String,
    ) -> ControlFlow<()> {
        self.tally.count(execution);
        self.reached = self.reached || (self.scenario.reaches)(history);
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
                compared: None,
            });
        }
        match self.stop_at {
            StopAt::FirstViolation if !self.findings.is_empty() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Adds the verdicts on executions that come next; `before` others were before them.
    #[cfg(feature = "shuttle")]
    pub(crate) fn absorb(&mut self, next: Self, before: u64) {
        self.tally.absorb(next.tally);
        self.reached = self.reached || next.reached;
        self.together.extend(next.together);
        self.keep(next.findings, before);
    }

    /// Adds findings of invariants that have none; `before` executions were before theirs.
    #[cfg(feature = "shuttle")]
    pub(crate) fn keep(&mut self, findings: Vec<Finding>, before: u64) {
        for finding in findings {
            if self.findings.iter().all(|known| known.invariant != finding.invariant) {
                let execution = before + finding.execution;
                self.findings.push(Finding { execution, ..finding });
            }
        }
    }

    /// Returns the invariants that this execution violates. Those of the component come first,
    /// because they say more than those of every component.
    fn violations(&self, history: &HistoryOf<C>) -> Vec<(&'static str, Violation)> {
        let cut_short = matches!(
            history.end,
            End::Panicked(_) | End::Endless(_) | End::Diverged(_) | End::Refused(_)
        );
        let wanted = |name| self.only.is_none_or(|only| only == name);
        let asked =
            |one: &&Invariant<C>| wanted(one.name) && (one.kind == Kind::Always || !cut_short);
        let mut violations = judge(self.invariants.iter().filter(asked), history);
        match &history.end {
            End::Panicked(text) if wanted(NEVER_PANICS) => {
                violations.push((NEVER_PANICS, Violation::overall(told_in_full(text))));
            }
            End::Deadlock(text) | End::Endless(text) if wanted(TERMINATES) => {
                violations.push((TERMINATES, Violation::overall(text)));
            }
            _ => {}
        }
        violations
    }
}
