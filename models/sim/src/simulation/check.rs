//! The result of a campaign: all plans hold, or the first one that does not.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::doctor::Diagnosis;
use super::exact::is_exact;
use super::judge::Violation;
use super::orders::Orders;
use super::picture::Event;
use super::plan::Plan;
use super::rights::Rights;

/// The counts of a campaign in which all plans hold.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many plans the controller was run under.
    pub plans: u64,
    /// How many plans there are: more than were tried if there was a bound.
    pub planned: u64,
    /// How many of the plans that were tried are only a crash, a stale restart, or an unobserved
    /// change.
    pub alone: [u64; 3],
    /// How many of them ran in two ways, where chance is not under control, and how many events in a
    /// thousand two such runs did not share at most.
    pub apart: (u64, u64),
    /// The orders that were tried, all of which hold, if they were asked for.
    pub orders: Option<Orders>,
    /// What is not compared, and what is compared in another way, in lines.
    pub treated: Vec<String>,
    /// How many requests a minute each process of a system sends at rest, without faults.
    pub per_minute: Vec<(String, u32)>,
    /// What the controller may do and what it does, if it has roles.
    pub rights: Option<Rights>,
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
        )?;
        if let (plans @ 1.., share) = self.apart {
            let (whole, tenth) = (share / 10, share % 10);
            write!(
                f,
                "\n  {plans} of them ran in two ways, of whose events at most {whole}.{tenth} % differ, and hold both"
            )?;
        }
        self.orders.iter().try_for_each(|it| write!(f, "\n  {it}"))?;
        let each = self.per_minute.iter().map(|(name, count)| format!("{name} {count}"));
        let each = each.collect::<Vec<_>>().join(", ");
        if !each.is_empty() {
            write!(f, "\n  requests a minute at rest: {each}")?;
        }
        self.treated.iter().try_for_each(|line| write!(f, "\n  {line}"))?;
        self.rights.iter().try_for_each(|rights| write!(f, "\n{rights}"))
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
#[derive(Clone, Debug, Default)]
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
    /// Chance and clocks were under control.
    pub is_exact: bool,
    /// What is not compared, and what is compared in another way, in lines.
    pub treated: Vec<String>,
    /// Some more plans that fail in the same way.
    pub also: Vec<Plan>,
    /// The failures of another kind.
    pub others: Vec<Other>,
    /// How many plans were not tried any more.
    pub untried: u64,
    /// The orders that were tried, if they were asked for.
    pub orders: Option<Orders>,
    /// What the controller may do and what it does under all plans, if it has roles.
    pub rights: Option<Rights>,
}

/// A failure of another kind than the first one.
#[derive(Clone, Debug)]
pub struct Other {
    /// Some plans that fail so; the first one has no fault that is not needed.
    pub plans: Vec<Plan>,
    /// The broken promises.
    pub violations: Vec<Violation>,
    /// The first event in which two runs of the plan differ.
    pub inadmissible: Option<String>,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "another failure: {}", plans(&self.plans))?;
        if let Some(difference) = &self.inadmissible {
            write!(f, "\n  inadmissible: {difference}")?;
        }
        for violation in &self.violations {
            write!(f, "\n  {}", violation.to_string().replace('\n', "\n  "))?;
        }
        writeln!(f)
    }
}

/// Plans, with commas between them.
fn plans(plans: &[Plan]) -> String {
    plans.iter().map(Plan::to_string).collect::<Vec<_>>().join(", ")
}

impl Failure {
    /// Comes after a failure without any fault, as another one.
    pub(crate) fn after(self, first: Self) -> Self {
        let plans = std::iter::once(self.plan).chain(self.also).collect();
        let Self { violations, inadmissible, .. } = self;
        let own = Other { plans, violations, inadmissible };
        let others = std::iter::once(own).chain(self.others).collect();
        Self { others, held: self.held, untried: self.untried, ..first }
    }

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
        self.treated.iter().try_for_each(|line| writeln!(f, "({line})"))?;
        writeln!(f, "\n{}", self.picture)?;
        if !self.also.is_empty() {
            writeln!(f, "it also fails so under {}", plans(&self.also))?;
        }
        self.others.iter().try_for_each(|other| write!(f, "{other}"))?;
        self.rights.iter().try_for_each(|rights| writeln!(f, "\n{rights}"))?;
        match self.untried {
            0 => {}
            untried => writeln!(f, "{untried} plans were not tried any more")?,
        }
        match self.verdict() {
            Verdict::Violated => {}
            Verdict::Inadmissible if self.is_exact => writeln!(
                f,
                "to see what it depends on: SEATRIAL_DOCTOR=1 {} -- --nocapture\n(or compare the broken promises and the ends alone: `.ordered()`)",
                command(&self.plan)
            )?,
            Verdict::Inadmissible => writeln!(
                f,
                "to control chance and clocks (Linux): seatrial-sim = {{ ..., features = [\"simulation\"] }}, without `ordered`"
            )?,
        }
        write!(f, "to see it again: {}", command(&self.plan))?;
        self.orders.iter().try_for_each(|it| write!(f, "\n{it}"))
    }
}

/// The command that runs this test under a plan.
fn command(plan: &Plan) -> String {
    command_with("SEATRIAL_REPLAY", plan)
}

/// The command that runs this test with a variable, as exactly as the environment tells it.
pub(super) fn command_with(name: &str, value: impl fmt::Display) -> String {
    let thread = std::thread::current();
    let test = thread.name().filter(|it| *it != "main").unwrap_or("THIS_TEST");
    let package = std::env::var("CARGO_PKG_NAME").ok();
    let program = std::env::current_exe().ok();
    let stem = program.as_deref().and_then(Path::file_stem).and_then(OsStr::to_str);
    // Cargo adds a hash to the name of the target.
    let target = stem.and_then(|it| it.rsplit_once('-')).map(|(target, _)| target);
    let place = match (package, target) {
        (Some(package), Some(target)) if package.replace('-', "_") == target => {
            format!("-p {package} --lib ")
        }
        (Some(package), Some(target)) => format!("-p {package} --test {target} "),
        _ => String::new(),
    };
    format!("{name}='{value}' cargo test {place}{test}")
}

/// Prints a diagnosis in place of a campaign; it fails if the plan is inadmissible.
pub(crate) fn diagnosed(diagnosis: Diagnosis) -> Result<Report, Box<Failure>> {
    let began = Instant::now();
    println!("{diagnosis}");
    let Some(difference) = diagnosis.difference else {
        return Ok(Report { plans: 1, planned: 1, elapsed: began.elapsed(), ..Report::default() });
    };
    let [one, other] = difference.first;
    Err(Box::new(Failure {
        plan: diagnosis.plan,
        inadmissible: Some(format!("{one} or {other}")),
        is_exact: is_exact(),
        ..Failure::default()
    }))
}
