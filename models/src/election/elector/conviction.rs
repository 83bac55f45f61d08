//! Searches for evidence against a mutant.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_core::elector::{Config, Election};
use seatrial_core::machine::Boxed;

use super::conformance::replay_on;
use super::decisions::{Place, random_happenings, set_ups};
use super::mutants::Mutant;
use super::op::{check_on, decode};
use crate::cluster::invariants::{Terms, breaches};
use crate::cluster::schedules::SCHEDULES;
use crate::cluster::{Campaign, Plan, Random};
use crate::conformance::{Trace, carried};
use crate::engine::quietly;

/// A conviction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kill {
    /// The engine that convicted: `conformance`, `property`, `decisions`, `schedules` or `cluster`.
    pub engine: &'static str,
    /// The number of the execution that convicted, from one.
    pub executions: u64,
    /// The way to reproduce it: a trace, the seed of random calls or happenings, a schedule, or a
    /// plan.
    pub witness: String,
}

/// How many executions each way of convicting may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Sequences of random calls.
    pub sequences: u64,
    /// Seeds of each plan.
    pub seeds: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { sequences: 300, seeds: 60 }
    }
}

/// The weather in which mutants are simulated.
const PLANS: &[&str] = &[
    "classic,cut_off=5,lost=300,lost_reply=300,refused=100,lag=200,crashes=3,cancels=3,slow=500ms",
    "strict,cut_off=5,lost=300,lost_reply=300,slow=9s,release=true,crashes=3,cancels=3,drift=10000,\
     rerun=300,work=500ms,acts=1s",
];

type Make = fn(Config) -> Boxed<Election>;

/// Tries every way of convicting, and returns the first conviction of each.
#[must_use]
pub fn convict(mutant: &Mutant, effort: Effort) -> Vec<Kill> {
    let make = mutant.make;
    let ways = [
        by_conformance(make),
        by_property(make, effort.sequences),
        by_decisions(make, effort.sequences),
        by_schedules(make),
        by_cluster(make, effort.seeds),
    ];
    ways.into_iter().flatten().collect()
}

/// Tells whether `body` panics.
fn panics(body: impl FnOnce()) -> bool {
    quietly(|| catch_unwind(AssertUnwindSafe(body)).is_err())
}

/// Tells whether `body` fails; a panic is a failure.
fn fails(body: impl FnOnce() -> bool) -> bool {
    let mut failed = false;
    panics(|| failed = body()) || failed
}

fn by_conformance(make: Make) -> Option<Kill> {
    let text = carried("leader_election")?;
    let mut traces = text
        .lines()
        .zip(1..)
        .filter_map(|(line, number)| Trace::parse(line).ok().map(|trace| (trace, number)));
    let (trace, executions) =
        traces.find(|(trace, _)| fails(|| replay_on(trace, make).is_err()))?;
    Some(Kill { engine: "conformance", executions, witness: trace.id })
}

/// Returns the random calls of a seed.
#[must_use]
pub fn calls_of_seed(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..200).map(|_| random.bits() as u8).collect()
}

fn by_property(make: Make, sequences: u64) -> Option<Kill> {
    let disagrees = |seed: &u64| {
        let ops = decode(&calls_of_seed(*seed));
        panics(|| check_on(&ops, |election| make(election.config().clone())))
    };
    let seed = (1..=sequences).find(disagrees)?;
    Some(Kill { engine: "property", executions: seed, witness: format!("calls of seed {seed}") })
}

/// Steps the mutant beside the rules that ship.
fn by_decisions(make: Make, sequences: u64) -> Option<Kill> {
    let differs = |seed: &u64| {
        fails(|| {
            set_ups().into_iter().any(|config| {
                let mut ships = Place::new(Box::new(Election::unchecked(config.clone())));
                let mut mutant = Place::new(make(config).0);
                let mut all = random_happenings(*seed).into_iter();
                all.any(|happens| ships.step(happens) != mutant.step(happens))
            })
        })
    };
    let seed = (1..=sequences).find(differs)?;
    let witness = format!("happenings of seed {seed}");
    Some(Kill { engine: "decisions", executions: seed, witness })
}

fn by_schedules(make: Make) -> Option<Kill> {
    let tries = SCHEDULES.iter().flat_map(|schedule| [(schedule, false), (schedule, true)]);
    let mut numbered = tries.zip(1..);
    let ((schedule, strict), executions) = numbered
        .find(|((schedule, strict), _)| fails(|| schedule.verify_on(*strict, make).is_err()))?;
    let profile = if strict { "strict" } else { "classic" };
    let witness = format!("{} {profile}", schedule.name);
    Some(Kill { engine: "schedules", executions, witness })
}

fn by_cluster(make: Make, seeds: u64) -> Option<Kill> {
    let mut executions = 0;
    for text in PLANS {
        let plan: Plan = text.parse().expect("the plans are well-formed");
        let terms = Terms { config: plan.config(), drift_ppm: plan.drift };
        for seed in 0..seeds {
            executions += 1;
            let plan = plan.with_seed(seed);
            // A machine that panicked leaves its world in an unknown state, so each run has a world
            // of its own.
            let broken = fails(|| {
                let mut campaign = Campaign::of(make);
                !breaches(campaign.run(&plan), &terms, true).is_empty()
            });
            if broken {
                return Some(Kill { engine: "cluster", executions, witness: plan.to_string() });
            }
        }
    }
    None
}
