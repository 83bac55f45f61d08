//! Consumers that are tasks, beside consumers that are threads.

use super::{Event, queue};
use crate::limited_queue::{History, LimitedQueue};
use crate::queues::fixtures::tasks::no_real_hours;
use crate::queues::fixtures::{sleep_together, tasks};
use crate::trial::{Scenario, What};

/// A task and a thread wait as consumers for two items.
pub(super) fn task_and_thread() -> Scenario<LimitedQueue> {
    Scenario::new(
        "task_and_thread",
        "a task and a thread wait while two items are added",
        |world| tasks::task_and_thread(world, &queue(world)),
        // Both consumers sleep.
        |history| sleep_together(history, 2),
    )
}

/// A task gives up while an item comes: its wake-up goes to the thread that sleeps beside it.
pub(super) fn dropped_getter() -> Scenario<LimitedQueue> {
    Scenario::new(
        "dropped_getter",
        "a task gives up its get while an item is added and a thread waits",
        |world| tasks::dropped_getter(world, &queue(world)),
        // The task gives up beside a thread that sleeps.
        |history| sleep_together(history, 2) && gives_up(history),
    )
}

/// Two tasks sleep until a time; the one that holds the timer for both gives up.
pub(super) fn holder_gives_up() -> Scenario<LimitedQueue> {
    Scenario::new(
        "holder_gives_up",
        "two tasks sleep until the same time, and the one with the timer gives up",
        |world| tasks::holder_gives_up(world, &queue(world)),
        // One task gives up beside another that sleeps.
        |history| sleep_together(history, 2) && gives_up(history),
    )
}

/// The executor of a task is busy when the task is woken, and comes back when items are long due.
pub(super) fn busy_executor() -> Scenario<LimitedQueue> {
    Scenario::new(
        "busy_executor",
        "a task is woken for an earlier time, but its executor is busy; a thread sleeps on",
        |world| tasks::busy_executor(world, &queue(world)),
        // Both consumers sleep.
        |history| sleep_together(history, 2),
    )
}

/// The executors of two tasks are busy: of the one that has the timer, and of the one that was
/// woken for an item.
pub(super) fn busy_holder() -> Scenario<LimitedQueue> {
    Scenario::<LimitedQueue>::new(
        "busy_holder",
        "a busy task holds the timer, another task takes one of two items, and a third waits",
        |world| tasks::busy_holder(world, &queue(world)),
        // All three sleep.
        |history| sleep_together(history, 3),
    )
    .not_on(no_real_hours)
}

fn gives_up(history: &History) -> bool {
    history.events.iter().any(|event| matches!(event.what, What::Cancel { .. }))
}

/// A task that was woken for an earlier time gives up.
pub(super) fn woken_gives_up() -> Scenario<LimitedQueue> {
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
