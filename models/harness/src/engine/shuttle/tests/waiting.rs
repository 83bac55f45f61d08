//! Locks, condition variables, futures.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use seatrial_core::runtime::{Ambient, Runtime};

use super::super::{Config, ShuttleRuntime, WakeUps};
use super::{end_of, outcomes};
use crate::engine::End;

#[test]
fn a_lock_is_held_by_one_thread_at_a_time() {
    let sums = outcomes(&Config::default(), |runtime| {
        let count = Arc::new(runtime.mutex(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (runtime, count) = (*runtime, Arc::clone(&count));
                runtime.spawn("adder", move || {
                    let mut count = runtime.lock(&count);
                    let read = *count;
                    runtime.lock(&runtime.mutex(())); // lets others try
                    *count = read + 1;
                })
            })
            .collect();
        for thread in threads {
            runtime.join(thread).unwrap();
        }
        *runtime.lock(&count)
    });
    assert_eq!(sums, BTreeSet::from([3]));
}

#[test]
fn two_critical_sections_can_be_torn_apart() {
    let sums = outcomes(&Config::default(), |runtime| {
        let count = Arc::new(runtime.mutex(0));
        let other = {
            let (runtime, count) = (*runtime, Arc::clone(&count));
            runtime.spawn("adder", move || {
                let read = *runtime.lock(&count);
                *runtime.lock(&count) = read + 1;
            })
        };
        let read = *runtime.lock(&count);
        *runtime.lock(&count) = read + 1;
        runtime.join(other).unwrap();
        *runtime.lock(&count)
    });
    assert_eq!(sums, BTreeSet::from([1, 2]));
}

/// Two threads wait for tickets, which come one by one; returns who got the first.
fn who_wakes_first(runtime: &ShuttleRuntime) -> usize {
    let state = Arc::new((runtime.mutex((0, 0, Vec::new())), runtime.condvar()));
    let waiters: Vec<_> = (0..2)
        .map(|me| {
            let (runtime, state) = (*runtime, Arc::clone(&state));
            runtime.spawn("waiter", move || {
                let mut inside = runtime.lock(&state.0);
                let arrived = inside.0;
                inside.0 += 1;
                while inside.1 == 0 {
                    inside = runtime.wait(&state.1, inside);
                }
                inside.1 -= 1;
                inside.2.push(arrived);
                let _ = me;
            })
        })
        .collect();
    while runtime.lock(&state.0).0 < 2 {}
    for _ in 0..2 {
        runtime.lock(&state.0).1 += 1;
        let inside = runtime.lock(&state.0);
        runtime.notify_one(&state.1);
        drop(inside);
    }
    for waiter in waiters {
        runtime.join(waiter).unwrap();
    }
    let inside = runtime.lock(&state.0);
    inside.2[0]
}

#[test]
fn notify_one_wakes_any_waiter_or_the_first_in_line() {
    assert_eq!(outcomes(&Config::default(), who_wakes_first), BTreeSet::from([0, 1]));
    let in_order = Config { wake_ups: WakeUps::InOrder, ..Config::default() };
    // Both may be notified before the first of them takes the lock, so order is not certain.
    assert!(outcomes(&in_order, who_wakes_first).contains(&0));
}

#[test]
fn a_wait_ends_for_no_reason_where_that_is_selected() {
    let body = |runtime: &ShuttleRuntime| {
        let (mutex, condvar) = (runtime.mutex(()), runtime.condvar());
        drop(runtime.wait(&condvar, runtime.lock(&mutex)));
    };
    assert!(matches!(end_of(body), End::Deadlock(_)));
    let config = Config { spurious_wake_ups: 1, ..Config::default() };
    let ends: Vec<_> =
        super::run(&config, super::random(50), body).into_iter().map(|seen| seen.end).collect();
    assert!(ends.contains(&End::Finished));
    assert!(ends.iter().any(|end| matches!(end, End::Deadlock(_))), "it need not");
}

#[test]
fn a_future_runs_until_its_waker_is_called() {
    let values = outcomes(&Config::default(), |runtime| {
        let state = Arc::new(runtime.mutex((0, None::<Waker>)));
        let other = {
            let (runtime, state) = (*runtime, Arc::clone(&state));
            runtime.spawn("waker", move || {
                let mut inside = runtime.lock(&state);
                inside.0 = 5;
                let waker = inside.1.take();
                drop(inside);
                if let Some(waker) = waker {
                    waker.wake();
                }
            })
        };
        let value = runtime.block_on(poll_fn(|cx| {
            let mut inside = runtime.lock(&state);
            if inside.0 == 0 {
                inside.1 = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(inside.0)
        }));
        runtime.join(other).unwrap();
        value
    });
    assert_eq!(values, BTreeSet::from([5]));
}

#[test]
fn a_notification_without_the_lock_is_refused() {
    let end = end_of(|runtime| runtime.notify_one(&runtime.condvar()));
    let End::Panicked(text) = end else { panic!("{end:?}") };
    assert!(text.contains("without holding its mutex"), "{text}");
}

#[test]
fn a_published_value_is_seen_old_or_new() {
    let values = outcomes(&Config::default(), |runtime| {
        let cell = Arc::new(runtime.published(Arc::new(1)));
        let other = {
            let (runtime, cell) = (*runtime, Arc::clone(&cell));
            runtime.spawn("writer", move || runtime.publish(&cell, Arc::new(2)))
        };
        let seen = *runtime.load(&cell);
        runtime.join(other).unwrap();
        (seen, *runtime.load(&cell))
    });
    assert_eq!(values, BTreeSet::from([(1, 2), (2, 2)]));
}

#[test]
fn every_answer_to_a_choice_of_data_is_given() {
    let answers = outcomes(&Config::default(), |runtime| (runtime.choose(3), runtime.choose(1)));
    assert_eq!(answers, BTreeSet::from([(0, 0), (1, 0), (2, 0)]));
}

#[test]
fn entropy_depends_on_the_thread_and_not_on_the_schedule() {
    let draw = |runtime: &ShuttleRuntime| {
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let runtime = *runtime;
                runtime.spawn("drawer", move || {
                    let first = runtime.entropy();
                    runtime.lock(&runtime.mutex(()));
                    (first, runtime.entropy())
                })
            })
            .collect();
        threads.into_iter().map(|thread| runtime.join(thread).unwrap()).collect::<Vec<_>>()
    };
    let drawn = outcomes(&Config::default(), draw);
    assert_eq!(drawn.len(), 1, "whatever the schedule");
    let numbers = drawn.first().unwrap().iter().flat_map(|(a, b)| [*a, *b]);
    assert_eq!(numbers.collect::<BTreeSet<_>>().len(), 6, "no two alike");
    let other = outcomes(&Config { entropy: 1, ..Config::default() }, draw);
    assert_ne!(drawn, other, "the seed decides");
}
