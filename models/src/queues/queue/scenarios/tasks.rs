//! Consumers that are tasks, beside consumers that are threads.

use std::sync::Arc;

use seatrial_core::runtime::Runtime;

use super::{adds, caller, drain_waits, queue, some};
use crate::queue::Queue;
use crate::queues::fixtures::tasks::task;
use crate::queues::fixtures::{millis, sleep, tasks, waits};
use crate::trial::{Scenario, What};

/// A task and a thread wait as consumers for two items.
pub(super) fn task_and_thread() -> Scenario<Queue> {
    Scenario::new(
        "task_and_thread",
        "a task and a thread wait while two items are added",
        |world| tasks::task_and_thread(world, &queue(world)),
        // Both consumers sleep when an item comes.
        |history| some(history, |before, event| adds(event).is_some() && before.getters.len() == 2),
    )
}

/// A task gives up while an item comes. Its wake-up goes to the thread that also sleeps.
pub(super) fn dropped_getter() -> Scenario<Queue> {
    Scenario::new(
        "dropped_getter",
        "a task gives up its get while an item is added and a thread waits",
        |world| tasks::dropped_getter(world, &queue(world)),
        // The getter gives up after an item came that no consumer has taken.
        |history| {
            some(history, |before, event| {
                matches!(event.what, What::Cancel { .. }) && !before.spec.waiting.is_empty()
            })
        },
    )
}

/// One drain is awaited while another is given up (`workqueue:WQ-18`).
pub(super) fn dropped_drain() -> Scenario<Queue> {
    Scenario::new(
        "dropped_drain",
        "two drains are awaited, and one of them is given up",
        |world| {
            let queue = queue(world);
            queue.add(1);
            let (token, _) = queue.take().expect("one item waits");
            let (tried, runtime) = (Arc::clone(&queue), world.runtime().clone());
            let awaited = world.spawn("awaited", move || runtime.block_on(tried.drain_async()));
            let (tried, giving_up) = (Arc::clone(&queue), world.clone());
            let dropped = world.spawn("dropped", move || giving_up.at_once(tried.drain_async()));
            queue.done(token);
            let _given_up = world.join(dropped);
            world.join(awaited);
        },
        |history| {
            some(history, |before, event| {
                matches!(event.what, What::Cancel { .. }) && before.drains.len() == 2
            })
        },
    )
}

/// A wait for an item goes on in another task.
pub(super) fn moved_task() -> Scenario<Queue> {
    Scenario::new(
        "moved_task",
        "a wait is polled by one task and then by another, while an item is added",
        |world| tasks::moved_task(world, &queue(world), |queue| queue.add(1)),
        // The task polls twice without an item.
        |history| waits(history) >= 2,
    )
}

/// A task waits as a consumer when a drain begins, which then waits itself.
pub(super) fn task_beside_drain() -> Scenario<Queue> {
    Scenario::new(
        "task_beside_drain",
        "a drain waits for an item, and sends a waiting task home before",
        |world| {
            let queue = queue(world);
            queue.add(1);
            let (token, _) = queue.take().expect("one item waits");
            let task = task(world, &queue);
            sleep(world, millis(1)); // real threads also let it wait first
            let drain = caller(world, "drain", &queue, |queue| queue.shut_down_with_drain());
            world.join(task);
            queue.done(token);
            world.join(drain);
        },
        // The task sleeps when the drain begins.
        |history| some(history, |before, event| drain_waits(event) && before.getters.len() == 1),
    )
}
