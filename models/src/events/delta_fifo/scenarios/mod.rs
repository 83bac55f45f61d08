//! Small concurrent programs on the queue, each named by the case that it must reach.

mod changes;
mod lists;
mod processing;

use seatrial_core::fifo::AfterPop;

use super::queue::Queue;
use super::view::deltas;
use super::{Change, DeltaFifo, Led, Over};
use crate::events::fixtures::{self, Config, Kind, shared};
use crate::trial::Scenario;

type Stage = fixtures::Stage<DeltaFifo>;

pub(super) fn all() -> Vec<Scenario<DeltaFifo>> {
    let ask_back = |queue: &Queue| drop(queue.pop_or_requeue(|_| (AfterPop::Requeue, ())));
    let mut all = changes::all();
    all.extend(lists::all());
    all.extend([
        shared::two_consumers_one_list("two_consumers_one_list", knows_3, &[(1, 1)]),
        shared::slow_consumer(Config::default, |_, _| {}),
        shared::failing_consumer(informer, shared::put_behind_pop),
        shared::asked_back(informer, ask_back),
        shared::asked_back_for_another(informer, ask_back),
        shared::panicking_consumer(informer),
        shared::list_with_duplicates(informer),
        shared::write_after_close(informer, |over| over.is(Kind::List)),
        shared::close_before_first_list(informer),
        shared::only_resynced(knows_1),
        shared::close_with_an_entry_left("close_with_an_entry_left", informer),
    ]);
    all.extend(processing::all());
    all.extend(shared::of_all(informer));
    all
}

/// The configuration that informers use, around a consumer without objects.
fn informer() -> Config {
    Config::knows(&[])
}

fn knows_1() -> Config {
    Config::knows(&[(1, 1)])
}

fn knows_3() -> Config {
    Config::knows(&[(3, 1)])
}

fn scenario(
    name: &'static str,
    says: &'static str,
    config: fn() -> Config,
    run: fn(&Stage),
    reaches: fn(&Led, &Over<'_>) -> bool,
) -> Scenario<DeltaFifo> {
    fixtures::scenario(name, says, config, run, reaches)
}

/// Returns the pending changes of an object before a call.
fn pending(before: &Led, key: u8) -> &[Change] {
    deltas(&before.state.waiting, key)
}

/// Tells whether the last pending change of an object is its deletion.
fn is_deleted(before: &Led, key: u8) -> bool {
    pending(before, key).last().is_some_and(Change::is_deleted)
}

/// Returns how many changes a call took.
fn taken(over: &Over<'_>) -> usize {
    match over.ret {
        seatrial_core::delta_fifo::Ret::Pop(Some(popped)) => popped.deltas.len(),
        _ => 0,
    }
}
