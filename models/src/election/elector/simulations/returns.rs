//! A store that goes back at each step of an election, one run for each step and each state that it
//! goes back to.

use super::judged::{Judged, named};
use super::{Simulated, Trying, shown, simulate};
use crate::cluster::going_back::{BROKEN, BY, End, steps};
use crate::elector::Elector;
use crate::trial::{InvariantInfo, MachineOf, Plan, Replayed, Simulation, StopAt, Trial};

/// The least number of runs.
const LEAST: u64 = 150;

/// Runs that follow each other have next to nothing in common.
const STRIDE: u64 = 7_919;

#[derive(Debug)]
pub(super) struct Returns;

fn judged() -> Vec<Judged> {
    BROKEN.map(named).into()
}

fn run_once(make: fn() -> MachineOf<Elector>, end: End, back: Option<(u64, u64)>) -> Simulated {
    simulate(make, &end.terms().config, |seats| end.run(back, seats))
}

/// Reads what names a run.
fn read(run: &str) -> Option<(End, Option<(u64, u64)>)> {
    let mut words = run.split(',');
    let (seed, frees) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let back = match (words.next(), words.next()) {
        (Some(at), Some(writes)) => Some((at.parse().ok()?, writes.parse().ok()?)),
        _ => None,
    };
    Some((End { seed, frees }, back))
}

impl Simulation<Elector> for Returns {
    fn name(&self) -> &'static str {
        "store_goes_back_at_each_step"
    }

    fn says(&self) -> &'static str {
        "a leader ends, and the store goes back after a step that all electors know of"
    }

    fn invariants(&self) -> Vec<InvariantInfo> {
        judged().into_iter().map(|judged| judged.info).collect()
    }

    fn run(&self, make: fn() -> MachineOf<Elector>, plan: &Plan) -> Trial {
        let judged = judged();
        let mut trying = Trying::new(&judged);
        let mut all = Vec::new();
        for end in End::all() {
            match run_once(make, end, None) {
                Simulated::Ran(calm) => {
                    let steps = steps(&calm, end.frees).into_iter();
                    all.extend(steps.flat_map(|at| BY.map(|writes| (end, at, writes))));
                }
                broke => {
                    let route = format!("{},{}", end.seed, end.frees);
                    trying.judge(&broke, &end.terms(), &route);
                }
            }
        }
        let count = all.len() as u64;
        for run in 0..plan.budget.simulated_runs.max(LEAST).min(count) {
            let (end, at, writes) = all[(run.wrapping_mul(STRIDE) % count) as usize];
            let simulated = run_once(make, end, Some((at, writes)));
            let route = format!("{},{},{at},{writes}", end.seed, end.frees);
            trying.judge(&simulated, &end.terms(), &route);
            if plan.stop_at == StopAt::FirstViolation && !trying.findings.is_empty() {
                break;
            }
        }
        trying.trial()
    }

    fn replay(&self, make: fn() -> MachineOf<Elector>, run: &str) -> Option<Replayed> {
        let (end, back) = read(run)?;
        Some(shown(&judged(), &run_once(make, end, back), &end.terms(), run))
    }
}
