//! Small concurrent programs on the queue, each named by the case that it must reach.

mod closing;
mod places;
mod processing;
mod sync;
mod tasks;

use seatrial_core::fifo::{Fifo as Shell, Op, SlowHook};
use seatrial_core::machine::Boxed;
use seatrial_core::store::{Intake, KeyHasher};

use super::ledger::FifoLedger;
use super::{Event, Fifo, History, Machine};
use crate::engine::AnyRuntime;
use crate::events::fixtures::{self, Object, Store, key_of};
use crate::trial::{Ledger as _, Scenario, What, World};

pub(super) fn all() -> Vec<Scenario<Fifo>> {
    let mut all = places::all();
    all.extend(processing::all());
    all.extend(sync::all());
    all.extend(closing::all());
    all.extend(tasks::all());
    all
}

type Queue = Shell<u8, Object, AnyRuntime, Boxed<Machine>>;
type Stage = fixtures::Stage<Fifo, Queue>;

impl Stage {
    fn new(world: &World<Fifo>) -> Self {
        Self::told(world, None)
    }

    /// With a hook that is told of slow processing.
    fn told(world: &World<Fifo>, on_slow: Option<SlowHook>) -> Self {
        let intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
        let queue = Shell::with_host(world.runtime(), intake, on_slow, world.machine());
        Self::around(world, queue, Store::default(), |store, popped| {
            store.objects().insert(popped.key, popped.object);
        })
    }
}

/// Tells whether some event meets a condition. The condition also sees the state before the event.
fn some(history: &History, wanted: impl Fn(&FifoLedger, &Event) -> bool) -> bool {
    FifoLedger::some(history, wanted)
}

/// Tells whether an event is a step of a call that `call` accepts.
fn steps(event: &Event, call: impl Fn(&Op<u8, Object>) -> bool) -> bool {
    matches!(&event.what, What::Step { op, .. } if call(op))
}

/// Tells whether the place at the head of the queue is stale.
fn head_is_stale(before: &FifoLedger) -> bool {
    before.spec.queue.front().is_some_and(|key| !before.spec.items.contains_key(key))
}
