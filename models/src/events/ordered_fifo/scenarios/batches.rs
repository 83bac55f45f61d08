//! Events that are taken together.

use super::{Config, Stage, Store, some};
use crate::events::fixtures::Slow;
use crate::ordered_fifo::{History, OrderedFifo};
use crate::queues::fixtures::{millis, sleep};
use crate::trial::{Scenario, sleeps};

pub(super) fn all() -> Vec<Scenario<OrderedFifo>> {
    vec![
        slow_consumer(),
        slow_batch(),
        batches_of_the_first_list(),
        batch_meets_list(),
        batch_meets_itself(),
        long_batch(),
        two_batchers(),
    ]
}

/// Tells whether a batch of this many events was taken.
fn takes(history: &History, events: usize) -> bool {
    some(history, |_, over| over.taken().is_some_and(|taken| taken.events.len() == events))
}

/// Batches end with the first list (`cache:TR-18`).
fn batches_of_the_first_list() -> Scenario<OrderedFifo> {
    Scenario::new(
        "batches_of_the_first_list",
        "the first list and a later change are taken in batches",
        |world| {
            let stage = Stage::plain(world, []);
            let consumer = stage.batcher("consumer");
            let observer = stage.observer(2);
            stage.list(&[(1, 1), (2, 1)]);
            stage.add((3, 1));
            stage.end([consumer, observer]);
        },
        // A batch is taken with a change behind the first list.
        |history| {
            some(history, |before, over| {
                over.taken().is_some()
                    && before.spec.initial_left == 2
                    && before.state.events.len() == 3
            })
        },
    )
}

/// A list and a resync come alone (`cache:RF-18`).
fn batch_meets_list() -> Scenario<OrderedFifo> {
    Scenario::new(
        "batch_meets_list",
        "changes, a list and a resync are taken in batches",
        |world| {
            let stage = Stage::new(world, Config::informer());
            let consumer = stage.batcher("consumer");
            stage.add((1, 1));
            stage.list(&[(2, 1)]);
            stage.resync();
            stage.end([consumer]);
        },
        // All three wait when an event is taken.
        |history| {
            some(history, |before, over| over.taken().is_some() && before.state.events.len() == 3)
        },
    )
}

/// Two changes of one object are not taken together.
fn batch_meets_itself() -> Scenario<OrderedFifo> {
    Scenario::new(
        "batch_meets_itself",
        "two changes of one object and one of another are taken in batches",
        |world| {
            let stage = Stage::new(world, Config::informer());
            let consumer = stage.batcher("consumer");
            stage.add((1, 1));
            stage.add((2, 1));
            stage.update((1, 2));
            stage.end([consumer]);
        },
        |history| {
            some(history, |before, over| over.taken().is_some() && before.state.events.len() == 3)
        },
    )
}

/// A batch is never longer than the limit.
fn long_batch() -> Scenario<OrderedFifo> {
    Scenario::new(
        "long_batch",
        "three changes are taken in batches of two",
        |world| {
            let stage = Stage::new(world, Config::atomic().batches_of(2));
            let consumer = stage.batcher("consumer");
            for key in 1..=3 {
                stage.add((key, 1));
            }
            stage.end([consumer]);
        },
        |history| takes(history, 2),
    )
}

/// Two consumers take batches with the lock released.
fn two_batchers() -> Scenario<OrderedFifo> {
    Scenario::new(
        "two_batchers",
        "one consumer takes batches and another one single events, both with the lock released",
        |world| {
            let stage = Stage::new(world, Config::informer());
            let consumers = [stage.batcher("first"), stage.consumer("second")];
            stage.add((1, 1));
            stage.add((2, 1));
            stage.end(consumers);
        },
        // A batch of both is taken.
        |history| takes(history, 2),
    )
}

/// Slow processing is told, and only where many wait (`cache:QU-21`).
fn slow_consumer() -> Scenario<OrderedFifo> {
    Scenario::<OrderedFifo>::new(
        "slow_consumer",
        "a consumer is slow while many objects wait, and less slow or fewer",
        |world| {
            let slow = Slow::new();
            let stage = Stage::told(world, Config::plain(Store::of([])), Some(slow.hook()));
            stage.slow_consumer(&slow);
            (16..=20).for_each(|key| stage.add((key, 1)));
            let pop = |time| {
                let popped = stage.queue.pop_batch(|_| sleep(world, time));
                assert!(popped.is_ok_and(|(batch, ())| batch.events.len() == 3), "sixteen wait");
                slow.reports()
            };
            assert_eq!(pop(millis(299)), [], "three may take three tenths of a second");
            (21..=23).for_each(|key| stage.add((key, 1)));
            assert_eq!(pop(millis(300)), [("8".to_owned(), 13, millis(300), 13)]);
            let popped = stage.queue.pop_batch_async(|_| sleep(world, millis(400)));
            assert!(world.at_once(popped).is_some_and(|popped| popped.is_ok()));
            assert_eq!(slow.reports(), [], "ten are left");
        },
        |history| history.finished(),
    )
    .not_on(sleeps)
}

/// A large batch may take a second, and no longer than that (`cache:QU-21`).
fn slow_batch() -> Scenario<OrderedFifo> {
    Scenario::<OrderedFifo>::new(
        "slow_batch",
        "a consumer takes a second for twelve objects, while many wait",
        |world| {
            let slow = Slow::new();
            let config = Config::plain(Store::of([])).batches_of(12);
            let stage = Stage::told(world, config, Some(slow.hook()));
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
