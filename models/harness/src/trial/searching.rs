//! The search of all traces, on all cores that have nothing else to do.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::thread::Builder;
use std::time::Instant;

use super::case::{Case, Court, left_in};
use super::shuttling;
use crate::author::Component;
use crate::engine::shuttle::Judging;
use crate::engine::{Execution, Exploration, Route};
use crate::outcome::{Finding, Plan};

const GONE: &str = "a violation was gone when its schedule was followed alone. Executions run beside each \
    other: they must share nothing, such as a static";

impl<C: Component> Case<C> {
    pub(super) fn search_on_cores(
        &self,
        plan: &Plan,
        deadline: Option<Instant>,
    ) -> (Exploration, Court<C>) {
        let begin = || {
            let court = Court::new(self.jury(plan.stop_at), deadline);
            (self.body(&court.slot), court)
        };
        let (explored, court, shared) = shuttling::explore_all(plan, &self.config(), &begin);
        if shared {
            return self.settle(plan, deadline, (explored, court));
        }
        (explored, court)
    }

    /// Sees to it that nothing is told that was only there because executions ran beside each other:
    /// each violation must be there when its schedule is followed alone. Or else, and if something
    /// was not the same again, the case is searched without help.
    fn settle(
        &self,
        plan: &Plan,
        deadline: Option<Instant>,
        (explored, mut first): (Exploration, Court<C>),
    ) -> (Exploration, Court<C>) {
        let findings = std::mem::take(&mut first.jury.findings).into_iter();
        let (there, gone): (Vec<_>, Vec<_>) = findings.partition(|finding| self.is_there(finding));
        if gone.is_empty() && first.diverged.is_none() {
            first.jury.findings = there;
            return (explored, first);
        }
        let (alone, mut court) = self.search_alone(plan, deadline);
        court.jury.keep(there, 0); // the second search may have had too little time
        if court.jury.findings.is_empty() && !gone.is_empty() {
            court.diverged.get_or_insert_with(|| GONE.to_owned());
        }
        let is_cut = !alone.exhausted && alone.executions < explored.executions;
        if is_cut && court.diverged.is_none() {
            court.diverged = first.diverged; // nothing contradicts it
        }
        (if is_cut { Exploration { exhausted: false, ..explored } } else { alone }, court)
    }

    /// Tells whether the schedule of a finding leads to it.
    fn is_there(&self, finding: &Finding) -> bool {
        let Some(schedule) = finding.route.as_ref().and_then(Route::schedule) else { return true };
        let follow = || {
            let steps = Cell::new(u64::MAX);
            let (found, ()) = self.first_of(finding.invariant, &steps, |body, judge| {
                shuttling::replay(schedule, &self.config(), body, judge);
            });
            found.is_some()
        };
        // After an execution whose stack is stuck, nothing runs on this thread.
        std::thread::scope(|scope| match Builder::new().spawn_scoped(scope, follow) {
            Ok(thread) => thread.join().unwrap_or(false),
            Err(_) => follow(),
        })
    }
}

impl<C: Component> Judging for Court<C> {
    fn judge(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let left = left_in(&self.slot);
        Court::judge(self, execution, left)
    }

    fn absorb(&mut self, next: Self, before: u64) {
        self.jury.absorb(next.jury, before);
        self.diverged = self.diverged.take().or(next.diverged);
        self.is_only = false; // there is a part behind it
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::{Engine, NEVER_PANICS, Schedule};
    use crate::outcome::{Budget, StopAt};
    use crate::toy::{Toy, ToyBugs};

    fn case<C: Component>(name: &str) -> Case<C> {
        let mut scenarios = C::scenarios().into_iter();
        let scenario = scenarios.find(|scenario| scenario.name == name).expect("it is named so");
        Case {
            scenario: Arc::new(scenario),
            make: Arc::new(C::machine),
            invariants: C::invariants().into(),
        }
    }

    #[test]
    fn a_violation_that_needs_executions_beside_it_is_not_told() {
        let plan = Plan {
            engine: Engine::Trace,
            budget: Budget::smoke(),
            seed: 0,
            stop_at: StopAt::End,
            minimise: false,
            time: None,
        };
        let bug = case::<ToyBugs>("stack");
        let found = || bug.search_alone(&plan, None);
        let real = found().1.jury.findings.remove(0);
        let schedule = real.route.clone();
        assert!(schedule.is_some() && bug.is_there(&real));

        let (explored, court) = bug.settle(&plan, None, found());
        assert!(explored.exhausted && court.diverged.is_none());
        assert_eq!(court.jury.findings[0].route, schedule, "what is there is told as it is");

        let gone = Finding { route: Some(Schedule::default().into()), ..real };
        assert!(!bug.is_there(&gone));
        let mut first = found();
        first.1.jury.findings = vec![gone.clone()];
        let (_, court) = bug.settle(&plan, None, first);
        assert_eq!(court.jury.findings[0].route, schedule, "it is found again alone");

        let holds = case::<Toy>("handoff_1p");
        let mut first = holds.search_alone(&plan, None);
        assert!(first.0.exhausted && first.1.jury.findings.is_empty());
        first.1.jury.findings = vec![Finding { invariant: NEVER_PANICS, ..gone }];
        let (_, court) = holds.settle(&plan, None, first);
        assert!(court.jury.findings.is_empty());
        assert_eq!(court.diverged.as_deref(), Some(GONE));
    }
}
