//! The campaign: many plans at once, and every failure seen again.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::process::{Used, free_memory, tail};
use super::reference::Unstable;
use super::report::{Finding, Kind, Progress, Report};
use super::run::{Ran, Setting};
use crate::simulation::judge::{judge, judge_reference, unstruck};
use crate::simulation::picture::draw;
use crate::simulation::suggest::Choices;
use crate::simulation::{Plan, Violation};

/// How often a plan that fails is run in all.
const TIMES: u32 = 5;
/// A plan fails if it fails in this number of its runs: once may be the machine.
const ENOUGH: u32 = 2;
/// How many distinct failures are looked for.
const KINDS: usize = 8;
/// How many more plans are told of a failure.
const ALSO: usize = 2;
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
    pub(super) replay: Option<Plan>,
    pub(super) jobs: Option<usize>,
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
        let mine = mine.filter(|(number, _)| number % parts.max(1) == part);
        mine.take(self.at_most.unwrap_or(u64::MAX) as usize).collect()
    }
}

/// What the workers share.
struct Work<'a> {
    setting: &'a Setting,
    reference: &'a Ran,
    unstable: &'a Unstable,
    wish: &'a Wish,
    plans: Mutex<VecDeque<(u64, Plan)>>,
    found: Mutex<Found>,
    held: AtomicU64,
    tried: AtomicU64,
}

#[derive(Default)]
struct Found {
    /// Each failure with what distinguishes it; none while it is seen again.
    findings: Vec<(Kind, Option<Finding>)>,
    /// Plans that failed like one that is being seen again: they count if that one is sure, and are tried
    /// again if it is not.
    waiting: Vec<(Kind, (u64, Plan))>,
    once: Vec<Finding>,
    error: Option<io::Error>,
}

/// Runs everything.
pub(super) fn conduct(
    mut setting: Setting,
    wish: &Wish,
    tell: &(dyn Fn(Progress) + Sync),
) -> io::Result<Report> {
    let began = Instant::now();
    let (runs, unstable) = match setting.reference(&wish.folder) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {
            return Ok(Report { is_stopped: true, elapsed: began.elapsed(), ..Report::default() });
        }
        done => done?,
    };
    let mut treated: Vec<String> = setting.rules.told();
    treated.extend(setting.learned.told());
    treated.extend(unstable.told());
    let mut report = Report { treated, again: wish.again.clone(), ..Report::default() };
    let judged = runs.each_ref().map(|it| judge_reference(&it.run, &setting.rules));
    let wrong = judged.iter().filter(|it| !it.is_empty()).count() as u32;
    if let Some(index) = judged.iter().position(|it| !it.is_empty()) {
        let finding = finding(Plan::default(), judged[index].clone(), &runs[index]);
        let place = if wrong >= ENOUGH { &mut report.found } else { &mut report.once };
        place.push(Finding { seen: (wrong, 3), ..finding });
        report.elapsed = began.elapsed();
        return Ok(report);
    }
    let reference = &runs[0];
    let mine = wish.plans(&Choices::of(&reference.run));
    report.planned = mine.len() as u64;
    report.memory = runs.iter().map(|it| it.used.memory).max().unwrap_or(0);
    let busy = began.elapsed();
    report.jobs = wish.jobs.unwrap_or_else(|| at_once(&runs, busy)).clamp(1, mine.len().max(1));
    let work = Work {
        setting: &setting,
        reference,
        unstable: &unstable,
        wish,
        plans: Mutex::new(mine),
        found: Mutex::default(),
        held: AtomicU64::new(0),
        tried: AtomicU64::new(0),
    };
    std::thread::scope(|scope| {
        for _ in 0..report.jobs {
            scope.spawn(|| work.go_on(&report, began, tell));
        }
    });
    report.plans = work.tried.into_inner();
    report.held = work.held.into_inner();
    let found = work.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = found.error {
        let is_asked_for = error.kind() == io::ErrorKind::Interrupted;
        if !is_asked_for && found.findings.iter().all(|it| it.1.is_none()) {
            return Err(error);
        }
        if !is_asked_for {
            report.treated.push(format!("the campaign ended early: {error}"));
        }
        report.is_stopped = true;
    }
    report.found = found.findings.into_iter().filter_map(|it| it.1).collect();
    report.found.sort_by_key(|it| (it.plan.faults.len(), it.plan.to_string()));
    report.once = found.once;
    report.elapsed = began.elapsed();
    Ok(report)
}

