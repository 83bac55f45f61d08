//! Several items in one critical section.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::{Call, Tried, caller, due, end, gives, millis, queue, sleep, some};
use crate::delaying_queue::{DelayingQueue, Event};
use crate::trial::{Join, Scenario, World};

const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

/// A consumer that takes two items at a time, if there are two.
fn in_twos(world: &World<DelayingQueue>, queue: &Tried) -> Join<()> {
    caller(world, "in twos", queue, |queue| {
        while let Some(batch) = queue.get_batch(TWO) {
            batch.done();
        }
    })
}

/// A caller that wants two items sleeps until a time, and an earlier time comes; later two items
/// are due.
pub(super) fn due_in_batches() -> Scenario<DelayingQueue> {
    Scenario::new(
        "due_in_batches",
        "a consumer of two items at a time sleeps until a time, then until an earlier time",
        |world| {
            let queue = queue(world);
            queue.add_after(1, millis(6));
            queue.add_after(4, Duration::MAX);
            let consumer = in_twos(world, &queue);
            let producer = caller(world, "producer", &queue, |queue| queue.add_after(2, millis(3)));
            queue.add_after(3, millis(6));
            world.join(producer);
            end(world, &queue, [consumer]);
        },
        // The consumer sleeps when the earlier time is given, and later two items are due together.
        |history| {
            let takes = |event: &Event| matches!(event.call(), Some(Call::GetBatch(_)));
            some(history, |before, event| gives(event, 2) && !before.getters.is_empty())
                && some(history, |before, event| {
                    takes(event) && due(&before.times, event.at).len() == 2
                })
        },
    )
}

/// Two items are added at once, for two consumers that wait and take one each.
pub(super) fn batch_for_two() -> Scenario<DelayingQueue> {
    Scenario::new(
        "batch_for_two",
        "two consumers wait for one item each, and one call adds two items",
        |world| {
            let queue = queue(world);
            queue.add_after(1, Duration::MAX); // at a time that comes they would look by themselves
            let taker =
                |name| caller(world, name, &queue, |queue| queue.take_batch(NonZeroUsize::MIN));
            let takers = ["first", "second"].map(taker);
            queue.add_all([2, 3]);
            world.quiesce();
            for taker in takers {
                queue.done_all(world.join(taker).into_iter().map(|(token, _)| token));
            }
        },
        // Both consumers sleep when the two items come.
        |history| {
            some(history, |before, event| {
                matches!(event.call(), Some(Call::AddAll(_))) && before.getters.len() == 2
            })
        },
    )
}

/// More items are due than one step adds, and calls come in batches.
pub(super) fn batches_of_many_due() -> Scenario<DelayingQueue> {
    Scenario::new(
        "batches_of_many_due",
        "more items are due than one step adds, and callers add and take batches",
        |world| {
            let queue = queue(world);
            (1..=MANY).for_each(|key| queue.add_after(key, millis(2)));
            sleep(world, millis(3));
            let other = caller(world, "other", &queue, |queue| queue.add_all([101, 102, 103]));
            queue.get_batch(TWO).expect("many are due").done();
            world.join(other);
            queue.shut_down();
        },
        // The batch comes before any other call has added the due items.
        |history| {
            some(history, |before, event| {
                let adds = matches!(event.call(), Some(Call::AddAll(_)));
                adds && due(&before.times, event.at).len() == usize::from(MANY)
            })
        },
    )
}

/// More than one step adds, even with one more for each call of a batch.
const MANY: u8 = 80;
