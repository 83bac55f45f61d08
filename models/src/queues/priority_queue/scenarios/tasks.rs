//! Consumers that are tasks, beside consumers that are threads.

use super::{Call, Event, adds, queue, some};
use crate::priority_queue::{PriorityQueue, Ret};
use crate::queues::fixtures::tasks::no_real_hours;
use crate::queues::fixtures::{sleep_together, tasks};
use crate::trial::{Scenario, What};

/// A task and a thread wait as consumers for two items.
pub(super) fn task_and_thread() -> Scenario<PriorityQueue> {
    Scenario::new(
        "task_and_thread",
        "a task and a thread wait while two items are added",
        |world| tasks::task_and_thread(world, &queue(world)),
        // Both consumers sleep when an item comes.
        |history| some(history, |before, event| adds(event, 1) && before.getters.len() == 2),
    )
}

/// A task gives up while an item comes: its wake-up goes to the thread that sleeps beside it.
pub(super) fn dropped_getter() -> Scenario<PriorityQueue> {
    Scenario::new(
        "dropped_getter",
        "a task gives up its get while an item is added and a thread waits",
        |world| tasks::dropped_getter(world, &queue(world)),
        // The getter gives up after an item came that no consumer has taken.
        |history| {
            let adds = history.events.iter().position(|event| adds(event, 1));
            let gives_up =
                history.events.iter().position(|event| matches!(event.what, What::Cancel { .. }));
            adds.zip(gives_up).is_some_and(|(adds, gives_up)| adds < gives_up)
        },
    )
}

/// Two tasks sleep until a time; the one that holds the timer for both gives up.
pub(super) fn holder_gives_up() -> Scenario<PriorityQueue> {
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

/// The executor of a task is busy when the task is woken, and comes back when items are long ready.
pub(super) fn busy_executor() -> Scenario<PriorityQueue> {
    Scenario::new(
        "busy_executor",
        "a task is woken for an earlier time, but its executor is busy; a thread sleeps on",
        |world| tasks::busy_executor(world, &queue(world)),
        // The task is the longest sleeper when it is woken.
        |history| {
            some(history, |before, event| {
                adds(event, 1) && matches!(before.getters[..], [task, thread] if task < thread)
            })
        },
    )
}

/// The executors of two tasks are busy: of the one that has the timer, and of the one that was
/// woken for an item.
pub(super) fn busy_holder() -> Scenario<PriorityQueue> {
    Scenario::<PriorityQueue>::new(
        "busy_holder",
        "a busy task holds the timer, another task takes one of two items, and a third waits",
        |world| tasks::busy_holder(world, &queue(world)),
        // The woken task comes back when the other item is ready, and both others sleep.
        |history| {
            some(history, |before, event| {
                let takes =
                    matches!(event.returned(), Some((Call::Get(_), Ret::Get(Some((_, 3, _))))));
                takes && before.getters.len() == 3
            })
        },
    )
    .not_on(no_real_hours)
}

/// A task that was woken for an earlier time gives up.
pub(super) fn woken_gives_up() -> Scenario<PriorityQueue> {
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
