//! Failures, and callers that make mistakes.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::priority_queue::Ret;
use seatrial_core::queue::Finished;

use super::{Call, caller, end, failed, millis, priority, queue, sleep, some, worker};
use crate::priority_queue::PriorityQueue;
use crate::queues::fixtures::goes_on;
use crate::trial::Scenario;

/// A batch fails; one of its items has failed before (`workqueue:PQ-6`, `PQ-7`).
pub(super) fn failed_batch() -> Scenario<PriorityQueue> {
    Scenario::new(
        "failed_batch",
        "a batch fails; one of its items has failed before, and the other is forgotten",
        |world| {
            let queue = queue(world);
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
        |history| {
            some(history, |before, event| {
                let fails = matches!(event.call(), Some(Call::AddBatch(_)));
                fails && before.spec.failures.get(&2) == Some(&1)
            })
        },
    )
}

/// An item fails twice, comes back with its priority, asks for another try, and is done
/// (`workqueue:PQ-42`).
pub(super) fn tried_again() -> Scenario<PriorityQueue> {
    Scenario::new(
        "tried_again",
        "an item fails, is requeued, fails again and succeeds, and keeps its priority",
        |world| {
            let queue = queue(world);
            queue.add_with(1, priority(5));
            let tried = std::sync::Arc::clone(&queue);
            let consumer = world.spawn("consumer", move || {
                let again = |millis| Outcome::RequeueAfter(Duration::from_millis(millis));
                let later = Outcome::RetryAfter(Duration::from_millis(3));
                for outcome in
                    [Outcome::Retry, later, again(0), Outcome::Retry, again(5), Outcome::Success]
                {
                    let Some((token, key, priority)) = tried.take_with_priority() else { return };
                    tried.settle(token, outcome, priority);
                    let _failures = tried.num_requeues(&key);
                }
            });
            let producer =
                caller(world, "producer", &queue, |queue| queue.add_with(1, priority(4)));
            world.join(producer);
            end(world, &queue, [consumer]);
        },
        |history| {
            some(history, |before, event| {
                let settles = matches!(event.returned(), Some((Call::Settle(_), _)));
                settles && before.spec.failures.get(&1) == Some(&1)
            })
        },
    )
}

/// A token is used again while another consumer holds its item.
pub(super) fn stale_token() -> Scenario<PriorityQueue> {
    Scenario::new(
        "stale_token",
        "an old token is used again while another consumer holds its item",
        |world| {
            let queue = queue(world);
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
        |history| {
            some(history, |before, event| {
                let misses =
                    matches!(event.returned(), Some((_, Ret::Done(Finished::NotInProcessing))));
                misses && before.is_held(1)
            })
        },
    )
}

/// Two callers end the delivery of an item by its name, while it is added again
/// (`workqueue:PQ-26`).
pub(super) fn done_by_name() -> Scenario<PriorityQueue> {
    Scenario::new(
        "done_by_name",
        "two callers end the delivery of an item by its name",
        |world| {
            let queue = queue(world);
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
        |history| {
            some(history, |before, event| {
                let misses =
                    matches!(event.returned(), Some((_, Ret::DoneKey(Finished::NotInProcessing))));
                misses && !before.is_held(1)
            })
        },
    )
}

/// When a delivery ends, another one is requested, later or at once (`workqueue:PQ-42`).
pub(super) fn requeued_after() -> Scenario<PriorityQueue> {
    Scenario::new(
        "requeued_after",
        "items that failed are requeued, one at once and another after a delay",
        |world| {
            let queue = queue(world);
            queue.add_with(1, failed(2));
            queue.add_with(2, failed(3));
            queue.add_with(3, priority(1));
            let tried = Arc::clone(&queue);
            let sleeps = world.clone();
            let consumer = world.spawn("consumer", move || {
                sleep(&sleeps, millis(5));
                for delay in [Duration::ZERO, millis(2)] {
                    let Some((token, key, priority)) = tried.take_with_priority() else { return };
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
        |history| {
            some(history, |before, event| {
                let asks = matches!(event.call(), Some(Call::NumRequeues(_)));
                asks && before.spec.failures.len() < 2
            })
        },
    )
}

/// An item fails and comes back while both consumers go on.
pub(super) fn workers_go_on() -> Scenario<PriorityQueue> {
    Scenario::<PriorityQueue>::new(
        "workers_go_on",
        "two consumers settle an item and take the next in one step, and one item fails once",
        |world| {
            let queue = queue(world);
            goes_on::workers_go_on(world, &queue);
        },
        // The item waits to come back while both consumers sleep.
        |history| {
            some(history, |before, _| {
                before.getters.len() == 2 && before.spec.failures.get(&1) == Some(&1)
            })
        },
    )
    .not_on(crate::trial::sleeps)
}
