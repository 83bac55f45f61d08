//! A campaign: the run without faults, and then the controller under one plan after the other.

use std::fmt;
use std::time::Instant;

use super::check::{Failure, Report};
use super::compare::{differs, history};
use super::judge::{Violation, judge, judge_reference};
use super::picture::{Event, draw, events};
use super::plan::{Fault, Plan};
use super::run::{Run, Setup};
use super::suggest::Choices;

/// A controller whose run without faults is fine, and the plans that are made from it.
pub struct Campaign {
    setup: Setup,
    reference: Run,
    choices: Choices,
    wish: Wish,
}

/// The settings of a campaign.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) random: u64,
    pub(crate) seed: u64,
    pub(crate) once: bool,
    pub(crate) at_most: Option<u64>,
    pub(crate) replay: Option<Plan>,
}

/// A plan that holds: its first run.
#[derive(Debug)]
pub struct Held {
    run: Run,
}

impl Held {
    /// How many events there were.
    pub fn steps(&self) -> u64 {
        self.run.trace.len() as u64
    }

    /// Everything that happened.
    pub fn events(&self) -> Vec<Event> {
        events(&self.run.trace)
    }

    /// The lines that two runs of the plan are compared by.
    pub fn history(&self) -> Vec<String> {
        history(&self.run)
    }

    /// The run: server, watch, controller, time downwards.
    pub fn picture(&self) -> String {
        draw(&self.run.trace)
    }
}

impl fmt::Debug for Campaign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Campaign").field("wish", &self.wish).finish_non_exhaustive()
    }
}

impl Campaign {
    /// Runs the controller without faults, always twice: everything else is measured by that.
    pub(crate) fn begin(setup: Setup, wish: Wish) -> Result<Self, Box<Failure>> {
        let plan = Plan::default();
        let reference = setup.run(&plan);
        let violations = judge_reference(&reference, &setup.rules);
        let difference = differs(&reference, &setup.run(&plan));
        if !violations.is_empty() || difference.is_some() {
            return Err(failure(&plan, &reference, violations, difference));
        }
        let choices = Choices::of(&reference);
        Ok(Self { setup, reference, choices, wish })
    }

    /// How many plans there are, whether all of them are tried or not.
    pub fn planned(&self) -> u64 {
        match &self.wish.replay {
            Some(_) => 1,
            None => self.alone().saturating_add(self.wish.random),
        }
    }

    /// How many of them are a single fault: each that the run without faults gives cause for. They come
    /// first, and the rest is by chance.
    pub fn alone(&self) -> u64 {
        self.choices.alone()
    }

    /// The plans, in the order in which they are tried.
    pub fn plans(&self) -> impl Iterator<Item = Plan> + '_ {
        let Wish { random, seed, replay, .. } = &self.wish;
        let made = replay.is_none().then(|| self.choices.plans(*random, *seed));
        replay.iter().cloned().chain(made.into_iter().flatten())
    }

    /// Tries the plans in turn; ends with the first one that fails.
    pub(crate) fn conduct(&self, began: Instant) -> Result<Report, Box<Failure>> {
        let (mut plans, mut alone) = (0, [0; 3]);
        let most = self.wish.at_most.unwrap_or(u64::MAX);
        for plan in self.plans() {
            if plans == most {
                break;
            }
            if let Err(failure) = self.attempt(&plan) {
                let failure = self.smallest(failure);
                return Err(Box::new(Failure { held: plans, ..*failure }));
            }
            plans += 1;
            if let Some(kind) = kind(&plan) {
                alone[kind] += 1;
            }
        }
        Ok(Report { plans, planned: self.planned(), alone, elapsed: began.elapsed() })
    }

    /// Runs the controller under a plan, twice unless it was said to be [`once`](super::Simulation::once).
    ///
    /// # Errors
    ///
    /// Something is wrong, or the two runs differ.
    pub fn attempt(&self, plan: &Plan) -> Result<Held, Box<Failure>> {
        self.look(plan, !self.wish.once)
    }

    fn look(&self, plan: &Plan, twice: bool) -> Result<Held, Box<Failure>> {
        let run = self.setup.run(plan);
        let violations = judge(&self.reference, &run, &self.setup.rules);
        let difference = if twice { differs(&run, &self.setup.run(plan)) } else { None };
        if violations.is_empty() && difference.is_none() {
            return Ok(Held { run });
        }
        Err(failure(plan, &run, violations, difference))
    }

    /// The same failure by as few faults as it needs: without any one of them its first rule holds. The
    /// smaller plan is run twice.
    #[must_use]
    pub fn smallest(&self, failure: Box<Failure>) -> Box<Failure> {
        let rule = match failure.violations.first() {
            Some(first) if failure.inadmissible.is_none() => first.rule,
            _ => return failure,
        };
        let plan = self.minimise(failure.plan.clone(), rule);
        match self.look(&plan, true) {
            Err(smaller) => smaller,
            Ok(_) => {
                let inadmissible = Some(format!("{plan} breaks a rule, or it breaks none"));
                Box::new(Failure { inadmissible, ..*failure })
            }
        }
    }

    /// Leaves out faults as long as the same rule is broken: none that is left can be spared.
    fn minimise(&self, mut plan: Plan, rule: &str) -> Plan {
        let mut index = 0;
        while index < plan.faults.len() && plan.faults.len() > 1 {
            let smaller = plan.without(index);
            let run = self.setup.run(&smaller);
            let violations = judge(&self.reference, &run, &self.setup.rules);
            if violations.iter().any(|it| it.rule == rule) {
                plan = smaller;
                index = 0;
            } else {
                index += 1;
            }
        }
        plan
    }
}

/// The place of a plan of one fault among those that are counted.
fn kind(plan: &Plan) -> Option<usize> {
    match plan.faults.as_slice() {
        [Fault::Crash { .. }] => Some(0),
        [Fault::Stale { .. }] => Some(1),
        [Fault::Unobserved { .. }] => Some(2),
        _ => None,
    }
}

fn failure(
    plan: &Plan,
    run: &Run,
    violations: Vec<Violation>,
    difference: Option<[String; 2]>,
) -> Box<Failure> {
    let inadmissible = difference.map(|[one, other]| format!("{one} or {other}"));
    Box::new(Failure {
        plan: plan.clone(),
        violations,
        picture: draw(&run.trace),
        events: events(&run.trace),
        history: history(run),
        held: 0,
        inadmissible,
    })
}
