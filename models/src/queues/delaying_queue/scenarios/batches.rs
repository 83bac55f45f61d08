//! Several items in one critical section.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::{Call, Tried, caller, due, end, gives, millis, sleep};
use crate::delaying_queue::invariants::Known;
use crate::delaying_queue::{DelayingQueue, Event};
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::{Join, Ledger as _, Scenario, World};

const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

/// A consumer that takes two items at a time, if there are two.
fn in_twos(world: &World<DelayingQueue>, queue: &Tried) -> Join<()> {
    caller(world, "in twos", queue, |queue| {
        while let Some(batch) = queue.get_batch(TWO) {
            batch.done();
        }
    })
}

/// Several items in one critical section.
pub(super) fn all() -> Vec<Scenario<DelayingQueue>> {
    vec![
        Scenario::new(
            "due_in_batches",
            "a consumer of two items at a time sleeps until a time, then until an earlier time",
            |world| {
                let queue = DelayingQueue::tried(world);
                queue.add_after(1, millis(6));
                queue.add_after(4, Duration::MAX);
                let consumer = in_twos(world, &queue);
                let producer =
                    caller(world, "producer", &queue, |queue| queue.add_after(2, millis(3)));
                queue.add_after(3, millis(6));
                world.join(producer);
                end(world, &queue, [consumer]);
            },
            // The consumer sleeps when the earlier time is given, and later two items are due together.
            |history| {
                let takes = |event: &Event| matches!(event.call(), Some(Call::GetBatch(_)));
                Known::some(history, |before, event| gives(event, 2) && !before.getters.is_empty())
                    && Known::some(history, |before, event| {
                        takes(event) && due(&before.times, event.at).len() == 2
                    })
            },
        ),
        DelayingQueue::program(
            "batch_for_two",
            "two consumers wait for one item each, and one call adds two items",
            |world, queue| {
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
            |before, event| {
                matches!(event.call(), Some(Call::AddAll(_))) && before.getters.len() == 2
            },
        ),
        DelayingQueue::program(
            "batches_of_many_due",
            "more items are due than one step adds, and callers add and take batches",
            |world, queue| {
                (1..=MANY).for_each(|key| queue.add_after(key, millis(2)));
                sleep(world, millis(3));
                let other = caller(world, "other", &queue, |queue| queue.add_all([101, 102, 103]));
                queue.get_batch(TWO).expect("many are due").done();
                world.join(other);
                queue.shut_down();
            },
            // The batch comes before any other call has added the due items.
            |before, event| {
                let adds = matches!(event.call(), Some(Call::AddAll(_)));
                adds && due(&before.times, event.at).len() == usize::from(MANY)
            },
        ),
    ]
}

/// More than one step adds, even with one more for each call of a batch.
const MANY: u8 = 80;
