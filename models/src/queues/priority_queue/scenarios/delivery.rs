//! Failures, and callers that make mistakes.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::priority_queue::Ret;
use seatrial_core::queue::Finished;

use super::{Call, caller, end, failed, millis, priority, sleep, worker};
use crate::priority_queue::PriorityQueue;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::Scenario;

/// Items that fail.
pub(super) fn failing() -> Vec<Scenario<PriorityQueue>> {
    vec![
        // workqueue:PQ-6, PQ-7
        PriorityQueue::program(
            "failed_batch",
            "a batch fails; one of its items has failed before, and the other is forgotten",
            |world, queue| {
                queue.add_with(2, failed(0));
                let (token, ..) = queue.take_with_priority().expect("its time comes");
                queue.done(token);
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                let forgetter = caller(world, "forgetter", &queue, |queue| {
                    queue.forget(&1);
                    let _failures = queue.num_requeues(&1);
                });
                queue.add_all([1, 2], failed(0)); // the second waits longer than the first
                queue.add_with(2, failed(0));
                let _failures = queue.num_requeues(&2);
                world.join(forgetter);
                end(world, &queue, [consumer]);
            },
            |before, event| {
                let fails = matches!(event.call(), Some(Call::AddBatch(_)));
                fails && before.spec.failures.get(&2) == Some(&1)
            },
        ),
        // workqueue:PQ-42
        PriorityQueue::program(
            "tried_again",
            "an item fails, is requeued, fails again and succeeds, and keeps its priority",
            |world, queue| {
                queue.add_with(1, priority(5));
                let tried = std::sync::Arc::clone(&queue);
                let consumer = world.spawn("consumer", move || {
                    let again = |millis| Outcome::RequeueAfter(Duration::from_millis(millis));
                    let later = Outcome::RetryAfter(Duration::from_millis(3));
                    for outcome in [
                        Outcome::Retry,
                        later,
                        again(0),
                        Outcome::Retry,
                        again(5),
                        Outcome::Success,
                    ] {
                        let Some((token, key, priority)) = tried.take_with_priority() else {
                            return;
                        };
                        tried.settle(token, outcome, priority);
                        let _failures = tried.num_requeues(&key);
                    }
                });
                let producer =
                    caller(world, "producer", &queue, |queue| queue.add_with(1, priority(4)));
                world.join(producer);
                end(world, &queue, [consumer]);
            },
            |before, event| {
                let settles = matches!(event.returned(), Some((Call::Settle(_), _)));
                settles && before.spec.failures.get(&1) == Some(&1)
            },
        ),
    ]
}

/// Items that come again.
pub(super) fn again() -> Vec<Scenario<PriorityQueue>> {
    vec![
        // workqueue:PQ-42
        PriorityQueue::program(
            "requeued_after",
            "items that failed are requeued, one at once and another after a delay",
            |world, queue| {
                queue.add_with(1, failed(2));
                queue.add_with(2, failed(3));
                queue.add_with(3, priority(1));
                let tried = Arc::clone(&queue);
                let sleeps = world.clone();
                let consumer = world.spawn("consumer", move || {
                    sleep(&sleeps, millis(5));
                    for delay in [Duration::ZERO, millis(2)] {
                        let Some((token, key, priority)) = tried.take_with_priority() else {
                            return;
                        };
                        tried.settle(token, Outcome::RequeueAfter(delay), priority);
                        let _failures = tried.num_requeues(&key);
                    }
                });
                sleep(world, millis(8));
                let [second, third] =
                    ["second", "third"].map(|name| worker(world, name, &queue, Duration::ZERO));
                // On real threads these two may take the item for which the consumer waits; then only the
                // end wakes it.
                end(world, &queue, [consumer, second, third]);
            },
            // The failures of an item are read after it was told to come back.
            |before, event| {
                let asks = matches!(event.call(), Some(Call::NumRequeues(_)));
                asks && before.spec.failures.len() < 2
            },
        ),
    ]
}

/// Callers that make mistakes.
pub(super) fn ended() -> Vec<Scenario<PriorityQueue>> {
    vec![
        PriorityQueue::program(
            "stale_token",
            "an old token is used again while another consumer holds its item",
            |world, queue| {
                queue.add(1);
                let (token, ..) = queue.take_with_priority().expect("one item is ready");
                queue.done(token);
                queue.add(1);
                let other = worker(world, "other", &queue, Duration::ZERO);
                let again = caller(world, "again", &queue, move |queue| {
                    queue.done(token);
                    queue.add(1);
                });
                world.join(again);
                end(world, &queue, [other]);
            },
            |before, event| {
                let misses =
                    matches!(event.returned(), Some((_, Ret::Done(Finished::NotInProcessing))));
                misses && before.is_held(1)
            },
        ),
        // workqueue:PQ-26
        PriorityQueue::program(
            "done_by_name",
            "two callers end the delivery of an item by its name",
            |world, queue| {
                queue.add(1);
                let _held = queue.take_with_priority().expect("one item is ready");
                let other = caller(world, "other", &queue, |queue| {
                    queue.done_key(&1);
                    queue.add(1);
                });
                queue.done_key(&1);
                world.join(other);
                end(world, &queue, [worker(world, "consumer", &queue, Duration::ZERO)]);
            },
            |before, event| {
                let misses =
                    matches!(event.returned(), Some((_, Ret::DoneKey(Finished::NotInProcessing))));
                misses && !before.is_held(1)
            },
        ),
    ]
}
