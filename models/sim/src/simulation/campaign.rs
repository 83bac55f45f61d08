//! A campaign: the run without faults, and then the controller under one plan after the other.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::check::{Failure, Report};
use super::compare::{apart, differs, history};
use super::found::Found;
use super::judge::{Violation, judge, judge_reference, unheeded, unlawful, unstruck};
use super::orders::thin;
use super::picture::{Event, draw, events};
use super::plan::{Fault, Plan};
use super::rights::{Needs, Rights};
use super::run::{LIMIT, Run, Setup};
use super::suggest::Choices;

/// How much later the cluster begins in the run that shows which values are times.
const LATER: Duration = Duration::from_secs(93_784);
/// How often a plan is tried again whose runs do not agree, where chance is not under control.
const AGAIN: u32 = 6;

/// A controller whose run without faults is fine, and the plans that are made from it.
pub struct Campaign {
    pub(super) setup: Setup,
    pub(super) reference: Run,
    choices: Choices,
    pub(super) wish: Wish,
    /// The runs in which the processes take turns, if an order may end like one of them.
    turns: Vec<Run>,
    /// The rights that all runs have needed.
    needs: Mutex<Needs>,
}

/// The settings of a campaign.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) random: u64,
    pub(crate) seed: u64,
    pub(crate) once: bool,
    pub(crate) at_most: Option<u64>,
    /// How many runs the search in orders may have.
    pub(crate) orders: u64,
    /// An order may end as one of the turns does.
    pub(crate) any_turn: bool,
    pub(crate) replay: Option<Plan>,
}

/// A plan that holds: its first run.
#[derive(Debug)]
pub struct Held {
    run: Run,
    apart: Option<u64>,
}

impl Held {
    /// How many events there were.
    pub fn steps(&self) -> u64 {
        self.run.trace.len() as u64
    }

    /// How many events in a thousand two runs of it did not share, where chance is not under control; none
    /// if the runs were the same.
    pub fn apart(&self) -> Option<u64> {
        self.apart
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
        draw(&self.run.trace, &[])
    }
}

impl fmt::Debug for Campaign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Campaign").field("wish", &self.wish).finish_non_exhaustive()
    }
}

impl Campaign {
    /// Runs the controller without faults, twice: everything else is measured by that. Then with other
    /// seeds and later, to learn which values cannot be compared as they are.
    pub(crate) fn begin(mut setup: Setup, wish: Wish) -> Result<Self, Box<Failure>> {
        let plan = Plan::default();
        let mut reference = setup.run(&plan);
        // With each step of the user others may begin to beat.
        for _ in 0..=setup.script.len() {
            if !setup.learn_beats(&reference) {
                break;
            }
            reference = setup.run(&plan);
        }
        let mut again = setup.run(&plan);
        setup.learn_values(&mut reference, &mut again);
        let mut violations = judge_reference(&reference, &setup.rules);
        if violations.is_empty() && !reference.is_exact {
            violations = judge_reference(&again, &setup.rules); // another run, and as good a witness
        }
        if violations.is_empty() {
            violations.extend(setup.unheeded(&reference).map(unheeded));
        }
        let difference = differs(&reference, &again)
            .filter(|_| reference.is_exact || reference.end != again.end);
        if !violations.is_empty() || difference.is_some() {
            let difference = difference.map(|[one, other]| format!("{one} or {other}"));
            return Err(setup.failure(&plan, &reference, violations, difference));
        }
        let choices = Choices::of(&reference);
        let needs = Mutex::new(reference.needs.clone());
        let turns = if wish.any_turn { setup.turns() } else { Vec::new() };
        Ok(Self { setup, reference, choices, wish, turns, needs })
    }

    /// The rights that the run without faults needs and its controller has not.
    pub(crate) fn lacking(&self) -> Option<Box<Failure>> {
        let granted = self.setup.granted.as_ref()?;
        let lacking = unlawful(&self.reference, granted, None)?;
        Some(self.setup.failure(&Plan::default(), &self.reference, vec![lacking], None))
    }

    /// What the report says about rights.
    fn rights(&self) -> Option<Rights> {
        let needs = self.needs.lock().unwrap_or_else(PoisonError::into_inner);
        self.setup.granted.as_ref().map(|it| it.rights(&needs))
    }

