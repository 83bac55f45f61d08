//! Items that fail, and the times at which they come again.

use std::time::Duration;

use seatrial_core::limited_queue::{Op as Call, Outcome};

use super::{caller, end, failing, failures, millis, sleep, sleeps, worker};
use crate::limited_queue::as_delaying::Failures;
use crate::limited_queue::{Event, LimitedQueue};
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::{Ledger as _, Scenario};

/// Failures that are counted.
pub(super) fn counted() -> Vec<Scenario<LimitedQueue>> {
    vec![
        // workqueue:CL-3
        Scenario::new(
            "fails_twice",
            "an item fails twice and succeeds, while another thread reads its failures",
            |world| {
                let queue = LimitedQueue::tried(world);
                let consumer = failing(world, &queue, [Outcome::Retry, Outcome::Retry]);
                queue.add(1);
                sleep(world, millis(2));
                let _failures = queue.num_requeues(&1);
                sleep(world, millis(5));
                let _failures = queue.num_requeues(&1);
                sleep(world, millis(10));
                let _failures = queue.num_requeues(&1);
                let _retries = queue.retries();
                end(world, &queue, [consumer]);
            },
            // The failures are read after the second failure, and after the success.
            |history| {
                let asked = |times| {
                    Failures::some(history, |before, event| {
                        matches!(event.call(), Some(Call::NumRequeues(_)))
                            && failures(before, 1) == times
                    })
                };
                asked(2) && asked(0)
            },
        ),
        LimitedQueue::program(
            "failures_of_two",
            "two items fail, one of them twice, while a consumer waits",
            |world, queue| {
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                let other = caller(world, "other", &queue, |queue| queue.add_rate_limited(1));
                queue.add_rate_limited(1);
                queue.add_rate_limited(2);
                let _failures = queue.num_requeues(&2);
                world.join(other);
                end(world, &queue, [consumer]);
            },
            // The consumer sleeps when the first has failed twice and the second once.
            |before, event| sleeps(event) && failures(before, 1) == 2 && failures(before, 2) == 1,
        ),
        // workqueue:RQ-2
        LimitedQueue::program(
            "forgotten_between",
            "an item fails twice, and is forgotten before, between or after the failures",
            |world, queue| {
                let forgetter = caller(world, "forgetter", &queue, |queue| queue.forget(&1));
                queue.add_rate_limited(1);
                queue.add_rate_limited(1);
                let _failures = queue.num_requeues(&1);
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                world.join(forgetter);
                end(world, &queue, [consumer]);
            },
            // The item has failed once since it was forgotten.
            |before, event| {
                matches!(event.call(), Some(Call::NumRequeues(_))) && failures(before, 1) == 1
            },
        ),
    ]
}

/// Failures beside other calls.
pub(super) fn overlapping() -> Vec<Scenario<LimitedQueue>> {
    vec![
        // workqueue:CL-2, CL-5
        Scenario::new(
            "added_while_failing",
            "an item is added again while it is processed, and fails",
            |world| {
                let queue = LimitedQueue::tried(world);
                queue.add(1);
                let consumer = failing(world, &queue, [Outcome::Retry]);
                let second = worker(world, "second", &queue, Duration::ZERO);
                queue.add(1);
                end(world, &queue, [consumer, second]);
            },
            // The item fails while another delivery of it is due.
            |history| {
                let adds = |event: &Event| matches!(event.call(), Some(Call::Add(_)));
                let second = history.events.iter().rposition(adds);
                let fails = |event: &Event| matches!(event.call(), Some(Call::Settle(it)) if it.outcome == Outcome::Retry);
                second.is_some_and(|at| history.events[at..].iter().any(fails))
            },
        ),
        Scenario::new(
            "shut_down_while_failing",
            "the queue is shut down while two consumers wait for a failed item to come back",
            |world| {
                let queue = LimitedQueue::tried(world);
                queue.add_rate_limited(1);
                let consumers =
                    ["first", "second"].map(|name| worker(world, name, &queue, Duration::ZERO));
                let late = caller(world, "late", &queue, |queue| queue.add_rate_limited(2));
                queue.shut_down();
                let _says = queue.is_shutting_down();
                let _retries = queue.retries();
                world.join(late);
                end(world, &queue, consumers);
            },
            // Both consumers sleep when the queue is shut down.
            |history| {
                let ends = |event: &Event| matches!(event.call(), Some(Call::ShutDown(_)));
                let end = history.events.iter().position(ends);
                end.is_some_and(|at| {
                    history.events[..at].iter().filter(|it| sleeps(it)).count() >= 2
                })
            },
        ),
    ]
}
