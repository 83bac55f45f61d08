//! One caller who looks at every answer.

use std::time::Duration;

use super::{Queue, Tried, millis, queue, sleep};
use crate::delaying_queue::DelayingQueue;
use crate::queues::fixtures::every_call::{TWO, every_shared_call};
use crate::queues::fixtures::slow_hash::{SlowHasher, counted_from_the_call};
use crate::queues::fixtures::{updaters, whole};
use crate::trial::Scenario;

every_shared_call!(Tried);

/// Every call of the shell answers what its step answered.
pub(super) fn every_call() -> Scenario<DelayingQueue> {
    Scenario::<DelayingQueue>::new(
        "every_call",
        "a lone caller makes every call, and looks at every answer",
        |world| every_shared_call(world, &queue(world)),
        |history| history.finished(),
    )
    .not_on(crate::trial::sleeps)
}

/// The loop of a worker ends every delivery, and items come when they are due.
pub(super) fn work_loop() -> Scenario<DelayingQueue> {
    Scenario::<DelayingQueue>::new(
        "work_loop",
        "three items come at once and later, and a lone worker runs its loop on them",
        |world| {
            let queue = queue(world);
            assert_eq!(queue.retries(), 0);
            queue.add_after(1, Duration::ZERO);
            queue.add_after(2, millis(5));
            queue.add_after(3, millis(2));
            assert_eq!((queue.retries(), queue.len()), (3, 1));
            sleep(world, millis(5));
            assert_eq!((queue.retries(), queue.len()), (3, 3));
            let mut items = Vec::new();
            queue.work(|item| {
                items.push(*item);
                if *item == 2 {
                    queue.shut_down();
                }
            });
            assert_eq!(items, [1, 3, 2]);
            assert_eq!((queue.done_key(&1), queue.done_key(&2)), (false, false));
        },
        |history| history.finished(),
    )
    .not_on(crate::trial::needs_exact_time)
}

/// What is one step for its caller is one step for everybody.
pub(super) fn in_one_step() -> Scenario<DelayingQueue> {
    Scenario::new(
        "in_one_step",
        "calls of several parts, and an observer who must not see a part of them done",
        |world| whole::in_one_step(world, &queue(world)),
        |history| history.finished(),
    )
}

/// A delay counts from the call and not from when the lock is taken (`workqueue:DQ-5`).
pub(super) fn slow_hash() -> Scenario<DelayingQueue> {
    Scenario::new(
        "slow_hash",
        "hashing an item takes long, and its delay counts from the call",
        |world| {
            let queue = Queue::with_host(world.runtime(), SlowHasher::new(world), world.machine());
            counted_from_the_call(
                world,
                &[(&|| queue.add_after(1, millis(5)), millis(5))],
                &|| queue.len(),
            );
        },
        |history| history.finished(),
    )
}

/// A shutdown ends what refreshes the metrics (`workqueue:MX-12`).
pub(super) fn updater_ends() -> Scenario<DelayingQueue> {
    Scenario::new(
        "updater_ends",
        "a thread that refreshes the metrics sleeps for an hour, and the queue is shut down",
        |world| updaters::updater_ends(world, &queue(world)),
        |history| history.finished(),
    )
}
