//! A pool that is dropped while its workers sleep: only the end of its queue wakes them.

use seatrial_core::limited_queue::Op;
use seatrial_core::pool::{Action, Pool as Workers};

use super::TWO;
use crate::pool::Pool;
use crate::pool::invariants::DROPPED;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::Scenario;

/// Nothing is left to do when the pool goes.
pub(super) fn all() -> Vec<Scenario<Pool>> {
    vec![Pool::program(
        "dropped_at_rest",
        "a pool is dropped while one of two workers sleeps, or both",
        |world, queue| {
            let pool =
                Workers::start(world.runtime(), &queue, TWO, |_: &u8| Ok::<_, ()>(Action::Done));
            queue.add(1);
            world.quiesce();
            drop(pool);
            world.note(DROPPED, 1);
            world.quiesce();
            (2..=3).for_each(|key| queue.add(key)); // lets them go if the pool did not
        },
        // Both workers sleep when the pool ends its queue.
        |before, event| matches!(event.call(), Some(Op::ShutDown(_))) && before.asleep.len() == 2,
    )]
}
