//! Every seeded bug of the work queue has a smallest execution that shows it: soon found, and the
//! same as often as it is replayed.
//!
//! ```text
//! cargo test --release -p seatrial-models --features loom,shuttle --test minimal -- --nocapture
//! ```

#![cfg(feature = "shuttle")]

use std::time::{Duration, Instant};

use seatrial_models::catalogue::CATALOGUE;
use seatrial_models::engine::{Engine, Route};
use seatrial_models::trial::{
    Budget, Finding, MutantInfo, MutantKind, Plan, StopAt, Subject, digest,
};

const TRACE: Engine = Engine::Trace;

/// Reads how long this thread has been on a processor, where the system tells.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}

/// Finds an execution that shows a mutant, as the search comes across it.
fn found(subject: &dyn Subject, mutant: &MutantInfo) -> (&'static str, Finding) {
    let budget = Budget { trace_executions: 20_000, ..Budget::smoke() };
    let stop_at = StopAt::FirstViolation;
    let plan = Plan { engine: TRACE, budget, seed: 0, stop_at, minimise: false, time: None };
    let shows = |name| {
        let trial = subject.run(name, Some(mutant.name), &plan)?;
        Some((name, trial.findings.into_iter().next()?))
    };
    let mut scenarios = subject.scenarios().into_iter().map(|scenario| scenario.name);
    let runs = |name: &&str| subject.cannot_run(name, TRACE).is_none();
    let shown = scenarios.by_ref().filter(runs).find_map(shows);
    shown.unwrap_or_else(|| panic!("{}: no scenario shows it", mutant.name))
}

/// Makes a finding small; returns it, its way and how long that took.
fn small(
    subject: &dyn Subject,
    scenario: &str,
    mutant: &str,
    route: &Route,
) -> (Finding, Route, Duration) {
    let (began, ran) = (Instant::now(), on_processor());
    let small = subject.shrink(scenario, Some(mutant), TRACE, route).expect("it can be followed");
    let ran = ran.zip(on_processor()).map(|(before, after)| after - before);
    let route = small.route.clone().expect("a schedule leads there");
    (small, route, ran.unwrap_or_else(|| began.elapsed()))
}

#[test]
fn every_bug_of_the_queue_has_a_smallest_execution_that_replays() {
    let optimised = !cfg!(debug_assertions);
    let replays = if optimised { 1_000 } else { 5 };
    let patience = Duration::from_secs(if optimised { 2 } else { 60 });
    let queue = CATALOGUE.subject("queue").expect("it is there");
    let (mut many, mut worst) = (Vec::new(), Duration::ZERO);
    for mutant in queue.mutants() {
        if matches!(mutant.kind, MutantKind::Equivalent(_)) {
            continue;
        }
        let (scenario, finding) = found(queue, &mutant);
        let name = mutant.name;
        let first = finding.route.as_ref().expect("a schedule leads there");
        let (smallest, route, took) = small(queue, scenario, name, first);
        assert!(took < patience, "{name} took {took:?}");
        let (_, again, _) = small(queue, scenario, name, &route);
        assert_eq!(again, route, "{name}: no single change makes it smaller");
        for _ in 0..replays {
            let replayed =
                queue.replay(scenario, Some(name), TRACE, &route).expect("it is followed");
            assert_eq!(digest(&replayed.transcript), smallest.digest(), "{name}");
        }
        let preemptions = smallest.preemptions.expect("schedules are counted");
        let proved =
            if smallest.proved_minimum == Some(true) { ", the least there is" } else { "" };
        println!("{name:32} {preemptions} preemptions{proved}, {took:.1?} {route}");
        if preemptions > 3 {
            many.push(name);
        }
        worst = worst.max(took);
    }
    println!("more than three preemptions: {many:?}; the longest took {worst:.1?}");
}
