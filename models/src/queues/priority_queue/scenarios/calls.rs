//! One caller who looks at every answer.

use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::queue::Deliver;
use seatrial_core::runtime::Runtime;

use super::{Queue, Tried, failed, later, millis, priority, queue, sleep};
use crate::engine::Engine;
use crate::priority_queue::op::BASE;
use crate::priority_queue::{History, PriorityQueue};
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::slow_hash::{SlowHasher, counted_from_the_call};
use crate::queues::fixtures::updaters::updater_ends;
use crate::queues::fixtures::whole::in_one_step;
use crate::trial::{Component, Scenario, World};

const SECOND: Duration = Duration::from_secs(1);

fn single_items<R: Runtime>(world: &World<R, impl Component>, queue: &Tried<R>) {
    assert_eq!((queue.len(), queue.is_empty(), queue.retries()), (0, true, 0));
    assert!(world.at_once(queue.take_async()).is_none());
    assert!(world.at_once(queue.get_async()).is_none());
    queue.add_all([1, 2, 3], priority(-1));
    queue.add_with(2, priority(5));
    queue.add(4);
    assert_eq!((queue.len(), queue.is_empty()), (4, false));
    let (first, two, five) = queue.take_with_priority().expect("four items wait");
    let (second, zero) = queue.get().expect("three items wait");
    assert_eq!((two, five, *second, zero, queue.len()), (2, 5, 4, 0, 2));
    second.done();
    assert_eq!((queue.done_key(&4), queue.done_key(&2), queue.done(first)), (false, true, false));
    let (third, one, low) = world.at_once(queue.take_async()).flatten().expect("two items wait");
    let (fourth, three, _) = queue.done_then_take(third).expect("one item waits");
    assert_eq!((one, low, three, queue.done(third)), (1, -1, 3, false));
    queue.add(9);
    let (nine, zero) = world.at_once(queue.get_async()).flatten().expect("one item waits");
    assert_eq!((*nine, zero, Deliver::done(&**queue, fourth)), (9, 0, true));
    drop(nine);
    assert_eq!((queue.done_key(&9), queue.is_empty()), (false, true));
}

fn batches<R: Runtime>(world: &World<R, impl Component>, queue: &Tried<R>) {
    assert!(world.at_once(queue.take_batch_async(TWO)).is_none());
    queue.add_all([1, 2, 3], priority(1));
    queue.add(4);
    let (batch, priorities) = queue.get_batch(TWO).expect("four items wait");
    assert_eq!((&*batch, &*priorities, queue.len()), (&[1, 2][..], &[1, 1][..], 2));
    drop(batch);
    let rest = queue.take_batch(TWO);
    assert_eq!((rest[0].1, rest[0].2, rest[1].1, rest[1].2), (3, 1, 4, 0));
    assert_eq!((queue.done_key(&1), queue.done_key(&2)), (false, false));
    queue.add_all([5, 6, 7], priority(2));
    let two = world.at_once(queue.take_batch_async(TWO)).expect("three items wait");
    assert_eq!((two[0].1, two[1].1, two[1].2, queue.len()), (5, 6, 2, 1));
    let (batch, priorities) =
        world.at_once(queue.get_batch_async(TWO)).flatten().expect("one item waits");
    assert_eq!((&*batch, &*priorities), (&[7][..], &[2][..]));
    batch.done();
    let tokens = || rest.iter().chain(&two).map(|(token, ..)| *token);
    assert_eq!((queue.done_all(tokens()), queue.done_all(tokens())), (4, 0));
    assert_eq!((queue.done_key(&7), queue.len()), (false, 0));
}

fn failures<R: Runtime>(world: &World<R, impl Component>, queue: &Tried<R>) {
    queue.add_after(1, millis(3));
    queue.add_rate_limited(2);
    queue.add_with(2, failed(4));
    queue.add_with(3, later(2, millis(3)));
    assert_eq!((queue.retries(), queue.len()), (4, 0));
    assert_eq!((queue.num_requeues(&2), queue.num_requeues(&1)), (2, 0));
    sleep(world, millis(20));
    assert_eq!(queue.len(), 3);
    let (two, item, four) = queue.take_with_priority().expect("three items wait");
    assert_eq!((item, four), (2, 4));
    let (three, item, _) = queue.settle_then_take(two, Outcome::Retry, 6).expect("two items wait");
    assert_eq!((item, queue.num_requeues(&2)), (3, 3));
    assert!(queue.settle(three, Outcome::Success, 0));
    assert!(!queue.settle(three, Outcome::Retry, 0));
    queue.forget(&2);
    assert_eq!((queue.num_requeues(&2), queue.num_requeues(&3), queue.len()), (0, 0, 1));
    sleep(world, millis(20));
}

/// Every call of the shell answers what its step answered.
pub(super) struct EveryCall;

impl Scenario<PriorityQueue> for EveryCall {
    const NAME: &'static str = "every_call";
    const SAYS: &'static str = "a lone caller makes every call, and looks at every answer";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        let queue = queue(world);
        single_items(world, &queue);
        batches(world, &queue);
        failures(world, &queue);
        assert!(world.at_once(queue.refresh_metrics_async(SECOND)).is_none());
        let mut items = Vec::new();
        queue.work(|item, priority| {
            items.push((*item, priority));
            match items.len() {
                1 => Outcome::RequeueAfter(millis(1)),
                2 => Outcome::GiveUp,
                _ => {
                    assert!(!queue.is_shutting_down());
                    queue.shut_down();
                    Outcome::Success
                }
            }
        });
        assert_eq!(items, [(2, 6), (1, 0), (2, 6)]);
        assert!(queue.is_shutting_down() && queue.take_with_priority().is_none());
        assert!(queue.get().is_none() && queue.get_batch(TWO).is_none());
        assert!(queue.take_batch(TWO).is_empty());
        queue.refresh_metrics(SECOND);
        assert!(world.at_once(queue.refresh_metrics_async(SECOND)).is_some());
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        crate::trial::sleeps(engine)
    }
}

/// What is one step for its caller is one step for everybody.
pub(super) struct InOneStep;

impl Scenario<PriorityQueue> for InOneStep {
    const NAME: &'static str = "in_one_step";
    const SAYS: &'static str =
        "calls of several parts, and an observer who must not see a part of them done";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        in_one_step(world, &queue(world));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}

/// A delay counts from the call and not from when the lock is taken (`workqueue:PQ-16`).
pub(super) struct SlowHash;

impl Scenario<PriorityQueue> for SlowHash {
    const NAME: &'static str = "slow_hash";
    const SAYS: &'static str = "hashing an item takes long, and its delay counts from the call";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        let queue = Queue::with_host(world.runtime(), SlowHasher::new(world), world.machine());
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

impl Scenario<PriorityQueue> for UpdaterEnds {
    const NAME: &'static str = "updater_ends";
    const SAYS: &'static str =
        "a thread that refreshes the metrics sleeps for an hour, and the queue is shut down";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        updater_ends(world, &queue(world));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}
