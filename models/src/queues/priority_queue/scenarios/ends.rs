//! Shutdown.

use std::time::Duration;

use seatrial_core::limited_queue::Outcome;

use super::{Call, caller, failed, millis, worker};
use crate::priority_queue::PriorityQueue;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::Scenario;

/// Shutdowns.
pub(super) fn all() -> Vec<Scenario<PriorityQueue>> {
    vec![
        // workqueue:SC-14
        PriorityQueue::program(
            "shut_down_while_ready",
            "the queue is shut down beside two consumers and a producer",
            |world, queue| {
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
            },
            // Both consumers sleep when the queue is shut down.
            |before, event| {
                matches!(event.call(), Some(Call::ShutDown(_))) && before.getters.len() == 2
            },
        ),
        // workqueue:PQ-33
        PriorityQueue::program(
            "shut_down_twice",
            "two callers shut the queue down while a consumer sleeps",
            |world, queue| {
                queue.add_after(1, Duration::MAX);
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                let other = caller(world, "other", &queue, |queue| queue.shut_down());
                queue.shut_down();
                queue.shut_down();
                world.join(other);
                world.join(consumer);
            },
            // The consumer sleeps when the first shutdown comes.
            |before, event| {
                matches!(event.call(), Some(Call::ShutDown(_))) && before.getters.len() == 1
            },
        ),
        // workqueue:PQ-2
        PriorityQueue::program(
            "failed_at_the_end",
            "an item fails with a delay for its next try, before or after a shutdown",
            |world, queue| {
                queue.add(1);
                let (token, ..) = queue.take_with_priority().expect("one item is ready");
                let other = caller(world, "other", &queue, |queue| queue.shut_down());
                queue.settle(token, Outcome::RetryAfter(millis(3)), 0);
                let _failures = queue.num_requeues(&1);
                world.join(other);
            },
            // The item fails after the shutdown.
            |before, event| matches!(event.call(), Some(Call::Settle(_))) && before.spec.shut_down,
        ),
    ]
}
