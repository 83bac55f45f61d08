//! Shutdown and drains while items wait for their times.

use std::time::Duration;

use super::{Call, caller, due, millis, sleep, worker};
use crate::delaying_queue::DelayingQueue;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::Scenario;

/// Longer than the scenario. An item without a time would not be discarded in parts.
const HOURS: Duration = Duration::from_secs(2 * 3_600);

/// Shutdowns.
pub(super) fn shut_downs() -> Vec<Scenario<DelayingQueue>> {
    vec![
        // workqueue:SC-12
        DelayingQueue::program(
            "shut_down_while_delayed",
            "two consumers sleep until the time of an item when the queue is shut down",
            |world, queue| {
                queue.add_after(1, Duration::MAX); // a time that never comes wakes no sleeper
                let first = worker(world, "first", &queue, Duration::ZERO);
                let second = worker(world, "second", &queue, Duration::ZERO);
                let producer = caller(world, "producer", &queue, |queue| {
                    queue.add_after(2, millis(2));
                    queue.add_after(3, Duration::ZERO);
                });
                queue.shut_down();
                world.join(producer);
                let _after = queue.retries();
                world.quiesce();
                world.join(first);
                world.join(second);
            },
            // Both consumers sleep when the queue is shut down, and one item is not due yet.
            |before, event| {
                let shuts_down = matches!(event.call(), Some(Call::ShutDown(_)));
                shuts_down && before.getters.len() == 2 && !before.times.later.is_empty()
            },
        ),
        // workqueue:DQ-19, DQ-21
        DelayingQueue::program(
            "ends_after_due",
            "a drain and a shutdown find a due item that no call has added to the queue yet",
            |world, queue| {
                queue.add_after(1, millis(2));
                queue.add_after(2, Duration::MAX);
                sleep(world, millis(3));
                let drain = caller(world, "drain", &queue, |queue| queue.shut_down_with_drain());
                queue.shut_down();
                queue.work(|_| {});
                world.quiesce();
                world.join(drain);
            },
            // The drain, or the shutdown, is the first to look.
            |before, event| {
                let ends = matches!(event.call(), Some(Call::Drain(_) | Call::ShutDown(_)));
                ends && due(&before.times, event.at).len() == 1
            },
        ),
    ]
}

/// Drains.
pub(super) fn drains() -> Vec<Scenario<DelayingQueue>> {
    vec![
        // workqueue:DQ-21
        DelayingQueue::program(
            "drain_while_delayed",
            "a drain begins while one item is in flight and another is delayed",
            |world, queue| {
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                queue.add_after(1, Duration::MAX);
                queue.add_after(2, Duration::MAX);
                let drain = caller(world, "drain", &queue, |queue| queue.shut_down_with_drain());
                let late = caller(world, "late", &queue, |queue| {
                    queue.add_after(3, millis(1));
                    queue.shut_down_when_done();
                });
                queue.done(token);
                queue.work(|_| {}); // items added before the drain are served
                world.quiesce();
                world.join(late);
                world.join(drain);
                let _counted = queue.retries(); // a delay that was given after the drain does not count
            },
            |before, event| {
                let begins =
                    matches!(event.call(), Some(Call::Drain(drain)) if drain.inner.began.is_none());
                begins && before.in_processing == 1 && before.times.later.len() == 2
            },
        ),
        // workqueue:DQ-22
        DelayingQueue::program(
            "drain_released_by_shutdown",
            "two callers shut the queue down while a drain waits and an item is delayed",
            |world, queue| {
                queue.add(1);
                queue.add_after(2, Duration::MAX);
                let (token, _) = queue.take().expect("one item waits");
                let drain = caller(world, "drain", &queue, |queue| queue.shut_down_with_drain());
                let other = caller(world, "other", &queue, |queue| queue.shut_down());
                world.join(other);
                queue.shut_down();
                world.quiesce();
                queue.done(token); // for a drain that came last
                world.join(drain);
            },
            // When the first shutdown comes, the drain sleeps, so the queue is already shutting down.
            |before, event| {
                let shuts_down = matches!(event.call(), Some(Call::ShutDown(_)));
                shuts_down && before.times.queue.shutting_down
            },
        ),
    ]
}

/// More delayed items than one step discards.
pub(super) fn many() -> Vec<Scenario<DelayingQueue>> {
    vec![DelayingQueue::program(
        "drain_of_many",
        "a drain discards more delayed items than one step does, and another caller shuts down",
        |world, queue| {
            (1..=70).for_each(|item| queue.add_after(item, HOURS));
            queue.add(100);
            let (token, _) = queue.take().expect("one item waits");
            let drain = caller(world, "drain", &queue, |queue| queue.shut_down_with_drain());
            let begun = queue.is_shutting_down();
            queue.shut_down();
            if begun {
                world.join(drain); // the shutdown releases it, whatever it has discarded by then
                queue.done(token);
            } else {
                queue.done(token); // the drain may have come last
                world.join(drain);
            }
        },
        // The shutdown comes when the drain has begun.
        |before, event| {
            let shuts_down = matches!(event.call(), Some(Call::ShutDown(_)));
            shuts_down && before.times.queue.shutting_down
        },
    )]
}
