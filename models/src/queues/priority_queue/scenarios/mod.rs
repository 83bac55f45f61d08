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

use super::ledger::PriorityLedger;
use super::op::Ours;
use super::{Call, Event, History, PriorityQueue};
use crate::engine::AnyRuntime;
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::goes_on::GoesOn;
use crate::queues::fixtures::tasks::Awaited;
use crate::queues::fixtures::whole::{Whole, whole};
use crate::queues::fixtures::{Delayed, FixedHasher, Worked, caller, end, millis, sleep, worker};
use crate::trial::{Ledger as _, Scenario, World};

pub(super) fn all() -> Vec<Scenario<PriorityQueue>> {
    vec![
        order::raise_among_equals(),
        order::add_while_held(),
        order::batch_for_two(),
        order::taken_together(),
        order::many_priorities(),
        times::earlier_time(),
        times::sooner(),
        times::brought_forward(),
        times::due_together(),
        times::due_while_held(),
        times::refreshed_while_due(),
        delivery::failed_batch(),
        delivery::tried_again(),
        delivery::requeued_after(),
        delivery::stale_token(),
        delivery::done_by_name(),
        delivery::workers_go_on(),
        pooled::pooled(),
        answers::every_answer(),
        ends::shut_down_while_ready(),
        ends::shut_down_twice(),
        ends::failed_at_the_end(),
        tasks::task_and_thread(),
        tasks::dropped_getter(),
        tasks::holder_gives_up(),
        tasks::woken_gives_up(),
        tasks::busy_executor(),
        tasks::busy_holder(),
        times::three_due(),
        times::due_apart(),
        times::many_due(),
        calls::every_call(),
        panics::not_copied(),
        panics::limiter_panics(),
        calls::in_one_step(),
        calls::updater_ends(),
        calls::slow_hash(),
    ]
}

type Queued = Queue<u8, AnyRuntime, Exponential<u8>, Told, FixedHasher, Boxed<Ours>>;
type Tried = Arc<Queued>;

const fn priority(priority: i32) -> AddOptions {
    AddOptions { after: None, rate_limited: false, priority }
}

const fn later(priority: i32, after: Duration) -> AddOptions {
    AddOptions { after: Some(after), rate_limited: false, priority }
}

const fn failed(priority: i32) -> AddOptions {
    AddOptions { after: None, rate_limited: true, priority }
}

fn queue(world: &World<PriorityQueue>) -> Tried {
    Arc::new(Queue::with_host(world.runtime(), FixedHasher::default(), world.machine()))
}

impl Worked for Queued {
    fn shut_down(&self) {
        self.shut_down();
    }
}

whole!(Queued, [priority(0)], |queue, token, settles| {
    match settles {
        true => GoesOn::settle_then_take(queue, token, Outcome::Success),
        false => GoesOn::done_then_take(queue, token),
    }
});

impl GoesOn for Queued {
    fn done_then_take(&self, token: Token) -> Option<(Token, u8)> {
        self.done_then_take(token).map(|(token, item, _)| (token, item))
    }

    fn settle_then_take(&self, token: Token, outcome: Outcome) -> Option<(Token, u8)> {
        self.settle_then_take(token, outcome, 7).map(|(token, item, _)| (token, item))
    }
}

impl Delayed for Queued {
    fn add_after(&self, item: u8, delay: Duration) {
        self.add_after(item, delay);
    }
}

impl Awaited for Queued {
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
