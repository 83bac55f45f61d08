//! One part of a campaign, with its share of the plans.

use std::collections::BTreeSet;
use std::time::Instant;

use seatrial::engine::{End, Exploration, Route, quietly};
use seatrial::interrupt;
use seatrial::trial::{
    Component, Expect, Finding, InvariantInfo, MachineOf, Plan, Replayed, Simulation, StopAt,
    Trial, Violated, Violation,
};

use super::Campaign;
use super::told::{history, lines, reason, route, route_back};
use crate::simulation::{Campaign as UnderWay, Failure, Held, RULES};

/// Every `campaign.parts`-th plan of a campaign, from the one at `index`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    campaign: Campaign,
    index: u32,
    name: &'static str,
}

impl Part {
    pub(super) fn of(campaign: Campaign, index: u32) -> Self {
        Self { campaign, index, name: campaign.case(index) }
    }

    /// The controller, with the chance of this run. Each seed has plans of its own.
    fn begin(&self, plan: &Plan) -> Result<UnderWay, Box<Failure>> {
        let seed = plan.seed.wrapping_mul(1_000_000_000).wrapping_add(1);
        (self.campaign.simulation)().random(plan.budget.simulated_runs, seed).campaign()
    }
}

impl<C: Component> Simulation<C> for Part {
    fn name(&self) -> &'static str {
        self.name
    }

    fn says(&self) -> &'static str {
        self.campaign.says
    }

    fn invariants(&self) -> Vec<InvariantInfo> {
        let info = |&(name, says): &(&'static str, &'static str)| InvariantInfo {
            name,
            says,
            rules: &[],
            expect: Expect::Holds,
            stated: Some(self.campaign.stated),
        };
        RULES.iter().map(info).collect()
    }

    fn run(&self, _: fn() -> MachineOf<C>, plan: &Plan) -> Trial {
        let mut trying = Trying::new(plan);
        // Every part needs the run without faults: its plans are made from it.
        trying.exploration.executions += 1;
        match quietly(|| self.begin(plan)) {
            Ok(campaign) => trying.plans(&campaign, self),
            Err(failure) => {
                trying.reached = true;
                trying.take(*failure);
            }
        }
        trying.trial()
    }

    fn replay(&self, _: fn() -> MachineOf<C>, run: &str) -> Option<Replayed> {
        let plan = route_back(run)?;
        let simulation = (self.campaign.simulation)();
        let ran = quietly(|| simulation.campaign().and_then(|campaign| campaign.attempt(&plan)));
        Some(match ran {
            Ok(held) => shown(&held),
            Err(failure) => broken(*failure),
        })
    }
}

/// A run that broke nothing.
fn shown(held: &Held) -> Replayed {
    let (transcript, lines) = (history(&held.history()), lines(&held.events()));
    Replayed { findings: Vec::new(), transcript, lines, picture: Some(held.picture()) }
}

/// A run that broke something. One that is inadmissible is another one each time.
fn broken(failure: Failure) -> Replayed {
    let transcript = match &failure.inadmissible {
        Some(difference) => format!("inadmissible: {difference}"),
        None => history(&failure.history),
    };
    let picture = Some(failure.picture.clone());
    let lines = lines(&failure.events);
    Replayed { findings: findings(failure, 1), transcript, lines, picture }
}

/// The findings of one run.
fn findings(failure: Failure, execution: u64) -> Vec<Finding> {
    let (lines, history) = (lines(&failure.events), history(&failure.history));
    let found = failure.violations.iter().filter_map(|violation| {
        let (invariant, _) = RULES.iter().find(|(_, says)| *says == violation.rule)?;
        Some(Finding {
            invariant,
            violation: Violation::overall(reason(&failure.plan, &violation.text)),
            execution,
            preemptions: None,
            proved_minimum: None,
            route: Some(Route::Run(route(&failure.plan).into())),
            lines: lines.clone(),
            end: End::Finished,
            compared: Some(history.clone()),
        })
    });
    found.collect()
}

/// The results so far, plan by plan.
struct Trying<'a> {
    plan: &'a Plan,
    began: Instant,
    exploration: Exploration,
    findings: Vec<Finding>,
    together: BTreeSet<Violated>,
    reached: bool,
    diverged: Option<String>,
    unfinished: Option<String>,
}

impl<'a> Trying<'a> {
    fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            began: Instant::now(),
            exploration: Exploration::default(),
            findings: Vec::new(),
            together: BTreeSet::new(),
            reached: false,
            diverged: None,
            unfinished: None,
        }
    }

    /// Tries the plans of a part. Plans of a single fault come first, and must all be tried.
    fn plans(&mut self, campaign: &UnderWay, part: &Part) {
        let (first, step) = (u64::from(part.index), u64::from(part.campaign.parts));
        let alone = campaign.alone();
        // A controller that gives no cause for a fault is not tried at all.
        self.reached = alone > 0;
        let mine = (0..).zip(campaign.plans()).filter(|(number, _)| number % step == first);
        let (mut tried, all) = (0, (alone + step - 1).saturating_sub(first) / step);
        for (number, plan) in mine {
            if self.is_over() {
                if number < alone && self.diverged.is_none() {
                    let why = format!("{tried} of {all} plans of a single fault were tried");
                    self.unfinished = Some(format!("{why}: give a larger --budget"));
                }
                return;
            }
            tried += 1;
            self.exploration.executions += 1;
            match quietly(|| campaign.attempt(&plan)) {
                Ok(held) => self.exploration.steps += held.steps(),
                Err(failure) => self.broken(campaign, failure),
            }
        }
    }

    fn is_over(&self) -> bool {
        let is_late = self.plan.time.is_some_and(|time| self.began.elapsed() >= time);
        let is_found = !self.findings.is_empty();
        let is_enough = self.plan.stop_at == StopAt::FirstViolation && is_found;
        is_late || is_enough || self.diverged.is_some() || interrupt::asked()
    }

    /// Takes in a plan that fails, made small if it breaks anything new.
    fn broken(&mut self, campaign: &UnderWay, failure: Box<Failure>) {
        self.exploration.steps += failure.events.len() as u64;
        let is_known = |rule: &str| {
            let named = |says: &&(&str, &str)| says.1 == rule;
            let name = RULES.iter().find(named).map(|it| it.0);
            self.findings.iter().any(|finding| Some(finding.invariant) == name)
        };
        let is_new = failure.violations.iter().any(|it| !is_known(it.rule));
        if failure.inadmissible.is_none() && is_new && self.plan.minimise {
            let smallest = quietly(|| campaign.smallest(failure.clone()));
            self.take(*smallest);
        }
        // The violations that the smallest plan does not show are taken from the failure as it was
        // found.
        self.take(*failure);
    }

    fn take(&mut self, failure: Failure) {
        if let Some(difference) = &failure.inadmissible {
            let plan = failure.plan.to_string();
            let plan = if plan.is_empty() { "without faults".to_owned() } else { plan };
            self.diverged = Some(format!("{plan}: {difference}"));
            return;
        }
        let found = findings(failure, self.exploration.executions);
        self.together.insert(found.iter().map(|finding| finding.invariant).collect());
        for finding in found {
            if self.findings.iter().all(|known| known.invariant != finding.invariant) {
                self.findings.push(finding);
            }
        }
    }

    fn trial(self) -> Trial {
        Trial {
            together: self.together,
            diverged: self.diverged,
            unfinished: self.unfinished,
            ..Trial::new(self.exploration, self.findings, self.reached, self.began.elapsed())
        }
    }
}
