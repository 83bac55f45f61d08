//! Small concurrent programs on the queue, each named by the case that it must reach.

mod batches;
mod calls;
mod delivery;
mod shutdown;
mod tasks;
mod trouble;

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::machine::Step;
use seatrial_core::queue::{Fifo, Op, Ret, Token, WorkQueue};

use super::ledger::QueueLedger;
use super::{Event, Queue};
use crate::engine::AnyRuntime;
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::fragile::Fragile;
use crate::queues::fixtures::keyed::{Keyed, OfKeys, Page, keyed};
use crate::queues::fixtures::{self, FixedHasher, caller, end, shared};
use crate::trial::{Join, Scenario, What, World};

pub(super) fn all() -> Vec<Scenario<Queue>> {
    let lists = [
        delivery::of_one_item(),
        delivery::of_two_items(),
        shutdown::shut_downs(),
        shutdown::late(),
        shutdown::drains(),
        trouble::all(),
        trouble::panics(),
        tasks::all(),
        batches::all(),
        calls::all(),
        shared::of_keys(),
        shared::of_tasks(),
        vec![
            shared::moved_task(
                "a wait is polled by one task and then by another, while an item is added",
                |queue: &Queued| queue.add(1),
            ),
            shared::not_copied(
                WorkQueue::<Fragile, AnyRuntime>::new,
                |queue, key| queue.add(key),
                |queue| queue.take_batch(TWO),
            ),
        ],
    ];
    lists.into_iter().flatten().collect()
}

type Queued = WorkQueue<u8, AnyRuntime, Fifo>;
type Tried = Arc<Queued>;

impl Page for Queue {
    type Tried = Tried;
    type Known = QueueLedger;

    fn tried(world: &World<Self>) -> Tried {
        Arc::new(WorkQueue::with_host(world.runtime(), FixedHasher::default(), world.machine()))
    }
}

impl OfKeys for Queue {
    type Queue = Queued;

    fn adds(op: &Op<u8>) -> Option<u8> {
        if let Op::Add(add) = op { add.key } else { None }
    }

    fn takes(ret: &Ret<u8>) -> Option<u8> {
        if let Ret::Get(Some((_, key))) = ret { Some(*key) } else { None }
    }
}

keyed!(Queued, [], |queue, token| queue.done(token), |queue, token, _| queue.done_then_take(token));

/// A consumer that works without any delay until the queue is shut down and empty.
fn worker(world: &World<Queue>, name: &str, queue: &Tried) -> Join<()> {
    fixtures::worker(world, name, queue, Duration::ZERO)
}

fn adds(event: &Event) -> Option<u8> {
    event.call().and_then(Queue::adds)
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
