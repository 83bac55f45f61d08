//! The result of a campaign: all plans hold, or the first one that does not.

use std::fmt;
use std::time::{Duration, Instant};

use super::doctor::Diagnosis;
use super::judge::Violation;
use super::picture::Event;
use super::plan::Plan;

/// The counts of a campaign in which all plans hold.
#[derive(Clone, Debug)]
pub struct Report {
    /// How many plans the controller was run under.
    pub plans: u64,
    /// How many plans there are: more than were tried if there was a bound.
    pub planned: u64,
    /// How many of the plans that were tried are only a crash, a stale restart, or an unobserved
    /// change.
    pub alone: [u64; 3],
    /// How long that took.
    pub elapsed: Duration,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plans, planned, alone: [crashes, stale, unobserved], .. } = *self;
        match plans == planned {
            true => write!(f, "{plans} plans hold")?,
            false => write!(f, "{plans} of {planned} plans tried, and they hold")?,
        }
        let random = plans.saturating_sub(crashes + stale + unobserved);
        let seconds = self.elapsed.as_secs_f64();
        let speed = plans as f64 / seconds.max(1e-9);
        write!(
            f,
            " ({crashes} crashes, {stale} stale restarts, {unobserved} unobserved changes, {random} others) in {seconds:.2} s, {speed:.0} plans/s",
        )
    }
}

/// The verdict on a plan that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A promise is broken, in both runs of the plan.
    Violated,
    /// Two runs of the plan differ, so neither proves anything: the controller depends on what is not
    /// under control.
    Inadmissible,
}

/// A plan under which something is wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The plan, with no fault that is not needed. Empty: it is wrong without any.
    pub plan: Plan,
    /// The broken promises.
    pub violations: Vec<Violation>,
    /// The run: server, watch, controller, time downwards.
    pub picture: String,
    /// The whole run, as data.
    pub events: Vec<Event>,
    /// The lines that two runs of the plan are compared by.
    pub history: Vec<String>,
    /// How many plans held before.
    pub held: u64,
    /// The first event in which two runs of the plan differ: the controller depends on what is not
    /// under control, such as the wall clock.
    pub inadmissible: Option<String>,
}

impl Failure {
    /// Whether something is wrong with the controller, or nothing can be said about it.
    pub fn verdict(&self) -> Verdict {
        if self.inadmissible.is_some() { Verdict::Inadmissible } else { Verdict::Violated }
    }
}

impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plan, held) = (&self.plan, self.held);
        match (self.verdict(), plan.faults.is_empty()) {
            (Verdict::Violated, true) => writeln!(f, "the controller is wrong without any fault")?,
            (Verdict::Violated, _) => {
                writeln!(f, "{held} plans hold, and this one fails: {plan}")?;
            }
            (Verdict::Inadmissible, true) => {
                writeln!(f, "the controller is inadmissible without any fault")?;
            }
            (Verdict::Inadmissible, _) => {
                writeln!(f, "{held} plans hold, and this one is inadmissible: {plan}")?;
            }
        }
        if let Some(difference) = &self.inadmissible {
            writeln!(f, "two runs of it differ, first in: {difference}")?;
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
        return Ok(Report { plans: 1, planned: 1, alone: [0; 3], elapsed: began.elapsed() });
    };
    let [one, other] = difference.first;
    Err(Box::new(Failure {
        plan: diagnosis.plan,
        violations: Vec::new(),
        picture: String::new(),
        events: Vec::new(),
        history: Vec::new(),
        held: 0,
        inadmissible: Some(format!("{one} or {other}")),
    }))
}
