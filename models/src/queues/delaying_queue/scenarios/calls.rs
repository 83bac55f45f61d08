//! One caller who looks at every answer.

use std::time::Duration;

use seatrial_core::runtime::Runtime;

use super::{Queue, Tried, millis, queue, sleep};
use crate::delaying_queue::{DelayingQueue, History};
use crate::engine::Engine;
use crate::queues::fixtures::every_call::{TWO, every_shared_call};
use crate::queues::fixtures::slow_hash::{SlowHasher, counted_from_the_call};
use crate::queues::fixtures::updaters::updater_ends;
use crate::queues::fixtures::whole::in_one_step;
use crate::trial::{Component, Scenario, World};

every_shared_call!(Tried<R>);

/// Every call of the shell answers what its step answered.
pub(super) struct EveryCall;

impl Scenario<DelayingQueue> for EveryCall {
    const NAME: &'static str = "every_call";
    const SAYS: &'static str = "a lone caller makes every call, and looks at every answer";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        every_shared_call(world, &queue(world));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        crate::trial::sleeps(engine)
    }
}

/// The loop of a worker ends every delivery, and items come when they are due.
pub(super) struct WorkLoop;

impl Scenario<DelayingQueue> for WorkLoop {
    const NAME: &'static str = "work_loop";
    const SAYS: &'static str =
        "three items come at once and later, and a lone worker runs its loop on them";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = queue(world);
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
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        crate::trial::needs_exact_time(engine)
    }
}

/// What is one step for its caller is one step for everybody.
pub(super) struct InOneStep;

impl Scenario<DelayingQueue> for InOneStep {
    const NAME: &'static str = "in_one_step";
    const SAYS: &'static str =
        "calls of several parts, and an observer who must not see a part of them done";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        in_one_step(world, &queue(world));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}

/// A delay counts from the call and not from when the lock is taken (`workqueue:DQ-5`).
pub(super) struct SlowHash;

impl Scenario<DelayingQueue> for SlowHash {
    const NAME: &'static str = "slow_hash";
    const SAYS: &'static str = "hashing an item takes long, and its delay counts from the call";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        let queue = Queue::with_host(world.runtime(), SlowHasher::new(world), world.machine());
        counted_from_the_call(world, &[(&|| queue.add_after(1, millis(5)), millis(5))], &|| {
            queue.len()
        });
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}

/// A shutdown ends what refreshes the metrics (`workqueue:MX-12`).
pub(super) struct UpdaterEnds;

impl Scenario<DelayingQueue> for UpdaterEnds {
    const NAME: &'static str = "updater_ends";
    const SAYS: &'static str =
        "a thread that refreshes the metrics sleeps for an hour, and the queue is shut down";

    fn run<R: Runtime>(&self, world: &World<R, DelayingQueue>) {
        updater_ends(world, &queue(world));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}
