//! Shutdown and drains while items wait for their times.

use std::time::Duration;

use seatrial_core::runtime::Runtime;

use super::{Call, caller, due, millis, queue, sleep, some, worker};
use crate::delaying_queue::{DelayingQueue, History};
use crate::trial::{Scenario, World};

/// Two consumers sleep until a time when the queue is shut down (`workqueue:SC-12`).
pub(super) struct ShutDownWhileDelayed;

impl Scenario<DelayingQueue> for ShutDownWhileDelayed {
    const NAME: &'static str = "shut_down_while_delayed";
    const SAYS: &'static str =
        "two consumers sleep until the time of an item when the queue is shut down";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
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
    }

    /// Both consumers sleep when the queue is shut down, and one item is not due yet.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let shuts_down = matches!(event.call(), Some(Call::ShutDown(_)));
            shuts_down && before.getters.len() == 2 && !before.times.later.is_empty()
        })
    }
}

/// A drain begins while one item is in flight and another waits for its time (`workqueue:DQ-21`).
pub(super) struct DrainWhileDelayed;

impl Scenario<DelayingQueue> for DrainWhileDelayed {
    const NAME: &'static str = "drain_while_delayed";
    const SAYS: &'static str = "a drain begins while one item is in flight and another is delayed";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
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
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let begins =
                matches!(event.call(), Some(Call::Drain(drain)) if drain.inner.began.is_none());
            begins && before.in_processing == 1 && before.times.later.len() == 2
        })
    }
}

/// The queue ends after an item's time has come and before any caller looked (`workqueue:DQ-19`,
/// `DQ-21`): the due item is added and served.
pub(super) struct EndsAfterDue;

impl Scenario<DelayingQueue> for EndsAfterDue {
    const NAME: &'static str = "ends_after_due";
    const SAYS: &'static str =
        "a drain and a shutdown find a due item that no call has added to the queue yet";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
        queue.add_after(1, millis(2));
        queue.add_after(2, Duration::MAX);
        sleep(world, millis(3));
        let drain = caller(world, "drain", &queue, |queue| queue.shut_down_with_drain());
        queue.shut_down();
        queue.work(|_| {});
        world.quiesce();
        world.join(drain);
    }

    /// The drain, or the shutdown, is the first to look.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let ends = matches!(event.call(), Some(Call::Drain(_) | Call::ShutDown(_)));
            ends && due(&before.times, event.at).len() == 1
        })
    }
}

/// A drain waits for an item in flight when the queue is shut down (`workqueue:DQ-22`), twice.
pub(super) struct DrainReleasedByShutdown;

impl Scenario<DelayingQueue> for DrainReleasedByShutdown {
    const NAME: &'static str = "drain_released_by_shutdown";
    const SAYS: &'static str =
        "two callers shut the queue down while a drain waits and an item is delayed";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
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
    }

    /// When the first shutdown comes, the drain sleeps, so the queue is already shutting down.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let shuts_down = matches!(event.call(), Some(Call::ShutDown(_)));
            shuts_down && before.times.queue.shutting_down
        })
    }
}

/// Longer than the scenario. An item without a time would not be discarded in parts.
const HOURS: Duration = Duration::from_secs(2 * 3_600);

/// A drain that needs several steps for its delayed items is released by a shutdown between
/// two of them.
pub(super) struct DrainOfMany;

impl Scenario<DelayingQueue> for DrainOfMany {
    const NAME: &'static str = "drain_of_many";
    const SAYS: &'static str =
        "a drain discards more delayed items than one step does, and another caller shuts down";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
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
    }

    /// The shutdown comes when the drain has begun.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let shuts_down = matches!(event.call(), Some(Call::ShutDown(_)));
            shuts_down && before.times.queue.shutting_down
        })
    }
}
