//! Items that wait for the time at which they become ready.

use std::time::Duration;

use seatrial_core::priority_queue::Ret;
use seatrial_core::runtime::Runtime;

use super::{Call, adds, caller, end, later, millis, priority, sleep, worker};
use crate::priority_queue::PriorityQueue;
use crate::queues::fixtures::keyed::{Keyed as _, Page as _};
use crate::trial::Scenario;

/// Two steps make them ready; the second step only a few.
const MANY: u8 = 70;

/// Times that are given to items.
pub(super) fn given() -> Vec<Scenario<PriorityQueue>> {
    vec![
        // workqueue:PQ-10, PQ-11
        PriorityQueue::program(
            "brought_forward",
            "a waiting item is added with an earlier and a later time, another without delay",
            |world, queue| {
                queue.add_with(1, later(0, millis(5)));
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                let producer = caller(world, "producer", &queue, |queue| {
                    queue.add_with(1, later(1, millis(7)));
                });
                queue.add_with(1, later(0, millis(3)));
                queue.add_with(2, later(0, Duration::ZERO));
                let _given = queue.retries();
                world.join(producer);
                end(world, &queue, [consumer]);
            },
            |before, event| adds(event, 1) && before.spec.retries == 2,
        ),
        // workqueue:PQ-13, PQ-18
        PriorityQueue::program(
            "due_together",
            "two items are due before a consumer looks, and a waiting item is added at once",
            |world, queue| {
                queue.add_with(1, later(0, millis(4)));
                queue.add_with(2, later(0, millis(2)));
                queue.add_with(3, later(0, millis(90)));
                queue.add_with(4, priority(0));
                sleep(world, millis(5));
                let producer = caller(world, "producer", &queue, |queue| {
                    queue.add_with(3, priority(0)); // keeps its place, before 4
                    queue.add_with(4, later(0, millis(1))); // is ready and stays so
                    let _ready = queue.len();
                });
                world.join(producer);
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                let second = worker(world, "second", &queue, Duration::ZERO);
                end(world, &queue, [consumer, second]);
            },
            // All four are ready.
            |before, event| matches!(event.call(), Some(Call::Get(_))) && before.spec.len() == 4,
        ),
    ]
}

/// Items whose times come.
pub(super) fn due() -> Vec<Scenario<PriorityQueue>> {
    vec![
        // workqueue:PQ-20
        PriorityQueue::program(
            "due_while_held",
            "an item becomes due while a consumer holds it",
            |world, queue| {
                queue.add(1);
                let (token, ..) = queue.take_with_priority().expect("one item is ready");
                queue.add_after(1, millis(2));
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                let producer =
                    caller(world, "producer", &queue, |queue| queue.add_after(2, millis(9)));
                sleep(world, millis(4));
                let _ready = queue.len();
                queue.done(token);
                world.join(producer);
                end(world, &queue, [consumer]);
            },
            |before, event| {
                let ready = before.spec.entry(&1).is_some_and(|entry| entry.until.is_none());
                matches!(event.call(), Some(Call::Done(_))) && before.is_held(1) && ready
            },
        ),
        // workqueue:PQ-19
        PriorityQueue::program(
            "refreshed_while_due",
            "items become due while the only consumer is busy and metrics are refreshed",
            |world, queue| {
                queue.add(1);
                let (token, ..) = queue.take_with_priority().expect("one item is ready");
                queue.add_with(1, later(0, millis(2)));
                queue.add_with(2, later(1, millis(4)));
                queue.add_with(3, later(1, millis(90)));
                let refresher = caller(world, "refresher", &queue, |queue| {
                    queue.refresh_metrics(millis(5));
                });
                sleep(world, millis(7));
                queue.add_with(3, priority(2)); // no longer waits
                queue.add_with(3, priority(3));
                sleep(world, millis(1));
                queue.done(token);
                for _ in 1..=3 {
                    let (token, ..) = queue.take_with_priority().expect("all are ready");
                    sleep(world, millis(1));
                    queue.done(token);
                }
                queue.shut_down();
                world.join(refresher);
            },
            // Both times have come when the figures are reported.
            |before, event| {
                matches!(event.call(), Some(Call::Refresh(_))) && before.spec.len() == 2
            },
        ),
    ]
}

/// More items than one step makes ready.
pub(super) fn many() -> Vec<Scenario<PriorityQueue>> {
    vec![
        // workqueue:PQ-22
        PriorityQueue::program(
            "many_due",
            "more items are due than one step makes ready, the last of them with \
                                the highest priority, and a task takes one",
            |world, queue| {
                (1..MANY).for_each(|key| queue.add_with(key, later(0, millis(2))));
                queue.add_with(MANY, later(1, millis(3)));
                sleep(world, millis(4));
                let other = caller(world, "other", &queue, |queue| {
                    let _all = queue.len();
                });
                assert!(world.runtime().block_on(queue.work_async()), "many are due");
                let (token, ..) = queue.take_with_priority().expect("many are due");
                queue.done(token);
                world.join(other);
                queue.shut_down();
            },
            // The item that is due last comes first.
            |_, event| matches!(event.returned(), Some((_, Ret::Get(Some((_, MANY, 1)))))),
        ),
    ]
}
