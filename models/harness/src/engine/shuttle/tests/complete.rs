//! A search says that it is complete only if it is.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

use seatrial_core::runtime::{Atomic as _, Runtime};

use super::*;
use crate::toy::Program;

/// The searches that can be complete.
fn searches(executions: u64) -> [Strategy; 2] {
    [Strategy::Trace { executions }, Strategy::All { preemptions: None, executions }]
}

/// Runs a body; returns what was explored, and how the executions ended.
fn explored(
    config: &Config,
    strategy: Strategy,
    body: impl Fn(&ShuttleRuntime) + Send + Sync + 'static,
) -> (Exploration, Vec<End>) {
    let (mut ends, mut steps) = (vec![], 0);
    let explored = explore(config, strategy, Arc::new(body), &mut |execution| {
        ends.push(execution.end.clone());
        steps += execution.steps;
        ControlFlow::Continue(())
    });
    assert_eq!((explored.executions, explored.steps), (ends.len() as u64, steps), "the sum of all");
    (explored, ends)
}

#[test]
fn a_search_whose_budget_is_spent_is_not() {
    let program: Program = "2p1a1w".parse().unwrap();
    for search in searches(10) {
        let (explored, _) = explored(&Config::default(), search, move |runtime| {
            program.run(runtime);
        });
        assert_eq!((explored.executions, explored.exhausted), (10, false));
    }
}

#[test]
fn a_search_that_gave_an_execution_up_is_not() {
    let short = Config { max_steps: 50, ..Config::default() };
    for search in searches(1_000) {
        let (explored, ends) = explored(&short, search, |runtime| {
            let lock = Arc::new(runtime.mutex(false));
            let (inner, theirs) = (*runtime, Arc::clone(&lock));
            let other = runtime.spawn("other", move || *inner.lock(&theirs) = true);
            while !*runtime.lock(&lock) {}
            runtime.join(other).unwrap();
        });
        assert!(ends.iter().any(|end| matches!(end, End::Endless(_))), "{ends:?}");
        assert!(!explored.exhausted);
    }
}

#[test]
fn a_search_of_more_threads_than_it_tells_apart_is_refused() {
    let (explored, ends) =
        explored(&Config::default(), Strategy::Trace { executions: 9 }, |runtime| {
            let lock = Arc::new(runtime.mutex(0));
            let add = || {
                let (inner, theirs) = (*runtime, Arc::clone(&lock));
                runtime.spawn("other", move || *inner.lock(&theirs) += 1)
            };
            let others: Vec<_> = (0..16).map(|_| add()).collect();
            others.into_iter().for_each(|other| runtime.join(other).unwrap());
        });
    assert!(matches!(&ends[..], [End::Refused(why)] if why.contains("threads")), "{ends:?}");
    assert!(!explored.exhausted);
}

#[test]
fn a_program_that_does_not_do_the_same_again_is_noticed() {
    for search in searches(1_000) {
        let runs = AtomicU32::new(0);
        let (explored, ends) = explored(&Config::default(), search, move |runtime| {
            let (lock, another) = (Arc::new(runtime.mutex(0)), runtime.mutex(0));
            if runs.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
                *runtime.lock(&another) += 1;
            }
            let (inner, theirs) = (*runtime, Arc::clone(&lock));
            let other = runtime.spawn("other", move || *inner.lock(&theirs) += 1);
            *runtime.lock(&lock) += 1;
            runtime.join(other).unwrap();
        });
        assert!(matches!(ends.last(), Some(End::Diverged(_))), "{ends:?}");
        assert!(!explored.exhausted);
    }
}

/// Returns how many traces a program has.
fn traces(body: impl Fn(&ShuttleRuntime) + Send + Sync + 'static) -> u64 {
    let (explored, ends) =
        explored(&Config::default(), Strategy::Trace { executions: 10_000 }, body);
    assert!(explored.exhausted && ends.iter().all(|end| *end == End::Finished), "{ends:?}");
    explored.executions
}

#[test]
fn two_swaps_have_an_order() {
    let two = traces(|runtime| {
        let cell = Arc::new(runtime.atomic(0));
        let theirs = Arc::clone(&cell);
        let other = runtime.spawn("other", move || theirs.swap(1, Ordering::SeqCst));
        cell.swap(2, Ordering::SeqCst);
        runtime.join(other).unwrap();
    });
    assert_eq!(two, 2);
}

/// Three readers at a time, each of which waits for the one before it, and a writer: the writer
/// comes before all of them, or behind those that have begun.
#[test]
fn readers_that_share_a_lock_with_others_hold_a_writer_up_together() {
    let traces = traces(|runtime| {
        let lock = Arc::new(runtime.rw_lock(0));
        let here = Arc::new((runtime.mutex([false; 3]), runtime.condvar()));
        let reader = |me: usize| {
            let (seam, lock, here) = (*runtime, Arc::clone(&lock), Arc::clone(&here));
            runtime.spawn("reader", move || {
                let _share = seam.read(&lock);
                let mut all = seam.lock(&here.0);
                all[me] = true;
                seam.notify_all(&here.1);
                while me > 0 && !all[me - 1] {
                    all = seam.wait(&here.1, all);
                }
            })
        };
        let readers = [reader(0), reader(1), reader(2)];
        let (seam, theirs) = (*runtime, Arc::clone(&lock));
        let writer = runtime.spawn("writer", move || *seam.write(&theirs) += 1);
        readers.into_iter().for_each(|reader| runtime.join(reader).unwrap());
        runtime.join(writer).unwrap();
    });
    assert_eq!(traces, 26);
}
