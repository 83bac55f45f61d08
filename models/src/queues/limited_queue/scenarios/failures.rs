//! Items that fail, and the times at which they come again.

use std::time::Duration;

use seatrial_core::limited_queue::{Op as Call, Outcome};

use super::{caller, end, failing, failures, millis, queue, sleep, sleeps, worker};
use crate::limited_queue::as_delaying::Failures;
use crate::limited_queue::{Event, LimitedQueue};
use crate::queues::fixtures;
use crate::queues::fixtures::sleep_together;
use crate::trial::{Ledger as _, Scenario};

/// An item fails twice and then succeeds (`workqueue:CL-3`).
pub(super) fn fails_twice() -> Scenario<LimitedQueue> {
    Scenario::new(
        "fails_twice",
        "an item fails twice and succeeds, while another thread reads its failures",
        |world| {
            let queue = queue(world);
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
    )
}

/// Two items fail independently.
pub(super) fn failures_of_two() -> Scenario<LimitedQueue> {
    Scenario::new(
        "failures_of_two",
        "two items fail, one of them twice, while a consumer waits",
        |world| {
            let queue = queue(world);
            let consumer = worker(world, "consumer", &queue, Duration::ZERO);
            let other = caller(world, "other", &queue, |queue| queue.add_rate_limited(1));
            queue.add_rate_limited(1);
            queue.add_rate_limited(2);
            let _failures = queue.num_requeues(&2);
            world.join(other);
            end(world, &queue, [consumer]);
        },
        // The consumer sleeps when the first has failed twice and the second once.
        |history| {
            Failures::some(history, |before, event| {
                sleeps(event) && failures(before, 1) == 2 && failures(before, 2) == 1
            })
        },
    )
}

/// An item is forgotten between two failures (`workqueue:RQ-2`).
pub(super) fn forgotten_between() -> Scenario<LimitedQueue> {
    Scenario::new(
        "forgotten_between",
        "an item fails twice, and is forgotten before, between or after the failures",
        |world| {
            let queue = queue(world);
            let forgetter = caller(world, "forgetter", &queue, |queue| queue.forget(&1));
            queue.add_rate_limited(1);
            queue.add_rate_limited(1);
            let _failures = queue.num_requeues(&1);
            let consumer = worker(world, "consumer", &queue, Duration::ZERO);
            world.join(forgetter);
            end(world, &queue, [consumer]);
        },
        // The item has failed once since it was forgotten.
        |history| {
            Failures::some(history, |before, event| {
                matches!(event.call(), Some(Call::NumRequeues(_))) && failures(before, 1) == 1
            })
        },
    )
}

/// An item fails while it is added (`workqueue:CL-2`, `CL-5`).
pub(super) fn added_while_failing() -> Scenario<LimitedQueue> {
    Scenario::new(
        "added_while_failing",
        "an item is added again while it is processed, and fails",
        |world| {
            let queue = queue(world);
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
    )
}

/// Two consumers sleep until a time, and two earlier times are given.
pub(super) fn earlier_time() -> Scenario<LimitedQueue> {
    Scenario::new(
        "earlier_time",
        "two slow consumers sleep until a time, and two items with earlier times are added",
        |world| fixtures::earlier_time(world, &queue(world)),
        |history| history.events.iter().filter(|event| sleeps(event)).count() >= 2,
    )
}

/// The queue is shut down while an item waits for another try.
pub(super) fn shut_down_while_failing() -> Scenario<LimitedQueue> {
    Scenario::new(
        "shut_down_while_failing",
        "the queue is shut down while two consumers wait for a failed item to come back",
        |world| {
            let queue = queue(world);
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
            end.is_some_and(|at| history.events[..at].iter().filter(|it| sleeps(it)).count() >= 2)
        },
    )
}

/// An item for which a consumer sleeps gets an earlier time.
pub(super) fn sooner() -> Scenario<LimitedQueue> {
    Scenario::new(
        "sooner",
        "a consumer sleeps until the time of an item, and the item gets an earlier one",
        |world| fixtures::sooner(world, &queue(world)),
        // The consumer sleeps before the producer calls.
        |history| sleep_together(history, 1),
    )
}

/// Two consumers sleep, and two items become due one after the other.
pub(super) fn due_apart() -> Scenario<LimitedQueue> {
    Scenario::new(
        "due_apart",
        "two consumers sleep on an empty queue, and take one item each, which become due in turn",
        |world| fixtures::due_apart(world, &queue(world)),
        // Both consumers sleep.
        |history| sleep_together(history, 2),
    )
}
