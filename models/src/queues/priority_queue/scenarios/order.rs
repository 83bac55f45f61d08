//! The order of items.

use crate::queues::fixtures::every_call::TWO;
use std::time::Duration;

use super::{Call, adds, caller, end, priority, worker};
use crate::priority_queue::PriorityQueue;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::Scenario;

/// Single items.
pub(super) fn single() -> Vec<Scenario<PriorityQueue>> {
    vec![
        // workqueue:PQ-11, PQ-12
        PriorityQueue::program(
            "raise_among_equals",
            "items are added again, and one rises to a higher priority, while a consumer works",
            |world, queue| {
                queue.add_all([1, 2], priority(0));
                queue.add_with(3, priority(1));
                queue.add_with(1, priority(-1)); // keeps its priority and its place
                let first = worker(world, "first", &queue, Duration::ZERO);
                let raise = caller(world, "raise", &queue, |queue| {
                    queue.add_with(1, priority(1)); // behind 3
                    queue.add_with(1, priority(0)); // keeps the higher priority
                });
                let _ready = queue.len();
                world.join(raise);
                end(world, &queue, [first]);
            },
            // The item of the new priority is ready when the other item rises to it.
            |before, event| {
                let rises =
                    matches!(event.call(), Some(Call::Add(add)) if add.options.priority == 1);
                let ready = |key| before.spec.entry(&key).is_some();
                rises && adds(event, 1) && ready(1) && ready(3)
            },
        ),
        // workqueue:SC-15
        PriorityQueue::program(
            "add_while_held",
            "a held item is added again, with a higher priority than another, beside a consumer",
            |world, queue| {
                queue.add_with(1, priority(2));
                let (token, ..) = queue.take_with_priority().expect("one item is ready");
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                let producer = caller(world, "producer", &queue, |queue| {
                    queue.add_with(1, priority(1));
                    queue.add_with(2, priority(0));
                    let _ready = queue.len();
                });
                world.join(producer);
                world.quiesce(); // the consumer sleeps beside the held item
                queue.done(token);
                end(world, &queue, [consumer]);
            },
            |before, event| {
                let done = matches!(event.call(), Some(Call::Done(_)));
                done && before.is_held(1) && before.spec.entry(&1).is_some()
            },
        ),
        // workqueue:PQ-41
        PriorityQueue::whole(
            "many_priorities",
            "thirty items of as many priorities are added, and one is taken",
            |_, queue| {
                for item in 0..30 {
                    queue.add_with(item, priority(i32::from(item)));
                }
                assert!(queue.take_with_priority().is_some_and(|(_, item, _)| item == 29));
            },
        ),
    ]
}

/// Several items at once.
pub(super) fn together() -> Vec<Scenario<PriorityQueue>> {
    vec![
        PriorityQueue::program(
            "batch_for_two",
            "two consumers sleep, one call adds two items, and each consumer holds one",
            |world, queue| {
                let getter = |name| caller(world, name, &queue, |queue| queue.take_with_priority());
                let (first, second) = (getter("first"), getter("second"));
                queue.add_all([1, 2], priority(0));
                world.quiesce();
                queue.shut_down();
                for getter in [first, second] {
                    if let Some((token, ..)) = world.join(getter) {
                        queue.done(token);
                    }
                }
            },
            |before, event| {
                matches!(event.call(), Some(Call::AddBatch(_))) && before.getters.len() == 2
            },
        ),
        PriorityQueue::program(
            "taken_together",
            "a consumer takes two items at a time, while a more urgent item is added",
            |world, queue| {
                queue.add_with(1, priority(1));
                queue.add_with(2, priority(2));
                let producer = caller(world, "producer", &queue, |queue| {
                    queue.add_with(3, priority(3));
                    queue.add_with(1, priority(0));
                });
                let consumer = caller(world, "in twos", &queue, |queue| {
                    while let Some((batch, _)) = queue.get_batch(TWO) {
                        batch.done();
                    }
                });
                world.join(producer);
                end(world, &queue, [consumer]);
            },
            // An item is added again while it is held together with the item before it.
            |before, event| adds(event, 1) && before.is_held(1) && before.is_held(2),
        ),
    ]
}
