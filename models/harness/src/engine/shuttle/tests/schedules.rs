//! The promises of strategies: the same seed gives the same executions, and a recorded schedule
//! replays.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::{Ambient, Instant, Runtime};

use super::super::{Config, ShuttleRuntime, Strategy, explore};
use super::{Seen, random, run};
use crate::engine::{End, Schedule};

/// Two producers and a worker, with choices of data and time; returns what was processed when.
fn program(runtime: &ShuttleRuntime) -> Vec<(u8, Instant)> {
    let queue = Arc::new(WorkQueue::<u8, ShuttleRuntime>::new(runtime));
    let log = Arc::new(runtime.mutex(Vec::new()));
    let worker = {
        let (runtime, queue, log) = (*runtime, Arc::clone(&queue), Arc::clone(&log));
        runtime.spawn("worker", move || {
            queue.work(|key| runtime.lock(&log).push((*key, runtime.now())));
        })
    };
    let producers: Vec<_> = (0..2)
        .map(|key| {
            let (runtime, queue) = (*runtime, Arc::clone(&queue));
            runtime.spawn("producer", move || {
                queue.add(key);
                if runtime.choose(2) == 1 {
                    runtime.sleep_until(Instant::from_nanos(u64::from(key) + 5));
                }
                queue.add(key);
            })
        })
        .collect();
    for producer in producers {
        runtime.join(producer).unwrap();
    }
    queue.shut_down();
    runtime.join(worker).unwrap();
    runtime.lock(&log).clone()
}

fn all_strategies(executions: u64) -> [Strategy; 3] {
    [
        Strategy::Random { seed: 3, executions },
        Strategy::Pct { seed: 3, depth: 3, executions },
        Strategy::Urw { seed: 3, executions },
    ]
}

fn configs() -> [Config; 3] {
    let plain = Config::default();
    let free = Config { free_jumps: 2, ..plain.clone() };
    let spurious = Config { spurious_wake_ups: 1, ..plain.clone() };
    [plain, free, spurious]
}

#[test]
fn the_same_seed_gives_the_same_executions() {
    for strategy in all_strategies(50) {
        let first = run(&Config::default(), strategy.clone(), program);
        assert_eq!(first, run(&Config::default(), strategy, program));
        assert!(first.iter().all(|seen| seen.end == End::Finished));
    }
}

/// Runs a body a few times; tells of each execution whether it is the only one.
fn is_only<T: Send + 'static>(
    config: &Config,
    body: impl Fn(&ShuttleRuntime) -> T + Send + Sync + 'static,
) -> Vec<bool> {
    let mut told = Vec::new();
    let body = Arc::new(move |runtime: &ShuttleRuntime| drop(body(runtime)));
    explore(config, random(5), body, &mut |execution| {
        told.push(execution.is_only);
        ControlFlow::Continue(())
    });
    told
}

#[test]
fn an_execution_without_a_choice_is_the_only_one() {
    let one_way = |runtime: &ShuttleRuntime| {
        runtime.sleep_until(Instant::from_nanos(5)); // nothing else can happen
        runtime.join(runtime.spawn("other", || {})).unwrap();
    };
    let two_threads = |runtime: &ShuttleRuntime| {
        let mutex = Arc::new(runtime.mutex(()));
        let other = {
            let (runtime, mutex) = (*runtime, Arc::clone(&mutex));
            runtime.spawn("other", move || drop(runtime.lock(&mutex)))
        };
        drop(runtime.lock(&mutex));
        runtime.join(other).unwrap();
    };
    let plain = Config::default();
    assert_eq!(is_only(&plain, one_way), [true; 5]);
    assert_eq!(is_only(&plain, |runtime| runtime.choose(2)), [false; 5], "a choice of data");
    assert_eq!(is_only(&plain, two_threads), [false; 5], "a choice of threads");
}

#[test]
fn a_recorded_schedule_replays_to_the_same_execution() {
    for config in configs() {
        for strategy in all_strategies(30) {
            for seen in run(&config, strategy, program) {
                let text = seen.schedule.to_string();
                let schedule: Schedule = text.parse().unwrap();
                assert_eq!(schedule, seen.schedule, "{text}");
                let exact = run(&config, Strategy::Replay(schedule.clone()), program);
                assert_eq!(exact, std::slice::from_ref(&seen), "{text}");
                let near = run(&config, Strategy::Follow(schedule), program);
                assert_eq!(near, [seen], "{text}");
            }
        }
    }
}

