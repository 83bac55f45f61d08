//! The plans of a campaign: many at once, and every failure seen again.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::alike::{Alike, kind};
use super::report::{Finding, Kind, Progress, Report};
use crate::simulation::Plan;

/// How often a plan that fails is run in all.
const TIMES: u32 = 5;
/// A plan fails if it fails in this number of its runs: once may be the machine.
pub(super) const ENOUGH: u32 = 2;
/// How many distinct failures are looked for.
const KINDS: usize = 8;

/// Runs the plan of a number once more, and returns how it fails, if it does.
pub(super) type Attempt<'a> = dyn Fn(&Plan, u64, u32) -> io::Result<Option<Finding>> + Sync + 'a;

/// What the workers share.
pub(super) struct Work<'a> {
    run: &'a Attempt<'a>,
    plans: Mutex<VecDeque<(u64, Plan)>>,
    found: Mutex<Found>,
    held: AtomicU64,
    tried: AtomicU64,
    /// No plan begins after that.
    until: Option<Instant>,
    is_late: AtomicBool,
}

#[derive(Default)]
struct Found {
    failures: Vec<Alike>,
    /// The failures that are sure, each as it is told.
    findings: Vec<Finding>,
    /// Plans that failed like one that is being seen again: they count if that one is sure, and are tried
    /// again if it is not.
    waiting: Vec<(Kind, (u64, Finding))>,
    once: Vec<Finding>,
    error: Option<io::Error>,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        run: &'a Attempt<'a>,
        plans: VecDeque<(u64, Plan)>,
        until: Option<Instant>,
    ) -> Self {
        Self {
            run,
            plans: Mutex::new(plans),
            found: Mutex::default(),
            held: AtomicU64::new(0),
            tried: AtomicU64::new(0),
            until,
            is_late: AtomicBool::new(false),
        }
    }

    /// Tries all plans, as many at once as the report says, and enters into it what was found.
    pub(super) fn conduct(
        self,
        report: &mut Report,
        began: Instant,
        tell: &(dyn Fn(Progress) + Sync),
    ) -> io::Result<()> {
        std::thread::scope(|scope| {
            for _ in 0..report.jobs {
                scope.spawn(|| self.go_on(report.planned, began, tell));
            }
        });
        let failures = Mutex::new(std::mem::take(&mut self.found().failures).into_iter());
        let next = || failures.lock().unwrap_or_else(PoisonError::into_inner).next();
        std::thread::scope(|scope| {
            for _ in 0..report.jobs {
                scope.spawn(|| std::iter::from_fn(next).for_each(|it| self.tell(&it)));
            }
        });
        report.plans = self.tried.into_inner();
        report.held = self.held.into_inner();
        report.is_stopped = self.is_late.into_inner();
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = found.error {
            let is_asked_for = error.kind() == io::ErrorKind::Interrupted;
            if !is_asked_for && found.findings.is_empty() {
                return Err(error);
            }
            if !is_asked_for {
                report.treated.push(format!("the campaign ended early: {error}"));
            }
            report.is_stopped = true;
        }
        (report.found, report.once) = (found.findings, found.once);
        for all in [&mut report.found, &mut report.once] {
            all.sort_by_key(|it| (it.plan.faults.len(), it.plan.to_string()));
        }
        Ok(())
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn plans(&self) -> MutexGuard<'_, VecDeque<(u64, Plan)>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one plan after the other.
    fn go_on(&self, planned: u64, began: Instant, tell: &(dyn Fn(Progress) + Sync)) {
        loop {
            let found = self.found();
            let sure = found.failures.iter().filter(|it| it.sure.is_some()).count();
            if found.error.is_some() || sure >= KINDS {
                return;
            }
            drop(found);
            if self.until.is_some_and(|it| Instant::now() >= it) && !self.plans().is_empty() {
                self.is_late.store(true, Ordering::Relaxed);
                return;
            }
            let next = self.plans().pop_front();
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
            tell(Progress { tried, failing, planned, elapsed: began.elapsed() });
        }
    }

    /// Tries a plan. False: it does not hold; none: it waits for one that fails in the same way.
    fn attempt(&self, number: u64, plan: &Plan) -> io::Result<Option<bool>> {
        let Some(mut finding) = (self.run)(plan, number, 1)? else { return Ok(Some(true)) };
        let kind = kind(&finding.violations);
        let mut found = self.found();
        match found.failures.iter_mut().find(|it| it.kind == kind) {
            Some(known) if known.sure.is_some() => {
                known.add(number, finding);
                return Ok(Some(false));
            }
            Some(_) => {
                found.waiting.push((kind, (number, finding)));
                return Ok(None);
            }
            None => {}
        }
        found.failures.push(Alike::new(kind.clone(), None));
        drop(found);
        let rule = finding.violations.first().map_or("", |it| it.rule);
        finding.seen = (1 + self.again(plan, number, rule)?, TIMES);
        let is_sure = finding.seen.0 >= ENOUGH;
        self.settle(&kind, is_sure.then(|| (number, finding.clone())));
        if !is_sure {
            self.found().once.push(finding);
        }
        Ok(Some(false))
    }

    /// Says what became of a failure, and lets the plans go on that have waited for that.
    fn settle(&self, kind: &Kind, sure: Option<(u64, Finding)>) {
        let mut found = self.found();
        let (same, others) =
            std::mem::take(&mut found.waiting).into_iter().partition(|it| it.0 == *kind);
        found.waiting = others;
        let same = Vec::into_iter(same).map(|(_, it)| it);
        found.failures.retain(|it| it.kind != *kind);
        if sure.is_none() {
            drop(found);
            self.plans().extend(same.map(|(number, it)| (number, it.plan)));
            return;
        }
        self.tried.fetch_add(same.len() as u64, Ordering::Relaxed);
        let mut failure = Alike::new(kind.clone(), sure);
        same.for_each(|(number, it)| failure.add(number, it));
        found.failures.push(failure);
    }

    /// Tells a failure by the plan that leads it, with no fault that it does not need.
    fn tell(&self, failure: &Alike) {
        let Some((number, sure)) = &failure.sure else { return };
        let mut leads = (*number, sure.clone());
        let small = self.lead(failure, &mut leads);
        let mut found = self.found();
        let told = small.unwrap_or_else(|error| {
            found.error.get_or_insert(error);
            leads.1
        });
        let also = failure.also(leads.0, &told.plan);
        found.findings.push(Finding { also, ..told });
    }

    fn lead(&self, failure: &Alike, leads: &mut (u64, Finding)) -> io::Result<Finding> {
        let rule = leads.1.violations.first().map_or("", |it| it.rule);
        for (number, better) in failure.better() {
            let seen = 1 + self.again(&better.plan, *number, rule)?;
            if seen >= ENOUGH {
                *leads = (*number, Finding { seen: (seen, TIMES), ..better.clone() });
                break;
            }
        }
        self.minimised(leads.1.clone(), leads.0, rule)
    }

    /// How many of the other runs of a plan break the rule as well.
    fn again(&self, plan: &Plan, number: u64, rule: &str) -> io::Result<u32> {
        let mut seen = 0;
        for time in 2..=TIMES {
            seen += u32::from((self.run)(plan, number, time)?.is_some_and(|it| it.breaks(rule)));
        }
        Ok(seen)
    }

    /// The same failure by as few faults as it needs: a fault goes if two runs fail without it. A failure
    /// that comes in each run has two runs for that, and another one five.
    fn minimised(&self, finding: Finding, number: u64, rule: &str) -> io::Result<Finding> {
        let runs = if finding.seen.0 == TIMES { ENOUGH } else { TIMES };
        let (mut best, mut index, mut time) = (finding.clone(), 0, TIMES);
        while index < best.plan.faults.len() && best.plan.faults.len() > 1 {
            let plan = best.plan.without(index);
            index += 1;
            let (mut seen, mut failed) = (0, None);
            for left in (0..runs).rev() {
                time += 1;
                let failing = (self.run)(&plan, number, time)?.filter(|it| it.breaks(rule));
                seen += u32::from(failing.is_some());
                failed = failing.or(failed);
                if seen >= ENOUGH || seen + left < ENOUGH {
                    break;
                }
            }
            if let Some(smaller) = failed.filter(|_| seen >= ENOUGH) {
                (best, index) = (smaller, 0);
            }
        }
        if best.plan != finding.plan {
            best.seen = (1 + self.again(&best.plan, number, rule)?, TIMES);
        }
        Ok(if best.seen.0 >= ENOUGH { best } else { finding })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    use super::*;
    use crate::simulation::Violation;

    fn plan(text: &str) -> Plan {
        text.parse().expect("it is a plan")
    }

    fn plans(texts: &[&str]) -> VecDeque<(u64, Plan)> {
        (0..).zip(texts.iter().map(|it| plan(it))).collect()
    }

    fn broken(plan: &Plan, rule: &'static str) -> Option<Finding> {
        let violation = Violation { rule, text: Vec::new(), objects: Vec::new() };
        Some(Finding { plan: plan.clone(), violations: vec![violation], ..Finding::default() })
    }

    fn conduct(run: &Attempt<'_>, plans: VecDeque<(u64, Plan)>, jobs: usize) -> io::Result<Report> {
        let mut report = Report { jobs, planned: plans.len() as u64, ..Report::default() };
        let began = Instant::now();
        Work::new(run, plans, None).conduct(&mut report, began, &|_| {})?;
        Ok(report)
    }

    /// Runs in which two plans fail in the same way at first; the first one that fails is seen again only
    /// when the other one waits for it. What becomes of the other depends on `is_sure`.
    fn two_alike(is_sure: bool) -> Report {
        let (begun, runs) = (AtomicU32::new(0), Mutex::new(BTreeMap::new()));
        let run = |plan: &Plan, _: u64, time: u32| {
            *runs.lock().expect("no panic").entry(plan.to_string()).or_insert(0) += 1;
            if time > 1 {
                // Until the other one has begun, this is not decided.
                while begun.load(Ordering::Relaxed) < 2 {
                    std::thread::yield_now();
                }
                return Ok(broken(plan, "same").filter(|_| is_sure));
            }
            let is_first_run = begun.fetch_add(1, Ordering::Relaxed) < 2;
            Ok(broken(plan, "same").filter(|_| is_first_run))
        };
        conduct(&run, plans(&["crash(1)", "crash(2)"]), 2).expect("there is no error")
    }

    #[test]
    fn a_plan_that_fails_like_one_that_is_seen_again_is_told_with_it() {
        let report = two_alike(true);
        assert_eq!((report.plans, report.held, report.found.len()), (2, 0, 1));
        assert_eq!(report.found[0].seen, (5, 5));
        assert!(report.once.is_empty());
    }

    #[test]
    fn the_plan_that_leads_does_not_depend_on_which_fails_first() {
        for first in [0, 1, 2] {
            // The others begin to fail when this one is seen again.
            let is_seen = AtomicBool::new(false);
            let run = |plan: &Plan, number: u64, time: u32| {
                is_seen.fetch_or(number == first && time > 1, Ordering::Relaxed);
                while number != first && !is_seen.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                Ok(broken(plan, "same"))
            };
            let all = plans(&["crash(1) lost(1)", "crash(2)", "crash(3)"]);
            let report = conduct(&run, all, 3).expect("there is no error");
            assert_eq!((report.plans, report.found.len()), (3, 1), "{first}");
            let finding = &report.found[0];
            assert_eq!((&finding.plan, finding.seen), (&plan("crash(2)"), (5, 5)), "{first}");
            assert_eq!(finding.also, [plan("crash(3)"), plan("crash(1) lost(1)")], "{first}");
        }
    }

    #[test]
    fn nothing_is_lost_of_a_plan_that_waited_for_a_failure_that_was_none() {
        let report = two_alike(false);
        assert_eq!(report.plans, 2);
        assert!(report.found.is_empty() && !report.once.is_empty());
        // Each either holds in a second try, or is told as one that failed once.
        assert_eq!(report.held + report.once.len() as u64, 2);
        assert_eq!(report.exit_code(), 5);
    }

    #[test]
    fn an_error_ends_the_campaign_and_keeps_what_was_found() {
        let run = |plan: &Plan, number: u64, _: u32| match number {
            0 => Ok(broken(plan, "one")),
            _ => Err(io::Error::other("the disk is full")),
        };
        let all = plans(&["crash(1)", "crash(2)", "crash(3)"]);
        let report = conduct(&run, all.clone(), 1).expect("something was found");
        assert_eq!((report.plans, report.found.len(), report.exit_code()), (1, 1, 100));
        assert!(report.to_string().contains("ended early: the disk is full"), "{report}");
        let error =
            conduct(&run, all.into_iter().skip(1).collect(), 1).expect_err("nothing was found");
        assert_eq!(error.to_string(), "the disk is full");
    }

    #[test]
    fn a_campaign_that_is_stopped_or_late_says_nothing() {
        let run = |_: &Plan, _: u64, _: u32| Err(io::ErrorKind::Interrupted.into());
        let report = conduct(&run, plans(&["crash(1)"]), 1).expect("it is no error");
        assert_eq!((report.is_stopped, report.exit_code()), (true, 5));
        let run = |_: &Plan, _: u64, _: u32| Ok(None);
        let mut report = Report { jobs: 1, planned: 1, ..Report::default() };
        let now = Instant::now();
        let work = Work::new(&run, plans(&["crash(1)"]), Some(now));
        work.conduct(&mut report, now, &|_| {}).expect("it is no error");
        assert_eq!((report.plans, report.is_stopped, report.exit_code()), (0, true, 5));
        let mut report = Report { jobs: 1, planned: 1, ..Report::default() };
        let work = Work::new(&run, plans(&["crash(1)"]), Some(now + Duration::from_secs(86_400)));
        work.conduct(&mut report, now, &|_| {}).expect("it is no error");
        assert_eq!((report.plans, report.exit_code()), (1, 0));
    }

    #[test]
    fn no_fault_is_left_that_is_not_needed_also_of_a_failure_that_comes_at_times() {
        for every in [1, 2] {
            let count = AtomicU32::new(0);
            let run = |it: &Plan, _: u64, _: u32| {
                let is_struck = it.faults.contains(&plan("crash(2)").faults[0]);
                let is_turn =
                    is_struck && count.fetch_add(1, Ordering::Relaxed).is_multiple_of(every);
                Ok(broken(it, "one").filter(|_| is_turn))
            };
            let report = conduct(&run, plans(&["crash(1) crash(2) lost(3)"]), 1);
            let report = report.expect("there is no error");
            assert_eq!(report.found[0].plan, plan("crash(2)"), "every {every}");
        }
    }
}
