//! Consumers that are tasks, beside consumers that are threads.

use seatrial_core::runtime::Runtime;

use super::{Call, Event, adds, queue, some};
use crate::engine::Engine;
use crate::priority_queue::{History, PriorityQueue, Ret};
use crate::queues::fixtures::sleep_together;
use crate::queues::fixtures::tasks::{
    busy_executor, busy_holder, dropped_getter, holder_gives_up, no_real_hours, task_and_thread,
    woken_gives_up,
};
use crate::trial::{Scenario, What, World};

/// A task and a thread wait as consumers for two items.
pub(super) struct TaskAndThread;

impl Scenario<PriorityQueue> for TaskAndThread {
    const NAME: &'static str = "task_and_thread";
    const SAYS: &'static str = "a task and a thread wait while two items are added";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        task_and_thread(world, &queue(world));
    }

    /// Both consumers sleep when an item comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| adds(event, 1) && before.getters.len() == 2)
    }
}

/// A task gives up while an item comes: its wake-up goes to the thread that sleeps beside it.
pub(super) struct DroppedGetter;

impl Scenario<PriorityQueue> for DroppedGetter {
    const NAME: &'static str = "dropped_getter";
    const SAYS: &'static str = "a task gives up its get while an item is added and a thread waits";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        dropped_getter(world, &queue(world));
    }

    /// The getter gives up after an item came that no consumer has taken.
    fn reaches(history: &History) -> bool {
        let adds = history.events.iter().position(|event| adds(event, 1));
        let gives_up =
            history.events.iter().position(|event| matches!(event.what, What::Cancel { .. }));
        adds.zip(gives_up).is_some_and(|(adds, gives_up)| adds < gives_up)
    }
}

/// Two tasks sleep until a time; the one that holds the timer for both gives up.
pub(super) struct HolderGivesUp;

impl Scenario<PriorityQueue> for HolderGivesUp {
    const NAME: &'static str = "holder_gives_up";
    const SAYS: &'static str =
        "two tasks sleep until the same time, and the one with the timer gives up";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        holder_gives_up(world, &queue(world));
    }

    /// The first sleeper gives up while both sleep.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let gives_up = matches!(event.what, What::Cancel { .. });
            gives_up && before.getters.len() == 2 && before.getters[0] == event.thread
        })
    }
}

/// The executor of a task is busy when the task is woken, and comes back when items are long ready.
pub(super) struct BusyExecutor;

impl Scenario<PriorityQueue> for BusyExecutor {
    const NAME: &'static str = "busy_executor";
    const SAYS: &'static str =
        "a task is woken for an earlier time, but its executor is busy; a thread sleeps on";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        busy_executor(world, &queue(world));
    }

    /// The task is the longest sleeper when it is woken.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            adds(event, 1) && matches!(before.getters[..], [task, thread] if task < thread)
        })
    }
}

/// The executors of two tasks are busy: of the one that has the timer, and of the one that was
/// woken for an item.
pub(super) struct BusyHolder;

impl Scenario<PriorityQueue> for BusyHolder {
    const NAME: &'static str = "busy_holder";
    const SAYS: &'static str =
        "a busy task holds the timer, another task takes one of two items, and a third waits";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        busy_holder(world, &queue(world));
    }

    /// The woken task comes back when the other item is ready, and both others sleep.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let takes = matches!(event.returned(), Some((Call::Get(_), Ret::Get(Some((_, 3, _))))));
            takes && before.getters.len() == 3
        })
    }
    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        no_real_hours(engine)
    }
}

/// A task that was woken for an earlier time gives up.
pub(super) struct WokenGivesUp;

impl Scenario<PriorityQueue> for WokenGivesUp {
    const NAME: &'static str = "woken_gives_up";
    const SAYS: &'static str =
        "two tasks sleep, the one with the timer is woken for an earlier time, and gives up";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        woken_gives_up(world, &queue(world));
    }

    /// One gives up, and both had slept.
    fn reaches(history: &History) -> bool {
        let gives_up = |event: &Event| matches!(event.what, What::Cancel { .. });
        sleep_together(history, 2) && history.events.iter().any(gives_up)
    }
}
