//! How many executions a conviction takes, over many seeds, compared with plain checkers.

use super::Request;
use super::mutants::judged_on;
use crate::engine::Engine;
use crate::report::{MutantRow, Speed};
use crate::trial::{MADE_UP_CALLS, MutantInfo, Plan, StopAt, Subject};

/// A way of looking for bugs.
struct Way {
    engine: Engine,
    /// Without what this crate adds to the engine.
    plain: bool,
}

impl Way {
    fn name(&self) -> String {
        match (self.engine, self.plain) {
            (Engine::Sample, true) => "plain random".to_owned(),
            (engine, true) => format!("plain {engine}"),
            (engine, false) => engine.to_string(),
        }
    }
}

/// Measures every way on the one scenario that convicts the mutant by the smallest execution.
pub(super) fn speeds(
    subject: &dyn Subject,
    mutant: &MutantInfo,
    row: &MutantRow,
    request: &Request,
) -> Vec<Speed> {
    let with_schedule = row.kills.iter().filter(|kill| !kill.engine.makes_up_calls());
    let least = with_schedule.min_by_key(|kill| kill.preemptions.unwrap_or(u32::MAX));
    let scenarios = subject.scenarios();
    let scenario = least.and_then(|kill| scenarios.iter().find(|info| info.name == kill.scenario));
    let mut speeds = Vec::new();
    for way in ways(request) {
        let made_up = way.engine.makes_up_calls();
        let on = match scenario {
            _ if made_up && mutant.is_fuzzed => MADE_UP_CALLS,
            Some(info) if subject.cannot_run(info.name, way.engine).is_none() => info.name,
            _ => continue,
        };
        speeds.push(speed(subject, on, mutant.name, &way, request));
    }
    speeds
}

fn ways(request: &Request) -> Vec<Way> {
    let own = request.engines.iter().map(|&engine| Way { engine, plain: false });
    let has_plain = |engine: &&Engine| matches!(engine, Engine::Loom | Engine::Sample);
    let plain = request.engines.iter().filter(has_plain);
    own.chain(plain.map(|&engine| Way { engine, plain: true })).collect()
}

fn speed(
    subject: &dyn Subject,
    scenario: &'static str,
    mutant: &str,
    way: &Way,
    request: &Request,
) -> Speed {
    // A search comes the same way from every seed.
    let seeds = if way.engine.exhausts() { 1 } else { request.seeds };
    let budget = if way.plain { request.budget.plain() } else { request.budget.clone() };
    let mut counts = Vec::new();
    let mut at_most = 0;
    for seed in 0..u64::from(seeds) {
        let plan = Plan {
            engine: way.engine,
            budget: budget.clone(),
            seed: request.seed.wrapping_add(seed),
            stop_at: StopAt::FirstViolation,
            minimise: false,
            time: None,
        };
        let conviction = judged_on(subject, scenario, mutant, &plan);
        at_most = at_most.max(conviction.executions);
        counts.extend(conviction.finding.map(|_| conviction.executions));
    }
    counts.sort_unstable();
    Speed {
        by: way.name(),
        scenario: scenario.to_owned(),
        seeds,
        convicted: counts.len() as u32,
        median: counts.get(seeds.div_ceil(2) as usize - 1).copied(),
        at_most,
    }
}
