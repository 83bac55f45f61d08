//! Consumers that are tasks: they sleep until a time by a timer, and may give up.

use std::time::Duration;

use super::{Call, Event, due, end, gives, millis, queue, some, worker};
use crate::delaying_queue::{DelayingQueue, Ret};
use crate::queues::fixtures::tasks::{giving_up, no_real_hours, task};
use crate::queues::fixtures::{sleep_together, tasks, waits};
use crate::trial::{Scenario, What};

/// A task and a thread sleep until a time, and an earlier one is given.
pub(super) fn task_and_thread() -> Scenario<DelayingQueue> {
    Scenario::new(
        "task_and_thread",
        "a task and a slow thread sleep until a time, and an item with an earlier time is added",
        |world| {
            let queue = queue(world);
            queue.add_after(1, millis(50));
            let thread = worker(world, "thread", &queue, millis(8));
            let task = task(world, &queue);
            queue.add_after(2, millis(3));
            end(world, &queue, [thread, task]);
        },
        // Both consumers sleep until the late time when the early one is given.
        |history| some(history, |before, event| gives(event, 2) && before.getters.len() == 2),
    )
}

/// A task that sleeps until a time gives up.
pub(super) fn dropped_getter() -> Scenario<DelayingQueue> {
    Scenario::new(
        "dropped_getter",
        "a task that sleeps until a time gives up while an item is added",
        |world| {
            let queue = queue(world);
            let thread = worker(world, "thread", &queue, millis(0));
            let task = giving_up(world, &queue);
            queue.add_after(2, Duration::MAX); // a time that never comes wakes no sleeper
            queue.add(1);
            world.join(task);
            end(world, &queue, [thread]);
        },
        // The task gives up after an item came that no consumer has taken.
        |history| {
            let adds =
                history.events.iter().position(|event| matches!(event.call(), Some(Call::Add(_))));
            let gives_up =
                history.events.iter().position(|event| matches!(event.what, What::Cancel { .. }));
            adds.zip(gives_up).is_some_and(|(adds, gives_up)| adds < gives_up)
        },
    )
}

/// A task sleeps alone until a time, and an earlier one is given; no thread would look in its
/// place.
pub(super) fn lone_task() -> Scenario<DelayingQueue> {
    Scenario::new(
        "lone_task",
        "a task sleeps alone until a time, and an item with an earlier time is added",
        |world| {
            let queue = queue(world);
            queue.add_after(1, millis(50));
            let task = task(world, &queue);
            queue.add_after(2, millis(3));
            end(world, &queue, [task]);
        },
        // The task sleeps until the late time when the early one is given.
        |history| some(history, |before, event| gives(event, 2) && before.getters.len() == 1),
    )
}

/// Two tasks sleep until a time; the one that holds the timer for both gives up.
pub(super) fn holder_gives_up() -> Scenario<DelayingQueue> {
    Scenario::new(
        "holder_gives_up",
        "two tasks sleep until the same time, and the one with the timer gives up",
        |world| tasks::holder_gives_up(world, &queue(world)),
        // The first sleeper gives up while both sleep.
        |history| {
            some(history, |before, event| {
                let gives_up = matches!(event.what, What::Cancel { .. });
                gives_up && before.getters.len() == 2 && before.getters[0] == event.thread
            })
        },
    )
}

/// The executor of a task is busy when the task is woken, and comes back when items are long due.
pub(super) fn busy_executor() -> Scenario<DelayingQueue> {
    Scenario::new(
        "busy_executor",
        "a task is woken for an earlier time, but its executor is busy; a thread sleeps on",
        |world| tasks::busy_executor(world, &queue(world)),
        // The task is the longest sleeper when it is woken.
        |history| {
            some(history, |before, event| {
                gives(event, 1) && matches!(before.getters[..], [task, thread] if task < thread)
            })
        },
    )
}

/// The executors of two tasks are busy: of the one that has the timer, and of the one that was
/// woken for an item.
pub(super) fn busy_holder() -> Scenario<DelayingQueue> {
    Scenario::<DelayingQueue>::new(
        "busy_holder",
        "a busy task holds the timer, another task takes one of two items, and a third waits",
        |world| tasks::busy_holder(world, &queue(world)),
        // The woken task comes back when the other item is due, and both others sleep.
        |history| {
            some(history, |before, event| {
                let takes =
                    matches!(event.returned(), Some((Call::Get(_), Ret::Get(Some((_, 3))))));
                takes && due(&before.times, event.at).len() == 1 && before.getters.len() == 3
            })
        },
    )
    .not_on(no_real_hours)
}

/// A task that was woken for an earlier time gives up.
pub(super) fn woken_gives_up() -> Scenario<DelayingQueue> {
    Scenario::new(
        "woken_gives_up",
        "two tasks sleep, the one with the timer is woken for an earlier time, and gives up",
        |world| tasks::woken_gives_up(world, &queue(world)),
        // One gives up, and both had slept.
        |history| {
            let gives_up = |event: &Event| matches!(event.what, What::Cancel { .. });
            sleep_together(history, 2) && history.events.iter().any(gives_up)
        },
    )
}

/// A wait for an item goes on in another task.
pub(super) fn moved_task() -> Scenario<DelayingQueue> {
    Scenario::new(
        "moved_task",
        "a wait is polled by one task and then by another, until an item is due",
        |world| tasks::moved_task(world, &queue(world), |queue| queue.add_after(1, millis(3))),
        // The task polls twice without an item.
        |history| waits(history) >= 2,
    )
}
