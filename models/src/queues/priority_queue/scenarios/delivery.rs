//! Failures, and callers that make mistakes.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::priority_queue::Ret;
use seatrial_core::queue::Finished;
use seatrial_core::runtime::Runtime;

use super::{Call, caller, end, failed, millis, priority, queue, sleep, some, worker};
use crate::engine::Engine;
use crate::priority_queue::{History, PriorityQueue};
use crate::queues::fixtures::goes_on::workers_go_on;
use crate::trial::{Scenario, World};

/// A batch fails; one of its items has failed before (`workqueue:PQ-6`, `PQ-7`).
pub(super) struct FailedBatch;

impl Scenario<PriorityQueue> for FailedBatch {
    const NAME: &'static str = "failed_batch";
    const SAYS: &'static str =
        "a batch fails; one of its items has failed before, and the other is forgotten";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
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
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let fails = matches!(event.call(), Some(Call::AddBatch(_)));
            fails && before.spec.failures.get(&2) == Some(&1)
        })
    }
}

/// An item fails twice, comes back with its priority, asks for another try, and is done
/// (`workqueue:PQ-42`).
pub(super) struct TriedAgain;

impl Scenario<PriorityQueue> for TriedAgain {
    const NAME: &'static str = "tried_again";
    const SAYS: &'static str =
        "an item fails, is requeued, fails again and succeeds, and keeps its priority";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
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
        let producer = caller(world, "producer", &queue, |queue| queue.add_with(1, priority(4)));
        world.join(producer);
        end(world, &queue, [consumer]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let settles = matches!(event.returned(), Some((Call::Settle(_), _)));
            settles && before.spec.failures.get(&1) == Some(&1)
        })
    }
}

/// A token is used again while another consumer holds its item.
pub(super) struct StaleToken;

impl Scenario<PriorityQueue> for StaleToken {
    const NAME: &'static str = "stale_token";
    const SAYS: &'static str = "an old token is used again while another consumer holds its item";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
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
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let misses =
                matches!(event.returned(), Some((_, Ret::Done(Finished::NotInProcessing))));
            misses && before.is_held(1)
        })
    }
}

/// Two callers end the delivery of an item by its name, while it is added again
/// (`workqueue:PQ-26`).
pub(super) struct DoneByName;

impl Scenario<PriorityQueue> for DoneByName {
    const NAME: &'static str = "done_by_name";
    const SAYS: &'static str = "two callers end the delivery of an item by its name";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
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
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let misses =
                matches!(event.returned(), Some((_, Ret::DoneKey(Finished::NotInProcessing))));
            misses && !before.is_held(1)
        })
    }
}

/// When a delivery ends, another one is requested, later or at once (`workqueue:PQ-42`).
pub(super) struct RequeuedAfter;

impl Scenario<PriorityQueue> for RequeuedAfter {
    const NAME: &'static str = "requeued_after";
    const SAYS: &'static str =
        "items that failed are requeued, one at once and another after a delay";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
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
    }

    /// The failures of an item are read after it was told to come back.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let asks = matches!(event.call(), Some(Call::NumRequeues(_)));
            asks && before.spec.failures.len() < 2
        })
    }
}

/// An item fails and comes back while both consumers go on.
pub(super) struct WorkersGoOn;

impl Scenario<PriorityQueue> for WorkersGoOn {
    const NAME: &'static str = "workers_go_on";
    const SAYS: &'static str =
        "two consumers settle an item and take the next in one step, and one item fails once";

    fn run<R: Runtime>(&self, world: &World<R, PriorityQueue>) {
        let queue = queue(world);
        workers_go_on(world, &queue);
    }

    /// The item waits to come back while both consumers sleep.
    fn reaches(history: &History) -> bool {
        some(history, |before, _| {
            before.getters.len() == 2 && before.spec.failures.get(&1) == Some(&1)
        })
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        crate::trial::sleeps(engine)
    }
}
