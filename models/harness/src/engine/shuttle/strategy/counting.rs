//! The walk counts traces: a comparison with programs whose traces can all be run.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::super::{Body, Config, ShuttleRuntime, Strategy, WakeUps, explore};
use crate::engine::{Left, Tally};
use crate::toy::Program;

const SEEDS: u64 = 20;

/// Walks through a program and returns what is said about how much is left.
fn estimate(program: Program, config: &Config, strategy: Strategy) -> Left {
    let body: Body = Arc::new(move |runtime: &ShuttleRuntime| {
        let _seen = program.attempt(runtime);
    });
    let mut tally = Tally::default();
    explore(config, strategy, body, &mut |execution| {
        tally.count(execution);
        ControlFlow::Continue(())
    });
    tally.left(false).expect("the walk tells")
}

/// Asserts that the median of the estimates is right within a quarter, that so are the intervals
/// nearly always, and that no sample without repetitions says that it has seen everything.
fn is_counted(name: &str, wake_ups: WakeUps, traces: f64, strategy: impl Fn(u64) -> Strategy) {
    let program: Program = name.parse().unwrap();
    let config = Config { wake_ups, ..Config::default() };
    let all: Vec<Left> =
        (0..SEEDS).map(|seed| estimate(program, &config, strategy(seed))).collect();
    let mut numbers: Vec<f64> =
        all.iter().map(|left| left.estimated_traces.expect("a number")).collect();
    numbers.sort_by(f64::total_cmp);
    let median = f64::midpoint(numbers[9], numbers[10]);
    let off = (median / traces - 1.0).abs();
    let holds = |left: &&Left| {
        let [low, high] = left.estimated_traces_interval.expect("an interval");
        low <= traces && traces <= high
    };
    let held = all.iter().filter(holds).count();
    println!("{name}: {traces}, median {median}, {held} of {SEEDS} intervals hold it; {numbers:?}");
    assert!(off < 0.25, "{name}: {median} for {traces}");
    assert!(held >= 15, "{name}: {held} of {SEEDS} intervals hold {traces}");
}

/// The number of walks in a portfolio of 3,000 executions.
fn walk(seed: u64) -> Strategy {
    Strategy::Walk { seed, executions: 429 }
}

#[test]
fn programs_at_one_lock_are_counted() {
    is_counted("1p2a1w", WakeUps::Any, 34.0, walk);
    is_counted("2p1a1w", WakeUps::Any, 76.0, walk);
    is_counted("2p2a1w", WakeUps::Any, 5_124.0, walk);
    is_counted("2p1a2w", WakeUps::Any, 9_104.0, walk);
    is_counted("2p1a2w", WakeUps::InOrder, 8_144.0, walk);
}

#[test]
fn programs_at_several_locks_are_counted() {
    is_counted("pair", WakeUps::Any, 5_776.0, walk);
    is_counted("handoff_1p", WakeUps::Any, 24.0, walk);
    is_counted("handoff_2p", WakeUps::Any, 720.0, walk);
    is_counted("handoff_nested_2p", WakeUps::Any, 720.0, walk);
    is_counted("opposite_locks", WakeUps::Any, 3.0, walk);
    is_counted("stack", WakeUps::Any, 20.0, walk);
}

#[test]
fn a_portfolio_counts_as_its_walk_does() {
    is_counted("2p1a1w", WakeUps::Any, 76.0, |seed| Strategy::portfolio(seed, 3_000));
}

#[test]
fn a_uniform_sample_of_a_small_program_leaves_nothing_unseen() {
    let left = estimate("2p1a1w".parse().unwrap(), &Config::default(), walk(1));
    assert!(left.unseen_mass < 0.05, "{left:?}");
    let left = estimate("2p2a2w".parse().unwrap(), &Config::default(), walk(1));
    assert!(left.unseen_mass > 0.9, "{left:?}");
}
