//! Keys and limiters that panic.

use std::sync::Arc;

use seatrial_core::limited_queue::Outcome;

use super::Queue;
use crate::engine::AnyRuntime;
use crate::priority_queue::PriorityQueue;
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::fragile;
use crate::queues::fixtures::fragile::{Fragile, Panics};
use crate::trial::Scenario;

/// Items that cannot be copied are not lost.
pub(super) fn not_copied() -> Scenario<PriorityQueue> {
    Scenario::new(
        "not_copied",
        "items cannot be copied when they are handed out, alone and together",
        |world| {
            let queue = Queue::<Fragile, AnyRuntime>::new(world.runtime());
            fragile::not_copied(
                &queue,
                |queue, key| queue.add(key),
                |queue| {
                    let taken = queue.take_batch(TWO).into_iter();
                    taken.map(|(token, key, _)| (token, key)).collect()
                },
            );
        },
        |history| history.finished(),
    )
}

/// A limiter that panics loses no item.
pub(super) fn limiter_panics() -> Scenario<PriorityQueue> {
    Scenario::new(
        "limiter_panics",
        "the limiter panics when an item fails, and a consumer waits",
        |world| {
            let queue = Arc::new(Queue::with_limiter(world.runtime(), Panics));
            fragile::limiter_panics(
                world,
                &queue,
                |queue, item| queue.add(item),
                [
                    |queue, token| _ = queue.settle(token, Outcome::Retry, 0),
                    |queue, token| _ = queue.settle_then_take(token, Outcome::Retry, 0),
                ],
            );
        },
        |history| history.finished(),
    )
}