    /// How many plans there are, whether all of them are tried or not.
    pub fn planned(&self) -> u64 {
        match &self.wish.replay {
            Some(_) => 1,
            None => self.alone().saturating_add(self.wish.random),
        }
    }

    /// How many of them are a single fault, each that the run without faults gives cause for, or, of
    /// several processes, one fault of each of two. They come first, and the rest is by chance.
    pub fn alone(&self) -> u64 {
        self.choices.alone()
    }

    /// The plans, in the order in which they are tried.
    pub fn plans(&self) -> impl Iterator<Item = Plan> + '_ {
        let Wish { random, seed, replay, .. } = &self.wish;
        let made = replay.is_none().then(|| self.choices.plans(*random, *seed));
        replay.iter().cloned().chain(made.into_iter().flatten())
    }

    /// Tries the plans in turn, also after one that fails: it must not hide another failure.
    pub(crate) fn conduct(&self, began: Instant) -> Result<Report, Box<Failure>> {
        let (mut plans, mut alone, mut apart) = (0, [0; 3], (0, 0));
        let mut found = Found::default();
        let most = self.wish.at_most.unwrap_or(u64::MAX);
        for plan in self.plans() {
            if plans + found.failing == most || found.is_enough() {
                break;
            }
            match self.attempt(&plan) {
                Ok(held) => {
                    plans += 1;
                    if let Some(kind) = kind(&plan) {
                        alone[kind] += 1;
                    }
                    if let Some(share) = held.apart {
                        apart = (apart.0 + 1, share.max(apart.1));
                    }
                }
                Err(failure) => found.add(self, Failure { held: plans, ..*failure }),
            }
        }
        let planned = self.planned();
        let untried = planned.saturating_sub(plans + found.failing);
        let orders = self.explore(&mut found, plans);
        let rights = self.rights();
        let failure = match (self.lacking(), found.failure(untried)) {
            (Some(lacking), None) => Some(Box::new(Failure { held: plans, ..*lacking })),
            (Some(lacking), Some(others)) => Some(Box::new(others.after(*lacking))),
            (None, failure) => failure,
        };
        match failure {
            Some(failure) => Err(Box::new(Failure { rights, orders, ..*failure })),
            None => {
                let (treated, elapsed) = (self.told(), began.elapsed());
                let each = self.reference.each.iter();
                let per_minute = each.map(|(name, count)| (name.to_string(), *count)).collect();
                Ok(Report {
                    plans,
                    planned,
                    alone,
                    apart,
                    orders,
                    treated,
                    per_minute,
                    rights,
                    elapsed,
                })
            }
        }
    }

    /// What is not compared, and what is compared in another way.
    pub fn treated(&self) -> Vec<String> {
        let untried = "orders are not tried: a campaign tries plans only".to_owned();
        self.told().into_iter().chain((self.wish.orders > 0).then_some(untried)).collect()
    }

    /// The same, where orders are tried as well.
    fn told(&self) -> Vec<String> {
        let unhealed = self.setup.unhealed(&self.reference);
        let spared = self.reference.ignored.iter();
        let spared =
            spared.map(|it| format!("not struck: webhook {it}, its failurePolicy is Ignore"));
        self.setup.treated().into_iter().chain(unhealed).chain(spared).collect()
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
        let mut run = self.setup.run(plan);
        self.learn(&run);
        let mut violations = self.judged(plan, &run);
        let (mut difference, mut share) = (None, None);
        if twice {
            let again = self.setup.run(plan);
            self.learn(&again);
            difference = differs(&run, &again).map(|[one, other]| format!("{one} or {other}"));
            if !run.is_exact && difference.is_some() {
                // Each of them is a run under faults of that plan.
                share = apart(&run, &again);
                let others = self.judged(plan, &again);
                if violations.is_empty() && !others.is_empty() {
                    (run, violations) = (again, others.clone());
                }
                if rules(&violations) == rules(&others) || self.is_seen_again(plan, &violations) {
                    difference = None;
                }
            }
        }
        if violations.is_empty() && difference.is_none() {
            return Ok(Held { run, apart: share });
        }
        Err(self.setup.failure(plan, &run, violations, difference))
    }

    /// Takes note of the rights that a run has needed.
    pub(super) fn learn(&self, run: &Run) {
        let mut needs = self.needs.lock().unwrap_or_else(PoisonError::into_inner);
        for (asked, need) in &run.needs {
            needs.entry(asked.clone()).or_insert_with(|| need.clone());
        }
    }

    /// The violations of a run, also of the rights of its controller. One whose order is chosen may be measured
    /// by the turns as well: the one that it is most like.
    fn measured(&self, run: &Run) -> Vec<Violation> {
        let granted = self.setup.granted.as_ref();
        let lacks = granted.and_then(|it| unlawful(run, it, Some(&self.reference)));
        let turns = self.turns.iter().filter(|_| run.guide.is_some());
        let by = |it| judge(it, run, (&self.setup.rules, &self.setup.learned));
        let least = std::iter::once(&self.reference).chain(turns).map(by).min_by_key(Vec::len);
        least.into_iter().flatten().chain(lacks).collect()
    }

    pub(super) fn judged(&self, plan: &Plan, run: &Run) -> Vec<Violation> {
        let mut violations = self.measured(run);
        if self.wish.replay.is_some() {
            violations.extend(unstruck(run, plan));
        }
        violations
    }

    /// Whether other runs of the plan break these rules too, where chance is not under control.
    fn is_seen_again(&self, plan: &Plan, violations: &[Violation]) -> bool {
        (0..AGAIN).any(|_| rules(&self.judged(plan, &self.setup.run(plan))) == rules(violations))
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
            Err(smaller) => Box::new(Failure { held: failure.held, ..*smaller }),
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
            let violations = self.measured(&run);
            if violations.iter().any(|it| it.rule == rule) {
                plan = smaller;
                index = 0;
            } else {
                index += 1;
            }
        }
        thin(plan, |it| self.measured(&self.setup.run(it)).iter().any(|it| it.rule == rule))
    }
}

