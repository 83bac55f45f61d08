//! Our own determinism: two runs with the same seed are the same, event by event.

use seatrial_models::catalogue::CATALOGUE;
use seatrial_models::engine::{Engine, Kind};
use seatrial_models::trial::{Budget, Plan, StopAt, Subject};

fn plan(engine: Engine, seed: u64) -> Plan {
    let budget = Budget {
        loom_executions: 20,
        trace_executions: 20,
        schedules: 20,
        simulated_runs: 3,
        states: 5_000,
        ..Budget::smoke()
    };
    Plan { engine, budget, seed, stop_at: StopAt::End, minimise: false, time: None }
}

/// Returns the behaviour of a scenario on an engine: the digest of every history, or the complete
/// outcome if the engine makes whole runs.
fn done(subject: &dyn Subject, scenario: &str, plan: &Plan) -> (usize, String) {
    if plan.engine.runs() == Kind::Program {
        let histories = subject.histories(scenario, plan).expect("the catalogue named it");
        return (histories.len(), format!("{histories:?}"));
    }
    let trial = subject.run(scenario, None, plan).expect("the catalogue named it");
    let all = (trial.exploration.clone(), trial.findings, trial.reached, trial.refused);
    (trial.exploration.executions as usize, format!("{all:?}"))
}

/// Runs every scenario of an engine twice, for each of two seeds.
fn does_the_same_twice(engine: Engine) {
    if engine.missing().is_some() {
        return;
    }
    let (mut scenarios, mut histories, mut differ_by_seed) = (0, 0, 0);
    for (subject, scenario) in CATALOGUE.scenarios(&[]) {
        if subject.cannot_run(scenario, engine).is_some() {
            continue;
        }
        let [first, second] = [1, 2].map(|seed| {
            let once = done(subject, scenario, &plan(engine, seed));
            let again = done(subject, scenario, &plan(engine, seed));
            assert_eq!(once, again, "{}/{scenario} on {engine}, seed {seed}", subject.name());
            once
        });
        scenarios += 1;
        histories += first.0 + second.0;
        differ_by_seed += usize::from(first.1 != second.1);
    }
    println!("{engine}: {scenarios} scenarios, {histories} histories, each twice");
    assert!(scenarios > 0 && histories > scenarios, "{engine} ran next to nothing");
    let samples = matches!(engine, Engine::Sample | Engine::Cluster);
    assert_eq!(differ_by_seed > 0, samples, "{engine}: what a seed decides");
}

#[test]
fn sample_does_the_same_twice() {
    does_the_same_twice(Engine::Sample);
}

#[test]
fn trace_does_the_same_twice() {
    does_the_same_twice(Engine::Trace);
}

#[test]
fn loom_does_the_same_twice() {
    does_the_same_twice(Engine::Loom);
}

#[test]
fn cluster_does_the_same_twice() {
    does_the_same_twice(Engine::Cluster);
}

#[test]
fn state_does_the_same_twice() {
    does_the_same_twice(Engine::State);
}
