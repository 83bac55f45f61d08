//! Several items in one critical section.

use std::num::NonZeroUsize;

use seatrial_core::queue::Token;

use super::{adds, caller, end};
use crate::queue::Queue;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::Scenario;

const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

fn tokens(taken: &[(Token, u8)]) -> impl Iterator<Item = Token> {
    taken.iter().map(|(token, _)| *token)
}

/// Several items in one critical section.
pub(super) fn all() -> Vec<Scenario<Queue>> {
    vec![
        Queue::program(
            "batch_for_waiters",
            "two consumers wait for one item each, and one call adds two items",
            |world, queue| {
                let taker =
                    |name| caller(world, name, &queue, |queue| queue.take_batch(NonZeroUsize::MIN));
                let (first, second) = (taker("first"), taker("second"));
                queue.add_all([1, 2]);
                world.quiesce();
                for taker in [first, second] {
                    queue.done_all(tokens(&world.join(taker)));
                }
            },
            // Both consumers sleep when the items come.
            |before, event| adds(event).is_some() && before.getters.len() == 2,
        ),
        Queue::program(
            "batch_while_processing",
            "a producer adds the items of a batch again, and a new one, while they are processed",
            |world, queue| {
                queue.add_all([1, 2]);
                let taken = queue.take_batch(TWO);
                let consumer = caller(world, "consumer", &queue, |queue| {
                    while let Some(batch) = queue.get_batch(TWO) {
                        batch.done();
                    }
                });
                let producer =
                    caller(world, "producer", &queue, |queue| queue.add_all([1, 2, 1, 3]));
                queue.done_all(tokens(&taken));
                world.join(producer);
                end(world, &queue, [consumer]);
            },
            |before, event| adds(event).is_some_and(|key| before.in_processing(key)),
        ),
    ]
}
