//! Small concurrent programs on the queue, each named by the case that it must reach.

mod calls;
mod deliveries;
mod failures;

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::limited_queue::{LimitedQueue as Shell, Op as Call, Outcome, Ret};
use seatrial_core::limiter::Exponential;
use seatrial_core::machine::Step;
use seatrial_core::queue::{Fifo, Token};

use super::as_delaying::Failures;
use super::{Event, LimitedQueue};
use crate::engine::AnyRuntime;
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::fragile::{Fragile, Panics};
use crate::queues::fixtures::keyed::{Delayed, Keyed, OfKeys, Page, keyed};
use crate::queues::fixtures::{FixedHasher, caller, end, millis, shared, sleep, worker};
use crate::trial::{Join, Ledger as _, Scenario, What, World};

pub(super) fn all() -> Vec<Scenario<LimitedQueue>> {
    let lists = [
        failures::counted(),
        failures::overlapping(),
        deliveries::one(),
        deliveries::ended(),
        deliveries::together(),
        calls::all(),
        shared::of_keys(),
        shared::of_tasks(),
        shared::of_timers(),
        vec![shared::busy_holder(shared::takes_the_third::<LimitedQueue>)],
        shared::of_times(),
        vec![
            // A consumer falls asleep until the item comes back.
            shared::workers_go_on(|history| {
                Failures::some(history, |before, event| sleeps(event) && failures(before, 1) == 1)
            }),
            shared::not_copied(
                Shell::<Fragile, AnyRuntime, _>::with_default_limiter,
                |queue, key| queue.add(key),
                |queue| queue.take_batch(TWO),
            ),
            shared::limiter_panics(
                |runtime| Shell::new(runtime, Panics),
                |queue, item| queue.add(item),
                |queue, token| _ = queue.settle(token, Outcome::Retry),
                |queue, token| _ = queue.settle_then_take(token, Outcome::Retry),
            ),
        ],
    ];
    lists.into_iter().flatten().collect()
}

type Queued = Shell<u8, AnyRuntime, Exponential<u8>, Fifo>;
type Tried = Arc<Queued>;

impl Page for LimitedQueue {
    type Tried = Tried;
    type Known = Failures;

    fn tried(world: &World<Self>) -> Tried {
        Arc::new(Shell::with_host(world.runtime(), FixedHasher::default(), world.machine()))
    }
}

impl OfKeys for LimitedQueue {
    type Queue = Queued;

    fn adds(op: &Call<u8>) -> Option<u8> {
        match op {
            Call::Add(add) => add.key,
            Call::AddAfter(add) => add.key,
            _ => None,
        }
    }

    fn takes(ret: &Ret<u8>) -> Option<u8> {
        if let Ret::Get(Some((_, key))) = ret { Some(*key) } else { None }
    }
}

keyed!(
    Queued,
    [],
    |queue, token| queue.settle(token, Outcome::Success),
    |queue, token, outcome| match outcome {
        Some(outcome) => queue.settle_then_take(token, outcome),
        None => queue.done_then_take(token),
    }
);

impl Delayed for Queued {
    fn add_after(&self, item: u8, delay: Duration) {
        self.add_after(item, delay);
    }
}

/// A consumer whose first deliveries have the given outcomes.
fn failing(
    world: &World<LimitedQueue>,
    queue: &Tried,
    outcomes: impl Into<Vec<Outcome>>,
) -> Join<()> {
    let mut outcomes = outcomes.into().into_iter();
    caller(world, "failing", queue, move |queue| {
        while let Some((token, _)) = queue.take() {
            queue.settle(token, outcomes.next().unwrap_or(Outcome::Success));
        }
    })
}

fn sleeps(event: &Event) -> bool {
    matches!(event.what, What::Step { op: Call::Get(_), outcome: Step::Wait { .. }, .. })
}

/// Returns the known number of failures of an item.
fn failures(before: &Failures, key: u8) -> u32 {
    before.failures.get(&key).copied().unwrap_or_default()
}
