//! Deliveries and their outcomes.

use std::num::NonZeroUsize;
use std::time::Duration;

use seatrial_core::limited_queue::{Op as Call, Outcome, Ret};

use super::{caller, end, failing, failures, millis, sleep, sleeps, worker};
use crate::limited_queue::{Event, LimitedQueue};
use crate::queues::fixtures::keyed::Page as _;
use crate::queues::fixtures::{once, sleep_together};
use crate::trial::Scenario;

const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

/// One item.
pub(super) fn one() -> Vec<Scenario<LimitedQueue>> {
    vec![
        // workqueue:CL-9
        LimitedQueue::program(
            "processed_again",
            "an item fails, then is requeued after a delay, then is given up",
            |world, queue| {
                let outcomes = [Outcome::Retry, Outcome::RequeueAfter(millis(5)), Outcome::GiveUp];
                let consumer = failing(world, &queue, outcomes);
                queue.add(1);
                sleep(world, millis(4));
                let _failures = queue.num_requeues(&1);
                sleep(world, millis(9));
                queue.add_rate_limited(1);
                let _failures = queue.num_requeues(&1);
                end(world, &queue, [consumer]);
            },
            // The failures are forgotten when their number is read.
            |before, event| {
                matches!(event.call(), Some(Call::NumRequeues(_))) && failures(before, 1) == 0
            },
        ),
        // workqueue:CL-1, CL-9
        Scenario::new(
            "settled_in_every_way",
            "an item fails and is requeued, twice, and is then given up; two threads read its failures",
            |world| {
                let queue = LimitedQueue::tried(world);
                queue.add(1);
                let other = caller(world, "other", &queue, |queue| {
                    let _failures = queue.num_requeues(&1);
                });
                let again = [millis(3), Duration::ZERO].map(Outcome::RequeueAfter);
                let last = [Outcome::Retry, Outcome::GiveUp];
                let outcomes =
                    again.into_iter().flat_map(|again| [Outcome::Retry, again]).chain(last);
                for outcome in outcomes {
                    let (token, _) = queue.take().expect("its time comes");
                    queue.settle(token, outcome);
                    let _failures = queue.num_requeues(&1);
                }
                world.join(other);
                queue.shut_down();
            },
            // The failures are read when the item has been forgotten for the last time.
            |history| {
                let asked = |event: &Event| matches!(event.call(), Some(Call::NumRequeues(_)));
                let given_up = |event: &Event| matches!(event.call(), Some(Call::Settle(it)) if it.outcome == Outcome::GiveUp);
                let at = history.events.iter().position(given_up);
                at.is_some_and(|at| history.events[at..].iter().any(asked))
            },
        ),
        Scenario::new(
            "ready_and_delayed",
            "an item is added while it is processed, and requeued for later; \
        two consumers sleep, and take it once each",
            |world| {
                let queue = LimitedQueue::tried(world);
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                let consumers = ["first", "second"].map(|name| once(world, name, &queue));
                queue.add(1);
                queue.settle(token, Outcome::RequeueAfter(millis(3)));
                end(world, &queue, consumers);
            },
            // Both consumers sleep.
            |history| sleep_together(history, 2),
        ),
    ]
}

/// Deliveries that end.
pub(super) fn ended() -> Vec<Scenario<LimitedQueue>> {
    vec![
        Scenario::new(
            "stale_delivery",
            "a delivery is settled twice while another consumer has the item",
            |world| {
                let queue = LimitedQueue::tried(world);
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                queue.add(1);
                queue.settle(token, Outcome::Success);
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                queue.settle(token, Outcome::Retry);
                let _failures = queue.num_requeues(&1);
                end(world, &queue, [consumer]);
            },
            // The item has been taken twice by then.
            |history| {
                let takes = |event: &Event| matches!(event.call(), Some(Call::Get(_)));
                let settles = |event: &Event| matches!(event.call(), Some(Call::Settle(it)) if it.outcome == Outcome::Retry);
                let stale = history.events.iter().position(settles);
                stale.is_some_and(|at| {
                    history.events[..at].iter().filter(|it| takes(it)).count() == 2
                })
            },
        ),
        Scenario::new(
            "settled_for_another",
            "an item that was added again is settled, and another consumer waits for it",
            |world| {
                let queue = LimitedQueue::tried(world);
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                queue.add(1);
                queue.settle(token, Outcome::Success);
                end(world, &queue, [consumer]);
            },
            // The consumer sleeps when the delivery is settled.
            |history| {
                let settles = |event: &Event| matches!(event.call(), Some(Call::Settle(_)));
                let settled = history.events.iter().position(settles);
                settled.is_some_and(|at| history.events[..at].iter().any(sleeps))
            },
        ),
    ]
}

/// Deliveries of several items.
pub(super) fn together() -> Vec<Scenario<LimitedQueue>> {
    vec![Scenario::new(
        "taken_together",
        "two items are taken together; one fails, one succeeds; later both are done together",
        |world| {
            let queue = LimitedQueue::tried(world);
            queue.add_all([1, 2]);
            let other = caller(world, "other", &queue, |queue| queue.add(2));
            let taken = queue.take_batch(TWO);
            let outcomes = [Outcome::Retry, Outcome::Success];
            for ((token, _), outcome) in taken.into_iter().zip(outcomes) {
                queue.settle(token, outcome);
            }
            world.join(other);
            sleep(world, millis(5));
            let again = queue.take_batch(TWO);
            queue.done_all(again.iter().map(|(token, _)| *token));
            for (token, _) in again {
                queue.settle(token, Outcome::Retry); // too late
            }
            let _failures = queue.num_requeues(&1);
            let consumer = worker(world, "consumer", &queue, Duration::ZERO);
            end(world, &queue, [consumer]);
        },
        // The second deliveries of both are taken together.
        |history| {
            let two = |event: &&Event| match event.returned() {
                Some((_, Ret::GetBatch(taken))) => taken.len() == 2,
                _ => false,
            };
            history.events.iter().filter(two).count() == 2
        },
    )]
}
