//! Consumers that are tasks, beside consumers that are threads.

use seatrial_core::runtime::Runtime;

use super::{Event, queue};
use crate::engine::Engine;
use crate::limited_queue::{History, LimitedQueue};
use crate::queues::fixtures::sleep_together;
use crate::queues::fixtures::tasks::{
    busy_executor, busy_holder, dropped_getter, holder_gives_up, no_real_hours, task_and_thread,
    woken_gives_up,
};
use crate::trial::{Scenario, What, World};

/// A task and a thread wait as consumers for two items.
pub(super) struct TaskAndThread;

impl Scenario<LimitedQueue> for TaskAndThread {
    const NAME: &'static str = "task_and_thread";
    const SAYS: &'static str = "a task and a thread wait while two items are added";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        task_and_thread(world, &queue(world));
    }

    /// Both consumers sleep.
    fn reaches(history: &History) -> bool {
        sleep_together(history, 2)
    }
}

/// A task gives up while an item comes: its wake-up goes to the thread that sleeps beside it.
pub(super) struct DroppedGetter;

impl Scenario<LimitedQueue> for DroppedGetter {
    const NAME: &'static str = "dropped_getter";
    const SAYS: &'static str = "a task gives up its get while an item is added and a thread waits";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        dropped_getter(world, &queue(world));
    }

    /// The task gives up beside a thread that sleeps.
    fn reaches(history: &History) -> bool {
        sleep_together(history, 2) && gives_up(history)
    }
}

/// Two tasks sleep until a time; the one that holds the timer for both gives up.
pub(super) struct HolderGivesUp;

impl Scenario<LimitedQueue> for HolderGivesUp {
    const NAME: &'static str = "holder_gives_up";
    const SAYS: &'static str =
        "two tasks sleep until the same time, and the one with the timer gives up";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        holder_gives_up(world, &queue(world));
    }

    /// One task gives up beside another that sleeps.
    fn reaches(history: &History) -> bool {
        sleep_together(history, 2) && gives_up(history)
    }
}

/// The executor of a task is busy when the task is woken, and comes back when items are long due.
pub(super) struct BusyExecutor;

impl Scenario<LimitedQueue> for BusyExecutor {
    const NAME: &'static str = "busy_executor";
    const SAYS: &'static str =
        "a task is woken for an earlier time, but its executor is busy; a thread sleeps on";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        busy_executor(world, &queue(world));
    }

    /// Both consumers sleep.
    fn reaches(history: &History) -> bool {
        sleep_together(history, 2)
    }
}

/// The executors of two tasks are busy: of the one that has the timer, and of the one that was
/// woken for an item.
pub(super) struct BusyHolder;

impl Scenario<LimitedQueue> for BusyHolder {
    const NAME: &'static str = "busy_holder";
    const SAYS: &'static str =
        "a busy task holds the timer, another task takes one of two items, and a third waits";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        busy_holder(world, &queue(world));
    }

    /// All three sleep.
    fn reaches(history: &History) -> bool {
        sleep_together(history, 3)
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        no_real_hours(engine)
    }
}

fn gives_up(history: &History) -> bool {
    history.events.iter().any(|event| matches!(event.what, What::Cancel { .. }))
}

/// A task that was woken for an earlier time gives up.
pub(super) struct WokenGivesUp;

impl Scenario<LimitedQueue> for WokenGivesUp {
    const NAME: &'static str = "woken_gives_up";
    const SAYS: &'static str =
        "two tasks sleep, the one with the timer is woken for an earlier time, and gives up";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        woken_gives_up(world, &queue(world));
    }

    /// One gives up, and both had slept.
    fn reaches(history: &History) -> bool {
        let gives_up = |event: &Event| matches!(event.what, What::Cancel { .. });
        sleep_together(history, 2) && history.events.iter().any(gives_up)
    }
}
