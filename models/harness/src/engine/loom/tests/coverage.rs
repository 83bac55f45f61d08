//! Tests of which executions are explored and shown to the judge.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seatrial_core::runtime::{Ambient, Runtime};

use super::{body, outcomes, toy, traces, unbounded};
use crate::engine::loom::{Config, LoomRuntime, explore};

// The numbers of traces were counted by a plain enumeration of the orders of the lock.
#[test]
fn every_trace_of_a_small_program_is_explored() {
    for (producers, workers, expected) in [(1, 1, 8), (1, 2, 164), (2, 1, 76)] {
        let (explored, traces) = traces(&unbounded(), producers, workers);
        assert!(explored.exhausted);
        assert_eq!(traces, expected, "{producers} producers, {workers} workers");
    }
}

#[test]
fn a_preemption_bound_leaves_traces_out_and_is_kept() {
    let config = Config { preemption_bound: Some(1), ..Config::default() };
    let (explored, traces) = traces(&config, 2, 1);
    assert!(explored.exhausted, "within the bound");
    assert!(traces < 76);
}

#[test]
fn a_spent_budget_is_not_exhausted() {
    let few = Config { max_executions: 10, ..unbounded() };
    let (explored, _) = traces(&few, 2, 1);
    assert_eq!((explored.executions, explored.exhausted), (10, false));
    let no_time = Config { max_duration: Some(Duration::ZERO), ..unbounded() };
    let (explored, _) = traces(&no_time, 2, 1);
    assert_eq!((explored.executions, explored.exhausted), (0, false));
}

/// Main panics, and never sees the write of the other thread, unless that thread writes first.
fn panics_unless_written(runtime: &LoomRuntime) {
    let lock = Arc::new(runtime.mutex(0));
    let (inner, theirs) = (runtime.clone(), Arc::clone(&lock));
    let other = runtime.spawn("other", move || *inner.lock(&theirs) = 1);
    let value = *runtime.lock(&lock);
    assert_ne!(value, 0, "nobody has written");
    runtime.join(other).unwrap();
}

fn spins_until_written(runtime: &LoomRuntime) {
    let lock = Arc::new(runtime.mutex(0));
    let (inner, theirs) = (runtime.clone(), Arc::clone(&lock));
    let other = runtime.spawn("other", move || *inner.lock(&theirs) = 1);
    while *runtime.lock(&lock) == 0 {}
    runtime.join(other).unwrap();
}

#[test]
fn what_others_might_have_done_before_an_execution_was_cut_short_is_not_explored() {
    let short = Config { max_steps: 50, ..unbounded() };
    for (config, run) in
        [(unbounded(), panics_unless_written as fn(&LoomRuntime)), (short, spins_until_written)]
    {
        let explored = explore(&config, body(run), &mut |_| ControlFlow::Continue(()));
        assert!(!explored.exhausted, "{explored:?}");
    }
    let alone =
        explore(&unbounded(), body(|_| panic!("alone")), &mut |_| ControlFlow::Continue(()));
    assert!(alone.exhausted, "there is nobody else");
}

#[test]
fn the_judge_ends_the_exploration() {
    let mut judged = 0;
    let explored = explore(&unbounded(), body(|runtime| toy(runtime, 1, 1)), &mut |_| {
        judged += 1;
        if judged == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((judged, explored.executions, explored.exhausted), (3, 3, false));
}

#[test]
fn the_judge_ends_the_exploration_between_two_answers() {
    let explored =
        explore(&unbounded(), body(|runtime| assert!(runtime.choose(9) < 9)), &mut |_| {
            ControlFlow::Break(()) // after the last schedule of the first answer
        });
    assert_eq!((explored.executions, explored.exhausted), (1, false));
}

#[test]
fn every_answer_is_tried_under_every_schedule() {
    let seen = outcomes(&unbounded(), |runtime| {
        let log = Arc::new(runtime.mutex(vec![]));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&log));
        let thread = runtime.spawn("asks", move || {
            let answer = inner.choose(2);
            inner.lock(&theirs).push(answer);
        });
        let answer = 10 + runtime.choose(3);
        runtime.lock(&log).push(answer);
        runtime.join(thread).unwrap();
        runtime.lock(&log).clone()
    });
    assert_eq!(seen.len(), 2 * 3 * 2, "{seen:?}");
}

#[test]
fn the_judge_may_ask_for_the_names_of_threads() {
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let program = body(move |runtime| {
        *keep.lock().unwrap() = Some(runtime.clone());
        drop(runtime.spawn("child", || {}));
    });
    explore(&unbounded(), program, &mut |_| {
        let runtime = kept.lock().unwrap().take().unwrap();
        assert_eq!([0, 1, 2].map(|n| runtime.thread_name(n)), ["main", "child", ""]);
        ControlFlow::Break(())
    });
}

#[test]
fn the_judge_has_room_and_its_panics_reach_the_caller() {
    fn deep(left: u32) -> u32 {
        let here = std::hint::black_box([left; 1_000]);
        if left == 0 { 0 } else { deep(left - 1) + here[999] - left + 1 }
    }
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        explore(&unbounded(), body(|runtime| toy(runtime, 1, 1)), &mut |_| {
            crate::engine::quietly(|| panic!("depth {}", deep(50)));
            ControlFlow::Continue(())
        })
    }));
    assert_eq!(crate::engine::panic_text(&*panicked.unwrap_err()), "depth 50");
}

#[test]
fn the_judge_may_explore_itself() {
    let mut inner = 0;
    let explored = explore(&unbounded(), body(|runtime| toy(runtime, 1, 1)), &mut |_| {
        inner += traces(&unbounded(), 1, 1).1;
        ControlFlow::Continue(())
    });
    assert!(explored.exhausted);
    assert_eq!(inner as u64, 8 * explored.executions);
}

#[test]
fn threads_have_the_same_number_in_every_schedule() {
    let numbers = outcomes(&unbounded(), |runtime| {
        let nested = |name: &'static str| {
            let inner = runtime.clone();
            runtime.spawn(name, move || {
                let own = inner.clone();
                let child = inner.spawn("child", move || own.current_thread());
                (inner.current_thread(), inner.join(child).unwrap())
            })
        };
        let (first, second) = (nested("first"), nested("second"));
        let numbers = (runtime.join(first).unwrap(), runtime.join(second).unwrap());
        assert_eq!(runtime.thread_name(numbers.1.0), "second");
        assert_eq!(runtime.thread_name(numbers.1.1), "child");
        numbers
    });
    assert_eq!(numbers, BTreeSet::from([((1, 5), (2, 8))]));
}
