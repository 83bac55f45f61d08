//! One caller who looks at every answer.

use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::limiter::{Exponential, RateLimiter};
use seatrial_core::runtime::Runtime;

use super::{Shell, Tried, millis, queue, sleep};
use crate::engine::Engine;
use crate::limited_queue::op::BASE;
use crate::limited_queue::{History, LimitedQueue};
use crate::queues::fixtures::every_call::{TWO, every_shared_call};
use crate::queues::fixtures::slow_hash::{SlowHasher, counted_from_the_call};
use crate::queues::fixtures::updaters::updater_ends;
use crate::queues::fixtures::whole::in_one_step;
use crate::trial::{Component, Scenario, World};

every_shared_call!(Tried<R>);

/// Counts failures, and lets an item come back.
fn failures<R: Runtime>(world: &World<R, impl Component>, queue: &Tried<R>) {
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

/// Every call of the shell answers what its step answered.
pub(super) struct EveryCall;

impl Scenario<LimitedQueue> for EveryCall {
    const NAME: &'static str = "every_call";
    const SAYS: &'static str = "a lone caller makes every call, and looks at every answer";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        every_shared_call(world, &queue(world));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        crate::trial::sleeps(engine)
    }
}

/// Two queues share a limiter: a failure in one counts in the other.
pub(super) struct SharedLimiter;

impl Scenario<LimitedQueue> for SharedLimiter {
    const NAME: &'static str = "shared_limiter";
    const SAYS: &'static str =
        "an item fails in one of two queues with one limiter, and is forgotten";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let limiter = RateLimiter::new(world.runtime(), Exponential::new(millis(1), millis(9)));
        let [one, other] = [(); 2].map(|()| Shell::new(world.runtime(), limiter.clone()));
        one.add_rate_limited(1);
        assert_eq!((one.num_requeues(&1), other.num_requeues(&1)), (1, 1));
        other.forget(&1);
        assert_eq!((one.num_requeues(&1), other.num_requeues(&1)), (0, 0));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}

/// The loop of a worker does what each outcome asks for.
pub(super) struct WorkLoop;

impl Scenario<LimitedQueue> for WorkLoop {
    const NAME: &'static str = "work_loop";
    const SAYS: &'static str =
        "three items fail and come back, and a lone worker runs its loop on them";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = queue(world);
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

impl Scenario<LimitedQueue> for InOneStep {
    const NAME: &'static str = "in_one_step";
    const SAYS: &'static str =
        "calls of several parts, and an observer who must not see a part of them done";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        in_one_step(world, &queue(world));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}

/// A delay counts from the call and not from when the lock is taken (`workqueue:DQ-5`).
pub(super) struct SlowHash;

impl Scenario<LimitedQueue> for SlowHash {
    const NAME: &'static str = "slow_hash";
    const SAYS: &'static str = "hashing an item takes long, and its delay counts from the call";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        let queue = Shell::with_host(world.runtime(), SlowHasher::new(world), world.machine());
        counted_from_the_call(
            world,
            &[
                (&|| queue.add_after(1, millis(5)), millis(5)),
                (&|| queue.add_rate_limited(2), BASE),
            ],
            &|| queue.len(),
        );
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}

/// A shutdown ends what refreshes the metrics (`workqueue:MX-12`).
pub(super) struct UpdaterEnds;

impl Scenario<LimitedQueue> for UpdaterEnds {
    const NAME: &'static str = "updater_ends";
    const SAYS: &'static str =
        "a thread that refreshes the metrics sleeps for an hour, and the queue is shut down";

    fn run<R: Runtime>(&self, world: &World<R, LimitedQueue>) {
        updater_ends(world, &queue(world));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}
