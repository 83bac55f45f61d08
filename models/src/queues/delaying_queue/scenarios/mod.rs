//! Small concurrent programs on the delaying queue, each named by the case that it must reach.

mod batches;
mod calls;
mod ends;
mod tasks;
mod times;

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::delaying_queue::DelayingQueue as Queue;
use seatrial_core::limited_queue::Outcome;
use seatrial_core::queue::{Fifo, Token};

use super::as_queue::due;
use super::invariants::Known;
use super::{Call, DelayingQueue, Event, Ret};
use crate::engine::AnyRuntime;
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::fragile::Fragile;
use crate::queues::fixtures::keyed::{Delayed, Keyed, OfKeys, Page, keyed};
use crate::queues::fixtures::{FixedHasher, caller, end, millis, shared, sleep, worker};
use crate::trial::{Ledger as _, Scenario, World};

pub(super) fn all() -> Vec<Scenario<DelayingQueue>> {
    let lists = [
        times::given(),
        times::come(),
        times::processed(),
        times::many(),
        batches::all(),
        ends::shut_downs(),
        ends::drains(),
        ends::many(),
        tasks::all(),
        calls::all(),
        shared::of_keys(),
        shared::of_timers(),
        together(),
        shared::of_times(),
        vec![
            shared::moved_task(
                "a wait is polled by one task and then by another, until an item is due",
                |queue: &Queued| queue.add_after(1, millis(3)),
            ),
            shared::not_copied(
                Queue::<Fragile, AnyRuntime>::new,
                |queue, key| queue.add(key),
                |queue| queue.take_batch(TWO),
            ),
        ],
    ];
    lists.into_iter().flatten().collect()
}

/// Items that are due at a time, by what the sequential object knows.
fn together() -> Vec<Scenario<DelayingQueue>> {
    vec![
        // The woken task comes back when the other item is due, and both others sleep.
        shared::busy_holder(|history| {
            Known::some(history, |before, event| {
                let takes = DelayingQueue::taken(event) == Some(3);
                takes && due(&before.times, event.at).len() == 1 && before.getters.len() == 3
            })
        }),
        // The first consumer looks while the others sleep.
        shared::three_due(|history| {
            Known::some(history, |before, event| {
                let looks = matches!(event.call(), Some(Call::Get(_)));
                looks && before.getters.len() == 3 && due(&before.times, event.at).len() == 3
            })
        }),
    ]
}

type Queued = Queue<u8, AnyRuntime, Fifo>;
type Tried = Arc<Queued>;

impl Page for DelayingQueue {
    type Tried = Tried;
    type Known = Known;

    fn tried(world: &World<Self>) -> Tried {
        Arc::new(Queue::with_host(world.runtime(), FixedHasher::default(), world.machine()))
    }
}

impl OfKeys for DelayingQueue {
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

keyed!(Queued, [], |queue, token| queue.done(token), |queue, token, _| queue.done_then_take(token));

impl Delayed for Queued {
    fn add_after(&self, item: u8, delay: Duration) {
        self.add_after(item, delay);
    }
}

/// Tells whether an event adds an item after a delay.
fn gives(event: &Event, key: u8) -> bool {
    matches!(event.call(), Some(Call::AddAfter(add)) if add.key == Some(key))
}
