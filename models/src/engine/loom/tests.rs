//! What the engine promises, on small programs.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::{Ambient, Instant, Runtime};

use super::*;
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
    assert!(explored.exhausted);
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
fn time_jumps_to_the_earliest_deadline_when_nobody_can_move() {
    let woken = outcomes(&unbounded(), |runtime| {
        let log = Arc::new(runtime.mutex(vec![]));
        let threads: Vec<_> = [20, 10]
            .map(|ms| {
                let (inner, log) = (runtime.clone(), Arc::clone(&log));
                runtime.spawn("sleeper", move || {
                    inner.sleep_until(Instant::ZERO + ms * MS);
                    inner.lock(&log).push(inner.now().as_nanos() / 1_000_000);
                })
            })
            .into();
        threads.into_iter().for_each(|thread| runtime.join(thread).unwrap());
        runtime.lock(&log).clone()
    });
    assert_eq!(woken, BTreeSet::from([vec![10, 20]]));
}

#[test]
fn time_jumps_although_a_thread_waits_for_a_lock() {
    let seen = outcomes(&unbounded(), |runtime| {
        let lock = Arc::new(runtime.mutex(()));
        let (inner, other) = (runtime.clone(), Arc::clone(&lock));
        let thread = runtime.spawn("holder", move || {
            let _guard = inner.lock(&other);
            inner.sleep_until(inner.now() + MS);
        });
        drop(runtime.lock(&lock));
        let before_sleep = runtime.now() == Instant::ZERO;
        runtime.join(thread).unwrap();
        before_sleep
    });
    assert_eq!(seen, BTreeSet::from([false, true]), "main may come first or second");
}

#[test]
fn a_deadlock_names_the_threads_and_what_they_wait_for() {
    let ends = all(&unbounded(), |runtime| {
        let locks = Arc::new((runtime.mutex(()), runtime.mutex(())));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&locks));
        let thread = runtime.spawn("other", move || {
            let _second = inner.lock(&theirs.1);
            let _first = inner.lock(&theirs.0);
        });
        {
            let _first = runtime.lock(&locks.0);
            let _second = runtime.lock(&locks.1);
        }
        runtime.join(thread).unwrap();
    });
    let deadlock = "at 0ns: main waits for lock 1, held by other; \
                    other waits for lock 0, held by main";
    assert!(ends.iter().any(|(end, _)| *end == End::Deadlock(deadlock.to_owned())), "{ends:?}");
    assert!(ends.iter().any(|(end, _)| *end == End::Finished), "explored beyond the deadlock");
}

#[test]
fn a_thread_that_nobody_notifies_is_a_deadlock() {
    let ends = all(&unbounded(), |runtime| {
        let (lock, condvar) = (runtime.mutex(()), runtime.condvar());
        let guard = runtime.lock(&lock);
        drop(runtime.wait(&condvar, guard));
    });
    let text = "at 0ns: main waits on condition variable 0";
    assert_eq!(ends.iter().map(|e| &e.0).collect::<Vec<_>>(), [&End::Deadlock(text.to_owned())]);
}

#[test]
fn a_panic_goes_to_the_joiner_and_else_ends_the_execution() {
    let joined = outcomes(&unbounded(), |runtime| {
        let thread = runtime.spawn("fails", || panic!("on purpose"));
        crate::engine::panic_text(&*runtime.join(thread).unwrap_err())
    });
    assert_eq!(joined, BTreeSet::from(["on purpose".to_owned()]));
    for (end, _) in all(&unbounded(), |runtime| drop(runtime.spawn("fails", || panic!("alone")))) {
        assert_eq!(end, End::Panicked("fails: alone".to_owned()));
    }
    for (end, _) in all(&unbounded(), |runtime| {
        let inner = runtime.clone();
        drop(runtime.spawn("sleeps", move || inner.sleep_until(Instant::NEVER)));
        panic!("main is over");
    }) {
        assert_eq!(end, End::Panicked("main: main is over".to_owned()));
    }
}

#[test]
fn a_panic_while_a_lock_is_held_leaves_it_usable() {
    let sums = outcomes(&unbounded(), |runtime| {
        let sum = Arc::new(runtime.mutex(0));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&sum));
        let thread = runtime.spawn("fails", move || {
            *inner.lock(&theirs) += 1;
            let mut guard = inner.lock(&theirs);
            *guard += 1;
            panic!("with the lock");
        });
        let caught = catch_unwind(AssertUnwindSafe(|| {
            *runtime.lock(&sum) += 10;
            let _guard = runtime.lock(&sum);
            panic!("with the lock");
        }));
        assert!(caught.is_err());
        *runtime.lock(&sum) += 100;
        assert!(runtime.join(thread).is_err());
        *runtime.lock(&sum)
    });
    assert_eq!(sums, BTreeSet::from([112]));
}

#[test]
fn destructors_take_locks_on_the_way_down() {
    struct Counts(LoomRuntime, Arc<LoomMutex<u32>>);
    impl Drop for Counts {
        fn drop(&mut self) {
            *self.0.lock(&self.1) += 1;
        }
    }
    let ends = all(&unbounded(), |runtime| {
        let count = Arc::new(runtime.mutex(0));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&count));
        drop(runtime.spawn("other", move || {
            let _counts = Counts(inner.clone(), Arc::clone(&theirs));
            inner.sleep_until(Instant::NEVER);
        }));
        let _counts = Counts(runtime.clone(), Arc::clone(&count));
        runtime.sleep_until(Instant::NEVER);
    });
    assert!(ends.iter().all(|(end, _)| matches!(end, End::Deadlock(_))), "{ends:?}");
}

