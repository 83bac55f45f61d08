//! One caller who looks at every answer.

use super::{Tried, queue};
use crate::queue::Queue;
use crate::queues::fixtures::every_call::{TWO, every_shared_call};
use crate::queues::fixtures::{updaters, whole};
use crate::trial::Scenario;

every_shared_call!(Tried);

/// Every call of the shell answers what its step answered.
pub(super) fn every_call() -> Scenario<Queue> {
    Scenario::new(
        "every_call",
        "a lone caller makes every call, and looks at every answer",
        |world| every_shared_call(world, &queue(world)),
        |history| history.finished(),
    )
}

/// The loop of a worker ends every delivery.
pub(super) fn work_loop() -> Scenario<Queue> {
    Scenario::new(
        "work_loop",
        "a lone worker runs its loop on two items",
        |world| {
            let queue = queue(world);
            let mut items = Vec::new();
            queue.add_all([1, 2]);
            queue.work(|item| {
                items.push(*item);
                if *item == 2 {
                    queue.shut_down();
                }
            });
            assert_eq!(items, [1, 2]);
            assert_eq!((queue.done_key(&1), queue.done_key(&2)), (false, false));
        },
        |history| history.finished(),
    )
}

/// What is one step for its caller is one step for everybody.
pub(super) fn in_one_step() -> Scenario<Queue> {
    Scenario::new(
        "in_one_step",
        "calls of several parts, and an observer who must not see a part of them done",
        |world| whole::in_one_step(world, &queue(world)),
        |history| history.finished(),
    )
}

/// A shutdown ends what refreshes the metrics (`workqueue:MX-12`).
pub(super) fn updater_ends() -> Scenario<Queue> {
    Scenario::new(
        "updater_ends",
        "a thread that refreshes the metrics sleeps for an hour, and the queue is shut down",
        |world| updaters::updater_ends(world, &queue(world)),
        |history| history.finished(),
    )
}
