//! One caller who looks at every answer.

use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::queue::Deliver;

use super::{Queue, Tried, failed, later, millis, priority, sleep};
use crate::priority_queue::PriorityQueue;
use crate::priority_queue::spec::BASE;
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::keyed::Page as _;
use crate::queues::fixtures::shared;
use crate::queues::fixtures::slow_hash::{SlowHasher, counted_from_the_call};
use crate::trial::{Component, Scenario, World};

const SECOND: Duration = Duration::from_secs(1);

fn single_items(world: &World<impl Component>, queue: &Tried) {
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

fn batches(world: &World<impl Component>, queue: &Tried) {
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

fn failures(world: &World<impl Component>, queue: &Tried) {
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

/// A lone caller.
pub(super) fn all() -> Vec<Scenario<PriorityQueue>> {
    vec![
        PriorityQueue::whole(
            "every_call",
            "a lone caller makes every call, and looks at every answer",
            |world, queue| {
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
            },
        )
        .not_on(crate::trial::sleeps),
        // workqueue:PQ-16
        shared::slow_hash(|world| {
            let queue = Queue::with_host(world.runtime(), SlowHasher::new(world), world.machine());
            counted_from_the_call(
                world,
                &[
                    (&|| queue.add_after(1, millis(5)), millis(5)),
                    (&|| queue.add_rate_limited(2), BASE),
                ],
                &|| queue.len(),
            );
        }),
    ]
}
