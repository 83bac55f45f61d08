//! Small concurrent programs on the queue, each named by the case that it must reach.

mod calls;
mod deliveries;
mod failures;
mod panics;
mod tasks;

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::limited_queue::{LimitedQueue as Shell, Op as Call, Outcome};
use seatrial_core::limiter::Exponential;
use seatrial_core::machine::{Boxed, Step};
use seatrial_core::queue::{Fifo, Token};

use super::as_delaying::Failures;
use super::{Event, LimitedQueue, Ours};
use crate::engine::AnyRuntime;
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::goes_on::GoesOn;
use crate::queues::fixtures::tasks::Awaited;
use crate::queues::fixtures::whole::{Whole, whole};
use crate::queues::fixtures::{Delayed, FixedHasher, Worked, caller, end, millis, sleep, worker};
use crate::trial::{Join, Scenario, What, World};

pub(super) fn all() -> Vec<Scenario<LimitedQueue>> {
    vec![
        failures::fails_twice(),
        failures::failures_of_two(),
        failures::forgotten_between(),
        deliveries::processed_again(),
        failures::added_while_failing(),
        deliveries::stale_delivery(),
        deliveries::settled_for_another(),
        deliveries::settled_in_every_way(),
        deliveries::taken_together(),
        deliveries::workers_go_on(),
        deliveries::ready_and_delayed(),
        failures::earlier_time(),
        failures::sooner(),
        failures::due_apart(),
        tasks::task_and_thread(),
        tasks::dropped_getter(),
        tasks::holder_gives_up(),
        tasks::woken_gives_up(),
        tasks::busy_executor(),
        tasks::busy_holder(),
        failures::shut_down_while_failing(),
        calls::every_call(),
        panics::not_copied(),
        panics::limiter_panics(),
        calls::in_one_step(),
        calls::updater_ends(),
        calls::slow_hash(),
        calls::work_loop(),
        calls::shared_limiter(),
    ]
}

type Queued = Shell<u8, AnyRuntime, Exponential<u8>, Fifo, FixedHasher, Boxed<Ours>>;
type Tried = Arc<Queued>;

fn queue(world: &World<LimitedQueue>) -> Tried {
    Arc::new(Shell::with_host(world.runtime(), FixedHasher::default(), world.machine()))
}

impl Worked for Queued {
    fn shut_down(&self) {
        self.shut_down();
    }

    fn finish(&self, token: Token) {
        self.settle(token, Outcome::Success);
    }
}

whole!(Queued, [], |queue, token, settles| {
    match settles {
        true => GoesOn::settle_then_take(queue, token, Outcome::Success),
        false => GoesOn::done_then_take(queue, token),
    }
});

impl Awaited for Queued {
    async fn take_async(&self) -> Option<Token> {
        self.take_async().await.map(|(token, ..)| token)
    }

    fn add(&self, item: u8) {
        self.add(item);
    }
}

impl Delayed for Queued {
    fn add_after(&self, item: u8, delay: Duration) {
        self.add_after(item, delay);
    }
}

impl GoesOn for Queued {
    fn done_then_take(&self, token: Token) -> Option<(Token, u8)> {
        self.done_then_take(token)
    }

    fn settle_then_take(&self, token: Token, outcome: Outcome) -> Option<(Token, u8)> {
        self.settle_then_take(token, outcome)
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
