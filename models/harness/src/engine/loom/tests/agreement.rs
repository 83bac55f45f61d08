//! loom and our own search meet the same outcomes, on programs made at random.
//!
//! Both explore every schedule under the same rules: notifications in order, no spurious wake-ups,
//! deadlines when no thread can move. Neither uses the other.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use seatrial_core::runtime::{Instant, Runtime};

use super::{MS, unbounded};
use crate::engine::loom::{Config, explore};
use crate::engine::{End, Execution, shuttle};
use crate::toy::Program;

/// An act of a thread that holds one lock.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Adds one and notifies one.
    Add,
    /// Adds two and notifies all.
    AddForAll,
    /// Waits for more than zero and takes one.
    Take,
    /// The same as `Take`, but for this number of milliseconds at most.
    TakeBy(u32),
    /// Takes the other lock as well, and adds one there.
    AddInOther,
    /// Sleeps for this number of milliseconds, with the lock.
    Sleep(u32),
}

/// Threads, each a list of critical sections: which lock, and what to do with it.
type Random = Vec<Vec<(usize, Act)>>;

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = super::super::record::mix(self.0);
        self.0 % n
    }
}

fn random(dice: &mut Dice) -> Random {
    let threads = 2 + dice.below(2);
    let sections = if threads == 2 { 3 } else { 2 };
    (0..threads).map(|_| (0..1 + dice.below(sections)).map(|_| section(dice)).collect()).collect()
}

fn section(dice: &mut Dice) -> (usize, Act) {
    let lock = dice.below(2) as usize;
    let ms = 1 + dice.below(3) as u32;
    let act = match dice.below(9) {
        0..=2 => Act::Add,
        3 => Act::AddForAll,
        4 | 5 => Act::Take,
        6 => Act::TakeBy(ms),
        7 => Act::AddInOther,
        _ => Act::Sleep(ms),
    };
    (lock, act)
}

struct Place<R: Runtime> {
    count: R::Mutex<u32>,
    changed: R::Condvar,
}

/// The values that the threads of an execution have seen so far.
type Seen = Arc<Mutex<Vec<Vec<u32>>>>;

fn run<R: Runtime>(runtime: &R, program: &Random, seen: &Seen) {
    *seen.lock().unwrap() = vec![vec![]; program.len()];
    let place = || Place { count: runtime.mutex(0), changed: runtime.condvar() };
    let places = Arc::new([place(), place()]);
    let start = |(at, sections): (usize, &Vec<(usize, Act)>)| {
        let (runtime, places, seen) = (runtime.clone(), Arc::clone(&places), Arc::clone(seen));
        let sections = sections.clone();
        runtime.clone().spawn("thread", move || {
            for (lock, act) in sections {
                let value = enter(&runtime, &places, lock, act);
                seen.lock().unwrap()[at].push(value);
            }
        })
    };
    let threads: Vec<_> = program.iter().enumerate().map(start).collect();
    for thread in threads {
        runtime.join(thread).expect("nothing panics");
    }
}

/// Runs one critical section and returns what it saw.
fn enter<R: Runtime>(runtime: &R, places: &[Place<R>; 2], lock: usize, act: Act) -> u32 {
    let place = &places[lock];
    let mut count = runtime.lock(&place.count);
    let before = *count;
    match act {
        Act::Add => {
            *count += 1;
            runtime.notify_one(&place.changed);
        }
        Act::AddForAll => {
            *count += 2;
            runtime.notify_all(&place.changed);
        }
        Act::Take => {
            let mut slept = 0;
            while *count == 0 {
                slept += 100;
                count = runtime.wait(&place.changed, count);
            }
            *count -= 1;
            return slept + *count;
        }
        Act::TakeBy(ms) => {
            let mut late = false;
            while *count == 0 && !late {
                let deadline = Instant::ZERO + ms * MS;
                (count, late) = runtime.wait_until(&place.changed, count, deadline);
            }
            *count = count.saturating_sub(1);
            return u32::from(late) * 1_000 + *count;
        }
        Act::AddInOther => {
            let other = &places[1 - lock];
            *runtime.lock(&other.count) += 1;
        }
        Act::Sleep(ms) => runtime.sleep_until(Instant::ZERO + ms * MS),
    }
    before
}

#[derive(Default, PartialEq, Eq, Debug)]
struct Met {
    traces: BTreeSet<u64>,
    outcomes: BTreeSet<String>,
}

