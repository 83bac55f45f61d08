//! Small concurrent programs on the queue, each named by the case that it must reach.

mod changes;
mod closing;
mod lists;
mod processing;
mod sync;
mod tasks;

use seatrial_core::fifo::SlowHook;

use super::ledger::DeltaLedger;
use super::tried::{Config, Over, Queue, Store, queue};
use super::{DeltaFifo, History};
use crate::events::fixtures::{self, Object, over};
use crate::trial::{Scenario, World};

pub(super) fn all() -> Vec<Scenario<DeltaFifo>> {
    let mut all = changes::all();
    all.extend(lists::all());
    all.extend(processing::all());
    all.extend(sync::all());
    all.extend(closing::all());
    all.extend(tasks::all());
    all
}

type Stage = fixtures::Stage<DeltaFifo, Queue>;

impl Stage {
    fn new(world: &World<DeltaFifo>, config: Config) -> Self {
        Self::told(world, config, None)
    }

    /// With a hook that is told of slow processing.
    fn told(world: &World<DeltaFifo>, config: Config, on_slow: Option<SlowHook>) -> Self {
        let store = config.known.clone().unwrap_or_default();
        let queue = queue(world.runtime(), world.machine(), config, on_slow);
        Self::around(world, queue, store, |store, popped| store.apply(&popped.key, &popped.deltas))
    }

    /// Sets the stage as informers do, around a consumer that has these objects.
    fn informer(world: &World<DeltaFifo>, known: impl IntoIterator<Item = Object>) -> Self {
        Self::new(world, Config::informer(store(known)))
    }
}

/// Makes a store that holds these objects.
fn store(objects: impl IntoIterator<Item = Object>) -> Store {
    Store::of(objects.into_iter().map(|object| (object.0, object)))
}

/// Tells whether some call meets a condition. The condition also sees the state before the call.
fn some(history: &History, wanted: impl Fn(&DeltaLedger, &Over<'_>) -> bool) -> bool {
    over::some_call(history, wanted)
}
