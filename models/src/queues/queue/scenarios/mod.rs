//! Small concurrent programs on the queue, each named by the case that it must reach.

mod batches;
mod calls;
mod delivery;
mod panics;
mod shutdown;
mod tasks;
mod trouble;

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::machine::{Boxed, Step};
use seatrial_core::queue::{Fifo, Op, Queue as Rules, Token, WorkQueue};

use super::ledger::QueueLedger;
use super::{Event, History, Queue};
use crate::engine::AnyRuntime;
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::tasks::Awaited;
use crate::queues::fixtures::whole::{Whole, whole};
use crate::queues::fixtures::{self, FixedHasher, Worked, caller, end};
use crate::trial::{Join, Ledger as _, Scenario, What, World};

pub(super) fn all() -> Vec<Scenario<Queue>> {
    vec![
        delivery::two_producers_one_item(),
        delivery::add_while_processing(),
        delivery::two_getters(),
        delivery::two_workers(),
        delivery::workers_go_on(),
        shutdown::shut_down_while_waiting(),
        shutdown::drain_released_by_shutdown(),
        shutdown::two_drains(),
        shutdown::drain_after_shutdown(),
        shutdown::drain_with_reprocess(),
        shutdown::strict_drain(),
        trouble::stale_token(),
        trouble::misuse(),
        trouble::panicking_worker(),
        tasks::task_and_thread(),
        tasks::dropped_getter(),
        tasks::moved_task(),
        tasks::dropped_drain(),
        tasks::task_beside_drain(),
        batches::batch_for_waiters(),
        batches::batch_while_processing(),
        delivery::timed(),
        calls::every_call(),
        panics::not_copied(),
        calls::in_one_step(),
        calls::updater_ends(),
        calls::work_loop(),
    ]
}

type Queued = WorkQueue<u8, AnyRuntime, Fifo, FixedHasher, Boxed<Rules<u8>>>;
type Tried = Arc<Queued>;

fn queue(world: &World<Queue>) -> Tried {
    Arc::new(WorkQueue::with_host(world.runtime(), FixedHasher::default(), world.machine()))
}

impl Worked for Queued {
    fn shut_down(&self) {
        self.shut_down();
    }
}

whole!(Queued, [], |queue, token, _| queue.done_then_take(token));

impl Awaited for Queued {
    async fn take_async(&self) -> Option<Token> {
        self.take_async().await.map(|(token, ..)| token)
    }

    fn add(&self, item: u8) {
        self.add(item);
    }
}

/// A consumer that works without any delay until the queue is shut down and empty.
fn worker(world: &World<Queue>, name: &str, queue: &Tried) -> Join<()> {
    fixtures::worker(world, name, queue, Duration::ZERO)
}

/// Tells whether some event meets a condition. The condition also sees the state before the event.
fn some(history: &History, wanted: impl Fn(&QueueLedger, &Event) -> bool) -> bool {
    QueueLedger::some(history, wanted)
}

fn adds(event: &Event) -> Option<u8> {
    match &event.what {
        What::Step { op: Op::Add(add), .. } => add.key,
        _ => None,
    }
}

fn ends(event: &Event) -> bool {
    matches!(event.call(), Some(Op::Done(_)))
}

fn drain_waits(event: &Event) -> bool {
    matches!(&event.what, What::Step { op: Op::Drain(_), outcome: Step::Wait { .. }, .. })
}

fn drain_returns(event: &Event) -> bool {
    matches!(event.returned(), Some((Op::Drain(_), _)))
}
