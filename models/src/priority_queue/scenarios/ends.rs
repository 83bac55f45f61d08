//! Shutdown.

use std::time::Duration;

use seatrial_core::runtime::Runtime;

use super::{Call, caller, calls, failed, queue, some, worker};
use crate::priority_queue::{History, PriorityQueue};
use crate::trial::{Scenario, World};

/// The queue is shut down while consumers sleep or an item is ready (`workqueue:SC-14`).
pub(super) struct ShutDownWhileReady;

impl Scenario<PriorityQueue> for ShutDownWhileReady {
    const NAME: &'static str = "shut_down_while_ready";
    const SAYS: &'static str = "two consumers and a producer meet a shutdown";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        let queue = queue(world);
        queue.add_after(2, Duration::MAX);
        queue.add(4);
        let first = worker(world, "first", &queue, Duration::ZERO);
        let second = worker(world, "second", &queue, Duration::ZERO);
        let producer = caller(world, "producer", &queue, |queue| {
            queue.add_with(3, failed(0));
            let _failures = queue.num_requeues(&3);
        });
        queue.shut_down();
        let _says = queue.is_shutting_down();
        world.quiesce();
        world.join(producer);
        world.join(first);
        world.join(second);
    }

    /// Both consumers sleep when the queue is shut down.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            matches!(calls(event), Some(Call::ShutDown(_))) && before.getters.len() == 2
        })
    }
}
