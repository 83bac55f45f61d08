//! Small concurrent programs on the priority queue, each named by the case that it must reach.

mod delivery;
mod ends;
mod order;
mod times;

use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::limiter::Exponential;
use seatrial_core::machine::Boxed;
use seatrial_core::priority_queue::{AddOptions, PriorityQueue as Queue};
use seatrial_core::runtime::Runtime;

use super::ledger::{Ledger, at_every_event};
use super::op::Ours;
use super::{Call, Event, History, PriorityQueue};
use crate::trial::{DynScenario, What, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<PriorityQueue>>> {
    vec![
        Box::new(order::RaiseAmongEquals),
        Box::new(order::AddWhileHeld),
        Box::new(order::BatchForTwo),
        Box::new(times::EarlierTime),
        Box::new(times::BroughtForward),
        Box::new(times::DueTogether),
        Box::new(times::DueWhileHeld),
        Box::new(delivery::FailedBatch),
        Box::new(delivery::TriedAgain),
        Box::new(delivery::StaleToken),
        Box::new(ends::ShutDownWhileReady),
    ]
}

/// The hasher that every execution computes alike.
type FixedHasher = BuildHasherDefault<DefaultHasher>;
type Tried<R> = Arc<Queue<u8, R, Exponential<u8>, (), FixedHasher, Boxed<Ours>>>;

const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

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

fn sleep<R: Runtime>(world: &World<R, PriorityQueue>, time: Duration) {
    let runtime = world.runtime();
    runtime.sleep_until(runtime.now() + time);
}

/// A consumer that works until the queue is shut down, so long on each item.
fn worker<R: Runtime>(
    world: &World<R, PriorityQueue>,
    name: &str,
    queue: &Tried<R>,
    work: Duration,
) -> R::Join<()> {
    let (queue, world_of_worker) = (Arc::clone(queue), world.clone());
    world.spawn(name, move || {
        while let Some((token, ..)) = queue.take_with_priority() {
            if !work.is_zero() {
                sleep(&world_of_worker, work);
            }
            queue.done(token);
        }
    })
}

/// Runs a few calls on a thread of their own.
fn caller<R: Runtime>(
    world: &World<R, PriorityQueue>,
    name: &str,
    queue: &Tried<R>,
    calls: impl FnOnce(&Tried<R>) + Send + 'static,
) -> R::Join<()> {
    let queue = Arc::clone(queue);
    world.spawn(name, move || calls(&queue))
}

/// Tells whether some event meets a condition that knows what happened before it.
fn some(history: &History, wanted: impl Fn(&Ledger, &Event) -> bool) -> bool {
    let found = |before: &Ledger, event: &Event| {
        if wanted(before, event) { Err(String::new()) } else { Ok(()) }
    };
    at_every_event(history, found).is_err()
}

fn calls(event: &Event) -> Option<&Call<u8>> {
    match &event.what {
        What::Step { op, .. } => Some(op),
        _ => None,
    }
}

fn adds(event: &Event, key: u8) -> bool {
    matches!(calls(event), Some(Call::Add(add)) if add.key == Some(key))
}
