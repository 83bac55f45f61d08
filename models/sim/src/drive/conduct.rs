//! The campaign: the run without faults, and what is made of it.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::process::{Used, free_memory, tail};
use super::reference::Unstable;
use super::report::{Finding, Progress, Report};
use super::run::{DOWN, Ran, Setting};
use super::work::{ENOUGH, Work};
use crate::simulation::judge::{judge, judge_reference, unlawful, unstruck};
use crate::simulation::picture::{draw, events};
use crate::simulation::rights::Needs;
use crate::simulation::run::Run;
use crate::simulation::suggest::Choices;
use crate::simulation::{Plan, Violation};

/// The memory that is left for the rest of the machine and for each server, in KiB.
const ASIDE: u64 = 256 * 1024;
const SERVER: u64 = 16 * 1024;
/// More plans at once than this for each core are not run unless it is asked for.
const MOST: u64 = 8;

/// The wishes of a campaign.
#[derive(Debug)]
pub(super) struct Wish {
    pub(super) random: u64,
    pub(super) seed: u64,
    pub(super) at_most: Option<u64>,
    pub(super) part: (u64, u64),
    pub(super) is_dealt_by_name: bool,
    pub(super) replay: Option<Plan>,
    pub(super) jobs: Option<usize>,
    pub(super) time: Option<Duration>,
    pub(super) folder: PathBuf,
    pub(super) again: String,
}

impl Wish {
    /// The plans with their numbers.
    fn plans(&self, choices: &Choices) -> VecDeque<(u64, Plan)> {
        if let Some(plan) = &self.replay {
            return VecDeque::from([(0, plan.clone())]); // whichever part it was in
        }
        let (part, parts) = self.part;
        let mine = (0..).zip(choices.plans(self.random, self.seed));
        let dealt = |(number, plan): &(u64, Plan)| match self.is_dealt_by_name {
            true => digest(&plan.to_string()),
            false => *number,
        };
        let mine = mine.filter(|it| dealt(it) % parts.max(1) == part);
        mine.collect()
    }
}

/// The same number for the same text on every machine (FNV-1a).
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A campaign of which the runs without faults are made.
pub(super) struct Begun {
    pub(super) report: Report,
    /// Those runs, if nothing is wrong with them.
    pub(super) good: Option<([Ran; 3], Unstable)>,
}

/// Makes the runs without faults.
pub(super) fn begin(setting: &mut Setting, wish: &Wish, began: Instant) -> io::Result<Begun> {
    let (runs, unstable) = match setting.reference(&wish.folder) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {
            let elapsed = began.elapsed();
            let report = Report { is_stopped: true, elapsed, ..Report::default() };
            return Ok(Begun { report, good: None });
        }
        done => done?,
    };
    let mut treated: Vec<String> = setting.rules.told();
    treated.extend(setting.learned.told());
    treated.extend(unstable.told());
    let spared = runs[0].run.ignored.iter();
    treated
        .extend(spared.map(|it| format!("not struck: webhook {it}, its failurePolicy is Ignore")));
    let rules = setting.rules.count();
    let mut report = Report { treated, rules, again: wish.again.clone(), ..Report::default() };
    let findings = runs.each_ref().map(|it| {
        let violations = judge_reference(&it.run, &setting.rules);
        (!violations.is_empty()).then(|| finding(Plan::default(), violations, it))
    });
    report.memory = runs.iter().map(|it| it.used.memory).max().unwrap_or(0);
    report.elapsed = began.elapsed();
    let good = (!convict(findings, &mut report)).then_some((runs, unstable));
    Ok(Begun { report, good })
}

