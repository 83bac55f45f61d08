//! Consumers that are tasks, beside consumers that are threads.

use std::sync::Arc;

use seatrial_core::runtime::Runtime;

use super::{adds, caller, drain_waits, queue, some};
use crate::queue::{History, Queue};
use crate::queues::fixtures::tasks::{dropped_getter, moved_task, task, task_and_thread};
use crate::queues::fixtures::{millis, sleep, waits};
use crate::trial::{Scenario, What, World};

/// A task and a thread wait as consumers for two items.
pub(super) struct TaskAndThread;

impl Scenario<Queue> for TaskAndThread {
    const NAME: &'static str = "task_and_thread";
    const SAYS: &'static str = "a task and a thread wait while two items are added";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        task_and_thread(world, &queue(world));
    }

    /// Both consumers sleep when an item comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| adds(event).is_some() && before.getters.len() == 2)
    }
}

/// A task gives up while an item comes. Its wake-up goes to the thread that also sleeps.
pub(super) struct DroppedGetter;

impl Scenario<Queue> for DroppedGetter {
    const NAME: &'static str = "dropped_getter";
    const SAYS: &'static str = "a task gives up its get while an item is added and a thread waits";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        dropped_getter(world, &queue(world));
    }

    /// The getter gives up after an item came that no consumer has taken.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            matches!(event.what, What::Cancel { .. }) && !before.spec.waiting.is_empty()
        })
    }
}

/// One drain is awaited while another is given up (`workqueue:WQ-18`).
pub(super) struct DroppedDrain;

impl Scenario<Queue> for DroppedDrain {
    const NAME: &'static str = "dropped_drain";
    const SAYS: &'static str = "two drains are awaited, and one of them is given up";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
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
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            matches!(event.what, What::Cancel { .. }) && before.drains.len() == 2
        })
    }
}

/// A wait for an item goes on in another task.
pub(super) struct MovedTask;

impl Scenario<Queue> for MovedTask {
    const NAME: &'static str = "moved_task";
    const SAYS: &'static str =
        "a wait is polled by one task and then by another, while an item is added";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        moved_task(world, &queue(world), |queue| queue.add(1));
    }

    /// The task polls twice without an item.
    fn reaches(history: &History) -> bool {
        waits(history) >= 2
    }
}

/// A task waits as a consumer when a drain begins, which then waits itself.
pub(super) struct TaskBesideDrain;

impl Scenario<Queue> for TaskBesideDrain {
    const NAME: &'static str = "task_beside_drain";
    const SAYS: &'static str = "a drain waits for an item, and sends a waiting task home before";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        let task = task(world, &queue);
        sleep(world, millis(1)); // real threads also let it wait first
        let drain = caller(world, "drain", &queue, |queue| queue.shut_down_with_drain());
        world.join(task);
        queue.done(token);
        world.join(drain);
    }

    /// The task sleeps when the drain begins.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| drain_waits(event) && before.getters.len() == 1)
    }
}
