//! Small concurrent programs on the priority queue, each named by the case that it must reach.

pub(super) mod answers;
mod calls;
mod delivery;
mod ends;
mod order;
mod panics;
mod pooled;
mod tasks;
mod times;

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::limiter::Exponential;
use seatrial_core::machine::Boxed;
use seatrial_core::priority_queue::{AddOptions, PriorityQueue as Queue, Told};
use seatrial_core::queue::Token;
use seatrial_core::runtime::Runtime;

use super::ledger::PriorityLedger;
use super::op::Ours;
use super::{Call, Event, History, PriorityQueue};
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::goes_on::GoesOn;
use crate::queues::fixtures::tasks::Awaited;
use crate::queues::fixtures::whole::{Whole, whole};
use crate::queues::fixtures::{
    Delayed, FixedHasher, Worked, caller, earlier_time, end, millis, sleep, three_due, worker,
};
use crate::trial::{DynScenario, Ledger as _, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<PriorityQueue>>> {
    vec![
        Box::new(order::RaiseAmongEquals),
        Box::new(order::AddWhileHeld),
        Box::new(order::BatchForTwo),
        Box::new(order::TakenTogether),
        Box::new(order::ManyPriorities),
        Box::new(times::EarlierTime),
        Box::new(times::Sooner),
        Box::new(times::BroughtForward),
        Box::new(times::DueTogether),
        Box::new(times::DueWhileHeld),
        Box::new(times::RefreshedWhileDue),
        Box::new(delivery::FailedBatch),
        Box::new(delivery::TriedAgain),
        Box::new(delivery::RequeuedAfter),
        Box::new(delivery::StaleToken),
        Box::new(delivery::DoneByName),
        Box::new(delivery::WorkersGoOn),
        Box::new(pooled::Pooled),
        Box::new(answers::EveryAnswer),
        Box::new(ends::ShutDownWhileReady),
        Box::new(ends::ShutDownTwice),
        Box::new(ends::FailedAtTheEnd),
        Box::new(tasks::TaskAndThread),
        Box::new(tasks::DroppedGetter),
        Box::new(tasks::HolderGivesUp),
        Box::new(tasks::WokenGivesUp),
        Box::new(tasks::BusyExecutor),
        Box::new(tasks::BusyHolder),
        Box::new(times::ThreeDue),
        Box::new(times::DueApart),
        Box::new(times::ManyDue),
        Box::new(calls::EveryCall),
        Box::new(panics::NotCopied),
        Box::new(panics::LimiterPanics),
        Box::new(calls::InOneStep),
        Box::new(calls::UpdaterEnds),
        Box::new(calls::SlowHash),
    ]
}

type Queued<R> = Queue<u8, R, Exponential<u8>, Told, FixedHasher, Boxed<Ours>>;
type Tried<R> = Arc<Queued<R>>;

const fn priority(priority: i32) -> AddOptions {
    AddOptions { after: None, rate_limited: false, priority }
}

const fn later(priority: i32, after: Duration) -> AddOptions {
    AddOptions { after: Some(after), rate_limited: false, priority }
}

const fn failed(priority: i32) -> AddOptions {
    AddOptions { after: None, rate_limited: true, priority }
}

fn queue<R: Runtime>(world: &World<R, PriorityQueue>) -> Tried<R> {
    Arc::new(Queue::with_host(world.runtime(), FixedHasher::default(), world.machine()))
}

impl<R: Runtime> Worked for Queued<R> {
    fn shut_down(&self) {
        self.shut_down();
    }
}

whole!(Queued<R>, [priority(0)], |queue, token, settles| {
    match settles {
        true => GoesOn::settle_then_take(queue, token, Outcome::Success),
        false => GoesOn::done_then_take(queue, token),
    }
});

impl<R: Runtime> GoesOn for Queued<R> {
    fn done_then_take(&self, token: Token) -> Option<(Token, u8)> {
        self.done_then_take(token).map(|(token, item, _)| (token, item))
    }

    fn settle_then_take(&self, token: Token, outcome: Outcome) -> Option<(Token, u8)> {
        self.settle_then_take(token, outcome, 7).map(|(token, item, _)| (token, item))
    }
}

impl<R: Runtime> Delayed for Queued<R> {
    fn add_after(&self, item: u8, delay: Duration) {
        self.add_after(item, delay);
    }
}

impl<R: Runtime> Awaited for Queued<R> {
    async fn take_async(&self) -> Option<Token> {
        self.take_async().await.map(|(token, ..)| token)
    }

    fn add(&self, item: u8) {
        self.add(item);
    }
}

/// Tells whether an event meets a condition that also sees the state before it.
fn some(history: &History, wanted: impl Fn(&PriorityLedger, &Event) -> bool) -> bool {
    PriorityLedger::some(history, wanted)
}

fn adds(event: &Event, key: u8) -> bool {
    matches!(event.call(), Some(Call::Add(add)) if add.key == Some(key))
}
