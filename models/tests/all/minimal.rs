//! Every seeded bug of the work queue has a smallest execution that shows it. It is found quickly
//! from the execution in which a search or a sampler found the bug, and every replay of it is the
//! same.
//!
//! ```text
//! SEATRIAL_REPLAYS=1000 cargo test --release -p seatrial-models --features loom,shuttle --test all -- minimal:: --nocapture
//! ```

use std::time::{Duration, Instant};

use seatrial_models::catalogue::CATALOGUE;
use seatrial_models::engine::{Engine, Route};
use seatrial_models::trial::{
    Budget, Finding, MutantInfo, MutantKind, Plan, StopAt, Subject, digest,
};

/// Witnesses with more preemptions are hard to read; such bugs are listed.
const READABLE: u32 = 3;

/// Reads how long this thread has been on a processor, if the system tells.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}

/// Finds an execution that shows a mutant, as the engine finds it. Every scenario gets a short
/// search before any gets a long one.
fn found(subject: &dyn Subject, mutant: &MutantInfo, engine: Engine) -> (&'static str, Finding) {
    let shows = |name, executions| {
        let budget =
            Budget { trace_executions: executions, schedules: executions, ..Budget::smoke() };
        let stop_at = StopAt::FirstViolation;
        let plan = Plan { engine, budget, seed: 0, stop_at, minimise: false, time: None };
        let trial = subject.run(name, Some(mutant.name), &plan)?;
        Some((name, trial.findings.into_iter().next()?))
    };
    let scenarios = subject.scenarios().into_iter().map(|scenario| scenario.name);
    let scenarios: Vec<_> =
        scenarios.filter(|name| subject.cannot_run(name, engine).is_none()).collect();
    let shown = [100, 20_000]
        .into_iter()
        .find_map(|executions| scenarios.iter().find_map(|name| shows(*name, executions)));
    shown.unwrap_or_else(|| panic!("{}: no scenario shows it", mutant.name))
}

/// A bug, and the scenario and the engine that show it.
struct Case<'a> {
    subject: &'a dyn Subject,
    scenario: &'static str,
    mutant: &'static str,
    engine: Engine,
}

impl Case<'_> {
    /// Makes the execution of a route small; returns it, its route and how long that took.
    fn small(&self, route: &Route) -> (Finding, Route, Duration) {
        let (began, ran) = (Instant::now(), on_processor());
        let small = self.subject.shrink(self.scenario, Some(self.mutant), self.engine, route);
        let small = small.unwrap_or_else(|| panic!("{}: {route} is followed", self.mutant));
        let ran = ran.zip(on_processor()).map(|(before, after)| after - before);
        let route = small.route.clone().expect("a schedule leads there");
        (small, route, ran.unwrap_or_else(|| began.elapsed()))
    }

    /// Asserts that a route leads to the same history, this many times.
    fn replays(&self, route: &Route, smallest: &Finding, times: u32) {
        for _ in 0..times {
            let again = self.subject.replay(self.scenario, Some(self.mutant), self.engine, route);
            let again = again.unwrap_or_else(|| panic!("{}: {route} is followed", self.mutant));
            assert_eq!(digest(&again.transcript), smallest.digest(), "{}: {route}", self.mutant);
        }
    }
}

/// Makes every bug small, from the execution in which an engine found it.
fn is_made_small(engine: Engine, replays: u32, patience: Duration) {
    let subject = CATALOGUE.subject("queue").expect("it is there");
    let (mut many, mut worst, mut bugs) = (Vec::new(), Duration::ZERO, 0);
    let bug = |mutant: &MutantInfo| !matches!(mutant.kind, MutantKind::Equivalent(_));
    for mutant in subject.mutants().into_iter().filter(bug) {
        let (scenario, finding) = found(subject, &mutant, engine);
        let case = Case { subject, scenario, mutant: mutant.name, engine };
        let first = finding.route.as_ref().expect("a schedule leads there");
        let (smallest, route, took) = case.small(first);
        assert!(took < patience, "{} took {took:?}", mutant.name);
        let (_, again, _) = case.small(&route);
        assert_eq!(again, route, "{}: no single change makes it smaller", mutant.name);
        case.replays(&route, &smallest, replays);
        let preemptions = smallest.preemptions.expect("schedules are counted");
        let proved = if smallest.proved_minimum == Some(true) { ", the least" } else { "" };
        let (before, name) = (finding.preemptions.unwrap_or(0), mutant.name);
        println!("{engine} {name:32} {before} to {preemptions} preemptions{proved}, {took:.1?}");
        if preemptions > READABLE {
            many.push(name);
        }
        (worst, bugs) = (worst.max(took), bugs + 1);
    }
    println!(
        "{engine}: {bugs} bugs, each replayed {replays} times; the longest took {worst:.1?}; \
         more than {READABLE} preemptions: {many:?}"
    );
}

/// How often a witness is replayed, and how long it may take to make a witness small. `ci/figures.sh` asks for
/// more by night, of optimised code.
fn measure() -> (u32, Duration) {
    match std::env::var("SEATRIAL_REPLAYS") {
        Ok(replays) => (replays.parse().expect("a number"), Duration::from_secs(2)),
        Err(_) => (3, Duration::from_secs(60)),
    }
}

#[test]
fn every_bug_of_the_queue_has_a_smallest_execution_that_replays() {
    let (replays, patience) = measure();
    is_made_small(Engine::Trace, replays, patience);
}

#[test]
fn what_a_sampler_finds_becomes_small_as_soon() {
    let (replays, patience) = measure();
    is_made_small(Engine::Sample, replays.min(10), patience);
}
