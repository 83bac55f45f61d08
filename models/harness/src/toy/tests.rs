//! The programs run everywhere, and their numbers are right.

use seatrial_core::runtime::System;

use super::component::COUNTED;
use super::{Program, Toy, ToyBugs};
use crate::engine::Engine;
#[cfg(feature = "shuttle")]
use crate::report::Summary;
use crate::tests::comes_out_as_expected;
use crate::trial::subject;
#[cfg(feature = "shuttle")]
use crate::trial::{Budget, Plan, StopAt, Trial};

#[test]
fn a_program_is_known_by_its_name() {
    for name in [
        "2p1a2w",
        "3p2a1w",
        "pair",
        "handoff_1p",
        "handoff_nested_2p",
        "opposite_locks",
        "reorder_100",
        "reorder_started_9",
        "alternate_40",
        "twostage_20",
        "stack",
        "bluetooth",
        "stringbuffer",
        "impatient",
    ] {
        assert_eq!(name.parse::<Program>().unwrap().to_string(), name);
    }
    for name in ["", "2p1a", "xp1a1w", "2p1a2w2", "reorder_", "reorder_1000", "handoff_2"] {
        assert!(name.parse::<Program>().is_err(), "{name}");
    }
}

#[test]
fn programs_that_cannot_deadlock_run_on_real_threads() {
    let runtime = System::new();
    for name in ["2p2a2w", "pair", "handoff_2p", "handoff_nested_1p"] {
        name.parse::<Program>().unwrap().run(&runtime);
    }
}

#[test]
fn a_scenario_is_called_after_its_program() {
    for counted in COUNTED {
        assert!(counted.name.starts_with(&counted.program.to_string()), "{}", counted.name);
    }
}

/// Runs every scenario of a component as the command line does.
fn all_come_out_as_expected<C: crate::trial::Component>(engine: Engine) {
    for scenario in subject::<C>().scenarios() {
        comes_out_as_expected::<C>(engine, scenario.name);
    }
}

#[test]
fn all_hold_on_real_threads() {
    all_come_out_as_expected::<Toy>(Engine::Threads);
    all_come_out_as_expected::<ToyBugs>(Engine::Threads);
}

#[cfg(feature = "loom")]
#[test]
fn loom_finds_every_bug_that_it_can_hold() {
    all_come_out_as_expected::<ToyBugs>(Engine::Loom);
    comes_out_as_expected::<Toy>(Engine::Loom, "handoff_1p");
}

#[cfg(feature = "shuttle")]
fn run<C: crate::trial::Component>(scenario: &str, engine: Engine, stop_at: StopAt) -> Trial {
    let budget = Budget::smoke();
    let plan = Plan { engine, budget, seed: 0, stop_at, minimise: false, time: None };
    subject::<C>().run(scenario, None, &plan).expect("the component named it")
}

#[cfg(feature = "shuttle")]
#[test]
fn a_search_runs_one_execution_of_every_trace() {
    for counted in COUNTED.iter().filter(|counted| counted.traces < 10_000) {
        let trial = run::<Toy>(counted.name, Engine::Trace, StopAt::End);
        assert!(trial.exploration.exhausted, "{}", counted.name);
        assert_eq!(trial.exploration.executions, counted.traces, "{}", counted.name);
        assert_eq!(trial.traces, Some(counted.traces), "{}", counted.name);
        assert!(trial.findings.is_empty() && trial.reached, "{}", counted.name);
    }
}

#[cfg(feature = "shuttle")]
#[test]
fn cores_with_nothing_else_to_do_change_no_result() {
    let told = |trial: Trial| format!("{:?}", Trial { took: std::time::Duration::ZERO, ..trial });
    for stop_at in [StopAt::End, StopAt::FirstViolation] {
        let all = || {
            let bugs = ["stack", "bluetooth"];
            let mut all = vec![told(run::<Toy>("handoff_2p", Engine::Trace, stop_at))];
            all.extend(bugs.map(|name| told(run::<ToyBugs>(name, Engine::Trace, stop_at))));
            all
        };
        let alone = all();
        let _spare = crate::engine::Spare::some(2);
        assert_eq!(all(), alone, "{stop_at:?}");
    }
    // The last cases of a run get the cores of those who find no more work.
    let rows = |jobs| {
        let catalogue = crate::catalogue::Catalogue::new("x", const { &[subject::<Toy>()] });
        let request = crate::runner::Request {
            patterns: vec!["toy/handoff".to_owned()],
            engines: vec![Engine::Trace],
            budget: Budget::smoke(),
            jobs,
            ..crate::runner::Request::default()
        };
        crate::runner::run(&catalogue, &request, &crate::runner::Silent).rows
    };
    assert_eq!(rows(6), rows(1));
}

#[cfg(feature = "shuttle")]
#[test]
fn a_program_with_more_traces_than_the_budget_is_not_begun() {
    for (program, budget, traces) in [("2p1a1w", "75", "76"), ("2p2a2w", "smoke", "13,992,840")] {
        let run = crate::runner::run(
            &crate::catalogue::Catalogue::new("x", const { &[subject::<Toy>()] }),
            &crate::runner::Request {
                patterns: vec![format!("toy/{program}")],
                engines: vec![Engine::Trace],
                budget: budget.parse().unwrap(),
                seed: 0,
                by_name: true,
                jobs: 1,
                ..crate::runner::Request::default()
            },
            &crate::runner::Silent,
        );
        assert_eq!((run.rows.len(), run.outcome), (1, Summary::Empty), "{:?}", run.rows);
        let because = format!("it has {traces} traces: give a larger --budget");
        assert_eq!(run.rows[0].because, Some(because));
    }
}

#[cfg(feature = "shuttle")]
#[test]
fn samplers_find_every_bug() {
    for scenario in subject::<ToyBugs>().scenarios() {
        let trial = run::<ToyBugs>(scenario.name, Engine::Sample, StopAt::FirstViolation);
        let found = trial.findings.iter().map(|finding| finding.invariant).collect::<Vec<_>>();
        assert_eq!(found, ["never_shows_its_bug"], "{}", scenario.name);
    }
}

#[cfg(feature = "shuttle")]
#[test]
fn a_search_finds_every_bug_of_a_small_program() {
    for name in ["reorder_5", "stack", "bluetooth", "stringbuffer", "impatient"] {
        let trial = run::<ToyBugs>(name, Engine::Trace, StopAt::End);
        assert!(trial.exploration.exhausted, "{name}");
        let found = trial.findings.iter().map(|finding| finding.invariant).collect::<Vec<_>>();
        assert_eq!(found, ["never_shows_its_bug"], "{name}");
    }
}
