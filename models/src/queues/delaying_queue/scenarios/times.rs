//! Items that wait for the time at which they are added.

use std::time::Duration;

use seatrial_core::queue::Add;
use seatrial_core::runtime::Instant;

use super::{Call, Tried, caller, due, end, gives, millis, queue, sleep, some, worker};
use crate::delaying_queue::DelayingQueue;
use crate::delaying_queue::as_queue::moment;
use crate::engine::Engine;
use crate::queues::fixtures;
use crate::queues::fixtures::sleep_together;
use crate::trial::{Join, Scenario, World};

/// Two consumers sleep until a time, and two earlier times are given.
pub(super) fn earlier_time() -> Scenario<DelayingQueue> {
    Scenario::new(
        "earlier_time",
        "two slow consumers sleep until a time, and two items with earlier times are added",
        |world| fixtures::earlier_time(world, &queue(world)),
        // Both consumers sleep until the late time when the early one is given.
        |history| some(history, |before, event| gives(event, 2) && before.getters.len() == 2),
    )
}

/// Several delays are given to one item (`workqueue:SC-10`).
pub(super) fn brought_forward() -> Scenario<DelayingQueue> {
    Scenario::new(
        "brought_forward",
        "one item is added with three delays, and the earliest counts",
        |world| {
            let queue = queue(world);
            queue.add_after(1, millis(5));
            let consumer = worker(world, "consumer", &queue, Duration::ZERO);
            let producer = caller(world, "producer", &queue, |queue| queue.add_after(1, millis(7)));
            queue.add_after(1, millis(3));
            let _counted = queue.retries();
            world.join(producer);
            end(world, &queue, [consumer]);
        },
        // The last of the three finds the item waiting for another time.
        |history| {
            some(history, |before, event| {
                let gives_again = matches!(event.call(), Some(Call::AddAfter(_)));
                gives_again && before.times.retries == 2 && !before.times.later.is_empty()
            })
        },
    )
}

/// The time of an item comes in the middle of other work.
pub(super) fn due_at_any_time() -> Scenario<DelayingQueue> {
    Scenario::<DelayingQueue>::new(
        "due_at_any_time",
        "an item becomes due while a producer still adds another item",
        |world| {
            let queue = queue(world);
            let consumer = worker(world, "consumer", &queue, Duration::ZERO);
            queue.add_after(1, millis(2));
            queue.add(2);
            end(world, &queue, [consumer]);
        },
        // An item is added at once at a time that no thread has slept for.
        |history| {
            some(history, |_, event| {
                matches!(event.call(), Some(Call::Add(_))) && event.at >= Instant::ZERO + millis(2)
            })
        },
    )
    .free_deadlines(1)
    .not_on(|engine| {
        (engine == Engine::Threads).then_some("real time cannot pass at a chosen moment")
    })
}

/// An item that waits for its time is added at once (`workqueue:DQ-11`).
pub(super) fn add_while_delayed() -> Scenario<DelayingQueue> {
    Scenario::new(
        "add_while_delayed",
        "a delayed item is added at once, by add and by add_after with no delay",
        |world| {
            let queue = queue(world);
            let consumer = worker(world, "consumer", &queue, Duration::ZERO);
            queue.add_after(1, millis(3));
            let producer = caller(world, "producer", &queue, |queue| queue.add(1));
            queue.add_after(1, Duration::ZERO);
            world.join(producer);
            end(world, &queue, [consumer]);
        },
        |history| {
            some(history, |before, event| {
                let adds = matches!(event.call(), Some(Call::Add(Add { key: Some(1), .. })));
                adds && !before.times.later.is_empty() && !before.getters.is_empty()
            })
        },
    )
}

/// Three times have come when two consumers look (`workqueue:DQ-13`).
pub(super) fn due_together() -> Scenario<DelayingQueue> {
    Scenario::new(
        "due_together",
        "three items are already due when two consumers begin",
        |world| {
            let queue = queue(world);
            queue.add_after(1, millis(4));
            queue.add_after(2, millis(2));
            queue.add_after(3, millis(2));
            sleep(world, millis(5));
            let first = worker(world, "first", &queue, Duration::ZERO);
            let second = worker(world, "second", &queue, Duration::ZERO);
            queue.add(4);
            let _due = queue.len();
            end(world, &queue, [first, second]);
        },
        |history| {
            some(history, |before, event| {
                matches!(event.call(), Some(Call::Get(_)))
                    && due(&before.times, event.at).len() == 3
            })
        },
    )
}

