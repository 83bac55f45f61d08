//! What a campaign has found.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::simulation::operations::{Operation, Survey};
use crate::simulation::{Event, Plan, Rights, Violation};

/// The broken promises and the objects that they are about: what distinguishes a failure.
pub(super) type Kind = BTreeSet<(&'static str, String)>;

/// How far a campaign has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The plans that were tried.
    pub tried: u64,
    /// Those that did not hold.
    pub failing: u64,
    /// The plans that there are.
    pub planned: u64,
    /// The time since the campaign began.
    pub elapsed: Duration,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tried, failing, planned, elapsed } = *self;
        let per_minute = tried as f64 * 60.0 / elapsed.as_secs_f64().max(1e-9);
        let left = (planned.saturating_sub(tried)) as f64 / per_minute.max(1e-9);
        write!(
            f,
            "{tried} of {planned} plans, {failing} do not hold, {per_minute:.0} a minute, {left:.1} minutes left"
        )
    }
}

/// A plan that does not hold.
#[derive(Clone, Debug, Default)]
pub struct Finding {
    /// The plan, with no fault that is not needed. Empty: it is wrong without any.
    pub plan: Plan,
    /// The broken promises.
    pub violations: Vec<Violation>,
    /// In how many runs the first of them was broken, and how many there were.
    pub seen: (u32, u32),
    /// The run: server, watch, controller, time downwards.
    pub picture: String,
    /// The whole run, as data.
    pub events: Vec<Event>,
    /// Where the output and the kubeconfig of the run are.
    pub folder: PathBuf,
    /// The end of the output of the processes.
    pub output: String,
    /// Some more plans that fail in the same way.
    pub also: Vec<Plan>,
    /// The operations after which it is wrong, if they were drawn.
    pub operations: Vec<Operation>,
}

impl Finding {
    /// Whether this promise is among the broken ones.
    pub(crate) fn breaks(&self, rule: &str) -> bool {
        self.violations.iter().any(|it| it.rule == rule)
    }
}

/// The outcome of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many plans were tried, and how many there are.
    pub plans: u64,
    /// How many plans there are, without those that were left out.
    pub planned: u64,
    /// How many [`at_most`](super::Drive::at_most) left out.
    pub left_out: u64,
    /// How many of them hold.
    pub held: u64,
    /// How many rules of one's own they were asked.
    pub rules: usize,
    /// The failures, each kind once.
    pub found: Vec<Finding>,
    /// The plans that failed in one run of five: they prove nothing.
    pub once: Vec<Finding>,
    /// What is not compared, and what is compared in another way, in lines.
    pub treated: Vec<String>,
    /// What the processes may do and what they do, if they have roles.
    pub rights: Option<Rights>,
    /// How many plans ran at once.
    pub jobs: usize,
    /// The memory of a process at its largest, in KiB; 0 where the system does not say.
    pub memory: u64,
    /// The counts of operations, if they were drawn: a plan is a sequence of them.
    pub survey: Option<Survey>,
    /// It was stopped before its end.
    pub is_stopped: bool,
    /// How long that took.
    pub elapsed: Duration,
    /// The command line that runs a plan again; `{plan}` stands for it.
    pub again: String,
}

impl Report {
    /// The exit code: 0 if all plans hold, 100 if a promise is broken, 4 if nothing ran, 5 if nothing can
    /// be said.
    pub fn exit_code(&self) -> u8 {
        match (self.found.is_empty(), self.is_stopped || !self.once.is_empty()) {
            (false, _) => 100,
            (true, true) => 5,
            (true, false) if self.plans == 0 => 4,
            (true, false) => 0,
        }
    }

    /// What a form says of plans that were left out.
    pub(crate) fn left_out(&self) -> Option<(String, u64)> {
        (self.left_out > 0).then(|| ("plans_left_out".to_owned(), self.left_out))
    }

    /// The command line that shows a failure again.
    pub(crate) fn again(&self, finding: &Finding) -> String {
        self.again.replace("{plan}", &finding.replayed())
    }

    fn finding(&self, f: &mut fmt::Formatter<'_>, it: &Finding) -> fmt::Result {
        let (seen, runs) = it.seen;
        let operations = it.operations.len();
        match it.plan.faults.is_empty() {
            true if operations > 0 => writeln!(f, "wrong after {operations} operations")?,
            true => writeln!(f, "wrong without any fault ({seen} of {runs} runs)")?,
            false => writeln!(f, "this plan fails ({seen} of {runs} runs): {}", it.plan)?,
        }
        it.operations.iter().try_for_each(|it| writeln!(f, "  {it}"))?;
        it.violations.iter().try_for_each(|it| writeln!(f, "{it}"))?;
        writeln!(f, "\n{}", it.picture)?;
        if !it.output.trim().is_empty() {
            let lines: Vec<_> = it.output.lines().rev().take(5).collect();
            writeln!(f, "the end of its output (all of it is in {}):", it.folder.display())?;
            lines.iter().rev().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        for plan in &it.also {
            writeln!(f, "it also fails so under {plan}")?;
        }
        writeln!(f, "to see it again: {}", self.again(it))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.found.iter().try_for_each(|it| self.finding(f, it))?;
        for it in &self.once {
            let (seen, runs) = it.seen;
            writeln!(f, "not confirmed, {seen} of {runs} runs: {}", it.plan)?;
            it.violations
                .iter()
                .try_for_each(|it| writeln!(f, "  {}", it.to_string().replace('\n', "\n  ")))?;
        }
        self.treated.iter().try_for_each(|line| writeln!(f, "({line})"))?;
        self.rights.iter().try_for_each(|rights| writeln!(f, "{rights}"))?;
        if let Some(survey) = &self.survey {
            return write!(f, "{survey}");
        }
        let Self { plans, planned, held, jobs, memory, .. } = self;
        let seconds = self.elapsed.as_secs_f64();
        let per_minute = *plans as f64 * 60.0 / seconds.max(1e-9);
        write!(f, "{held} of {planned} plans hold")?;
        if plans < planned {
            write!(f, ", {} were not tried", planned - plans)?;
        }
        if self.left_out > 0 {
            write!(f, ", {} more were left out", self.left_out)?;
        }
        write!(f, "; {seconds:.0} s, {per_minute:.0} plans a minute, {jobs} at once")?;
        match memory {
            0 => Ok(()),
            memory => write!(f, ", {} MiB each", memory / 1024),
        }
    }
}
