//! One caller who looks at every answer.

use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::limiter::{Exponential, RateLimiter};

use super::{Shell, Tried, millis, sleep};
use crate::limited_queue::LimitedQueue;
use crate::limited_queue::op::BASE;
use crate::queues::fixtures::every_call::{TWO, every_shared_call};
use crate::queues::fixtures::keyed::Page as _;
use crate::queues::fixtures::shared;
use crate::queues::fixtures::slow_hash::{SlowHasher, counted_from_the_call};
use crate::trial::{Component, Scenario, World};

every_shared_call!(Tried);

/// Counts failures, and lets an item come back.
fn failures(world: &World<impl Component>, queue: &Tried) {
    queue.add_rate_limited(1);
    queue.add_rate_limited(1);
    queue.add_rate_limited(2);
    queue.add_after(3, Duration::ZERO);
    assert_eq!((queue.num_requeues(&1), queue.num_requeues(&2), queue.num_requeues(&3)), (2, 1, 0));
    assert_eq!((queue.retries(), queue.len()), (4, 1));
    queue.forget(&2);
    assert_eq!((queue.num_requeues(&1), queue.num_requeues(&2)), (2, 0));
    let (token, three) = queue.take().expect("one item waits");
    assert_eq!((three, queue.settle(token, Outcome::Retry)), (3, true));
    assert_eq!((queue.settle(token, Outcome::Retry), queue.num_requeues(&3)), (false, 1));
    sleep(world, millis(20));
    assert_eq!(queue.len(), 3);
    let (token, one) = queue.take().expect("three items wait");
    let (next, two) = queue.settle_then_take(token, Outcome::Success).expect("two items wait");
    assert_eq!((one, two, queue.num_requeues(&1), queue.done(token)), (1, 2, 0, false));
    assert!(queue.settle(next, Outcome::RequeueAfter(millis(3))));
}

/// A lone caller.
pub(super) fn all() -> Vec<Scenario<LimitedQueue>> {
    vec![
        LimitedQueue::whole(
            "every_call",
            "a lone caller makes every call, and looks at every answer",
            |world, queue| every_shared_call(world, &queue),
        )
        .not_on(crate::trial::sleeps),
        Scenario::new(
            "shared_limiter",
            "an item fails in one of two queues with one limiter, and is forgotten",
            |world| {
                let limiter =
                    RateLimiter::new(world.runtime(), Exponential::new(millis(1), millis(9)));
                let [one, other] = [(); 2].map(|()| Shell::new(world.runtime(), limiter.clone()));
                one.add_rate_limited(1);
                assert_eq!((one.num_requeues(&1), other.num_requeues(&1)), (1, 1));
                other.forget(&1);
                assert_eq!((one.num_requeues(&1), other.num_requeues(&1)), (0, 0));
            },
            |history| history.finished(),
        ),
        LimitedQueue::whole(
            "work_loop",
            "three items fail and come back, and a lone worker runs its loop on them",
            |world, queue| {
                failures(world, &queue);
                let mut items = Vec::new();
                queue.work(|item| {
                    items.push(*item);
                    match (*item, queue.num_requeues(item)) {
                        (2, 0) => Outcome::Retry,
                        (2, _) => {
                            queue.shut_down();
                            Outcome::Success
                        }
                        _ => Outcome::Success,
                    }
                });
                assert_eq!(items, [3, 2, 2]);
                assert_eq!((queue.num_requeues(&2), queue.done_key(&2)), (0, false));
            },
        )
        .not_on(crate::trial::needs_exact_time),
        // workqueue:DQ-5
        shared::slow_hash(|world| {
            let queue = Shell::with_host(world.runtime(), SlowHasher::new(world), world.machine());
            counted_from_the_call(
                world,
                &[
                    (&|| queue.add_after(1, millis(5)), millis(5)),
                    (&|| queue.add_rate_limited(2), BASE),
                ],
                &|| queue.len(),
            );
        }),
    ]
}
