//! Events that are taken together.

use super::{Stage, atomic, informer, plain, scenario, taken, waiting};
use crate::events::fixtures::{Slow, shared};
use crate::ordered_fifo::OrderedFifo;
use crate::queues::fixtures::{millis, sleep};
use crate::trial::{Scenario, sleeps};

pub(super) fn all() -> Vec<Scenario<OrderedFifo>> {
    let mut all = vec![slow_consumer(), slow_batch()];
    all.extend(of_batches());
    all.push(scenario(
        "two_batchers",
        "one consumer takes batches and another one single events, both with the lock released",
        informer,
        |stage| {
            let consumers = [stage.batcher("first"), stage.consumer("second")];
            stage.add((1, 1));
            stage.add((2, 1));
            stage.end(consumers);
        },
        // A batch of both is taken.
        |_, over| taken(over) == 2,
    ));
    all
}

fn of_batches() -> Vec<Scenario<OrderedFifo>> {
    vec![
        scenario(
            "batches_of_the_first_list",
            "the first list and a later change are taken in batches",
            plain,
            |stage| {
                let consumer = stage.batcher("consumer");
                let observer = stage.observer(2);
                stage.list(&[(1, 1), (2, 1)]);
                stage.add((3, 1));
                stage.end([consumer, observer]);
            },
            // A batch is taken with a change behind the first list (`cache:TR-18`).
            |before, over| over.takes() && before.plain.initial_left == 2 && waiting(before) == 3,
        ),
        scenario(
            "batch_meets_list",
            "changes, a list and a resync are taken in batches",
            informer,
            |stage| {
                let consumer = stage.batcher("consumer");
                stage.add((1, 1));
                stage.list(&[(2, 1)]);
                stage.resync();
                stage.end([consumer]);
            },
            // All three wait when an event is taken (`cache:RF-18`).
            |before, over| over.takes() && waiting(before) == 3,
        ),
        scenario(
            "batch_meets_itself",
            "two changes of one object and one of another are taken in batches",
            informer,
            |stage| {
                let consumer = stage.batcher("consumer");
                stage.add((1, 1));
                stage.add((2, 1));
                stage.update((1, 2));
                stage.end([consumer]);
            },
            |before, over| over.takes() && waiting(before) == 3,
        ),
        scenario(
            "long_batch",
            "three changes are taken in batches of two",
            || atomic().batches_of(2),
            |stage| {
                let consumer = stage.batcher("consumer");
                (1..=3).for_each(|key| stage.add((key, 1)));
                stage.end([consumer]);
            },
            |_, over| taken(over) == 2,
        ),
    ]
}

/// Slow processing is told, and only where many wait (`cache:QU-21`): also of batches.
fn slow_consumer() -> Scenario<OrderedFifo> {
    shared::slow_consumer(plain, |stage, slow| {
        (16..=20).for_each(|key| stage.add((key, 1)));
        let pop = |time| {
            let popped = stage.queue.pop_batch(|_| sleep(&stage.world, time));
            assert!(popped.is_ok_and(|(batch, ())| batch.events.len() == 3), "sixteen wait");
            slow.reports()
        };
        assert_eq!(pop(millis(299)), [], "three may take three tenths of a second");
        (21..=23).for_each(|key| stage.add((key, 1)));
        assert_eq!(pop(millis(300)), [("8".to_owned(), 13, millis(300), 13)]);
        let popped = stage.queue.pop_batch_async(|_| sleep(&stage.world, millis(400)));
        assert!(stage.world.at_once(popped).is_some_and(|popped| popped.is_ok()));
        assert_eq!(slow.reports(), [], "ten are left");
    })
}

/// A large batch may take a second, and no longer than that (`cache:QU-21`).
fn slow_batch() -> Scenario<OrderedFifo> {
    Scenario::<OrderedFifo>::new(
        "slow_batch",
        "a consumer takes a second for twelve objects, while many wait",
        |world| {
            let slow = Slow::new();
            let stage = Stage::told(world, &plain().batches_of(12), Some(slow.hook()));
            slow.of(&stage.queue);
            (1..=35).for_each(|key| stage.add((key, 1)));
            let pop = |time| {
                let popped = stage.queue.pop_batch(|_| sleep(world, time));
                assert!(popped.is_ok_and(|(batch, ())| batch.events.len() == 12), "many wait");
                slow.reports()
            };
            assert_eq!(pop(millis(999)), []);
            assert_eq!(pop(millis(1_000)), [("13".to_owned(), 11, millis(1_000), 11)]);
        },
        |history| history.finished(),
    )
    .not_on(sleeps)
}
