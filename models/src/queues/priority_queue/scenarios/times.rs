//! Items that wait for the time at which they become ready.

use std::time::Duration;

use seatrial_core::priority_queue::Ret;
use seatrial_core::runtime::Runtime;

use super::{Call, adds, caller, end, later, millis, priority, queue, sleep, some, worker};
use crate::priority_queue::PriorityQueue;
use crate::queues::fixtures;
use crate::queues::fixtures::sleep_together;
use crate::queues::fixtures::tasks::Awaited as _;
use crate::trial::Scenario;

/// Two consumers sleep until a time, and two earlier times are given (`workqueue:PQ-21`).
pub(super) fn earlier_time() -> Scenario<PriorityQueue> {
    Scenario::new(
        "earlier_time",
        "two slow consumers sleep until a time, and two items with earlier times are added",
        |world| fixtures::earlier_time(world, &queue(world)),
        // Both consumers sleep until the late time when the early one is given.
        |history| some(history, |before, event| adds(event, 2) && before.getters.len() == 2),
    )
}

/// A waiting item is given other times and priorities (`workqueue:PQ-10`, `PQ-11`).
pub(super) fn brought_forward() -> Scenario<PriorityQueue> {
    Scenario::new(
        "brought_forward",
        "a waiting item is added with an earlier and a later time, another without delay",
        |world| {
            let queue = queue(world);
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
        |history| some(history, |before, event| adds(event, 1) && before.spec.retries == 2),
    )
}

/// Several times have come when a consumer looks (`workqueue:PQ-13`, `PQ-18`).
pub(super) fn due_together() -> Scenario<PriorityQueue> {
    Scenario::new(
        "due_together",
        "two items are due before a consumer looks, and a waiting item is added at once",
        |world| {
            let queue = queue(world);
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
        |history| {
            some(history, |before, event| {
                matches!(event.call(), Some(Call::Get(_))) && before.spec.len() == 4
            })
        },
    )
}

/// Three consumers sleep until the time of three items.
pub(super) fn three_due() -> Scenario<PriorityQueue> {
    Scenario::new(
        "three_due",
        "three consumers sleep until three items become due, and take one each",
        |world| fixtures::three_due(world, &queue(world)),
        // The first consumer finds one of them while the others sleep.
        |history| {
            some(history, |before, event| {
                let finds = matches!(event.returned(), Some((Call::Get(_), Ret::Get(Some(_)))));
                finds && before.getters.len() == 3
            })
        },
    )
}

/// The time of an item comes while it is held (`workqueue:PQ-20`).
pub(super) fn due_while_held() -> Scenario<PriorityQueue> {
    Scenario::new(
        "due_while_held",
        "an item becomes due while a consumer holds it",
        |world| {
            let queue = queue(world);
            queue.add(1);
            let (token, ..) = queue.take_with_priority().expect("one item is ready");
            queue.add_after(1, millis(2));
            let consumer = worker(world, "consumer", &queue, Duration::ZERO);
            let producer = caller(world, "producer", &queue, |queue| queue.add_after(2, millis(9)));
            sleep(world, millis(4));
            let _ready = queue.len();
            queue.done(token);
            world.join(producer);
            end(world, &queue, [consumer]);
        },
        |history| {
            some(history, |before, event| {
                let ready = before.spec.entry(&1).is_some_and(|entry| entry.until.is_none());
                matches!(event.call(), Some(Call::Done(_))) && before.is_held(1) && ready
            })
        },
    )
}

/// Times come while the consumer is busy, and only the figures are refreshed (`workqueue:PQ-19`).
pub(super) fn refreshed_while_due() -> Scenario<PriorityQueue> {
    Scenario::new(
        "refreshed_while_due",
        "items become due while the only consumer is busy and metrics are refreshed",
        |world| {
            let queue = queue(world);
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
        |history| {
            some(history, |before, event| {
                matches!(event.call(), Some(Call::Refresh(_))) && before.spec.len() == 2
            })
        },
    )
}

/// More items are due than one step makes ready (`workqueue:PQ-22`).
pub(super) fn many_due() -> Scenario<PriorityQueue> {
    Scenario::new(
        "many_due",
        "more items are due than one step makes ready, the last of them with \
                                the highest priority, and a task takes one",
        |world| {
            let queue = queue(world);
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
        |history| {
            some(history, |_, event| {
                matches!(event.returned(), Some((_, Ret::Get(Some((_, MANY, 1))))))
            })
        },
    )
}

/// Two steps make them ready; the second step only a few.
const MANY: u8 = 70;

/// An item for which a consumer sleeps gets an earlier time.
pub(super) fn sooner() -> Scenario<PriorityQueue> {
    Scenario::new(
        "sooner",
        "a consumer sleeps until the time of an item, and the item gets an earlier one",
        |world| fixtures::sooner(world, &queue(world)),
        // The consumer sleeps before the producer calls.
        |history| sleep_together(history, 1),
    )
}

/// Two consumers sleep, and two items become due one after the other.
pub(super) fn due_apart() -> Scenario<PriorityQueue> {
    Scenario::new(
        "due_apart",
        "two consumers sleep on an empty queue, and take one item each, which become due in turn",
        |world| fixtures::due_apart(world, &queue(world)),
        // Both consumers sleep.
        |history| sleep_together(history, 2),
    )
}
