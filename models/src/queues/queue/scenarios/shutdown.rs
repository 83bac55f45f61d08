//! Shutdown and drains.

use seatrial_core::queue::{Drain, DrainUntil, Op};

use super::{caller, drain_returns, drain_waits, worker};
use crate::queue::Queue;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::Scenario;

/// A shutdown, alone and beside drains.
pub(super) fn shut_downs() -> Vec<Scenario<Queue>> {
    vec![
        // workqueue:SC-4
        Queue::program(
            "shut_down_while_waiting",
            "two consumers wait while an item is added and the queue is shut down",
            |world, queue| {
                let first = worker(world, "first", &queue);
                let second = worker(world, "second", &queue);
                let producer = caller(world, "producer", &queue, |queue| {
                    queue.add(1);
                    let _says = queue.is_shutting_down();
                });
                queue.shut_down();
                world.join(producer);
                world.join(first);
                world.join(second);
            },
            // Both consumers sleep when the queue is shut down.
            |before, event| {
                let shuts_down = matches!(event.call(), Some(Op::ShutDown(_)));
                shuts_down && before.getters.len() == 2
            },
        ),
        // workqueue:SC-5
        Queue::program(
            "drain_released_by_shutdown",
            "a drain waits for an item in flight, and shut_down releases it",
            |world, queue| {
                queue.add(1);
                queue.add(2);
                let (token, _) = queue.take().expect("two items wait");
                let drain = caller(world, "drain", &queue, |queue| queue.shut_down_with_drain());
                let observer = caller(world, "observer", &queue, |queue| {
                    let _says = queue.is_shutting_down();
                    let _waiting = queue.len();
                });
                queue.shut_down();
                world.join(observer);
                world.quiesce();
                queue.done(token); // for a drain that began after the shutdown
                world.join(drain);
            },
            |before, event| {
                drain_returns(event) && before.drains.values().any(|drain| drain.was_released)
            },
        ),
    ]
}

/// A drain that begins late.
pub(super) fn late() -> Vec<Scenario<Queue>> {
    vec![
        // workqueue:SC-7
        Queue::program(
            "drain_after_shutdown",
            "shut_down releases a drain while another drain starts",
            |world, queue| {
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                let early = caller(world, "early", &queue, |queue| queue.shut_down_with_drain());
                let late = caller(world, "late", &queue, |queue| {
                    queue.shut_down();
                    queue.shut_down_with_drain();
                });
                world.quiesce();
                queue.done(token);
                world.join(early);
                world.join(late);
            },
            // The late drain goes to sleep before the early one has left.
            |before, event| {
                let released = before.drains.values().any(|drain| drain.was_released);
                drain_waits(event) && released && !before.drains.contains_key(&event.thread)
            },
        ),
    ]
}

/// Drains that wait for work.
pub(super) fn drains() -> Vec<Scenario<Queue>> {
    vec![
        // workqueue:SC-6
        Queue::program(
            "two_drains",
            "two drains wait for one item in flight until it is done",
            |world, queue| {
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                let first = caller(world, "first", &queue, |queue| queue.shut_down_with_drain());
                let second = caller(world, "second", &queue, |queue| queue.shut_down_with_drain());
                queue.done(token);
                world.join(first);
                world.join(second);
            },
            |before, event| before.drains.len() == 2 && drain_returns(event),
        ),
        // workqueue:SC-8
        Queue::program(
            "drain_with_reprocess",
            "a drain begins while an item in flight has been added again",
            |world, queue| {
                queue.add(1);
                queue.add(2);
                let (token, _) = queue.take().expect("two items wait");
                queue.add(1);
                let consumer = worker(world, "consumer", &queue);
                let drain = caller(world, "drain", &queue, |queue| queue.shut_down_with_drain());
                let late = caller(world, "late", &queue, |queue| queue.add(3));
                queue.done(token);
                world.quiesce();
                world.join(late);
                world.join(drain);
                world.join(consumer);
            },
            |before, event| {
                let done = matches!(event.call(), Some(Op::Done(_)));
                done && before.drains.len() == 1 && before.spec.dirty.contains(&1)
            },
        ),
        // workqueue:WQ-33
        Queue::program(
            "strict_drain",
            "a strict drain waits until a consumer has finished all work",
            |world, queue| {
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                queue.add(1);
                let drain = caller(world, "drain", &queue, |queue| queue.shut_down_when_done());
                let consumer = worker(world, "consumer", &queue);
                queue.done(token);
                queue.work(|_| {}); // ask again after done: the other consumer may have left (WQ-13)
                world.join(drain);
                world.join(consumer);
            },
            // The drain returns after the item was handed out a second time.
            |before, event| {
                let strict = |op: &Op<u8>| {
                    matches!(op, Op::Drain(Drain { until: DrainUntil::AllWorkDone, .. }))
                };
                let drained = event.returned().is_some_and(|(op, _)| strict(op));
                drained && before.gets.get(&1) == Some(&2)
            },
        ),
    ]
}
