//! Small concurrent programs on the queue, each named by the case that it must reach.

mod batches;
mod changes;
mod closing;
mod modes;
mod sync;
mod tasks;

use seatrial_core::fifo::SlowHook;
use seatrial_core::ordered_fifo::Op;

use super::ledger::{self, InProcess, OrderedLedger};
use super::tried::{Config, Happened, Over, Queue, Store, queue};
use super::{History, MachineOp, OrderedFifo};
use crate::events::fixtures::{self, Object, over};
use crate::trial::{Join, Scenario, World};

pub(super) fn all() -> Vec<Scenario<OrderedFifo>> {
    let mut all = changes::all();
    all.extend(modes::all());
    all.extend(batches::all());
    all.extend(sync::all());
    all.extend(closing::all());
    all.extend(tasks::all());
    all
}

type Stage = fixtures::Stage<OrderedFifo, Queue>;

impl Stage {
    fn new(world: &World<OrderedFifo>, config: Config) -> Self {
        Self::told(world, config, None)
    }

    /// With a hook that is told of slow processing.
    fn told(world: &World<OrderedFifo>, config: Config, on_slow: Option<SlowHook>) -> Self {
        let store = config.known.clone().unwrap_or_default();
        let queue = queue(world.runtime(), world.machine(), config, on_slow);
        Self::around(world, queue, store, |store, popped| consume(store, &popped.event))
    }

    /// Sets the stage for one event per object, around a consumer that has these objects.
    fn plain(world: &World<OrderedFifo>, known: impl IntoIterator<Item = Object>) -> Self {
        let known = known.into_iter().map(|object| (object.0, object));
        Self::new(world, Config::plain(Store::of(known)))
    }

    /// A thread that pops batches until the queue is closed and empty.
    fn batcher(&self, name: &str) -> Join<()> {
        self.on(name, |stage| while stage.pop_batch() {})
    }

    /// Pops a batch and processes it without failure; false at the end.
    fn pop_batch(&self) -> bool {
        let applied = self.queue.pop_batch(|batch| {
            batch.events.iter().for_each(|event| consume(&self.store, event));
        });
        applied.is_ok()
    }

    fn resync(&self) {
        self.queue.resync().expect("every known object has a key");
    }
}

/// Applies an event to the consumer's store.
fn consume(store: &Store, event: &Happened) {
    ledger::apply(&mut store.objects(), event);
}

/// Tells whether some call meets a condition. The condition also sees the state before the call.
fn some(history: &History, wanted: impl Fn(&OrderedLedger, &Over<'_>) -> bool) -> bool {
    over::some_call(history, wanted)
}

/// Tells whether a call is a list.
fn lists(op: &MachineOp) -> bool {
    matches!(op, Op::Replace(_) | Op::ReplaceAll(_))
}

/// Tells whether a consumer processes with the lock released.
fn is_unlocked(before: &OrderedLedger) -> bool {
    before.in_process.iter().any(|InProcess { locked, .. }| !locked)
}
