//! Known numbers of traces, and agreement with the search without reduction.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use super::super::{Body, Config, ShuttleRuntime, Strategy, WakeUps, explore};
use crate::engine::End;
use crate::toy::Program;

/// What a search found.
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
        found.outcomes.insert(format!("{:?} {}", execution.end, out.lock().unwrap()));
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
