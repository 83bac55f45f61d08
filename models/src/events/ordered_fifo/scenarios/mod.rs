//! Small concurrent programs on the queue, each named by the case that it must reach.

mod batches;
mod changes;
mod modes;
mod sync;

use super::{Led, OrderedFifo, Over};
use crate::events::fixtures::{self, Config, shared};
use crate::trial::{Join, Scenario};

type Stage = fixtures::Stage<OrderedFifo>;

pub(super) fn all() -> Vec<Scenario<OrderedFifo>> {
    let mut all = changes::all();
    all.extend(modes::all());
    all.extend(batches::all());
    all.extend(sync::all());
    all.extend([
        shared::two_consumers_one_list("list_for_two", plain, &[(1, 1), (2, 1)]),
        // The other change comes while the failing consumer processes, the lock released.
        shared::failing_consumer(informer, |before, over| over.writes() && is_unlocked(before)),
        shared::panicking_consumer(informer),
        shared::write_after_close(atomic, |over| over.writes()),
        shared::only_resynced(|| Config::knows(&[(1, 1)])),
    ]);
    all.extend(shared::of_all(plain));
    all
}

/// One event per object; the queue reads the consumer's store, which is empty.
fn plain() -> Config {
    Config::knows(&[])
}

/// One event per list, the lock held while it is processed.
fn atomic() -> Config {
    Config::default()
}

/// The configuration of informers: one event per list, processed with the lock released.
fn informer() -> Config {
    Config { unlock: true, ..atomic() }
}

fn scenario(
    name: &'static str,
    says: &'static str,
    config: fn() -> Config,
    run: fn(&Stage),
    reaches: fn(&Led, &Over<'_>) -> bool,
) -> Scenario<OrderedFifo> {
    fixtures::scenario(name, says, config, run, reaches)
}

impl Stage {
    /// A thread that pops batches until the queue is closed and empty.
    fn batcher(&self, name: &str) -> Join<()> {
        self.on(name, |stage| while stage.pop_batch() {})
    }

    /// Pops a batch and processes it without failure; false at the end.
    fn pop_batch(&self) -> bool {
        let applied = self.queue.pop_batch(|batch| {
            let mut objects = self.store.objects();
            batch.events.iter().for_each(|event| super::queue::apply(&mut objects, event));
        });
        applied.is_ok()
    }
}

/// Returns how many events a call took.
fn taken(over: &Over<'_>) -> usize {
    super::queue::taken(over).len()
}

/// Returns how many events wait before a call.
fn waiting(before: &Led) -> usize {
    before.state.waiting.len()
}

/// Tells whether a consumer processes with the lock released.
fn is_unlocked(before: &Led) -> bool {
    before.in_process.iter().any(|it| !it.locked)
}
