//! Keys and limiters that panic.

use seatrial_core::runtime::Runtime;

use super::Queue;
use crate::delaying_queue::{DelayingQueue, History};
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::fragile::{Fragile, not_copied};
use crate::trial::{Scenario, World};

/// Items that cannot be copied are not lost.
pub(super) struct NotCopied;

impl Scenario<DelayingQueue> for NotCopied {
    const NAME: &'static str = "not_copied";
    const SAYS: &'static str =
        "items cannot be copied when they are handed out, alone and together";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = Queue::<Fragile, R>::new(world.runtime());
        not_copied(&queue, |queue, key| queue.add(key), |queue| queue.take_batch(TWO));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}
