//! Consumers that are tasks, beside consumers that are threads.

use std::sync::Arc;

use seatrial_core::runtime::Runtime;

use super::{adds, caller, queue, some, worker};
use crate::queue::{History, Queue};
use crate::trial::{Scenario, What, World};

/// A task and a thread wait as consumers for two items.
pub(super) struct TaskAndThread;

impl Scenario<Queue> for TaskAndThread {
    const NAME: &'static str = "task_and_thread";
    const SAYS: &'static str = "a task and a thread wait while two items are added";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        let thread = worker(world, "thread", &queue);
        let (tried, runtime) = (Arc::clone(&queue), world.runtime().clone());
        let task = world.spawn("task", move || {
            runtime.block_on(async {
                while let Some((token, _)) = tried.take_async().await {
                    tried.done(token);
                }
            });
        });
        queue.add(1);
        queue.add(2);
        world.quiesce();
        queue.shut_down();
        world.join(thread);
        world.join(task);
    }

    /// Both consumers sleep when an item comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| adds(event).is_some() && before.getters.len() == 2)
    }
}

/// A task gives up while an item comes: its wake-up goes to the thread that sleeps beside it.
pub(super) struct DroppedGetter;

impl Scenario<Queue> for DroppedGetter {
    const NAME: &'static str = "dropped_getter";
    const SAYS: &'static str = "a task gives up its get while an item is added and a thread waits";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        let (tried, giving_up) = (Arc::clone(&queue), world.clone());
        let task = world.spawn("task", move || {
            if let Some((token, _)) = giving_up.at_once(tried.take_async()).flatten() {
                tried.done(token);
            }
        });
        let thread = worker(world, "thread", &queue);
        let producer = caller(world, "producer", &queue, |queue| queue.add(1));
        world.join(producer);
        world.join(task);
        world.quiesce();
        queue.shut_down();
        world.join(thread);
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
