//! Keys and limiters that panic.

use std::sync::Arc;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::runtime::Runtime;

use super::Shell;
use crate::limited_queue::{History, LimitedQueue};
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::fragile::{Fragile, Panics, limiter_panics, not_copied};
use crate::trial::{Scenario, World};

/// Items that cannot be copied are not lost.
pub(super) struct NotCopied;

impl Scenario<LimitedQueue> for NotCopied {
    const NAME: &'static str = "not_copied";
    const SAYS: &'static str =
        "items cannot be copied when they are handed out, alone and together";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = Shell::<Fragile, R, _>::with_default_limiter(world.runtime());
        not_copied(&queue, |queue, key| queue.add(key), |queue| queue.take_batch(TWO));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}

/// A limiter that panics loses no item.
pub(super) struct LimiterPanics;

impl Scenario<LimitedQueue> for LimiterPanics {
    const NAME: &'static str = "limiter_panics";
    const SAYS: &'static str = "the limiter panics when an item fails, and a consumer waits";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = Arc::new(Shell::new(world.runtime(), Panics));
        limiter_panics(
            world,
            &queue,
            |queue, item| queue.add(item),
            [
                |queue, token| _ = queue.settle(token, Outcome::Retry),
                |queue, token| _ = queue.settle_then_take(token, Outcome::Retry),
            ],
        );
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}
