//! One caller who looks at every answer.

use std::time::Duration;

use super::{Queue, Tried, millis, sleep};
use crate::delaying_queue::DelayingQueue;
use crate::queues::fixtures::every_call::{TWO, every_shared_call};
use crate::queues::fixtures::keyed::Page as _;
use crate::queues::fixtures::shared;
use crate::queues::fixtures::slow_hash::{SlowHasher, counted_from_the_call};
use crate::trial::Scenario;

every_shared_call!(Tried);

/// A lone caller.
pub(super) fn all() -> Vec<Scenario<DelayingQueue>> {
    vec![
        DelayingQueue::whole(
            "every_call",
            "a lone caller makes every call, and looks at every answer",
            |world, queue| every_shared_call(world, &queue),
        )
        .not_on(crate::trial::sleeps),
        DelayingQueue::whole(
            "work_loop",
            "three items come at once and later, and a lone worker runs its loop on them",
            |world, queue| {
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
        )
        .not_on(crate::trial::needs_exact_time),
        // workqueue:DQ-5
        shared::slow_hash(|world| {
            let queue = Queue::with_host(world.runtime(), SlowHasher::new(world), world.machine());
            counted_from_the_call(
                world,
                &[(&|| queue.add_after(1, millis(5)), millis(5))],
                &|| queue.len(),
            );
        }),
    ]
}
