//! A campaign: the reference, the plans, and what becomes of one that fails.

use std::fmt;
use std::time::{Duration, Instant};

use super::doctor::Diagnosis;
use super::judge::{Violation, judge, judge_reference};
use super::picture::draw;
use super::plan::Plan;
use super::run::{Run, Setup};
use super::state::stable_key;
use super::suggest::Choices;
use super::trace::What;

/// What was tried, if nothing is wrong.
#[derive(Clone, Debug)]
pub struct Report {
    /// How many plans the controller was run under.
    pub plans: usize,
    /// How many of them were a crash, a stale restart, an unobserved change.
    pub alone: [usize; 3],
    /// How long that took.
    pub elapsed: Duration,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [crashes, stale, unobserved] = self.alone;
        let random = self.plans.saturating_sub(crashes + stale + unobserved);
        let seconds = self.elapsed.as_secs_f64();
        let speed = self.plans as f64 / seconds.max(1e-9);
        write!(
            f,
            "{} plans hold ({crashes} crashes, {stale} stale restarts, {unobserved} unobserved changes, {random} by chance) in {seconds:.2} s, {speed:.0} plans/s",
            self.plans
        )
    }
}

/// A plan under which something is wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The plan, with no fault that is not needed. Empty: it is wrong without any.
    pub plan: Plan,
    /// What is wrong.
    pub violations: Vec<Violation>,
    /// The run: server, watch, controller, time downwards.
    pub picture: String,
    /// How many plans held before.
    pub held: usize,
    /// Where two runs of the plan differ: the controller depends on what is not under control, such as
    /// the wall clock.
    pub inadmissible: Option<String>,
}

impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.plan.faults.is_empty(), self.held) {
            (true, _) => writeln!(f, "the controller is wrong without any fault")?,
            (false, held) => writeln!(f, "{held} plans hold, and this one fails: {}", self.plan)?,
        }
        if let Some(difference) = &self.inadmissible {
            writeln!(f, "inadmissible: two runs of this plan differ: {difference}")?;
        }
        for violation in &self.violations {
            writeln!(f, "{violation}")?;
        }
        writeln!(f, "\n{}", self.picture)?;
        let thread = std::thread::current();
        let test = thread.name().filter(|it| *it != "main").unwrap_or("THIS_TEST");
        write!(f, "to see it again: SEATRIAL_REPLAY='{}' cargo test {test}", self.plan)
    }
}

/// Prints a diagnosis in place of a campaign; it fails if the plan is inadmissible.
pub(crate) fn diagnosed(diagnosis: Diagnosis) -> Result<Report, Box<Failure>> {
    let began = Instant::now();
    println!("{diagnosis}");
    let Some(difference) = diagnosis.difference else {
        return Ok(Report { plans: 1, alone: [0; 3], elapsed: began.elapsed() });
    };
    let [one, other] = difference.first;
    let inadmissible = Some(format!("{one} or {other}"));
    let (plan, picture) = (diagnosis.plan, String::new());
    Err(Box::new(Failure { plan, violations: Vec::new(), picture, held: 0, inadmissible }))
}

/// What a campaign is to try.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) random: u32,
    pub(crate) seed: u64,
    pub(crate) twice: bool,
    pub(crate) replay: Option<Plan>,
}

/// Runs the reference and the plans; ends with the first one that fails.
pub(crate) fn campaign(setup: &Setup, wish: &Wish) -> Result<Report, Box<Failure>> {
    let began = Instant::now();
    let reference = setup.run(&Plan::default());
    let violations = judge_reference(&reference, &setup.rules);
    let inadmissible = differs(&reference, &setup.run(&Plan::default()));
    let failure = |plan: &Plan, violations, run: &Run, held, inadmissible| {
        let (plan, picture) = (plan.clone(), draw(&run.trace));
        Box::new(Failure { plan, violations, picture, held, inadmissible })
    };
    if !violations.is_empty() || inadmissible.is_some() {
        return Err(failure(&Plan::default(), violations, &reference, 0, inadmissible));
    }
    let choices = Choices::of(&reference);
    let plans = match &wish.replay {
        Some(plan) => vec![plan.clone()],
        None => choices.plans(wish.random, wish.seed),
    };
    for (held, plan) in plans.iter().enumerate() {
        let run = setup.run(plan);
        let violations = judge(&reference, &run, &setup.rules);
        let inadmissible = if wish.twice { differs(&run, &setup.run(plan)) } else { None };
        if let Some(first) = violations.first() {
            let plan = minimise(setup, &reference, plan.clone(), first.rule);
            let (run, again) = (setup.run(&plan), setup.run(&plan));
            let violations = judge(&reference, &run, &setup.rules);
            return Err(failure(&plan, violations, &run, held, differs(&run, &again)));
        }
        if inadmissible.is_some() {
            return Err(failure(plan, violations, &run, held, inadmissible));
        }
    }
    let alone = if wish.replay.is_some() { [0; 3] } else { choices.counts() };
    Ok(Report { plans: plans.len(), alone, elapsed: began.elapsed() })
}

/// Leaves out faults as long as the same rule is broken: none that is left can be spared.
fn minimise(setup: &Setup, reference: &Run, mut plan: Plan, rule: &str) -> Plan {
    let mut index = 0;
    while index < plan.faults.len() && plan.faults.len() > 1 {
        let smaller = plan.without(index);
        let violations = judge(reference, &setup.run(&smaller), &setup.rules);
        if violations.iter().any(|it| it.rule == rule) {
            plan = smaller;
            index = 0;
        } else {
            index += 1;
        }
    }
    plan
}

/// Where two histories differ. Their order may if the seeds of hash maps are not under control.
pub(crate) fn differs(one: &Run, other: &Run) -> Option<String> {
    let history = if cfg!(feature = "exact") { exact_history } else { ordered_history };
    let (one, other) = (history(one), history(other));
    let index = one.iter().zip(&other).position(|(one, other)| one != other);
    let index = index.or((one.len() != other.len()).then_some(one.len().min(other.len())))?;
    let line = |lines: &[String]| lines.get(index).map_or("(nothing)", |it| it).to_owned();
    Some(format!("{} or {}", line(&one), line(&other)))
}

/// What happened, with every time and every byte that was written.
pub(crate) fn exact_history(run: &Run) -> Vec<String> {
    let mut lines: Vec<_> =
        run.trace.iter().map(|it| format!("{:?} {:?}", it.at, it.what)).collect();
    lines.extend(run.changes.iter().map(|change| {
        let object = change.new.as_ref().or(change.old.as_ref());
        format!("{} {} {:?}", change.resource, change.key, object.map(ToString::to_string))
    }));
    lines
}

/// What happened, in an order that no hash map decides.
fn ordered_history(run: &Run) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for entry in &run.trace {
        if let What::Asked { request } = &entry.what {
            let (method, resource, status) = (&request.method, &request.resource, request.status);
            lines.push(format!("request {method} {resource} -> {status}"));
        }
    }
    for change in &run.changes {
        let object = change.new.as_ref().or(change.old.as_ref());
        let key = object.map(|object| stable_key(&change.key, object)).unwrap_or_default();
        let verb = match (&change.old, &change.new) {
            (None, _) => "create",
            (_, None) => "delete",
            _ => "change",
        };
        lines.push(format!("{verb} {} {key}", change.resource));
    }
    lines.extend(run.end.iter().map(|((resource, key), it)| format!("end {resource} {key} {it}")));
    lines.sort();
    lines
}