/// Three consumers sleep until the time of three items.
pub(super) fn three_due() -> Scenario<DelayingQueue> {
    Scenario::new(
        "three_due",
        "three consumers sleep until three items become due, and take one each",
        |world| fixtures::three_due(world, &queue(world)),
        // The first consumer looks while the others sleep.
        |history| {
            some(history, |before, event| {
                let looks = matches!(event.call(), Some(Call::Get(_)));
                looks && before.getters.len() == 3 && due(&before.times, event.at).len() == 3
            })
        },
    )
}

/// The time of an item comes while it is processed (`workqueue:DQ-12`).
pub(super) fn due_while_processing() -> Scenario<DelayingQueue> {
    Scenario::new(
        "due_while_processing",
        "an item becomes due while a consumer processes it",
        |world| {
            let queue = queue(world);
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
        |history| {
            some(history, |before, event| {
                let passed = |item: &(u8, Duration)| item.0 == 1 && item.1 <= moment(event.at);
                before.in_processing == 1 && before.times.later.iter().any(passed)
            })
        },
    )
}

/// An item that is queued again at done goes behind the items whose time came before.
pub(super) fn done_after_due() -> Scenario<DelayingQueue> {
    Scenario::new(
        "done_after_due",
        "an item that done queues again goes behind an item that became due earlier",
        |world| {
            let queue = queue(world);
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
        |history| {
            some(history, |before, event| {
                matches!(event.call(), Some(Call::Done(_)))
                    && !due(&before.times, event.at).is_empty()
            })
        },
    )
}

/// Times come while the consumer is busy, and only the figures are refreshed (`workqueue:MX-10`).
pub(super) fn refreshed_while_due() -> Scenario<DelayingQueue> {
    Scenario::new(
        "refreshed_while_due",
        "items become due while the only consumer is busy and metrics are refreshed",
        |world| {
            let queue = queue(world);
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
        |history| {
            some(history, |before, event| {
                let refreshes = matches!(event.call(), Some(Call::Refresh(_)));
                refreshes && due(&before.times, event.at).len() == 2
            })
        },
    )
}

/// More items are due together than one step adds.
pub(super) fn many_due() -> Scenario<DelayingQueue> {
    Scenario::new(
        "many_due",
        "more items are due than one step adds, and two callers add them",
        |world| {
            let (queue, other) = three_due_beside(world);
            for _ in 1..=3 {
                let (token, _) = queue.take().expect("many are due");
                queue.done(token);
            }
            world.join(other);
            queue.shut_down();
        },
        // A consumer is handed the first of them before any of the others is added.
        |history| {
            some(history, |before, event| {
                let first = matches!(event.returned(), Some((Call::Get(_), _)));
                first && due(&before.times, event.at).len() == usize::from(MANY)
            })
        },
    )
}

/// More items are due than one step adds when the queue is shut down.
pub(super) fn many_due_at_the_end() -> Scenario<DelayingQueue> {
    Scenario::new(
        "many_due_at_the_end",
        "a queue is shut down while more items are due than one step adds, and all are handed out",
        |world| {
            let (queue, other) = three_due_beside(world);
            queue.shut_down();
            let mut taken = 0;
            while let Some((token, _)) = queue.take() {
                queue.done(token);
                taken += 1;
            }
            assert_eq!(taken, MANY, "what was due before the shutdown is handed out");
            world.join(other);
        },
        |history| {
            some(history, |before, event| {
                let ends = matches!(event.call(), Some(Call::ShutDown(_)));
                ends && due(&before.times, event.at).len() == usize::from(MANY)
            })
        },
    )
}

/// Two steps add them; the second step adds only a few.
const MANY: u8 = 70;

/// Makes a queue in which many items are due, and another caller that counts them.
fn three_due_beside(world: &World<DelayingQueue>) -> (Tried, Join<()>) {
    let queue = queue(world);
    (1..=MANY).for_each(|key| queue.add_after(key, millis(2)));
    sleep(world, millis(3));
    let other = caller(world, "other", &queue, |queue| {
        let _all = queue.len();
    });
    (queue, other)
}

/// An item for which a consumer sleeps gets an earlier time.
pub(super) fn sooner() -> Scenario<DelayingQueue> {
    Scenario::new(
        "sooner",
        "a consumer sleeps until the time of an item, and the item gets an earlier one",
        |world| fixtures::sooner(world, &queue(world)),
        // The consumer sleeps before the producer calls.
        |history| sleep_together(history, 1),
    )
}

/// Two consumers sleep, and two items become due one after the other.
pub(super) fn due_apart() -> Scenario<DelayingQueue> {
    Scenario::new(
        "due_apart",
        "two consumers sleep on an empty queue, and take one item each, which become due in turn",
        |world| fixtures::due_apart(world, &queue(world)),
        // Both consumers sleep.
        |history| sleep_together(history, 2),
    )
}
