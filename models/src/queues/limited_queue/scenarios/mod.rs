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
use seatrial_core::runtime::Runtime;

use super::as_delaying::Failures;
use super::{Event, LimitedQueue, Ours};
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::goes_on::GoesOn;
use crate::queues::fixtures::tasks::Awaited;
use crate::queues::fixtures::whole::{Whole, whole};
use crate::queues::fixtures::{
    Delayed, FixedHasher, Worked, caller, earlier_time, end, millis, sleep, worker,
};
use crate::trial::{DynScenario, What, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<LimitedQueue>>> {
    vec![
        Box::new(failures::FailsTwice),
        Box::new(failures::FailuresOfTwo),
        Box::new(failures::ForgottenBetween),
        Box::new(deliveries::ProcessedAgain),
        Box::new(failures::AddedWhileFailing),
        Box::new(deliveries::StaleDelivery),
        Box::new(deliveries::SettledForAnother),
        Box::new(deliveries::SettledInEveryWay),
        Box::new(deliveries::TakenTogether),
        Box::new(deliveries::WorkersGoOn),
        Box::new(deliveries::ReadyAndDelayed),
        Box::new(failures::EarlierTime),
        Box::new(failures::Sooner),
        Box::new(failures::DueApart),
        Box::new(tasks::TaskAndThread),
        Box::new(tasks::DroppedGetter),
        Box::new(tasks::HolderGivesUp),
        Box::new(tasks::WokenGivesUp),
        Box::new(tasks::BusyExecutor),
        Box::new(tasks::BusyHolder),
        Box::new(failures::ShutDownWhileFailing),
        Box::new(calls::EveryCall),
        Box::new(panics::NotCopied),
        Box::new(panics::LimiterPanics),
        Box::new(calls::InOneStep),
        Box::new(calls::UpdaterEnds),
        Box::new(calls::SlowHash),
        Box::new(calls::WorkLoop),
        Box::new(calls::SharedLimiter),
    ]
}

type Queued<R> = Shell<u8, R, Exponential<u8>, Fifo, FixedHasher, Boxed<Ours>>;
type Tried<R> = Arc<Queued<R>>;

fn queue<R: Runtime>(world: &World<R, LimitedQueue>) -> Tried<R> {
    Arc::new(Shell::with_host(world.runtime(), FixedHasher::default(), world.machine()))
}

impl<R: Runtime> Worked for Queued<R> {
    fn shut_down(&self) {
        self.shut_down();
    }

    fn finish(&self, token: Token) {
        self.settle(token, Outcome::Success);
    }
}

whole!(Queued<R>, [], |queue, token, settles| {
    match settles {
        true => GoesOn::settle_then_take(queue, token, Outcome::Success),
        false => GoesOn::done_then_take(queue, token),
    }
});

impl<R: Runtime> Awaited for Queued<R> {
    async fn take_async(&self) -> Option<Token> {
        self.take_async().await.map(|(token, ..)| token)
    }

    fn add(&self, item: u8) {
        self.add(item);
    }
}

impl<R: Runtime> Delayed for Queued<R> {
    fn add_after(&self, item: u8, delay: Duration) {
        self.add_after(item, delay);
    }
}

impl<R: Runtime> GoesOn for Queued<R> {
    fn done_then_take(&self, token: Token) -> Option<(Token, u8)> {
        self.done_then_take(token)
    }

    fn settle_then_take(&self, token: Token, outcome: Outcome) -> Option<(Token, u8)> {
        self.settle_then_take(token, outcome)
    }
}

/// A consumer whose first deliveries have the given outcomes.
fn failing<R: Runtime>(
    world: &World<R, LimitedQueue>,
    queue: &Tried<R>,
    outcomes: impl Into<Vec<Outcome>>,
) -> R::Join<()> {
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
