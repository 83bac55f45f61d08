//! A pool that is dropped while its workers sleep: only the end of its queue wakes them.

use seatrial_core::limited_queue::Op;
use seatrial_core::pool::{Action, Pool as Workers};
use seatrial_core::runtime::Runtime;

use super::{TWO, queue, some};
use crate::pool::invariants::DROPPED;
use crate::pool::{History, Pool};
use crate::trial::{Scenario, World};

/// Nothing is left to do when the pool goes.
pub(super) struct DroppedAtRest;

impl Scenario<Pool> for DroppedAtRest {
    const NAME: &'static str = "dropped_at_rest";
    const SAYS: &'static str = "a pool is dropped while one of two workers sleeps, or both";

    fn run<R: Runtime>(&self, world: &World<R, Pool>) {
        let queue = queue(world);
        let pool = Workers::start(world.runtime(), &queue, TWO, |_: &u8| Ok::<_, ()>(Action::Done));
        queue.add(1);
        world.quiesce();
        drop(pool);
        world.note(DROPPED, 1);
        world.quiesce();
        (2..=3).for_each(|key| queue.add(key)); // lets them go if the pool did not
    }

    /// Both workers sleep when the pool ends its queue.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            matches!(event.call(), Some(Op::ShutDown(_))) && before.asleep.len() == 2
        })
    }
}
