//! Items that wait for the time at which they are added.

use std::time::Duration;

use seatrial_core::queue::Add;
use seatrial_core::runtime::{Ambient as _, Instant};

use super::{Call, Tried, caller, due, end, millis, sleep, worker};
use crate::delaying_queue::DelayingQueue;
use crate::delaying_queue::as_queue::moment;
use crate::engine::Engine;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::{Join, Scenario, World};

/// Two steps add them; the second step adds only a few.
const MANY: u8 = 70;

/// Lets many items be due, and starts another caller, which counts them.
fn many_are_due(world: &World<DelayingQueue>, queue: &Tried) -> Join<()> {
    (1..=MANY).for_each(|key| queue.add_after(key, millis(2)));
    sleep(world, millis(3));
    caller(world, "other", queue, |queue| {
        let _all = queue.len();
    })
}

/// Times that are given to items.
pub(super) fn given() -> Vec<Scenario<DelayingQueue>> {
    vec![
        DelayingQueue::program(
            "due_at_any_time",
            "an item becomes due while a producer still adds another item",
            |world, queue| {
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                queue.add_after(1, millis(2));
                queue.add(2);
                end(world, &queue, [consumer]);
            },
            // An item is added at once at a time that no thread has slept for.
            |_, event| {
                matches!(event.call(), Some(Call::Add(_))) && event.at >= Instant::ZERO + millis(2)
            },
        )
        .free_deadlines(1)
        .not_on(|engine| {
            (engine == Engine::Threads).then_some("real time cannot pass at a chosen moment")
        }),
        // workqueue:SC-10
        DelayingQueue::program(
            "brought_forward",
            "one item is added with three delays, and the earliest counts",
            |world, queue| {
                queue.add_after(1, millis(5));
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                let producer =
                    caller(world, "producer", &queue, |queue| queue.add_after(1, millis(7)));
                queue.add_after(1, millis(3));
                let _counted = queue.retries();
                world.join(producer);
                end(world, &queue, [consumer]);
            },
            // The last of the three finds the item waiting for another time.
            |before, event| {
                let gives_again = matches!(event.call(), Some(Call::AddAfter(_)));
                gives_again && before.times.retries == 2 && !before.times.later.is_empty()
            },
        ),
        // workqueue:DQ-11
        DelayingQueue::program(
            "add_while_delayed",
            "a delayed item is added at once, by add and by add_after with no delay",
            |world, queue| {
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                queue.add_after(1, millis(3));
                let producer = caller(world, "producer", &queue, |queue| queue.add(1));
                queue.add_after(1, Duration::ZERO);
                world.join(producer);
                end(world, &queue, [consumer]);
            },
            |before, event| {
                let adds = matches!(event.call(), Some(Call::Add(Add { key: Some(1), .. })));
                adds && !before.times.later.is_empty() && !before.getters.is_empty()
            },
        ),
    ]
}

/// Items whose times have come.
pub(super) fn come() -> Vec<Scenario<DelayingQueue>> {
    vec![
        // workqueue:DQ-13
        DelayingQueue::program(
            "due_together",
            "three items are already due when two consumers begin",
            |world, queue| {
                queue.add_after(1, millis(4));
                queue.add_after(2, millis(2));
                queue.add_after(3, millis(2));
                sleep(world, millis(5));
                let first = worker(world, "first", &queue, Duration::ZERO);
                let second = worker(world, "second", &queue, Duration::ZERO);
                // One of both: together they have many more orders.
                if world.runtime().choose(2) == 0 {
                    queue.add(4);
                } else {
                    let _due = queue.len();
                }
                end(world, &queue, [first, second]);
            },
            |before, event| {
                matches!(event.call(), Some(Call::Get(_)))
                    && due(&before.times, event.at).len() == 3
            },
        ),
        // workqueue:MX-10
        DelayingQueue::program(
            "refreshed_while_due",
            "items become due while the only consumer is busy and metrics are refreshed",
            |world, queue| {
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                queue.add_after(1, millis(2));
                queue.add_after(2, millis(4));
                let refresher = caller(world, "refresher", &queue, |queue| {
                    queue.refresh_metrics(millis(5));
                });
                sleep(world, millis(7));
                queue.done(token);
                for _ in 1..=2 {
                    let (token, _) = queue.take().expect("both are due");
                    sleep(world, millis(1));
                    queue.done(token);
                }
                queue.shut_down();
                world.join(refresher);
            },
            // Both times have come when the figures are reported.
            |before, event| {
                let refreshes = matches!(event.call(), Some(Call::Refresh(_)));
                refreshes && due(&before.times, event.at).len() == 2
            },
        ),
    ]
}

/// Items that are processed when a time comes.
pub(super) fn processed() -> Vec<Scenario<DelayingQueue>> {
    vec![
        // workqueue:DQ-12
        DelayingQueue::program(
            "due_while_processing",
            "an item becomes due while a consumer processes it",
            |world, queue| {
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                let producer = caller(world, "producer", &queue, |queue| {
                    queue.add_after(1, millis(2));
                    queue.add_after(2, millis(2));
                });
                sleep(world, millis(6));
                queue.done(token);
                world.join(producer);
                end(world, &queue, [consumer]);
            },
            // The item's time comes while it is processed.
            |before, event| {
                let passed = |item: &(u8, Duration)| item.0 == 1 && item.1 <= moment(event.at);
                before.in_processing == 1 && before.times.later.iter().any(passed)
            },
        ),
        DelayingQueue::program(
            "done_after_due",
            "an item that done queues again goes behind an item that became due earlier",
            |world, queue| {
                queue.add(1);
                let (token, _) = queue.take().expect("one item waits");
                queue.add(1);
                queue.add_after(2, millis(2));
                queue.add_after(3, millis(90));
                let at_that_time = world.clone();
                let observer = caller(world, "observer", &queue, move |queue| {
                    sleep(&at_that_time, millis(3));
                    let _waiting = queue.len();
                });
                sleep(world, millis(3));
                queue.done(token);
                let consumer = worker(world, "consumer", &queue, Duration::ZERO);
                world.join(observer);
                end(world, &queue, [consumer]);
            },
            |before, event| {
                matches!(event.call(), Some(Call::Done(_)))
                    && !due(&before.times, event.at).is_empty()
            },
        ),
    ]
}

/// More items than one step adds.
pub(super) fn many() -> Vec<Scenario<DelayingQueue>> {
    vec![
        DelayingQueue::program(
            "many_due",
            "more items are due than one step adds, and two callers add them",
            |world, queue| {
                let other = many_are_due(world, &queue);
                for _ in 1..=3 {
                    let (token, _) = queue.take().expect("many are due");
                    queue.done(token);
                }
                world.join(other);
                queue.shut_down();
            },
            // A consumer is handed the first of them before any of the others is added.
            |before, event| {
                let first = matches!(event.returned(), Some((Call::Get(_), _)));
                first && due(&before.times, event.at).len() == usize::from(MANY)
            },
        ),
        DelayingQueue::program(
            "many_due_at_the_end",
            "a queue is shut down while more items are due than one step adds, and all are handed out",
            |world, queue| {
                let other = many_are_due(world, &queue);
                queue.shut_down();
                let mut taken = 0;
                while let Some((token, _)) = queue.take() {
                    queue.done(token);
                    taken += 1;
                }
                assert_eq!(taken, MANY, "what was due before the shutdown is handed out");
                world.join(other);
            },
            |before, event| {
                let ends = matches!(event.call(), Some(Call::ShutDown(_)));
                ends && due(&before.times, event.at).len() == usize::from(MANY)
            },
        ),
    ]
}