#[test]
fn a_schedule_of_another_program_is_reported_and_not_obeyed() {
    for text in ["", "z", "a[120]", "=1", ".", "ab=7", "a2."] {
        let schedule: Schedule = text.parse().unwrap();
        let seen = run(&Config::default(), Strategy::Replay(schedule.clone()), program);
        assert!(matches!(seen[0].end, End::Diverged(_)), "{text}: {:?}", seen[0].end);
        let near = run(&Config::default(), Strategy::Follow(schedule), program);
        assert_eq!(near[0].end, End::Finished, "{text}");
    }
}

#[test]
fn a_schedule_that_goes_on_when_the_program_is_over_is_reported_and_not_obeyed() {
    let whole = run(&Config::default(), Strategy::Random { seed: 1, executions: 1 }, program);
    let longer: Schedule = format!("{}b9=3.", whole[0].schedule).parse().unwrap();
    let seen = run(&Config::default(), Strategy::Replay(longer.clone()), program);
    let End::Diverged(why) = &seen[0].end else { panic!("{:?}", seen[0].end) };
    assert!(why.contains("the schedule has 11 more"), "{why}");
    let near = run(&Config::default(), Strategy::Follow(longer), program);
    assert_eq!(near[0].end, End::Finished);
}

#[test]
fn without_any_decision_threads_run_as_long_as_they_can() {
    let seen = run(&Config::default(), Strategy::Follow(Schedule::default()), program);
    assert_eq!(seen[0].preemptions, 0);
}

#[test]
fn a_preemption_is_a_switch_away_from_a_thread_that_could_go_on() {
    let body = |runtime: &ShuttleRuntime| {
        let mutex = Arc::new(runtime.mutex(()));
        let other = {
            let (runtime, mutex) = (*runtime, Arc::clone(&mutex));
            runtime.spawn("other", move || {
                drop(runtime.lock(&mutex));
                drop(runtime.lock(&mutex));
            })
        };
        drop(runtime.lock(&mutex));
        drop(runtime.lock(&mutex));
        runtime.join(other).unwrap();
    };
    for (text, preemptions) in [("a2b2", 0), ("b2a2", 0), ("ab2a", 1), ("baba", 2), ("abab", 2)] {
        let schedule: Schedule = text.parse().unwrap();
        let seen = run(&Config::default(), Strategy::Replay(schedule), body);
        assert_eq!((seen[0].preemptions, &seen[0].end), (preemptions, &End::Finished), "{text}");
    }
}

/// The order of the threads at one lock tells the trace of a program with one lock.
#[test]
fn executions_share_a_trace_number_iff_they_share_the_order_at_every_lock() {
    let body = |runtime: &ShuttleRuntime| {
        let locks = Arc::new([runtime.mutex(Vec::new()), runtime.mutex(Vec::new())]);
        let threads: Vec<_> = (0..3_usize)
            .map(|me| {
                let (runtime, locks) = (*runtime, Arc::clone(&locks));
                runtime.spawn("thread", move || {
                    runtime.lock(&locks[me % 2]).push(me);
                    let answer = runtime.choose(2);
                    runtime.lock(&locks[(me + 1) % 2]).push(me);
                    answer
                })
            })
            .collect();
        let answers: Vec<_> =
            threads.into_iter().map(|thread| runtime.join(thread).unwrap()).collect();
        (runtime.lock(&locks[0]).clone(), runtime.lock(&locks[1]).clone(), answers)
    };
    let (mut by_trace, mut by_order) = (BTreeMap::new(), BTreeMap::new());
    for Seen { trace, out, .. } in run(&Config::default(), random(5_000), body) {
        assert_eq!(by_trace.entry(trace).or_insert_with(|| out.clone()), &out);
        assert_eq!(by_order.entry(out).or_insert(trace), &trace);
    }
    assert!(by_order.len() > 100, "{}", by_order.len());
}
