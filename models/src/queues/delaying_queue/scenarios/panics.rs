//! Keys and limiters that panic.

use super::Queue;
use crate::delaying_queue::DelayingQueue;
use crate::engine::AnyRuntime;
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::fragile;
use crate::queues::fixtures::fragile::Fragile;
use crate::trial::Scenario;

/// Items that cannot be copied are not lost.
pub(super) fn not_copied() -> Scenario<DelayingQueue> {
    Scenario::new(
        "not_copied",
        "items cannot be copied when they are handed out, alone and together",
        |world| {
            let queue = Queue::<Fragile, AnyRuntime>::new(world.runtime());
            fragile::not_copied(&queue, |queue, key| queue.add(key), |queue| queue.take_batch(TWO));
        },
        |history| history.finished(),
    )
}
