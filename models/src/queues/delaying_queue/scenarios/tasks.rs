//! Consumers that are tasks: they sleep until a time by a timer, and may give up.

use std::time::Duration;

use super::{Call, end, gives, millis, worker};
use crate::delaying_queue::DelayingQueue;
use crate::queues::fixtures::keyed::Page as _;
use crate::queues::fixtures::keyed::{giving_up, task};
use crate::trial::{Scenario, What};

/// Tasks that sleep until a time.
pub(super) fn all() -> Vec<Scenario<DelayingQueue>> {
    vec![
        DelayingQueue::program(
            "task_and_thread",
            "a task and a slow thread sleep until a time, and an item with an earlier time is added",
            |world, queue| {
                queue.add_after(1, millis(50));
                let thread = worker(world, "thread", &queue, millis(8));
                let task = task(world, &queue);
                queue.add_after(2, millis(3));
                end(world, &queue, [thread, task]);
            },
            // Both consumers sleep until the late time when the early one is given.
            |before, event| gives(event, 2) && before.getters.len() == 2,
        ),
        Scenario::new(
            "dropped_getter",
            "a task that sleeps until a time gives up while an item is added",
            |world| {
                let queue = DelayingQueue::tried(world);
                let thread = worker(world, "thread", &queue, millis(0));
                let task = giving_up(world, &queue);
                queue.add_after(2, Duration::MAX); // a time that never comes wakes no sleeper
                queue.add(1);
                world.join(task);
                end(world, &queue, [thread]);
            },
            // The task gives up after an item came that no consumer has taken.
            |history| {
                let adds = history
                    .events
                    .iter()
                    .position(|event| matches!(event.call(), Some(Call::Add(_))));
                let gives_up = history
                    .events
                    .iter()
                    .position(|event| matches!(event.what, What::Cancel { .. }));
                adds.zip(gives_up).is_some_and(|(adds, gives_up)| adds < gives_up)
            },
        ),
        DelayingQueue::program(
            "lone_task",
            "a task sleeps alone until a time, and an item with an earlier time is added",
            |world, queue| {
                queue.add_after(1, millis(50));
                let task = task(world, &queue);
                queue.add_after(2, millis(3));
                end(world, &queue, [task]);
            },
            // The task sleeps until the late time when the early one is given.
            |before, event| gives(event, 2) && before.getters.len() == 1,
        ),
    ]
}
