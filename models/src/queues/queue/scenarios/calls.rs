//! One caller who looks at every answer.

use seatrial_core::runtime::Runtime;

use super::{Tried, queue};
use crate::queue::{History, Queue};
use crate::queues::fixtures::every_call::{TWO, every_shared_call};
use crate::queues::fixtures::updaters::updater_ends;
use crate::queues::fixtures::whole::in_one_step;
use crate::trial::{Component, Scenario, World};

every_shared_call!(Tried<R>);

/// Every call of the shell answers what its step answered.
pub(super) struct EveryCall;

impl Scenario<Queue> for EveryCall {
    const NAME: &'static str = "every_call";
    const SAYS: &'static str = "a lone caller makes every call, and looks at every answer";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        every_shared_call(world, &queue(world));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}

/// The loop of a worker ends every delivery.
pub(super) struct WorkLoop;

impl Scenario<Queue> for WorkLoop {
    const NAME: &'static str = "work_loop";
    const SAYS: &'static str = "a lone worker runs its loop on two items";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
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
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}

/// What is one step for its caller is one step for everybody.
pub(super) struct InOneStep;

impl Scenario<Queue> for InOneStep {
    const NAME: &'static str = "in_one_step";
    const SAYS: &'static str =
        "calls of several parts, and an observer who must not see a part of them done";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        in_one_step(world, &queue(world));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}

/// A shutdown ends what refreshes the metrics (`workqueue:MX-12`).
pub(super) struct UpdaterEnds;

impl Scenario<Queue> for UpdaterEnds {
    const NAME: &'static str = "updater_ends";
    const SAYS: &'static str =
        "a thread that refreshes the metrics sleeps for an hour, and the queue is shut down";

    fn run<R: Runtime>(&self, world: &World<R, Queue>) {
        updater_ends(world, &queue(world));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}
