//! Workers of a pool, one a thread and one a task.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::pool::{Action, Pool, awaited};
use seatrial_core::runtime::Runtime;

use super::{Call, millis, priority};
use crate::engine::AnyRuntime;
use crate::priority_queue::PriorityQueue;
use crate::queues::fixtures::keyed::Page as _;
use crate::shared::Lock;
use crate::trial::{Scenario, has_many_traces, sleeps};

/// Returns the work on the item, which counts how often it is done.
fn work(runtime: &AnyRuntime, tries: &Arc<Lock<u32>>) -> impl Fn() -> Result<Action, ()> + use<> {
    let (runtime, tries) = (runtime.clone(), Arc::clone(tries));
    move || {
        let mut tries = runtime.lock(&tries);
        *tries += 1;
        match *tries {
            1 => Err(()),
            2 => Ok(Action::Priority(9, Some(millis(5)))),
            _ => Ok(Action::Done),
        }
    }
}

/// An item fails, comes back with its priority, is given another, and is done (`workqueue:PQ-42`).
pub(super) fn pooled() -> Scenario<PriorityQueue> {
    Scenario::<PriorityQueue>::new(
        "pooled",
        "a thread and a task of a pool work on an item, which fails and gets another priority",
        |world| {
            let (queue, runtime) = (PriorityQueue::tried(world), world.runtime().clone());
            let tries = Arc::new(runtime.mutex(0));
            let work = Arc::new(work(&runtime, &tries));
            let (inner, its_work) = (Arc::clone(&queue), Arc::clone(&work));
            let task = world.spawn("task", move || {
                let reconcile = move |_: u8| {
                    let work = Arc::clone(&its_work);
                    async move { work() }
                };
                runtime.block_on(awaited::work(&*inner, &reconcile));
            });
            let pool =
                Pool::start(world.runtime(), &queue, NonZeroUsize::MIN, move |_: &u8| work());
            queue.add_with(1, priority(5));
            world.quiesce();
            let end = pool.shut_down(Duration::from_secs(1));
            world.join(task);
            assert_eq!((end.running, end.waiting), (0, 0), "nothing is left");
            assert_eq!(
                *world.runtime().lock(&tries),
                3,
                "whatever is handed out comes to a worker"
            );
        },
        |history| {
            let settles = |how: fn(&Outcome) -> bool, priority| {
                history.events.iter().any(|event| match event.call() {
                    Some(Call::Settle(settle)) => {
                        how(&settle.outcome) && settle.priority == priority
                    }
                    _ => false,
                })
            };
            let fails_at_its_priority = settles(|outcome| matches!(outcome, Outcome::Retry), 5);
            fails_at_its_priority && settles(|outcome| matches!(outcome, Outcome::Success), 9)
        },
    )
    .not_on(has_many_traces)
    .not_on(sleeps)
}
