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
use seatrial_core::runtime::Runtime;

use super::ledger::QueueLedger;
use super::{Event, History, Queue};
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::tasks::Awaited;
use crate::queues::fixtures::whole::{Whole, whole};
use crate::queues::fixtures::{self, FixedHasher, Worked, caller, end};
use crate::trial::{DynScenario, Ledger as _, What, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Queue>>> {
    vec![
        Box::new(delivery::TwoProducersOneItem),
        Box::new(delivery::AddWhileProcessing),
        Box::new(delivery::TwoGetters),
        Box::new(delivery::TwoWorkers),
        Box::new(delivery::WorkersGoOn),
        Box::new(shutdown::ShutDownWhileWaiting),
        Box::new(shutdown::DrainReleasedByShutdown),
        Box::new(shutdown::TwoDrains),
        Box::new(shutdown::DrainAfterShutdown),
        Box::new(shutdown::DrainWithReprocess),
        Box::new(shutdown::StrictDrain),
        Box::new(trouble::StaleToken),
        Box::new(trouble::Misuse),
        Box::new(trouble::PanickingWorker),
        Box::new(tasks::TaskAndThread),
        Box::new(tasks::DroppedGetter),
        Box::new(tasks::MovedTask),
        Box::new(tasks::DroppedDrain),
        Box::new(tasks::TaskBesideDrain),
        Box::new(batches::BatchForWaiters),
        Box::new(batches::BatchWhileProcessing),
        Box::new(delivery::Timed),
        Box::new(calls::EveryCall),
        Box::new(panics::NotCopied),
        Box::new(calls::InOneStep),
        Box::new(calls::UpdaterEnds),
        Box::new(calls::WorkLoop),
    ]
}

type Queued<R> = WorkQueue<u8, R, Fifo, FixedHasher, Boxed<Rules<u8>>>;
type Tried<R> = Arc<Queued<R>>;

fn queue<R: Runtime>(world: &World<R, Queue>) -> Tried<R> {
    Arc::new(WorkQueue::with_host(world.runtime(), FixedHasher::default(), world.machine()))
}

impl<R: Runtime> Worked for Queued<R> {
    fn shut_down(&self) {
        self.shut_down();
    }
}

whole!(Queued<R>, [], |queue, token, _| queue.done_then_take(token));

impl<R: Runtime> Awaited for Queued<R> {
    async fn take_async(&self) -> Option<Token> {
        self.take_async().await.map(|(token, ..)| token)
    }

    fn add(&self, item: u8) {
        self.add(item);
    }
}

/// A consumer that works without any delay until the queue is shut down and empty.
fn worker<R: Runtime>(world: &World<R, Queue>, name: &str, queue: &Tried<R>) -> R::Join<()> {
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
