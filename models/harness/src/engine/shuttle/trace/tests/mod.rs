//! Known numbers of traces, and agreement with the search without reduction.

mod cores;
mod program;
mod random;
mod weakened;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use super::super::{Body, Config, ShuttleRuntime, Strategy, WakeUps, explore};
use crate::engine::End;
use crate::toy::{Mistake, Program, queue_with_workers};

/// The results of a search.
#[derive(Default, Debug)]
struct Found {
    executions: u64,
    traces: BTreeSet<u64>,
    deadlocks: u64,
    panics: u64,
    outcomes: BTreeSet<String>,
    exhausted: bool,
    first_failure: Option<u64>,
}

fn search<T: std::fmt::Debug>(
    config: &Config,
    strategy: Strategy,
    body: impl Fn(&ShuttleRuntime) -> T + Send + Sync + 'static,
) -> Found {
    let out = Arc::new(Mutex::new(String::new()));
    let slot = Arc::clone(&out);
    let body: Body = Arc::new(move |runtime| {
        slot.lock().unwrap().clear();
        let outcome = format!("{:?}", body(runtime));
        *slot.lock().unwrap() = outcome;
    });
    let mut found = Found::default();
    let exploration = explore(config, strategy, body, &mut |execution| {
        found.executions += 1;
        found.traces.insert(execution.trace.unwrap());
        match &execution.end {
            End::Finished => {}
            End::Deadlock(_) => found.deadlocks += 1,
            End::Panicked(_) => found.panics += 1,
            end => panic!("{end:?} after {}", execution.schedule.unwrap()),
        }
        if execution.end != End::Finished && found.first_failure.is_none() {
            found.first_failure = Some(execution.number);
        }
        // The text of an end names threads in the order of their start, which a schedule can
        // change.
        let end = std::mem::discriminant(&execution.end);
        found.outcomes.insert(format!("{end:?} {}", out.lock().unwrap()));
        ControlFlow::Continue(())
    });
    found.exhausted = exploration.exhausted;
    found
}

const TRACE: Strategy = Strategy::Trace { executions: u64::MAX };

fn counts(name: &str, config: &Config, traces: u64) -> Found {
    let program: Program = name.parse().unwrap();
    let found = search(config, TRACE, move |runtime| program.run(runtime));
    assert!(found.exhausted, "{name}");
    assert_eq!(found.executions, found.traces.len() as u64, "{name}: no trace twice");
    assert_eq!(found.executions, traces, "{name}");
    found
}

fn in_order() -> Config {
    Config { wake_ups: WakeUps::InOrder, ..Config::default() }
}

#[test]
fn the_toy_programs_have_their_known_numbers_of_traces() {
    let any = Config::default();
    counts("1p1a1w", &any, 8);
    counts("1p2a1w", &any, 34);
    counts("2p1a1w", &any, 76);
    counts("2p2a1w", &any, 5_124);
    counts("2p1a2w", &any, 9_104);
    counts("2p1a2w", &in_order(), 8_144);
    counts("pair", &any, 5_776);
}

#[test]
fn the_smaller_programs_of_several_locks_have_theirs() {
    let any = Config::default();
    assert_eq!(counts("handoff_nested_1p", &any, 24).outcomes.len(), 2);
    assert_eq!(counts("handoff_1p", &any, 24).outcomes.len(), 2);
    assert_eq!(counts("handoff_2p", &any, 720).outcomes.len(), 6);
    assert_eq!(counts("handoff_nested_2p", &any, 720).outcomes.len(), 6);
    let opposite = counts("opposite_locks", &any, 3);
    assert_eq!(opposite.deadlocks, 1);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn enumerations_outside_of_shuttle_agree() {
    let any = Config::default();
    counts("1p1a3w", &any, 5_328);
    counts("1p1a3w", &in_order(), 4_392);
    counts("1p2a3w", &any, 269_928);
    counts("1p2a3w", &in_order(), 190_572);
    counts("2p1a3w", &any, 808_560);
    counts("2p1a3w", &in_order(), 609_624);
    counts("3p1a2w", &any, 734_256);
}

#[test]
fn every_mistake_of_the_toy_queue_is_found_soon() {
    for (mistake, producers, adds, workers, first) in [
        (Mistake::NoRequeue, 1, 2, 1, 9),
        (Mistake::ShutDownWakesOne, 1, 1, 2, 12),
        (Mistake::CheckThenAct, 1, 2, 1, 13),
    ] {
        let found = search(&Config::default(), TRACE, move |runtime| {
            queue_with_workers(runtime, mistake, producers, adds, workers)
        });
        assert!(found.exhausted);
        assert_eq!(found.executions, found.traces.len() as u64);
        let at = found.first_failure.expect("it is found");
        assert!(at <= first, "{mistake:?} at execution {at}");
    }
}
