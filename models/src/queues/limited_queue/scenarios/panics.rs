//! Keys and limiters that panic.

use std::sync::Arc;

use seatrial_core::limited_queue::Outcome;

use super::Shell;
use crate::engine::AnyRuntime;
use crate::limited_queue::LimitedQueue;
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::fragile;
use crate::queues::fixtures::fragile::{Fragile, Panics};
use crate::trial::Scenario;

/// Items that cannot be copied are not lost.
pub(super) fn not_copied() -> Scenario<LimitedQueue> {
    Scenario::new(
        "not_copied",
        "items cannot be copied when they are handed out, alone and together",
        |world| {
            let queue = Shell::<Fragile, AnyRuntime, _>::with_default_limiter(world.runtime());
            fragile::not_copied(&queue, |queue, key| queue.add(key), |queue| queue.take_batch(TWO));
        },
        |history| history.finished(),
    )
}

/// A limiter that panics loses no item.
pub(super) fn limiter_panics() -> Scenario<LimitedQueue> {
    Scenario::new(
        "limiter_panics",
        "the limiter panics when an item fails, and a consumer waits",
        |world| {
            let queue = Arc::new(Shell::new(world.runtime(), Panics));
            fragile::limiter_panics(
                world,
                &queue,
                |queue, item| queue.add(item),
                [
                    |queue, token| _ = queue.settle(token, Outcome::Retry),
                    |queue, token| _ = queue.settle_then_take(token, Outcome::Retry),
                ],
            );
        },
        |history| history.finished(),
    )
}