/// How many plans may run at once: as the memory allows, and the time that the processes compute.
fn at_once(runs: &[Ran; 3], elapsed: Duration) -> usize {
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
        folder: ran.folder.clone(),
        output: output(&ran.folder),
        also: Vec::new(),
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

fn kind(violations: &[Violation]) -> Kind {
    let of = |it: &Violation| match it.objects.is_empty() {
        true => vec![(it.rule, String::new())],
        false => it.objects.iter().map(|object| (it.rule, object.clone())).collect(),
    };
    violations.iter().flat_map(of).collect()
}

impl Work<'_> {
    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one plan after the other.
    fn go_on(&self, report: &Report, began: Instant, tell: &(dyn Fn(Progress) + Sync)) {
        loop {
            let found = self.found();
            let sure = found.findings.iter().filter(|it| it.1.is_some()).count();
            if found.error.is_some() || sure >= KINDS {
                return;
            }
            drop(found);
            let next = self.plans.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some((number, plan)) = next else { return };
            match self.attempt(number, &plan) {
                Ok(Some(true)) => drop(self.held.fetch_add(1, Ordering::Relaxed)),
                Ok(Some(false)) => {}
                Ok(None) => continue,
                Err(error) => {
                    self.found().error.get_or_insert(error);
                    return;
                }
            }
            let tried = self.tried.fetch_add(1, Ordering::Relaxed) + 1;
            let failing = tried - self.held.load(Ordering::Relaxed).min(tried);
            tell(Progress { tried, failing, planned: report.planned, elapsed: began.elapsed() });
        }
    }

    fn run(&self, plan: &Plan, number: u64, time: u32) -> io::Result<(Ran, Vec<Violation>)> {
        let folder = self.wish.folder.join(format!("plan-{:04}-{time}", number + 1));
        let mut ran = self.setting.run(plan, 0, folder)?;
        self.unstable.leave_out(&mut ran.run.end);
        let mut violations =
            judge(&self.reference.run, &ran.run, (&self.setting.rules, &self.setting.learned));
        if self.wish.replay.is_some() {
            violations.extend(unstruck(&ran.run, plan));
        }
        Ok((ran, violations))
    }

    /// Tries a plan. False: it does not hold; none: it waits for one that fails in the same way.
    fn attempt(&self, number: u64, plan: &Plan) -> io::Result<Option<bool>> {
        let (ran, violations) = self.run(plan, number, 1)?;
        if violations.is_empty() {
            return Ok(Some(true));
        }
        let kind = kind(&violations);
        let mut found = self.found();
        match found.findings.iter_mut().find(|it| it.0 == kind) {
            Some((_, Some(known))) => {
                known.also.extend((known.also.len() < ALSO).then(|| plan.clone()));
                return Ok(Some(false));
            }
            Some((_, None)) => {
                found.waiting.push((kind, (number, plan.clone())));
                return Ok(None);
            }
            None => {}
        }
        found.findings.push((kind.clone(), None));
        drop(found);
        let rule = violations.first().map_or("", |it| it.rule);
        let mut finding = finding(plan.clone(), violations, &ran);
        finding.seen = (1 + self.again(plan, number, rule)?, TIMES);
        let is_sure = finding.seen.0 >= ENOUGH;
        self.settle(&kind, is_sure.then(|| finding.clone()));
        if !is_sure {
            self.found().once.push(finding);
            return Ok(Some(false));
        }
        let small = self.minimised(finding, number, rule)?;
        if let Some((_, Some(place))) = self.found().findings.iter_mut().find(|it| it.0 == kind) {
            place.also.retain(|it| *it != small.plan);
            *place = Finding { also: std::mem::take(&mut place.also), ..small };
        }
        Ok(Some(false))
    }

    /// Says what became of a failure, and lets the plans go on that have waited for that.
    fn settle(&self, kind: &Kind, sure: Option<Finding>) {
        let mut found = self.found();
        let (same, others) =
            std::mem::take(&mut found.waiting).into_iter().partition(|it| it.0 == *kind);
        found.waiting = others;
        let same: Vec<_> = Vec::into_iter(same).map(|(_, it)| it).collect();
        found.findings.retain(|it| it.0 != *kind);
        let Some(mut finding) = sure else {
            drop(found);
            let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
            plans.extend(same);
            return;
        };
        self.tried.fetch_add(same.len() as u64, Ordering::Relaxed);
        finding.also.extend(same.into_iter().map(|(_, plan)| plan).take(ALSO));
        found.findings.push((kind.clone(), Some(finding)));
    }

    /// How many of the other runs of a plan break the rule as well.
    fn again(&self, plan: &Plan, number: u64, rule: &str) -> io::Result<u32> {
        let mut seen = 0;
        for time in 2..=TIMES {
            let (_, violations) = self.run(plan, number, time)?;
            seen += u32::from(violations.iter().any(|it| it.rule == rule));
        }
        Ok(seen)
    }

    /// The same failure by as few faults as it needs: a fault goes if two runs fail without it. What fails
    /// once afterwards was the machine, and the plan stays as it was.
    fn minimised(&self, finding: Finding, number: u64, rule: &str) -> io::Result<Finding> {
        let (mut best, mut index, mut time) = (finding.clone(), 0, TIMES);
        while index < best.plan.faults.len() && best.plan.faults.len() > 1 {
            let plan = best.plan.without(index);
            index += 1;
            let mut failed = None;
            for _ in 0..2 {
                time += 1;
                let (ran, violations) = self.run(&plan, number, time)?;
                failed = violations.iter().any(|it| it.rule == rule).then_some((ran, violations));
                if failed.is_none() {
                    break;
                }
            }
            if let Some((ran, violations)) = failed {
                best = self::finding(plan, violations, &ran);
                index = 0;
            }
        }
        if best.plan != finding.plan {
            best.seen = (1 + self.again(&best.plan, number, rule)?, TIMES);
        }
        Ok(if best.seen.0 >= ENOUGH { best } else { finding })
    }
}
