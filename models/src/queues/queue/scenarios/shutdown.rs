//! Shutdown and drains.

use seatrial_core::queue::{Drain, DrainUntil, Op};
use seatrial_core::runtime::Runtime;

use super::{caller, drain_returns, drain_waits, queue, some, worker};
use crate::queue::{History, Queue};
use crate::trial::{Scenario, World};

/// A consumer waits while the queue is shut down and an item is added (`workqueue:SC-4`).
pub(super) struct ShutDownWhileWaiting;

impl Scenario<Queue> for ShutDownWhileWaiting {
    const NAME: &'static str = "shut_down_while_waiting";
    const SAYS: &'static str =
        "two consumers wait while an item is added and the queue is shut down";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
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
    }

    /// Both consumers sleep when the queue is shut down.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let shuts_down = matches!(event.call(), Some(Op::ShutDown(_)));
            shuts_down && before.getters.len() == 2
        })
    }
}

/// A drain waits for an item that is not done; shut_down releases it (`workqueue:SC-5`).
pub(super) struct DrainReleasedByShutdown;

impl Scenario<Queue> for DrainReleasedByShutdown {
    const NAME: &'static str = "drain_released_by_shutdown";
    const SAYS: &'static str = "a drain waits for an item in flight, and shut_down releases it";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
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
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            drain_returns(event) && before.drains.values().any(|drain| drain.was_released)
        })
    }
}

/// Two drains wait for one item (`workqueue:SC-6`).
pub(super) struct TwoDrains;

impl Scenario<Queue> for TwoDrains {
    const NAME: &'static str = "two_drains";
    const SAYS: &'static str = "two drains wait for one item in flight until it is done";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        let first = caller(world, "first", &queue, |queue| queue.shut_down_with_drain());
        let second = caller(world, "second", &queue, |queue| queue.shut_down_with_drain());
        queue.done(token);
        world.join(first);
        world.join(second);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| before.drains.len() == 2 && drain_returns(event))
    }
}

/// A drain is released while a new drain starts (`workqueue:SC-7`).
pub(super) struct DrainAfterShutdown;

impl Scenario<Queue> for DrainAfterShutdown {
    const NAME: &'static str = "drain_after_shutdown";
    const SAYS: &'static str = "shut_down releases a drain while another drain starts";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
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
    }

    /// The late drain goes to sleep before the early one has left.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let released = before.drains.values().any(|drain| drain.was_released);
            drain_waits(event) && released && !before.drains.contains_key(&event.thread)
        })
    }
}

/// A drain begins while an item in processing has been added again (`workqueue:SC-8`).
pub(super) struct DrainWithReprocess;

impl Scenario<Queue> for DrainWithReprocess {
    const NAME: &'static str = "drain_with_reprocess";
    const SAYS: &'static str = "a drain begins while an item in flight has been added again";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
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
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let done = matches!(event.call(), Some(Op::Done(_)));
            done && before.drains.len() == 1 && before.spec.dirty.contains(&1)
        })
    }
}

/// A strict drain waits for all accepted items (`workqueue:WQ-33`).
pub(super) struct StrictDrain;

impl Scenario<Queue> for StrictDrain {
    const NAME: &'static str = "strict_drain";
    const SAYS: &'static str = "a strict drain waits until a consumer has finished all work";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        let queue = queue(world);
        queue.add(1);
        let (token, _) = queue.take().expect("one item waits");
        queue.add(1);
        let drain = caller(world, "drain", &queue, |queue| queue.shut_down_when_done());
        let consumer = worker(world, "consumer", &queue);
        queue.done(token);
        queue.work(|_| {}); // ask again after done: the other consumer may have left (WQ-13)
        world.join(drain);
        world.join(consumer);
    }

    /// The drain returns after the item was handed out a second time.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let strict =
                |op: &Op<u8>| matches!(op, Op::Drain(Drain { until: DrainUntil::AllWorkDone, .. }));
            let drained = event.returned().is_some_and(|(op, _)| strict(op));
            drained && before.gets.get(&1) == Some(&2)
        })
    }
}