/// Runs everything.
pub(super) fn conduct(
    mut setting: Setting,
    wish: &Wish,
    tell: &(dyn Fn(Progress) + Sync),
) -> io::Result<Report> {
    let began = Instant::now();
    let Begun { mut report, good } = begin(&mut setting, wish, began)?;
    let Some((runs, unstable)) = good else { return Ok(report) };
    let reference = &runs[0];
    let down = (setting.rest * DOWN).as_secs().max(1) as u32;
    let mut mine = wish.plans(&Choices::lasting(&reference.run, down));
    let most = wish.at_most.unwrap_or(u64::MAX) as usize;
    report.left_out = mine.len().saturating_sub(most) as u64;
    mine.truncate(most);
    report.planned = mine.len() as u64;
    let busy = began.elapsed();
    report.jobs = wish.jobs.unwrap_or_else(|| at_once(&runs, busy)).clamp(1, mine.len().max(1));
    let needs = Mutex::new(Needs::new());
    let learn = |run: &Run| {
        let mut needs = needs.lock().unwrap_or_else(PoisonError::into_inner);
        for (asked, need) in &run.needs {
            needs.entry(asked.clone()).or_insert_with(|| need.clone());
        }
    };
    runs.iter().for_each(|it| learn(&it.run));
    let run = |plan: &Plan, number: u64, time: u32| {
        let folder = wish.folder.join(format!("plan-{:04}-{time}", number + 1));
        let mut ran = setting.run(plan, 0, folder)?;
        unstable.leave_out(&mut ran.run.end);
        learn(&ran.run);
        let mut violations = judge(&reference.run, &ran.run, (&setting.rules, &setting.learned));
        let granted = setting.granted.as_ref();
        violations.extend(granted.and_then(|it| unlawful(&ran.run, it, Some(&reference.run))));
        if wish.replay.is_some() {
            violations.extend(unstruck(&ran.run, plan));
        }
        Ok((!violations.is_empty()).then(|| finding(plan.clone(), violations, &ran)))
    };
    let until = wish.time.map(|it| began + it);
    Work::new(&run, mine, until).conduct(&mut report, began, tell)?;
    if let Some(granted) = &setting.granted {
        let lacking = runs.iter().find_map(|it| Some((it, unlawful(&it.run, granted, None)?)));
        let lacking = lacking.map(|(ran, it)| finding(Plan::default(), vec![it], ran));
        report.found.splice(0..0, lacking);
        let needs = needs.into_inner().unwrap_or_else(PoisonError::into_inner);
        report.rights = Some(granted.rights(&needs));
    }
    report.elapsed = began.elapsed();
    Ok(report)
}

/// Enters into a report what is wrong without any fault. False: nothing is.
fn convict(runs: [Option<Finding>; 3], report: &mut Report) -> bool {
    let wrong: Vec<_> = runs.into_iter().flatten().collect();
    let count = wrong.len() as u32;
    let place = if count >= ENOUGH { &mut report.found } else { &mut report.once };
    place.extend(wrong.into_iter().next().map(|it| Finding { seen: (count, 3), ..it }));
    count > 0
}

/// How many plans may run at once: as the memory allows, and the time that the processes compute.
pub(super) fn at_once(runs: &[Ran; 3], elapsed: Duration) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, |it| it.get() as u64);
    let Used { memory, .. } =
        runs.iter().map(|it| it.used).max_by_key(|it| it.memory).unwrap_or_default();
    let room = free_memory().map_or(u64::MAX, |it| it.saturating_sub(ASIDE) / (memory + SERVER));
    // Half of the machine is left, for a process that is late behaves otherwise.
    let time = runs.iter().map(|it| it.used.time).max().unwrap_or_default();
    let share = (elapsed.as_millis() / (2 * time.as_millis().max(1))) as u64;
    (cores * MOST).min(room).min(cores * share.max(1)).max(1) as usize
}

fn finding(plan: Plan, violations: Vec<Violation>, ran: &Ran) -> Finding {
    let objects: Vec<_> = violations.iter().flat_map(|it| it.objects.clone()).collect();
    Finding {
        plan,
        violations,
        seen: (1, 1),
        picture: draw(&ran.run.trace, &objects),
        events: events(&ran.run.trace),
        folder: ran.folder.clone(),
        output: output(&ran.folder),
        also: Vec::new(),
        operations: Vec::new(),
    }
}

/// The ends of all outputs of a run.
fn output(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut logs: Vec<_> = entries.map(|it| it.path()).collect();
    logs.retain(|it| it.extension().is_some_and(|it| it == "log"));
    logs.sort();
    logs.iter().map(|it| tail(it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_run_of_three_without_faults_proves_nothing_and_two_do() {
        let wrong = || Some(Finding::default());
        for (runs, found, once, code) in [
            ([None, None, None], 0, 0, 4),
            ([None, wrong(), None], 0, 1, 5),
            ([wrong(), None, wrong()], 1, 0, 100),
            ([wrong(), wrong(), wrong()], 1, 0, 100),
        ] {
            let count = runs.iter().flatten().count() as u32;
            let mut report = Report::default();
            assert_eq!(convict(runs, &mut report), count > 0);
            assert_eq!((report.found.len(), report.once.len()), (found, once));
            assert_eq!(report.exit_code(), code);
            let told = report.found.iter().chain(&report.once).next();
            assert_eq!(told.map(|it| it.seen), (count > 0).then_some((count, 3)));
        }
    }
}
