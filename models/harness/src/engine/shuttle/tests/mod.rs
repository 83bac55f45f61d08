//! The runtime and the strategies, one behaviour a test.

mod complete;
mod endings;
mod schedules;
mod time;
mod waiting;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use super::{Config, ShuttleRuntime, Strategy, explore};
use crate::engine::{End, Exploration, Schedule};

/// The parts of an execution that the tests look at.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Seen<T> {
    end: End,
    schedule: Schedule,
    trace: u64,
    preemptions: u32,
    /// The value that the body returned, if it returned.
    out: Option<T>,
}

/// Runs a body and returns every execution.
fn run<T: Clone + Send + 'static>(
    config: &Config,
    strategy: Strategy,
    body: impl Fn(&ShuttleRuntime) -> T + Send + Sync + 'static,
) -> Vec<Seen<T>> {
    let out = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&out);
    let mut seen = Vec::new();
    let body = Arc::new(move |runtime: &ShuttleRuntime| {
        let value = body(runtime);
        *slot.lock().unwrap() = Some(value);
    });
    let exploration = explore(config, strategy, body, &mut |execution| {
        assert_eq!(execution.number, seen.len() as u64 + 1);
        seen.push(Seen {
            end: execution.end.clone(),
            schedule: execution.schedule.unwrap().clone(),
            trace: execution.trace.unwrap(),
            preemptions: execution.preemptions.unwrap(),
            out: out.lock().unwrap().take(),
        });
        ControlFlow::Continue(())
    });
    assert_eq!(exploration.executions, seen.len() as u64);
    seen
}

fn random(executions: u64) -> Strategy {
    Strategy::Random { seed: 7, executions }
}

/// Returns what came out of many random executions, all of which finished.
fn outcomes<T: Clone + Ord + std::fmt::Debug + Send + 'static>(
    config: &Config,
    body: impl Fn(&ShuttleRuntime) -> T + Send + Sync + 'static,
) -> BTreeSet<T> {
    let seen = run(config, random(2_000), body);
    seen.into_iter()
        .map(|seen| {
            assert_eq!(seen.end, End::Finished, "{}", seen.schedule);
            seen.out.unwrap()
        })
        .collect()
}

/// Runs a body once and returns how it ended.
fn end_of(body: impl Fn(&ShuttleRuntime) + Send + Sync + 'static) -> End {
    run(&Config::default(), random(1), body).remove(0).end
}

#[test]
fn a_judge_can_break_off_and_explore_within() {
    let mut inner = Exploration::default();
    let body: super::Body = Arc::new(|_| {});
    let outer = explore(&Config::default(), random(10), Arc::clone(&body), &mut |execution| {
        if execution.number == 1 {
            inner = explore(&Config::default(), random(3), Arc::clone(&body), &mut |_| {
                ControlFlow::Continue(())
            });
        }
        if execution.number == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((inner.executions, outer.executions), (3, 4));
}
