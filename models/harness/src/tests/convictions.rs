//! Mutants are convicted of what they are accused of.

use std::collections::BTreeSet;

use crate::engine::{Engine, Kind};
use crate::trial::{Budget, Expect, InvariantInfo, MutantInfo, MutantKind, Plan, StopAt, Subject};

/// Returns the engines that are asked about a mutant, in groups: it is enough that one engine of a group
/// breaks an invariant. Where a cluster is simulated, some mistakes show there, and others only between
/// threads.
pub(super) fn groups(subject: &dyn Subject, mutant: &MutantInfo) -> Vec<Vec<Engine>> {
    let simulates = subject.scenarios().iter().any(|it| it.kind == Kind::Simulation);
    let groups: &[&[Engine]] = match simulates {
        true => &[&[Engine::Cluster, Engine::Trace]],
        false => &[&[Engine::Trace], &[Engine::Loom], &[Engine::Sample]],
    };
    let can = |on: &&Engine| on.missing().is_none() && subject.shows_mutant(**on, mutant.name);
    let groups = groups.iter().map(|group| group.iter().filter(can).copied().collect::<Vec<_>>());
    groups.filter(|group| !group.is_empty()).collect()
}

/// Runs a mutant until it has broken all invariants that its `breaks` lists.
///
/// # Errors
/// The mutant is not convicted of something, or it is equivalent and convicted.
pub(super) fn is_convicted(
    subject: &dyn Subject,
    mutant: &MutantInfo,
    engines: &[Engine],
) -> Result<(), String> {
    let broken = broken_by(subject, mutant, engines);
    let unbroken: Vec<_> = mutant.breaks.iter().filter(|name| !broken.contains(*name)).collect();
    match mutant.kind {
        MutantKind::Equivalent(_) if !broken.is_empty() => {
            Err(format!("it is equivalent, and breaks {broken:?}"))
        }
        MutantKind::Seeded | MutantKind::Exhibit if broken.is_empty() || !unbroken.is_empty() => {
            Err(format!("it breaks {broken:?}, and never {unbroken:?}"))
        }
        _ => Ok(()),
    }
}

/// Returns what a mutant breaks, looking no longer than until all is broken that must be: first at
/// one violation of every scenario, then at all that some executions show.
fn broken_by(
    subject: &dyn Subject,
    mutant: &MutantInfo,
    engines: &[Engine],
) -> BTreeSet<&'static str> {
    use StopAt::{End, FirstViolation};
    let looks: &[(u64, StopAt)] = match mutant.kind {
        MutantKind::Equivalent(_) => &[(150, FirstViolation)],
        _ => &[
            (10, FirstViolation),
            (150, FirstViolation),
            (150, End),
            (1_000, FirstViolation),
            (20_000, FirstViolation),
        ],
    };
    let (mut broken, mut exhausted) = (BTreeSet::new(), BTreeSet::new());
    for &(executions, stop_at) in looks {
        let budget = Budget {
            loom_executions: executions,
            trace_executions: executions,
            schedules: executions,
            simulated_runs: executions,
            ..Budget::smoke()
        };
        let scenarios = subject.scenarios();
        for (scenario, &engine) in
            scenarios.iter().flat_map(|it| engines.iter().map(move |e| (it, e)))
        {
            let all_broken = mutant.breaks.iter().all(|name| broken.contains(name));
            if all_broken && !mutant.breaks.is_empty() {
                return broken;
            }
            let asked = subject.shows_mutant(engine, mutant.name)
                && !exhausted.contains(&(scenario.name, engine.name()));
            if asked && subject.cannot_run(scenario.name, engine).is_none() {
                let budget = budget.clone();
                let plan = Plan { engine, budget, seed: 0, stop_at, minimise: false, time: None };
                let trial = subject.run(scenario.name, Some(mutant.name), &plan);
                let trial = trial.expect("the component named it");
                let findings = trial.findings;
                // A longer look would see the same again.
                if trial.exploration.exhausted && (stop_at == End || findings.is_empty()) {
                    exhausted.insert((scenario.name, engine.name()));
                }
                // An invariant that the shipped rules break there, too, does not count.
                let judged = subject.judged_in(scenario.name);
                let expected = |name: &str| {
                    let of_it = |info: &InvariantInfo| info.name == name;
                    judged.iter().any(|info| of_it(info) && info.expect == Expect::Violated)
                };
                let broke = findings.into_iter().map(|finding| finding.invariant);
                broken.extend(broke.filter(|name| !expected(name)));
            }
        }
    }
    broken
}