/// Notes what an execution led to; how a deadlock is described is up to the engine.
fn note(met: &mut Met, execution: &Execution<'_>, seen: &Seen) -> ControlFlow<()> {
    let end = match &execution.end {
        End::Finished => "finished",
        End::Deadlock(_) => "deadlock",
        other => panic!("{other:?}"),
    };
    met.traces.insert(execution.trace.unwrap());
    met.outcomes.insert(format!("{end} {:?}", seen.lock().unwrap()));
    ControlFlow::Continue(())
}

fn under_loom(program: Random, free_jumps: u32) -> Option<Met> {
    let (mut met, seen) = (Met::default(), Seen::default());
    let config = Config { max_executions: 5_000, free_jumps, ..unbounded() };
    let theirs = Arc::clone(&seen);
    let body = Arc::new(move |runtime: &_| run(runtime, &program, &theirs));
    let explored = explore(&config, body, &mut |execution| note(&mut met, execution, &seen));
    explored.exhausted.then_some(met)
}

fn in_order() -> shuttle::Config {
    shuttle::Config { wake_ups: shuttle::WakeUps::InOrder, ..shuttle::Config::default() }
}

fn under_trace(program: Random, free_jumps: u32) -> Met {
    let (mut met, seen) = (Met::default(), Seen::default());
    let strategy = shuttle::Strategy::Trace { executions: u64::MAX };
    let theirs = Arc::clone(&seen);
    let body = Arc::new(move |runtime: &_| run(runtime, &program, &theirs));
    let config = shuttle::Config { free_jumps, ..in_order() };
    let explored = shuttle::explore(&config, strategy, body, &mut |execution| {
        note(&mut met, execution, &seen)
    });
    assert!(explored.exhausted);
    met
}

#[test]
fn loom_and_the_trace_search_meet_the_same_outcomes() {
    let mut dice = Dice(1);
    let (mut compared, mut deadlocks) = (0, 0);
    for _ in 0..200 {
        let program = random(&mut dice);
        let Some(loom) = under_loom(program.clone(), 0) else { continue };
        let trace = under_trace(program.clone(), 0);
        assert_eq!(loom.outcomes, trace.outcomes, "{program:?}");
        let timed = |(_, act): &(usize, Act)| matches!(act, Act::TakeBy(_) | Act::Sleep(_));
        // If the deadline of a wait has passed already, each engine may treat the lock its own way.
        if !program.iter().flatten().any(timed) {
            assert_eq!(loom.traces.len(), trace.traces.len(), "{program:?}");
        }
        compared += 1;
        if std::env::var_os("SHOW").is_some() {
            println!("{compared} {} {}", loom.traces.len(), trace.traces.len());
        }
        deadlocks += u32::from(loom.outcomes.iter().any(|end| end.starts_with("deadlock")));
    }
    assert!(compared > 120 && deadlocks > 30, "{compared} compared, {deadlocks} with deadlocks");
}

#[test]
fn they_meet_the_same_outcomes_where_a_deadline_passes_at_any_time() {
    let mut dice = Dice(2);
    let (mut compared, mut differ) = (0, 0);
    while compared < 40 {
        let program = random(&mut dice);
        let timed = |(_, act): &(usize, Act)| matches!(act, Act::TakeBy(_) | Act::Sleep(_));
        if program.len() > 2 || !program.iter().flatten().any(timed) {
            continue;
        }
        let Some(loom) = under_loom(program.clone(), 1) else { continue };
        assert_eq!(loom.outcomes, under_trace(program.clone(), 1).outcomes, "{program:?}");
        differ += u32::from(loom.outcomes != under_trace(program, 0).outcomes);
        compared += 1;
    }
    assert!(differ > 4, "{differ} of {compared} programs have more outcomes");
}

#[test]
fn loom_and_the_trace_search_count_the_same_traces_of_the_toy_programs() {
    for name in ["1p1a1w", "1p2a1w", "2p1a1w", "1p1a2w", "handoff_1p", "handoff_nested_1p"] {
        let program: Program = name.parse().unwrap();
        let mut traces = [BTreeSet::new(), BTreeSet::new()];
        let body = Arc::new(move |runtime: &_| drop_result(program.run(runtime)));
        explore(&unbounded(), body, &mut |execution| {
            traces[0].insert(execution.trace.unwrap());
            ControlFlow::Continue(())
        });
        let strategy = shuttle::Strategy::Trace { executions: u64::MAX };
        let body = Arc::new(move |runtime: &_| drop_result(program.run(runtime)));
        shuttle::explore(&in_order(), strategy, body, &mut |execution| {
            traces[1].insert(execution.trace.unwrap());
            ControlFlow::Continue(())
        });
        assert_eq!(traces[0].len(), traces[1].len(), "{name}");
    }
}

/// The body of an execution returns nothing; that the programs agree is compared elsewhere.
fn drop_result(_: u64) {}
