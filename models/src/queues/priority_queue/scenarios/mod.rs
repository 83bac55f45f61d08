//! Small concurrent programs on the priority queue, each named by the case that it must reach.

pub(super) mod answers;
mod calls;
mod delivery;
mod ends;
mod order;
mod pooled;
mod times;

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::limiter::Exponential;
use seatrial_core::priority_queue::{AddOptions, PriorityQueue as Queue, Told};
use seatrial_core::queue::{Deliver, Token};

use super::ledger::PriorityLedger;
use super::{Call, Event, PriorityQueue, Ret};
use crate::engine::AnyRuntime;
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::fragile::{Fragile, Panics};
use crate::queues::fixtures::keyed::{Delayed, Keyed, OfKeys, Page, keyed};
use crate::queues::fixtures::{FixedHasher, caller, end, millis, shared, sleep, worker};
use crate::trial::{Ledger as _, Scenario, World};

pub(super) fn all() -> Vec<Scenario<PriorityQueue>> {
    let lists = [
        order::single(),
        order::together(),
        times::given(),
        times::due(),
        times::many(),
        delivery::failing(),
        delivery::again(),
        delivery::ended(),
        ends::all(),
        calls::all(),
        shared::of_keys(),
        shared::of_tasks(),
        shared::of_timers(),
        vec![busy_holder()],
        shared::of_times(),
        own(),
    ];
    lists.into_iter().flatten().collect()
}

/// Those that are alone in their file, or that not all queues share.
fn own() -> Vec<Scenario<PriorityQueue>> {
    vec![
        pooled::pooled(),
        answers::every_answer(),
        // The first consumer finds one of them while the others sleep.
        shared::three_due(|history| {
            PriorityLedger::some(history, |before, event| {
                PriorityQueue::taken(event).is_some() && before.getters.len() == 3
            })
        }),
        // The item waits to come back while both consumers sleep.
        shared::workers_go_on(|history| {
            PriorityLedger::some(history, |before, _| {
                before.getters.len() == 2 && before.spec.failures.get(&1) == Some(&1)
            })
        }),
        shared::not_copied(
            Queue::<Fragile, AnyRuntime>::new,
            |queue, key| queue.add(key),
            |queue| {
                let taken = queue.take_batch(TWO).into_iter();
                taken.map(|(token, key, _)| (token, key)).collect()
            },
        ),
        shared::limiter_panics(
            |runtime| Queue::with_limiter(runtime, Panics),
            |queue, item| queue.add(item),
            |queue, token| _ = queue.settle(token, Outcome::Retry, 0),
            |queue, token| _ = queue.settle_then_take(token, Outcome::Retry, 0),
        ),
    ]
}

/// The woken task comes back when the other item is ready, and both others sleep.
fn busy_holder() -> Scenario<PriorityQueue> {
    shared::busy_holder(|history| {
        PriorityLedger::some(history, |before, event| {
            let other = before.spec.entry(&2);
            let is_ready = other.is_some_and(|other| other.until.is_none());
            PriorityQueue::taken(event) == Some(3) && is_ready && before.getters.len() == 3
        })
    })
}

type Queued = Queue<u8, AnyRuntime, Exponential<u8>, Told>;
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

impl Page for PriorityQueue {
    type Tried = Tried;
    type Known = PriorityLedger;

    fn tried(world: &World<Self>) -> Tried {
        Arc::new(Queue::with_host(world.runtime(), FixedHasher::default(), world.machine()))
    }
}

impl OfKeys for PriorityQueue {
    type Queue = Queued;

    fn adds(op: &Call<u8>) -> Option<u8> {
        if let Call::Add(add) = op { add.key } else { None }
    }

    fn takes(ret: &Ret<u8>) -> Option<u8> {
        if let Ret::Get(Some((_, key, _))) = ret { Some(*key) } else { None }
    }
}

keyed!(
    Queued,
    [priority(0)],
    |queue, token| Deliver::done(queue, token),
    |queue, token, outcome| {
        let next = match outcome {
            Some(outcome) => queue.settle_then_take(token, outcome, 7),
            None => queue.done_then_take(token),
        };
        next.map(|(token, item, _)| (token, item))
    }
);

impl Delayed for Queued {
    fn add_after(&self, item: u8, delay: Duration) {
        self.add_after(item, delay);
    }
}

fn adds(event: &Event, key: u8) -> bool {
    matches!(event.call(), Some(Call::Add(add)) if add.key == Some(key))
}
