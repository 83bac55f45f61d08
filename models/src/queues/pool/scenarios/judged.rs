//! Functions that judge their errors, and policies that give up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use seatrial_core::pool::{Action, Fault, Pool as Workers, deciding, policy};

use super::{ONE, note, patience, some, task};
use crate::pool::invariants::{ALLOWED, ANSWERS_TERMINAL};
use crate::pool::{History, Pool};
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::{Scenario, World};

/// Longer than the delay that the limiter gives the key.
const LATER: Duration = Duration::from_millis(50);

/// Fails first with a time for the next try, then for good.
fn judges(
    world: &World<Pool>,
) -> impl Fn(u32) -> Result<Action, Fault<&'static str>> + Send + Sync + 'static + use<> {
    let world = world.clone();
    move |attempt| {
        if attempt == 1 {
            return Err(Fault::RetryAfter("not yet", LATER));
        }
        world.note(ANSWERS_TERMINAL, 1);
        Err(Fault::Terminal("never"))
    }
}

/// Tells whether the key was given up, added and handed out again.
fn given_up_and_added(history: &History) -> bool {
    some(history, |before, _| before.given_up.contains(&1))
        && history.notes(ANSWERS_TERMINAL).count() == 2
}

/// Errors that are judged.
pub(super) fn judged() -> Vec<Scenario<Pool>> {
    vec![
        Scenario::new(
            "judged_errors",
            "a key fails with a delay, then for good, and is tried again once it is added again",
            |world| {
                let (queue, judges) = (Pool::tried(world), judges(world));
                let reconcile = deciding(move |_: &u8, attempt: u32| judges(attempt));
                let pool = Workers::start(world.runtime(), &queue, ONE, reconcile);
                for _ in 0..2 {
                    queue.add(1);
                    world.quiesce();
                    let _failures = queue.num_requeues(&1);
                }
                let _left = pool.shut_down(patience(world));
            },
            given_up_and_added,
        ),
        Scenario::new(
            "judging_task",
            "a key fails in a task with a delay, then for good, and is tried again once it is added",
            |world| {
                let (queue, judges) = (Pool::tried(world), Arc::new(judges(world)));
                let reconcile = deciding(move |_: u8, attempt: u32| {
                    let judges = Arc::clone(&judges);
                    async move { judges(attempt) }
                });
                let task = task(world, &queue, reconcile);
                for _ in 0..2 {
                    queue.add(1);
                    world.quiesce();
                    let _failures = queue.num_requeues(&1);
                }
                queue.shut_down();
                world.join(task);
            },
            given_up_and_added,
        ),
    ]
}

/// Keys that are given up.
pub(super) fn given_up() -> Vec<Scenario<Pool>> {
    vec![
        Pool::program(
            "gives_up",
            "a key fails at every attempt, and one retry is allowed",
            |world, queue| {
                world.note(ALLOWED, 2);
                let fails = policy(|_: &u8| Err::<(), _>("it fails")).at_most(1);
                let pool = Workers::start(world.runtime(), &queue, ONE, fails);
                queue.add(1);
                world.quiesce();
                let _failures = queue.num_requeues(&1);
                note(world, pool.shut_down(patience(world)));
            },
            |before, _| before.given_up.contains(&1),
        ),
        Pool::program(
            "task_gives_up",
            "a key fails in a task at its first three attempts, and one retry is allowed",
            |world, queue| {
                world.note(ALLOWED, 2);
                let attempts = AtomicU8::new(0);
                let fails = policy(move |_: u8| {
                    let attempt = attempts.fetch_add(1, Ordering::Relaxed);
                    async move { if attempt < 3 { Err("it fails") } else { Ok(()) } }
                });
                let task = task(world, &queue, fails.at_most(1));
                queue.add(1);
                world.quiesce();
                let _failures = queue.num_requeues(&1);
                queue.shut_down();
                world.join(task);
            },
            |before, _| before.given_up.contains(&1),
        ),
    ]
}
