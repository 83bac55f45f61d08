//! On random programs, the search finds exactly the traces that the search without reduction
//! finds, each once.

use std::sync::Arc;

use super::program::{Features, Generator, run};
use super::{Config, Strategy, WakeUps, search};

/// What a comparison covered.
#[derive(Default, Debug)]
struct Covered {
    compared: u32,
    skipped: u32,
    with_deadlock: u32,
    with_several_traces: u32,
    traces: u64,
    schedules: u64,
}

/// Compares the two searches on a program.
fn compare(seed: u64, features: Features, config: &Config, most: u64, covered: &mut Covered) {
    let mut generator = Generator::new(seed, features);
    let (threads, budget) = (2 + generator.below(2) as usize, 2 + generator.below(4) as u32);
    let program = Arc::new(generator.program(threads, budget));
    let explore = |strategy| {
        let program = Arc::clone(&program);
        search(config, strategy, move |runtime| run(runtime, &program, features.locks))
    };
    let all = explore(Strategy::All { preemptions: None, executions: most });
    if !all.exhausted {
        covered.skipped += 1;
        return;
    }
    let context = || format!("seed {seed}, {features:?}, {config:?}: {program:?}");
    let reduced = explore(Strategy::Trace { executions: most });
    assert!(reduced.exhausted, "{}", context());
    assert_eq!(reduced.executions, reduced.traces.len() as u64, "a trace twice: {}", context());
    assert_eq!(reduced.traces.len(), all.traces.len(), "{}", context());
    assert_eq!(reduced.traces, all.traces, "{}", context());
    assert_eq!(reduced.outcomes, all.outcomes, "{}", context());
    covered.compared += 1;
    covered.with_deadlock += u32::from(all.deadlocks > 0);
    covered.with_several_traces += u32::from(all.traces.len() > 1);
    covered.traces += reduced.executions;
    covered.schedules += all.executions;
}

fn config(nth: u64) -> Config {
    Config {
        wake_ups: if nth % 3 == 0 { WakeUps::InOrder } else { WakeUps::Any },
        ..Config::default()
    }
}

fn compare_many(features: Features, config: impl Fn(u64) -> Config, programs: u64, most: u64) {
    let mut covered = Covered::default();
    for seed in 0..programs {
        let features = Features { locks: 1 + seed as usize % features.locks, ..features };
        compare(seed, features, &config(seed), most, &mut covered);
    }
    let enough = programs as u32 / 4;
    assert!(covered.compared > enough, "{covered:?}");
    assert!(covered.with_several_traces > enough, "{covered:?}");
}

const PLAIN: Features = Features { locks: 3, data: false, cells: false, time: false };

#[cfg(debug_assertions)]
const SIZE: (u64, u64) = (60, 1_000);
#[cfg(not(debug_assertions))]
const SIZE: (u64, u64) = (1_500, 20_000);

#[test]
fn of_locks_and_condition_variables() {
    compare_many(PLAIN, config, SIZE.0, SIZE.1);
}

#[test]
fn of_choices_of_data() {
    compare_many(Features { data: true, ..PLAIN }, config, SIZE.0, SIZE.1);
}

#[test]
fn of_published_values() {
    compare_many(Features { cells: true, ..PLAIN }, config, SIZE.0, SIZE.1);
}

#[test]
fn of_deadlines_at_a_standstill() {
    compare_many(Features { time: true, ..PLAIN }, config, SIZE.0, SIZE.1);
}

#[test]
fn of_deadlines_at_any_time() {
    let free = |nth| Config { free_jumps: 1 + (nth % 2) as u32, ..config(nth) };
    compare_many(Features { time: true, ..PLAIN }, free, SIZE.0, SIZE.1);
}

#[test]
fn of_spurious_wake_ups() {
    let spurious = |nth| Config { spurious_wake_ups: 1, ..config(nth) };
    compare_many(PLAIN, spurious, SIZE.0, SIZE.1);
}

#[test]
fn of_everything() {
    let features = Features { locks: 2, data: true, cells: true, time: true };
    let all = |nth| Config { free_jumps: 1, spurious_wake_ups: (nth % 2) as u32, ..config(nth) };
    compare_many(features, all, SIZE.0, SIZE.1);
}