/// The place of a plan of one fault among those that are counted.
fn kind(plan: &Plan) -> Option<usize> {
    let [fault] = plan.faults.as_slice() else { return None };
    match fault.parts().1 {
        Fault::Crash { .. } => Some(0),
        Fault::Stale { .. } => Some(1),
        Fault::Unobserved { .. } => Some(2),
        _ => None,
    }
}

/// The rules that are broken.
fn rules(violations: &[Violation]) -> BTreeSet<&'static str> {
    violations.iter().map(|it| it.rule).collect()
}

impl Setup {
    /// What is not compared, and what is compared in another way.
    pub(super) fn treated(&self) -> Vec<String> {
        self.rules.told().into_iter().chain(self.learned.told()).collect()
    }

    /// Learns the times and counters that a run without rest writes. False: there are none.
    fn learn_beats(&mut self, run: &Run) -> bool {
        run.restless.is_some() && Arc::make_mut(&mut self.learned).learn_beats(run, LIMIT / 2)
    }

    /// Learns the values that other seeds draw, and those that follow the time of the start.
    pub(super) fn learn_values(&mut self, reference: &mut Run, again: &mut Run) {
        if reference.restless.is_none() {
            let [mut two, mut three] =
                [1, 2].map(|it| self.run_otherwise(it << 40, Duration::ZERO));
            let mut later = self.run_otherwise(0, LATER);
            Arc::make_mut(&mut self.learned).learn_names([reference, &two, &three]);
            for run in [&mut *reference, &mut two, &mut three, &mut later] {
                run.end = self.end(run);
            }
            let learned = Arc::make_mut(&mut self.learned);
            learned.learn_values([reference, &two, &three], &later);
        }
        (reference.end, again.end) = (self.end(reference), self.end(again));
    }

    pub(super) fn failure(
        &self,
        plan: &Plan,
        run: &Run,
        violations: Vec<Violation>,
        inadmissible: Option<String>,
    ) -> Box<Failure> {
        let objects: Vec<_> = violations.iter().flat_map(|it| it.objects.clone()).collect();
        Box::new(Failure {
            plan: plan.clone(),
            violations,
            picture: draw(&run.trace, &objects),
            events: events(&run.trace),
            history: history(run),
            inadmissible,
            is_exact: run.is_exact,
            treated: self.treated(),
            ..Failure::default()
        })
    }
}
