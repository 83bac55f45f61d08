//! Items on their way through the queue.

use seatrial_core::queue::Ret;

use super::{adds, caller, end, ends, worker};
use crate::queue::Queue;
use crate::queues::fixtures::keyed::Page as _;
use crate::queues::fixtures::{millis, sleep};
use crate::trial::Scenario;

/// One item.
pub(super) fn of_one_item() -> Vec<Scenario<Queue>> {
    vec![
        // workqueue:SC-1
        Queue::program(
            "two_producers_one_item",
            "two producers add the same item while one consumer works",
            |world, queue| {
                let consumer = worker(world, "consumer", &queue);
                let producer = caller(world, "producer", &queue, |queue| queue.add(1));
                queue.add(1);
                world.join(producer);
                end(world, &queue, [consumer]);
            },
            // The second add finds the item waiting.
            |before, event| adds(event).is_some_and(|key| before.spec.waiting.contains(&key)),
        ),
        // workqueue:SC-2
        Queue::program(
            "add_while_processing",
            "an item is added while one consumer processes it and another waits",
            |world, queue| {
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                let consumer = worker(world, "consumer", &queue);
                let producer = caller(world, "producer", &queue, |queue| {
                    queue.add(1);
                    queue.add(1);
                });
                queue.done(token);
                world.join(producer);
                end(world, &queue, [consumer]);
            },
            |before, event| adds(event).is_some_and(|key| before.in_processing(key)),
        ),
        // workqueue:MX-6, MX-9
        Queue::program(
            "timed",
            "an item waits and is processed for some time, and is added again meanwhile",
            |world, queue| {
                sleep(world, millis(1));
                queue.add(1);
                let refresher = caller(world, "refresher", &queue, |queue| {
                    queue.refresh_metrics(millis(5));
                });
                let producer = caller(world, "producer", &queue, |queue| queue.add(1));
                sleep(world, millis(2));
                let (token, _) = queue.take().expect("one item waits");
                queue.add(1); // counts from here, not from the done
                sleep(world, millis(4));
                queue.done(token);
                sleep(world, millis(1));
                let (token, _) = queue.take().expect("it was added again");
                sleep(world, millis(6));
                queue.done(token);
                world.join(producer);
                queue.shut_down();
                world.join(refresher);
            },
            // The item is handed out a second time, because it was added while it was processed.
            |before, event| {
                let taken = matches!(event.returned(), Some((_, Ret::Get(Some(_)))));
                taken && before.gets.contains_key(&1)
            },
        ),
    ]
}

/// Two items for two consumers.
pub(super) fn of_two_items() -> Vec<Scenario<Queue>> {
    vec![
        // workqueue:SC-3
        Queue::program(
            "two_getters",
            "two consumers take one item each and hold it for a long time",
            |world, queue| {
                let getter = |name| caller(world, name, &queue, |queue| queue.take());
                let (first, second) = (getter("first"), getter("second"));
                queue.add(1);
                queue.add(2);
                world.quiesce();
                for getter in [first, second] {
                    if let Some((token, _)) = world.join(getter) {
                        queue.done(token);
                    }
                }
            },
            // Both consumers sleep when an item comes.
            |before, event| adds(event).is_some() && before.getters.len() == 2,
        ),
        Queue::program(
            "two_workers",
            "two consumers work while two items are added",
            |world, queue| {
                let first = worker(world, "first", &queue);
                let second = worker(world, "second", &queue);
                queue.add(1);
                queue.add(2);
                world.quiesce();
                let _waiting = queue.len();
                queue.shut_down();
                world.join(first);
                world.join(second);
            },
            // Both consumers sleep when an item comes.
            |before, event| adds(event).is_some() && before.getters.len() == 2,
        ),
        Queue::program(
            "workers_go_on",
            "two consumers end an item and take the next in one step, while an item is added again",
            |world, queue| {
                let worker = |name| {
                    caller(world, name, &queue, |queue| {
                        let mut held = queue.take();
                        while let Some((token, _)) = held {
                            held = queue.done_then_take(token);
                        }
                    })
                };
                let workers = [worker("first"), worker("second")];
                queue.add(1);
                queue.add(1);
                queue.add(2);
                end(world, &queue, workers);
            },
            // One consumer ends an item that came again, while the other sleeps.
            |before, event| {
                let spec = &before.spec;
                let comes_again = spec.dirty.iter().any(|key| spec.is_in_processing(key));
                ends(event) && comes_again && before.getters.len() == 1
            },
        ),
    ]
}
