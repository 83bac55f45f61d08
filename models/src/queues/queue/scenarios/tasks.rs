//! Consumers that are tasks, beside consumers that are threads.

use std::sync::Arc;

use seatrial_core::runtime::Runtime;

use super::{caller, drain_waits};
use crate::queue::Queue;
use crate::queues::fixtures::keyed::Page as _;
use crate::queues::fixtures::keyed::task;
use crate::queues::fixtures::{millis, sleep};
use crate::trial::{Scenario, What};

/// Tasks beside drains.
pub(super) fn all() -> Vec<Scenario<Queue>> {
    vec![
        // workqueue:WQ-18
        Queue::program(
            "dropped_drain",
            "two drains are awaited, and one of them is given up",
            |world, queue| {
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                let (tried, runtime) = (Arc::clone(&queue), world.runtime().clone());
                let awaited = world.spawn("awaited", move || runtime.block_on(tried.drain_async()));
                let (tried, giving_up) = (Arc::clone(&queue), world.clone());
                let dropped =
                    world.spawn("dropped", move || giving_up.at_once(tried.drain_async()));
                queue.done(token);
                let _given_up = world.join(dropped);
                world.join(awaited);
            },
            |before, event| matches!(event.what, What::Cancel { .. }) && before.drains.len() == 2,
        ),
        Queue::program(
            "task_beside_drain",
            "a drain waits for an item, and sends a waiting task home before",
            |world, queue| {
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
            |before, event| drain_waits(event) && before.getters.len() == 1,
        ),
    ]
}
