//! The promises of the engine, on small programs.

#[cfg(feature = "shuttle")]
mod agreement;
mod coverage;
mod endings;
mod replay;
mod time;

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::Runtime;

use super::{Body, Config, LoomRuntime, explore};
use crate::engine::{End, Exploration, Schedule};

const MS: Duration = Duration::from_millis(1);

fn unbounded() -> Config {
    Config { preemption_bound: None, ..Config::default() }
}

fn body(body: impl Fn(&LoomRuntime) + Send + Sync + 'static) -> Body {
    Arc::new(body)
}

/// Explores to the end and returns how every execution ended, with its schedule.
fn all(
    config: &Config,
    program: impl Fn(&LoomRuntime) + Send + Sync + 'static,
) -> Vec<(End, Schedule)> {
    let mut ends = vec![];
    let explored = explore(config, body(program), &mut |execution| {
        assert_eq!(execution.number, ends.len() as u64 + 1);
        ends.push((execution.end.clone(), execution.schedule.unwrap().clone()));
        ControlFlow::Continue(())
    });
    let cut = |end: &End| matches!(end, End::Endless(_) | End::Panicked(_));
    assert!(explored.exhausted || ends.iter().any(|(end, _)| cut(end)));
    assert_eq!(explored.executions, ends.len() as u64);
    ends
}

/// Explores a program that must finish in every execution; returns what it wrote to the log.
fn outcomes<T: Ord + Send + 'static>(
    config: &Config,
    program: impl Fn(&LoomRuntime) -> T + Send + Sync + 'static,
) -> BTreeSet<T> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let log = Arc::clone(&seen);
    for (end, schedule) in all(config, move |runtime| {
        let outcome = program(runtime);
        log.lock().unwrap().insert(outcome);
    }) {
        assert_eq!(end, End::Finished, "{schedule}");
    }
    std::mem::take(&mut *seen.lock().unwrap())
}

/// Producers add an item each, workers take them until main shuts the queue down.
fn toy(runtime: &LoomRuntime, producers: u8, workers: u8) {
    let queue = Arc::new(WorkQueue::<u8, _>::new(runtime));
    let start = |name: &str, work: fn(&WorkQueue<u8, LoomRuntime>, u8), key| {
        let queue = Arc::clone(&queue);
        runtime.spawn(name, move || work(&queue, key))
    };
    let workers: Vec<_> =
        (0..workers).map(|n| start("worker", |queue, _| queue.work(|_| {}), n)).collect();
    let producers: Vec<_> =
        (0..producers).map(|n| start("producer", |queue, key| queue.add(key), n)).collect();
    for producer in producers {
        runtime.join(producer).unwrap();
    }
    queue.shut_down();
    for worker in workers {
        runtime.join(worker).unwrap();
    }
}

/// Explores a toy and counts its distinct traces.
fn traces(config: &Config, producers: u8, workers: u8) -> (Exploration, usize) {
    let mut traces = HashSet::new();
    let program = body(move |runtime| toy(runtime, producers, workers));
    let bound = config.preemption_bound;
    let explored = explore(config, program, &mut |execution| {
        assert_eq!(execution.end, End::Finished);
        let preemptions = execution.preemptions.unwrap() as usize;
        assert!(bound.is_none_or(|bound| preemptions <= bound), "{execution:?}");
        traces.insert(execution.trace.unwrap());
        ControlFlow::Continue(())
    });
    (explored, traces.len())
}