#[test]
fn an_execution_without_end_is_cut_short() {
    let config = Config { max_steps: 50, ..unbounded() };
    let mut seen = None;
    let spin = body(|runtime| {
        let lock = runtime.mutex(());
        loop {
            drop(runtime.lock(&lock));
        }
    });
    explore(&config, spin, &mut |execution| {
        seen = Some((execution.end.clone(), execution.steps));
        ControlFlow::Break(())
    });
    assert_eq!(seen, Some((End::Endless("at 0ns: main can move".to_owned()), 50)));
}

#[test]
fn whoever_waits_for_a_clock_that_stands_is_endless() {
    let ends = all(&unbounded(), |runtime| while runtime.now() == Instant::ZERO {});
    let text = "main reads the clock for ever".to_owned();
    assert_eq!(ends.iter().map(|end| &end.0).collect::<Vec<_>>(), [&End::Endless(text)]);
}

#[test]
fn a_notification_without_the_lock_is_refused() {
    let refused = End::Panicked("main: a notification without the lock".to_owned());
    for used_before in [false, true] {
        let ends = all(&unbounded(), move |runtime| {
            let (lock, other) = (runtime.mutex(()), runtime.mutex(()));
            let condvar = runtime.condvar();
            if used_before {
                let guard = runtime.lock(&lock);
                drop(runtime.wait_until(&condvar, guard, Instant::ZERO + MS));
            }
            let _wrong = used_before.then(|| runtime.lock(&other));
            runtime.notify_one(&condvar);
        });
        assert_eq!(ends.iter().map(|end| &end.0).collect::<Vec<_>>(), [&refused]);
    }
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
fn wakers_run_at_their_deadline_unless_disarmed() {
    let seen = outcomes(&unbounded(), |runtime| {
        let inner = runtime.clone();
        let thread = runtime.spawn("sleeper", move || inner.sleep_until(Instant::ZERO + 3 * MS));
        let now = runtime.block_on(async {
            let mut armed = None;
            std::future::poll_fn(|context| {
                if runtime.now() >= Instant::ZERO + 2 * MS {
                    return std::task::Poll::Ready(runtime.now());
                }
                let waker = context.waker().clone();
                drop(runtime.wake_at(Instant::ZERO + MS, waker.clone()));
                armed.get_or_insert_with(|| runtime.wake_at(Instant::ZERO + 2 * MS, waker));
                std::task::Poll::Pending
            })
            .await
        });
        runtime.join(thread).unwrap();
        (now.as_nanos(), runtime.now().as_nanos())
    });
    assert_eq!(seen, BTreeSet::from([(2_000_000, 3_000_000)]));
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
fn the_sixth_thread_is_refused() {
    let ends = all(&unbounded(), |runtime| {
        let threads: Vec<_> = (0..5).map(|_| runtime.spawn("one too many", || {})).collect();
        drop(threads);
    });
    let text = "main: loom runs 5 threads at most, main included";
    assert!(ends.iter().all(|(end, _)| *end == End::Panicked(text.to_owned())), "{ends:?}");
}

#[test]
fn a_schedule_leads_back_to_its_execution() {
    let program = |runtime: &LoomRuntime| toy(runtime, 2, 1);
    let mut recorded = vec![];
    explore(&Config::default(), body(program), &mut |execution| {
        let text = execution.schedule.unwrap().to_string();
        recorded.push((text, execution.trace, execution.steps, execution.preemptions));
        ControlFlow::Continue(())
    });
    for recorded in recorded.iter().step_by(7) {
        let mut replayed = vec![];
        let schedule: Schedule = recorded.0.parse().unwrap();
        let explored = replay(&Config::default(), &schedule, body(program), &mut |execution| {
            let text = execution.schedule.unwrap().to_string();
            replayed.push((text, execution.trace, execution.steps, execution.preemptions));
            ControlFlow::Continue(())
        });
        assert_eq!(explored.executions, 1);
        assert_eq!(replayed, std::slice::from_ref(recorded));
    }
}

#[test]
fn a_replay_of_other_code_says_where_it_diverges() {
    let schedule = all(&Config::default(), |runtime| toy(runtime, 2, 1)).remove(5).1;
    let replay_of = |schedule: &Schedule, program: fn(&LoomRuntime)| {
        let mut ends = vec![];
        replay(&Config::default(), schedule, body(program), &mut |execution| {
            ends.push(execution.end.clone());
            ControlFlow::Continue(())
        });
        assert_eq!(ends.len(), 1);
        match ends.remove(0) {
            End::Diverged(because) => because,
            other => panic!("{other:?}"),
        }
    };
    let fewer = replay_of(&schedule, |runtime| toy(runtime, 1, 1));
    assert!(fewer.contains("cannot be taken"), "{fewer}");
    let shorter = replay_of(&schedule, |_| {});
    assert!(shorter.starts_with("decision 2 of the schedule"), "{shorter}");
    let start = Schedule { choices: schedule.choices[..4].to_vec() };
    let longer = replay_of(&start, |runtime| toy(runtime, 2, 1));
    assert_eq!(longer, "the schedule ends after 4 decisions, the program goes on");
    let nothing = replay_of(&Schedule::default(), |runtime| toy(runtime, 2, 1));
    assert_eq!(nothing, "the schedule ends after 0 decisions, the program goes on");
    let other_answer = "a=7".parse().unwrap();
    let answer = replay_of(&other_answer, |runtime| {
        assert!(runtime.choose(2) < 2);
    });
    assert_eq!(answer, "decision 2 of the schedule, `=7`, cannot be taken");
}
