//! One scenario inside an ordinary `#[test]`.
//!
//! ```
//! use seatrial::check::{ALL, check};
//! # use seatrial::trial::{Component, Invariant, MachineOf, NoMachine, Scenario};
//! # #[derive(Debug)] struct Mine;
//! # impl Component for Mine {
//! #     type Machine = NoMachine;
//! #     const NAME: &'static str = "mine";
//! #     const SAYS: &'static str = "an example";
//! #     fn machine() -> MachineOf<Self> { Box::new(NoMachine) }
//! #     fn scenarios() -> Vec<Scenario<Self>> { vec![two_threads()] }
//! #     fn invariants() -> Vec<Invariant<Self>> { vec![] }
//! # }
//! fn two_threads() -> Scenario<Mine> {
//!     Scenario::new(
//!         "two_threads",
//!         "two threads",
//!         |world| {
//!             let other = world.spawn("other", || ());
//!             world.join(other);
//!         },
//!         |history| history.finished(),
//!     )
//! }
//! // inside a #[test]:
//! check(two_threads()).on(ALL);
//! ```

use std::fmt::Write as _;
use std::sync::Arc;

use crate::engine::Engine;
use crate::picture::picture;
use crate::trial::{
    Again, Budget, Case, Component, Finding, Plan, Scenario, StopAt, Trial, Witness,
};

/// Every engine; engines that the build lacks are left out.
pub const ALL: &[Engine] = Engine::ALL;

/// A scenario that is to be checked.
#[must_use = "nothing is checked until `on` says on which engines"]
pub struct Check<C: Component> {
    case: Case<C>,
    budget: Budget,
    seed: u64,
    /// The command that replays a failure, if the scenario is an ordinary test: such a test holds if no run
    /// fails, though there may be more runs than the budget has.
    replay: Option<String>,
}

/// Checks a scenario against the invariants of its component.
pub fn check<C: Component>(scenario: Scenario<C>) -> Check<C> {
    let case = Case {
        scenario: Arc::new(scenario),
        make: Arc::new(C::machine),
        invariants: C::invariants().into(),
    };
    Check::of(case)
}

impl<C: Component> Check<C> {
    pub(crate) fn of(case: Case<C>) -> Self {
        Self { case, budget: Budget::smoke(), seed: 0, replay: None }
    }

    /// Takes it for an ordinary test, which this command replays.
    pub(crate) fn program(self, replay: String) -> Self {
        Self { replay: Some(replay), ..self }
    }

    /// Spends more, or less, than [`Budget::smoke`].
    pub fn budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Starts randomness elsewhere.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Runs the scenario on each of the engines that the build has and that can hold it.
    ///
    /// # Panics
    /// If an invariant is violated, with the interleaving and its witness; if an engine that looks at
    /// every order did not get through all of them; if no execution reached the case that the
    /// scenario is named for; or if no engine ran.
    pub fn on(self, engines: &[Engine]) {
        let mut ran = 0;
        for &engine in engines {
            if engine.missing().is_some() || self.case.scenario.cannot_run_on(engine).is_some() {
                continue;
            }
            let plan = Plan {
                engine,
                budget: self.budget.clone(),
                seed: self.seed,
                stop_at: StopAt::FirstViolation,
                minimise: true,
                time: self.budget.time,
            };
            let trial = self.case.run(&plan);
            if trial.refused.is_none() {
                ran += 1;
                self.judge(&plan, &trial);
            }
        }
        let name = self.case.scenario.name;
        assert!(ran > 0, "no engine of this build ran {name}: enable the features loom, shuttle");
    }

    fn judge(&self, plan: &Plan, trial: &Trial) {
        let (engine, name) = (plan.engine, self.case.scenario.name);
        if let Some(finding) = trial.findings.first() {
            panic!("{}", self.accuse(plan, finding));
        }
        let executions = trial.exploration.executions;
        assert!(executions > 0, "{engine} ran nothing of {name}");
        if let Some(why) = &trial.diverged {
            panic!(
                "{name} on {engine} does not do the same again when it is led the same way: {why}"
            );
        }
        if self.replay.is_some() {
            let all = if trial.exploration.exhausted { ", all there are" } else { "" };
            println!("{engine}: {executions} executions{all}");
        }
        assert!(
            trial.exploration.exhausted || !engine.exhausts() || self.replay.is_some(),
            "{engine} did not finish {name} within {executions} executions: nothing is decided; \
             give a larger `budget`, or leave this engine out"
        );
        assert!(
            trial.reached || engine.depends_on_the_machine(),
            "{name} on {engine}: no execution reached the case that the scenario is named for"
        );
    }

    fn accuse(&self, plan: &Plan, finding: &Finding) -> String {
        let (engine, scenario) = (plan.engine, self.case.scenario.name);
        let Finding { invariant, violation, execution, .. } = finding;
        let mut text = format!(
            "{}/{scenario} on {engine}: execution {execution} violates {invariant}: {}\n\
             the scenario: {}\n",
            C::NAME,
            violation.because,
            self.case.scenario.says,
        );
        if engine.depends_on_the_machine() {
            let again = Again::run(|| self.case.run(plan));
            let _infallible = writeln!(text, "{}", again.says(invariant, true));
        }
        text.push('\n');
        text.push_str(&picture(&finding.lines, violation.at));
        if let Some(route) = &finding.route {
            let witness = Witness {
                component: C::NAME.to_owned(),
                scenario: scenario.to_owned(),
                mutant: None,
                engine,
                route: route.clone(),
                history: finding.digest(),
            };
            let _infallible = match &self.replay {
                Some(command) => writeln!(text, "\nreplay: SEATRIAL_REPLAY='{witness}' {command}"),
                None => writeln!(text, "\nwitness: {witness}"),
            };
        }
        text
    }
}

impl<C: Component> std::fmt::Debug for Check<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Check of {}/{}", C::NAME, self.case.scenario.name)
    }
}
